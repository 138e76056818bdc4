//===- Model.cpp - A loaded artifact --------------------------------------===//

#include "runtime/Engine/Model.h"

#include "runtime/Chat/Encode.h"
#include "runtime/Engine/Executor.h"
#include "runtime/Engine/Memory.h"
#include "runtime/Support/HugePages.h"

#include <algorithm>
#include <atomic>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::tokenizer;

Model::Model(Artifact File, LoadedCode Code)
    : Path(File.path()), File(std::move(File)), Code(std::move(Code)) {}

Result<std::shared_ptr<const Model>> Model::load(const std::string &Path,
                                                 const std::string &Name) {
  Result<Artifact> File = Artifact::open(Path, Name);
  if (!File)
    return File.error();
  Result<CpuLevel> Level = effectiveLevel();
  if (!Level)
    return Level.error();
  Result<LoadedCode> Code = loadCode(*File, *Level);
  if (!Code)
    return Code.error();
  std::shared_ptr<Model> M(new Model(std::move(*File), std::move(*Code)));

  for (const EntryInfo &Info : M->manifest().Entries) {
    tenon_rt_entry Function = M->Code.entry(Info.Role);
    if (!Function)
      return Error(ErrorKind::DamagedFile, M->Path + ": entry " +
                                               printable(Info.Role) +
                                               " has no code");
    M->Entries.push_back({Info, Function});
  }
  for (const ScopeInfo &Scope : M->manifest().Scopes) {
    auto &Table = M->WeightTables.emplace_back();
    for (int64_t Weight : Scope.Weights)
      Table.push_back(Weight < 0
                          ? nullptr
                          : M->File.weight(static_cast<size_t>(Weight)).data());
  }
  return std::shared_ptr<const Model>(std::move(M));
}

namespace {

/// A file whose parts threads take in order, as disks like it.
struct Unmapped {
  std::span<const std::byte> Bytes;
  std::atomic<size_t> Taken{0};
};

} // namespace

static void prefaultParts(void *Environment, int64_t, int64_t) {
  constexpr size_t PartBytes = 16 * HugePageBytes;
  auto &File = *static_cast<Unmapped *>(Environment);
  for (size_t From;
       (From = File.Taken.fetch_add(PartBytes)) < File.Bytes.size();)
    // An older kernel, or a file that has just become shorter: whoever reads
    // the pages will see.
    if (!populate(File.Bytes.subspan(
            From, std::min(PartBytes, File.Bytes.size() - From))))
      return;
}

void Model::prefault(Executor &Threads) const {
  std::call_once(PrefaultOnce, [&] {
    Unmapped Rest{File.bytes()};
    if (isPrefaulted(Rest.Bytes.size(),
                     std::min(availableMemory(), machineMemory())))
      Threads.run([&] { Threads.parallel(prefaultParts, &Rest); });
  });
}

bool Model::hasEntry(std::string_view Role) const {
  for (const Entry &E : Entries)
    if (E.Info.Role == Role)
      return true;
  return false;
}

Result<const Entry *> Model::entry(std::string_view Role) const {
  std::string Known;
  for (const Entry &E : Entries) {
    if (E.Info.Role == Role)
      return &E;
    Known.append(Known.empty() ? "" : ", ").append(E.Info.Role);
  }
  return Error(ErrorKind::NotFound, Path + ": this model has no entry '" +
                                        std::string(Role) + "': it has " +
                                        (Known.empty() ? "none" : Known));
}

Result<const Tokenizer *> Model::tokenizer() const {
  std::call_once(TokenizerOnce, [&] {
    if (!manifest().Tokenizer)
      Text.emplace(Error(ErrorKind::NotFound,
                         Path + ": the artifact has no tokenizer, as its model "
                                "had no tokenizer.json: give token ids instead "
                                "of text"));
    else if (Result<std::string> Stored = File.tokenizerJson(); !Stored)
      Text.emplace(Stored.error());
    else
      Text.emplace(Tokenizer::fromJson(*Stored, Path + " (tokenizer)"));
  });
  if (!*Text)
    return Text->error();
  return &**Text;
}

