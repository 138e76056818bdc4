//===- CacheFolder.cpp - Where compiled models are kept -------------------===//

#include "runtime/ModelCache/CacheFolder.h"

#include "runtime/Support/Json.h"
#include "runtime/Support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <set>
#include <sys/file.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::modelcache;
namespace fs = std::filesystem;

static constexpr std::string_view ArtifactSuffix = ".tenon",
                                  DescriptionSuffix = ".json",
                                  NewSuffix = ".new", LockSuffix = ".lock";
/// Of descriptions; they change with what is in them.
static constexpr int64_t FormatVersion = 2;

Result<std::string> modelcache::cachePath() {
  auto Value = [](const char *Name) -> std::string {
    const char *Text = std::getenv(Name);
    return Text ? Text : "";
  };
  if (std::string Given = Value("TENON_CACHE_DIR"); !Given.empty()) {
    std::error_code Failure;
    fs::path Absolute = fs::absolute(Given, Failure).lexically_normal();
    if (Failure)
      return Error("TENON_CACHE_DIR is " + printable(Given) + ": " +
                   Failure.message());
    std::string Path = Absolute;
    if (Path.size() > 1 && Path.ends_with('/'))
      Path.pop_back();
    return Path;
  }
  // Relative ones are to be ignored, by the XDG Base Directory Specification.
  if (std::string Base = Value("XDG_CACHE_HOME"); Base.starts_with('/'))
    return Base + "/tenon";
  if (std::string Home = Value("HOME"); Home.starts_with('/'))
    return Home + "/.cache/tenon";
  return Error("there is no folder for compiled models: expected HOME, "
               "XDG_CACHE_HOME or TENON_CACHE_DIR to be an absolute path");
}

