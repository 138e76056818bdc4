//===- CacheFolder.h - Where compiled models are kept -----------*- C++ -*-===//
//
// A folder with an artifact for each key, and a description beside it:
//
//   KEY.tenon   the artifact
//   KEY.json    what it was made of; changed last when it was used last
//   KEY.new     what a compilation writes, renamed when it is whole
//   KEY.lock    held by who makes or removes the three above
//   content/    hashes of files that were read (ContentHash.h)
//
// Nothing else in the folder is touched.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_MODELCACHE_CACHEFOLDER_H
#define TENON_RUNTIME_MODELCACHE_CACHEFOLDER_H

#include "runtime/ModelCache/ContentHash.h"
#include "runtime/ModelCache/Settings.h"
#include "runtime/Support/InputFile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::modelcache {

/// $TENON_CACHE_DIR, else $XDG_CACHE_HOME/tenon, else ~/.cache/tenon, as an
/// absolute path; nothing has to be there.
Result<std::string> cachePath();

/// What an artifact was made of.
struct Description {
  std::string Model; ///< The absolute path that it was compiled from.
  Settings Compiled;
  std::string Level;   ///< Of the CPU.
  std::string Version; ///< Of Tenon.
  FileState Artifact;  ///< As it was left; its path is KEY.tenon.
};

/// An artifact in the folder.
struct Entry {
  std::string Key;
  std::string Path; ///< Of the artifact.
  uint64_t Bytes = 0;
  int64_t UsedNs = 0; ///< Since 1970.
  /// Or why there is none: the entry is not used.
  Result<Description> Origin = Error("");
};

/// The right to make or remove the files of a key, until it is destroyed or the
/// process ends.
class KeyLock {
public:
  explicit KeyLock(FileDescriptor File) : File(std::move(File)) {}

private:
  FileDescriptor File;
};

struct Cleared {
  uint64_t Artifacts = 0, Bytes = 0;
  uint64_t InUse = 0; ///< Keys that are left as they are being compiled.
};

class CacheFolder {
public:
  /// The folder at `Path`, which is made (for its user alone) if it is not
  /// there. An error when others may write to it: artifacts are native code.
  static Result<CacheFolder> open(const std::string &Path);

  const std::string &path() const { return Path; }
  /// The folder of known hashes, for hashFile().
  std::string contentPath() const { return Path + "/content"; }
  std::string artifactPath(const std::string &Key) const;
  /// Where a new artifact is written by who has the lock.
  std::string newPath(const std::string &Key) const;

  /// The lock of `Key`. While another process has it, `Waits` is called once,
  /// and the lock is waited for. Without `Waits`: none instead.
  Result<std::optional<KeyLock>>
  lock(const std::string &Key, const std::function<void()> &Waits = {}) const;

  /// The artifact of `Key`, null if there is none. An error says why what is
  /// there cannot be used: damaged, interrupted, or changed since.
  Result<std::optional<Entry>> find(const std::string &Key) const;
  /// Notes that it is used now.
  void touch(const std::string &Key) const;

  /// Makes what is at newPath() the artifact of `Key`, whose lock is held.
  Status add(const std::string &Key, Description Origin) const;

  /// All artifacts, the last used first.
  Result<std::vector<Entry>> list() const;

  /// Removes all artifacts that were last used before `UsedBeforeNs`, with
  /// what interrupted compilations have left; all of them without.
  Result<Cleared> clear(std::optional<int64_t> UsedBeforeNs) const;

private:
  explicit CacheFolder(std::string Path) : Path(std::move(Path)) {}
  Result<std::vector<std::string>> keys() const;

  std::string Path;
};

} // namespace tenon::modelcache

#endif // TENON_RUNTIME_MODELCACHE_CACHEFOLDER_H