Result<std::shared_ptr<const grammar::TokenTable>>
Model::tokenTable(bool HasAdded) const {
  Result<const Tokenizer *> Tokens = tokenizer();
  if (!Tokens)
    return Tokens.error();
  TokenTableSlot &Slot = HasAdded ? WithAdded : Plain;
  std::call_once(Slot.Once, [&] {
    auto Built = grammar::TokenTable::build(**Tokens, HasAdded);
    if (Built)
      Slot.Table.emplace(std::move(Built));
    else
      Slot.Table.emplace(Built.error().withContext(Path));
  });
  return *Slot.Table;
}

Result<const chat::Template *> Model::chatTemplate() const {
  std::call_once(ChatOnce, [&] {
    const std::string *Source = nullptr;
    if (const std::optional<ChatInfo> &Info = manifest().Chat)
      if (auto Found = Info->Templates.find(ChatInfo::DefaultTemplate);
          Found != Info->Templates.end())
        Source = &Found->second;
    if (!Source)
      Chat.emplace(Error(ErrorKind::NotFound,
                         Path + ": the artifact has no chat template: expected "
                                "that of a model for conversations"));
    else if (Result<chat::Template> T = chat::Template::parse(*Source); T)
      Chat.emplace(std::move(T));
    else
      Chat.emplace(T.error().ofContent().withContext(Path + ": chat template"));
  });
  if (!*Chat)
    return Chat->error();
  return &**Chat;
}

/// The text of the image token; empty where there is none.
std::string Model::imageToken() const {
  const std::optional<ImageInfo> &Image = manifest().Image;
  Result<const Tokenizer *> Tokens = tokenizer();
  if (!Image || !Image->Token || !Tokens)
    return {};
  return (*Tokens)->decode({&*Image->Token, 1}, /*SkipSpecialTokens=*/false);
}

const chat::ContentForm &Model::contentForm(const chat::Template &Form) const {
  std::call_once(ContentOnce, [&] {
    Content = contentFormOf(Form, manifest().Chat->Tokens, imageToken());
  });
  return Content;
}

/// Whether the template reads tools, or somebody has said how the model writes
/// calls. A variable is one of its names, so that none is none.
bool Model::takesTools() const {
  const ChatInfo &Info = *manifest().Chat;
  return !Info.ToolFormat.empty() ||
         Info.Templates.at(ChatInfo::DefaultTemplate).find("tools") !=
             std::string::npos;
}

Result<std::vector<int32_t>>
Model::chatPrompt(const chat::Conversation &Talk) const {
  Result<const Tokenizer *> Tokens = tokenizer();
  if (!Tokens)
    return Tokens.error();
  Result<const chat::Template *> Form = chatTemplate();
  if (!Form)
    return Form.error();
  if (Talk.NeedsTools && !Talk.Tools.empty() && !takesTools())
    return Error(Path + ": chat template: reads no 'tools', of which the model "
                        "would know nothing: expected none");
  chat::Conversation Fitting = Talk;
  parseArguments(Fitting);
  std::string Mark = fitContent(Fitting, contentForm(**Form));
  Result<std::vector<chat::Piece>> Pieces =
      (*Form)->render(variablesOf(Fitting, manifest().Chat->Tokens));
  if (!Pieces)
    return chat::whyNoPrompt(
        **Form, manifest().Chat->Tokens, std::move(Fitting),
        Pieces.error().withContext(Path + ": chat template"));
  if (!Mark.empty())
    *Pieces = withImageTokens(std::move(*Pieces), Mark, imageToken());
  Result<std::vector<int32_t>> Ids = chat::encode(**Tokens, *Pieces);
  if (Ids && Ids->empty())
    return Error(Path + ": chat template: makes an empty prompt of this "
                        "conversation: expected at least one token");
  return Ids;
}