Result<CacheFolder> CacheFolder::open(const std::string &Path) {
  std::error_code Failure;
  fs::path Parent = fs::path(Path).parent_path();
  constexpr const char *What = "cannot make the folder of compiled models";
  if (!Parent.empty() && !fs::exists(Parent, Failure))
    if (fs::create_directories(Parent, Failure); Failure)
      return Error(Parent.string() + ": " + What + ": " + Failure.message());
  for (const std::string &Folder : {Path, Path + "/content"})
    if (::mkdir(Folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return systemError(Folder, What);
  struct stat Info;
  if (::stat(Path.c_str(), &Info) != 0)
    return systemError(Path, "cannot stat");
  if (!S_ISDIR(Info.st_mode))
    return Error(Path + ": is " + kindOfFile(Info.st_mode) +
                 ": expected a folder for compiled models");
  if (Info.st_uid != ::geteuid())
    return Error(
        Path + ": belongs to user " + std::to_string(Info.st_uid) +
        ": compiled models are native code: expected a folder of user " +
        std::to_string(::geteuid()));
  if ((Info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error(Path +
                 ": others may write to it: compiled models are native "
                 "code: expected a folder for its user alone (chmod "
                 "go-w " +
                 Path + ")");
  return CacheFolder(Path);
}

static std::string pathOf(const CacheFolder &Folder, const std::string &Key,
                          std::string_view Suffix) {
  return Folder.path() + "/" + Key + std::string(Suffix);
}

std::string CacheFolder::artifactPath(const std::string &Key) const {
  return pathOf(*this, Key, ArtifactSuffix);
}

std::string CacheFolder::newPath(const std::string &Key) const {
  return pathOf(*this, Key, NewSuffix);
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

Result<std::optional<KeyLock>>
CacheFolder::lock(const std::string &Key,
                  const std::function<void()> &Waits) const {
  std::string LockPath = pathOf(*this, Key, LockSuffix);
  bool HasWaited = false;
  for (;;) {
    FileDescriptor File(::open(LockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                               S_IRUSR | S_IWUSR));
    if (!File)
      return systemError(LockPath, "cannot open");
    while (::flock(File.get(), LOCK_EX | (HasWaited ? 0 : LOCK_NB)) != 0) {
      if (errno == EWOULDBLOCK && !Waits)
        return std::optional<KeyLock>();
      if (errno == EWOULDBLOCK) {
        Waits();
        HasWaited = true;
      } else if (errno != EINTR) {
        return systemError(LockPath, "cannot lock");
      }
    }
    // Who had it may have removed the file: then it locks nothing any more.
    struct stat Held, Named;
    if (::fstat(File.get(), &Held) != 0)
      return systemError(LockPath, "cannot stat");
    if (::stat(LockPath.c_str(), &Named) == 0 && Held.st_dev == Named.st_dev &&
        Held.st_ino == Named.st_ino)
      return std::optional<KeyLock>(KeyLock(std::move(File)));
  }
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static Json toJson(const Description &Origin) {
  Json Options = Json::object();
  for (const Setting &S : AllSettings)
    Options[std::string(S.Name)] = Origin.Compiled.*S.Value;
  return {{"format", FormatVersion},
          {"model", Origin.Model},
          {"options", Options},
          {"target_cpu", Origin.Level},
          {"tenon", Origin.Version},
          {"artifact",
           {{"bytes", Origin.Artifact.Bytes},
            {"modified_ns", Origin.Artifact.ModifiedNs}}}};
}

static Result<Description> readDescription(const std::string &Path) {
  // Two paths and a few words.
  constexpr uint64_t MaxBytes = 64 << 10;
  Result<Json> Text = readJsonFile(Path, MaxBytes);
  if (!Text)
    return Text.error();
  constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  JsonField Root(*Text, Path);
  Description Origin;
  Status Wrong;
  auto Member = [&](const JsonField &In, std::string_view Key, auto Read) {
    if (!Wrong)
      return;
    if (Result<JsonField> Field = In.member(Key); !Field)
      Wrong = Field.error();
    else if (Status Done = Read(*Field); !Done)
      Wrong = Done;
  };
  auto Into = [](std::string &Value) {
    return [&Value](const JsonField &Field) -> Status {
      Result<std::string> Text = Field.asString();
      if (!Text)
        return Text.error();
      Value = std::move(*Text);
      return {};
    };
  };
  auto Number = [](int64_t &Value, int64_t Min, int64_t Max) {
    return [&Value, Min, Max](const JsonField &Field) -> Status {
      Result<int64_t> Read = Field.asInteger(Min, Max);
      if (!Read)
        return Read.error();
      Value = *Read;
      return {};
    };
  };
  int64_t Format = 0, Bytes = 0;
  Member(Root, "format", Number(Format, FormatVersion, FormatVersion));
  Member(Root, "model", Into(Origin.Model));
  Member(Root, "target_cpu", Into(Origin.Level));
  Member(Root, "tenon", Into(Origin.Version));
  Member(Root, "options", [&](const JsonField &Options) -> Status {
    for (const Setting &S : AllSettings)
      Member(Options, S.Name, [&](const JsonField &Field) -> Status {
        Status Read = Into(Origin.Compiled.*S.Value)(Field);
        return Read && !takes(S, Origin.Compiled.*S.Value)
                   ? Status(
                         Field.expected("a value of --" + std::string(S.Name)))
                   : Read;
      });
    return Wrong;
  });
  Member(Root, "artifact", [&](const JsonField &Artifact) -> Status {
    Member(Artifact, "bytes", Number(Bytes, 0, Most));
    Member(Artifact, "modified_ns",
           Number(Origin.Artifact.ModifiedNs, 0, Most));
    return Wrong;
  });
  if (!Wrong)
    return Wrong.error();
  Origin.Artifact.Bytes = static_cast<uint64_t>(Bytes);
  return Origin;
}

static std::optional<FileState> stateOf(const std::string &Path) {
  struct stat Info;
  if (::stat(Path.c_str(), &Info) != 0)
    return std::nullopt;
  return FileState::of(Info);
}

Result<std::optional<Entry>> CacheFolder::find(const std::string &Key) const {
  Entry Found{Key, artifactPath(Key)};
  std::string Text = pathOf(*this, Key, DescriptionSuffix);
  std::optional<FileState> Artifact = stateOf(Found.Path),
                           Described = stateOf(Text);
  if (!Artifact && !Described)
    return std::optional<Entry>();
  if (!Artifact)
    return Error(ErrorKind::DamagedFile, Found.Path + ": is missing");
  // It is written last.
  if (!Described)
    return Error(ErrorKind::DamagedFile, Text + ": is missing");
  Found.Bytes = Artifact->Bytes;
  Found.UsedNs = Described->ModifiedNs;
  Found.Origin = readDescription(Text);
  if (!Found.Origin)
    return Found.Origin.error().ofContent();
  const FileState &Left = Found.Origin->Artifact;
  if (Left.Bytes != Artifact->Bytes || Left.ModifiedNs != Artifact->ModifiedNs)
    return Error(ErrorKind::DamagedFile,
                 Found.Path + ": changed since it was compiled");
  return std::optional<Entry>(std::move(Found));
}

void CacheFolder::touch(const std::string &Key) const {
  // It is listed as used earlier when this fails, no more.
  (void)::utimensat(AT_FDCWD, pathOf(*this, Key, DescriptionSuffix).c_str(),
                    nullptr, 0);
}

Status CacheFolder::add(const std::string &Key, Description Origin) const {
  std::string New = newPath(Key), Text = pathOf(*this, Key, DescriptionSuffix);
  std::optional<FileState> State = stateOf(New);
  if (!State)
    return systemError(New, "cannot stat");
  Origin.Artifact = *State;
  // An old description fits no new artifact: nothing is used in between.
  if (::rename(New.c_str(), artifactPath(Key).c_str()) != 0)
    return systemError(New, "cannot rename to " + artifactPath(Key));
  Result<OutputFile> Out = OutputFile::create(Text);
  if (!Out)
    return Out.error();
  // A path may be any bytes.
  std::string Described =
      toJson(Origin).dump(2, ' ', false, Json::error_handler_t::replace);
  if (Status Written = Out->append(Described + "\n"); !Written)
    return Written;
  return Out->finish();
}

Result<std::vector<std::string>> CacheFolder::keys() const {
  std::set<std::string> Keys;
  std::error_code Failure;
  for (fs::directory_iterator Next(Path, Failure), End; !Failure && Next != End;
       Next.increment(Failure)) {
    std::string Suffix = Next->path().extension(), Stem = Next->path().stem();
    if (isHash(Stem) &&
        (Suffix == ArtifactSuffix || Suffix == DescriptionSuffix ||
         Suffix == NewSuffix || Suffix == LockSuffix))
      Keys.insert(Stem);
  }
  if (Failure)
    return Error(Path + ": cannot read the folder: " + Failure.message());
  return std::vector<std::string>(Keys.begin(), Keys.end());
}

Result<std::vector<Entry>> CacheFolder::list() const {
  Result<std::vector<std::string>> Keys = keys();
  if (!Keys)
    return Keys.error();
  std::vector<Entry> Entries;
  for (const std::string &Key : *Keys) {
    Result<std::optional<Entry>> Found = find(Key);
    if (Found && *Found) {
      Entries.push_back(std::move(**Found));
    } else if (!Found) {
      Entry Unused{Key, artifactPath(Key)};
      Unused.Origin = Found.error();
      for (std::string_view Suffix : {DescriptionSuffix, ArtifactSuffix})
        if (std::optional<FileState> State =
                stateOf(pathOf(*this, Key, Suffix))) {
          Unused.UsedNs = State->ModifiedNs;
          Unused.Bytes = Suffix == ArtifactSuffix ? State->Bytes : 0;
        }
      Entries.push_back(std::move(Unused));
    }
  }
  std::stable_sort(
      Entries.begin(), Entries.end(),
      [](const Entry &A, const Entry &B) { return A.UsedNs > B.UsedNs; });
  return Entries;
}

//===----------------------------------------------------------------------===//
// Clearing
//===----------------------------------------------------------------------===//

static Status removeFile(const std::string &Path) {
  if (::unlink(Path.c_str()) != 0 && errno != ENOENT)
    return systemError(Path, "cannot remove");
  return {};
}

Result<Cleared> CacheFolder::clear(std::optional<int64_t> UsedBeforeNs) const {
  Result<std::vector<std::string>> Keys = keys();
  if (!Keys)
    return Keys.error();
  Cleared Done;
  for (const std::string &Key : *Keys) {
    Result<std::optional<KeyLock>> Held = lock(Key);
    if (!Held)
      return Held.error();
    if (!*Held) {
      ++Done.InUse;
      continue;
    }
    std::optional<FileState> Artifact = stateOf(artifactPath(Key)),
                             Described =
                                 stateOf(pathOf(*this, Key, DescriptionSuffix));
    // What is left of an interrupted compilation has no use at any age.
    if (Status Removed = removeFile(newPath(Key)); !Removed)
      return Removed.error();
    if (UsedBeforeNs && Artifact && Described &&
        Described->ModifiedNs >= *UsedBeforeNs)
      continue;
    for (std::string_view Suffix : {DescriptionSuffix, ArtifactSuffix,
                                    // Last: until then nobody else comes in.
                                    LockSuffix})
      if (Status Removed = removeFile(pathOf(*this, Key, Suffix)); !Removed)
        return Removed.error();
    if (Artifact) {
      ++Done.Artifacts;
      Done.Bytes += Artifact->Bytes;
    }
  }
  std::error_code Failure;
  for (fs::directory_iterator Next(contentPath(), Failure), End;
       !Failure && Next != End; Next.increment(Failure)) {
    std::optional<FileState> State = stateOf(Next->path());
    if (!isHash(Next->path().filename().string()) || !State ||
        (UsedBeforeNs && State->ModifiedNs >= *UsedBeforeNs))
      continue;
    if (Status Removed = removeFile(Next->path()); !Removed)
      return Removed.error();
  }
  return Done;
}
