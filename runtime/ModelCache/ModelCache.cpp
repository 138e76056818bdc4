//===- ModelCache.cpp - Models compiled when they are needed --------------===//

#include "runtime/ModelCache/ModelCache.h"

#include "runtime/Abi/CpuLevel.h"
#include "runtime/Artifact/Artifact.h"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::modelcache;

std::string modelcache::keyOf(const ModelFiles &Model,
                              const std::vector<HashedFile> &Hashes,
                              const std::string &CompilerHash,
                              const Settings &Options, std::string_view Level) {
  // Ends of lines are escaped in none of these but names, which come last and
  // have their length before them: different parts make different texts.
  std::string Text = "tenon " TENON_VERSION "\ncompiler " + CompilerHash +
                     "\nlevel " + std::string(Level) + "\n";
  for (const Setting &S : AllSettings)
    Text.append(S.Name).append(" ").append(Options.*S.Value).append("\n");
  for (size_t I = 0; I < Model.Files.size(); ++I) {
    const std::string &Name = Model.Files[I].Name;
    Text +=
        Hashes[I].Hash + " " + std::to_string(Name.size()) + " " + Name + "\n";
  }
  return hashOf(Text);
}

static Result<std::vector<HashedFile>> hashFiles(const ModelFiles &Model,
                                                 const CacheFolder &Folder,
                                                 const Events &Heard) {
  uint64_t Bytes = 0, Done = 0;
  for (const ModelFiles::File &File : Model.Files) {
    std::error_code Ignored; // The hashing says it.
    uint64_t Size = std::filesystem::file_size(File.Path, Ignored);
    Bytes += Ignored ? 0 : Size;
  }
  // Less is over before anybody could read it.
  constexpr uint64_t ManyBytes = 256 << 20;
  std::vector<HashedFile> Hashes;
  for (const ModelFiles::File &File : Model.Files) {
    std::function<void(uint64_t)> Read;
    if (Heard.Progress && Bytes >= ManyBytes)
      Read = [&](uint64_t More) {
        Done += More;
        Heard.Progress("identifying the model",
                       static_cast<double>(Done) / static_cast<double>(Bytes));
      };
    Result<HashedFile> Hash = hashFile(File.Path, Folder.contentPath(), Read);
    if (!Hash)
      return Hash.error();
    Hashes.push_back(std::move(*Hash));
  }
  return Hashes;
}

/// What is written does not belong to the key if the model is another by now.
static Status checkUnchanged(const ModelFiles &Model,
                             const std::vector<HashedFile> &Hashes) {
  for (size_t I = 0; I < Model.Files.size(); ++I) {
    struct stat Info;
    if (::stat(Model.Files[I].Path.c_str(), &Info) != 0 ||
        FileState::of(Info) != Hashes[I].State)
      return Error(Model.Files[I].Path + ": changed while it was compiled");
  }
  return {};
}

/// The entry of the key where it can be used.
static Result<std::optional<Entry>> findUsable(const CacheFolder &Folder,
                                               const std::string &Key) {
  Result<std::optional<Entry>> Found = Folder.find(Key);
  if (!Found || !*Found)
    return Found;
  if (auto Opened = artifact::Artifact::open((*Found)->Path); !Opened)
    return Opened.error();
  return Found;
}

Status modelcache::compileModel(const ModelRequest &Wanted,
                                const std::string &Output,
                                const CompilerEvents &Heard) {
  Result<CpuLevel> Level = effectiveLevel();
  if (!Level)
    return Level.error();
  // What begins with a dash is no option.
  std::string Model = Wanted.Model;
  if (Model.starts_with('-'))
    Model = "./" + Model;
  std::vector<std::string> Arguments = {Model,
                                        "-o",
                                        Output,
                                        "--target-cpu",
                                        std::string(infoOf(*Level).Name),
                                        "--progress",
                                        Heard.Progress ? "json" : "none"};
  for (const Setting &S : AllSettings) {
    const std::string &Value = Wanted.Options.*S.Value;
    if (Value == S.Values.front())
      continue;
    Arguments.push_back("--" + std::string(S.Name));
    Arguments.push_back(Value);
  }
  return runCompiler(Wanted.Compiler, Arguments, Heard);
}

Result<std::string> modelcache::obtainArtifact(const CacheFolder &Folder,
                                               const ModelRequest &Wanted,
                                               const Events &Heard) {
  Result<CpuLevel> Level = effectiveLevel();
  if (!Level)
    return Level.error();
  struct stat Info;
  if (::stat(Wanted.Compiler.c_str(), &Info) != 0)
    return cannotCompile(Wanted.Compiler).withContext(Wanted.Model);
  Result<HashedFile> Compiler = hashFile(Wanted.Compiler, Folder.contentPath());
  if (!Compiler)
    return Compiler.error();
  Result<ModelFiles> Model = findModelFiles(Wanted.Model);
  if (!Model)
    return Model.error();
  Result<std::vector<HashedFile>> Hashes = hashFiles(*Model, Folder, Heard);
  if (!Hashes)
    return Hashes.error();
  std::string_view LevelName = infoOf(*Level).Name;
  std::string Key =
      keyOf(*Model, *Hashes, Compiler->Hash, Wanted.Options, LevelName);

  Result<std::optional<Entry>> Found = findUsable(Folder, Key);
  if (!Found || !*Found) {
    Result<std::optional<KeyLock>> Held =
        Folder.lock(Key, Heard.Waits ? Heard.Waits : [] {});
    if (!Held)
      return Held.error();
    // Another process may have made it in between.
    Found = findUsable(Folder, Key);
    if (!Found && Heard.Note)
      Heard.Note(Found.error().message() + ": compiled again");
    if (!Found || !*Found) {
      std::string New = Folder.newPath(Key);
      Status Made = compileModel(Wanted, New, Heard);
      if (Made)
        Made = checkUnchanged(*Model, *Hashes);
      if (Made)
        if (auto Opened = artifact::Artifact::open(New); !Opened)
          Made = Opened.error();
      if (!Made) {
        ::unlink(New.c_str());
        return Made.error();
      }
      std::error_code Failure;
      std::filesystem::path Path =
          std::filesystem::absolute(Wanted.Model, Failure).lexically_normal();
      if (Failure)
        return Error(Wanted.Model + ": " + Failure.message());
      if (!Path.has_filename()) // "DIRECTORY/"
        Path = Path.parent_path();
      Description Origin;
      Origin.Model = Path;
      Origin.Compiled = Wanted.Options;
      Origin.Level = LevelName;
      Origin.Version = TENON_VERSION;
      if (Status Added = Folder.add(Key, std::move(Origin)); !Added)
        return Added.error();
    }
  }
  Folder.touch(Key);
  return Folder.artifactPath(Key);
}
