//===- ContentHash.h - What a file's content is known by --------*- C++ -*-===//

#ifndef TENON_RUNTIME_MODELCACHE_CONTENTHASH_H
#define TENON_RUNTIME_MODELCACHE_CONTENTHASH_H

#include "runtime/Support/Result.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

struct stat;

namespace tenon::modelcache {

/// XXH3-128 of `Text` as 32 hexadecimal digits. Tells contents apart that are
/// different by chance, not by an attack.
std::string hashOf(std::string_view Text);

/// Whether `Text` is what hashOf() answers.
bool isHash(std::string_view Text);

/// What the file system says of a file. Writing to a file changes it, and
/// unlike the time of modification alone nobody can set it back.
struct FileState {
  uint64_t Device = 0, Number = 0, Bytes = 0;
  int64_t ModifiedNs = 0, ChangedNs = 0; ///< Since 1970.

  static FileState of(const struct stat &Info);
  auto operator<=>(const FileState &) const = default;
};

struct HashedFile {
  std::string Hash; ///< hashOf() of the whole content.
  FileState State;  ///< Of the file while it had that content.
};

/// The hash of the file at `Path`, all of which is read, unless the folder
/// `Known` has the hash of a file in this state. `Read` is called now and then
/// with the bytes that were read in between.
///
/// The hash of what was read is added to `Known`. Not of a short file, and not
/// if the file was changed in the last seconds: clocks of file systems tick,
/// and another change in the same tick would go unseen.
Result<HashedFile> hashFile(const std::string &Path, const std::string &Known,
                            const std::function<void(uint64_t)> &Read = {});

} // namespace tenon::modelcache

#endif // TENON_RUNTIME_MODELCACHE_CONTENTHASH_H
