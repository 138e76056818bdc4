//===- ServedModels.cpp - Models for serve and replay ---------------------===//

#include "runtime/Tool/ServedModels.h"

#include "runtime/Artifact/Format.h"
#include "runtime/Engine/Executor.h"
#include "runtime/Serving/PrefixFile.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <span>
#include <sys/stat.h>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::http;
using namespace tenon::serving;
using namespace tenon::tool;

/// The keys of a file, one a line.
Result<std::vector<std::string>> tool::readKeys(const std::string &Path) {
  constexpr uint64_t MostBytes = 1 << 20;
  Result<std::string> Text = readFile(Path, MostBytes);
  if (!Text)
    return Text.error();
  std::vector<std::string> Keys;
  for (size_t From = 0; From < Text->size();) {
    size_t End = std::min(Text->find('\n', From), Text->size());
    std::string Line = Text->substr(From, End - From);
    From = End + 1;
    while (!Line.empty() && (Line.back() == '\r' || Line.back() == ' '))
      Line.pop_back();
    if (!Line.empty())
      Keys.push_back(std::move(Line));
  }
  if (Keys.empty())
    return Error(Path + ": has no keys: expected one a line");
  return Keys;
}

/// What a model is called that was not given a name.
static std::string nameOfFile(const std::string &Path) {
  std::filesystem::path P(Path);
  if (!P.has_filename())
    P = P.parent_path();
  return P.extension() == ".tenon" || P.extension() == ".gguf"
             ? P.stem().string()
             : P.filename().string();
}

/// A hash in sixteen digits.
static std::string hexOf(uint64_t Hash) {
  char Digits[17];
  std::snprintf(Digits, sizeof(Digits), "%016" PRIx64, Hash);
  return Digits;
}

/// What runs `M`: an engine for one that generates, else an encoder.
static Result<std::variant<serving::Engine, Encoder>>
runnerOf(std::shared_ptr<const Model> M, const ServeOptions &Options,
         const Resources &Shared) {
  using Runner = std::variant<serving::Engine, Encoder>;
  if (!M->hasEntry("step")) {
    Result<Encoder> Texts = Encoder::create(
        std::move(M), {0, 0, 0, Shared}, static_cast<size_t>(Options.MaxTexts));
    if (!Texts)
      return Texts.error();
    return Runner(std::move(*Texts));
  }
  SessionOptions Room = defaultRoom(*M, Options.MaxNumSeqs, Shared);
  if (Options.MaxSeq != 0)
    Room.CacheTokens = Options.MaxSeq;
  SchedulerOptions Rules;
  Rules.MaxNumSeqs = Options.MaxNumSeqs;
  Rules.MaxQueued = static_cast<size_t>(Options.MaxQueued);
  Rules.MaxStepMs = Options.MaxStepMs;
  Rules.CachesPrefixes = !Options.NoPrefixCache;
  Result<serving::Engine> Texts =
      serving::Engine::create(std::move(M), Room, std::move(Rules));
  if (!Texts)
    return Texts.error();
  return Runner(std::move(*Texts));
}

static Result<std::unique_ptr<ServedModel>>
openModel(const ServeOptions &Options, const ServeOptions::Source &From,
          const Resources &Shared) {
  Result<std::shared_ptr<const Model>> Loaded = Model::load(From.File);
  if (!Loaded)
    return Loaded.error();
  auto Runs = runnerOf(*Loaded, Options, Shared);
  if (!Runs)
    return Runs.error().withContext(From.Given);
  struct stat File{};
  (void)stat(From.File.c_str(), &File); // It was there just now.
  return std::unique_ptr<ServedModel>(new ServedModel{
      From.Name.empty() ? nameOfFile(From.Given) : From.Name,
      "fp_" + hexOf(bindingOf(**Loaded)), File.st_mtime, std::move(*Runs)});
}

Result<std::vector<std::unique_ptr<ServedModel>>>
tool::openServedModels(const ServeOptions &Options) {
  Result<Executor> Threads = Executor::create(Options.Threads);
  if (!Threads)
    return Threads.error();
  Resources Shared;
  Shared.Threads = std::make_shared<Executor>(std::move(*Threads));
  std::vector<std::unique_ptr<ServedModel>> Models;
  for (const ServeOptions::Source &From : Options.Models) {
    auto Opened = openModel(Options, From, Shared);
    if (!Opened)
      return Opened.error();
    for (const auto &Other : Models)
      if (Other->Name == (*Opened)->Name)
        return Error("there are two models called " + printable(Other->Name) +
                     ": expected NAME=FILE");
    Models.push_back(std::move(*Opened));
  }
  return Models;
}

/// Of the cached prefixes of a model: its name, where what a file's name cannot
/// have is written in hexadecimal.
static std::string keptFileOf(const ServedModel &M, const std::string &Folder) {
  constexpr std::string_view Digits = "0123456789ABCDEF";
  std::string Name;
  for (char C : M.Name) {
    auto Byte = static_cast<unsigned char>(C);
    if (std::isalnum(Byte) || C == '-' || C == '_' ||
        (C == '.' && !Name.empty()))
      Name += C;
    else
      Name += std::string("%") + Digits[Byte / 16] + Digits[Byte % 16];
  }
  return (std::filesystem::path(Folder) / (Name + ".prompts")).string();
}

Status
tool::loadKeptPrompts(const std::vector<std::unique_ptr<ServedModel>> &Models,
                      const std::string &Folder) {
  namespace fs = std::filesystem;
  if (Folder.empty())
    return {};
  std::error_code Failed;
  // What users say is nobody else's.
  if (fs::create_directories(Folder, Failed))
    fs::permissions(Folder, fs::perms::owner_all, Failed);
  if (Failed || !fs::is_directory(Folder, Failed))
    return Error("--prefix-cache is " + printable(Folder) +
                 ": expected a folder, or one that can be made" +
                 (Failed ? " (" + Failed.message() + ")" : ""));
  for (const auto &M : Models) {
    std::string File = keptFileOf(*M, Folder);
    if (!M->generates() || !fs::exists(File, Failed))
      continue;
    Result<PrefixesRead> Done = M->engine().loadPrefixes(File);
    if (!Done)
      return Done.error();
    notePrefixes(File, *Done);
  }
  return {};
}

Status
tool::saveKeptPrompts(const std::vector<std::unique_ptr<ServedModel>> &Models,
                      const std::string &Folder) {
  for (const auto &M : Models)
    if (!Folder.empty() && M->generates())
      if (Status Saved = M->engine().savePrefixes(keptFileOf(*M, Folder));
          !Saved)
        return Saved;
  return {};
}

RecordedModel tool::recordedModelOf(const ServedModel &M) {
  // The manifest has the checksums of all sections.
  artifact::Manifest Info = M.code().manifest();
  Info.Prefixes.reset();
  std::string Text =
      toJson(Info).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string Hash =
      hexOf(artifact::checksumOf(std::as_bytes(std::span(Text))));
  std::string Level(infoOf(M.code().code().Level).Name);
  // The library's code may be of another level than the artifact's.
  if (Result<CpuLevel> InForce = effectiveLevel();
      InForce && infoOf(*InForce).Name != Level)
    Level += "/" + std::string(infoOf(*InForce).Name);
  return {M.Name, std::move(Hash), TENON_VERSION, Level, M.Fingerprint};
}
