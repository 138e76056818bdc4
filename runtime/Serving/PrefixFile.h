//===- PrefixFile.h - Kept prompts that outlive their engine ----*- C++ -*-===//
//
// A file of kept prompts: their tokens, and the pages of keys and values that
// the model made of them. All numbers are little-endian:
//
//   magic                  8 bytes, as an artifact's with PREFX
//   version, page tokens   u32 each
//   binding, page bytes, prompts, pages, header bytes   u64 each
//   each prompt, last used first:
//     salt bytes, pages    u32 each
//     salt; tokens         i32 each; numbers of its pages, u32 each
//   each page: XXH3-64     u64
//   XXH3-64 of all before  u64
//   each page              page bytes, over kinds of caches and their layers
//
// Pages that prompts share are there once.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SERVING_PREFIXFILE_H
#define TENON_RUNTIME_SERVING_PREFIXFILE_H

#include "runtime/Engine/Session.h"
#include "runtime/Serving/PrefixCache.h"

#include <string>

namespace tenon::serving {

/// What decides the bits of keys and values beside the tokens, as a hash: the
/// artifact, this version of Tenon, and the CPU, whose caches too decide how
/// the library cuts its products.
uint64_t bindingOf(const engine::Model &M);

/// Writes all that is kept in `Prefixes` on the pages of `S` to `Path`, which
/// is replaced when the file is whole. Not during a step.
Status writePrefixes(const std::string &Path, const engine::Session &S,
                     const PrefixCache &Prefixes);

/// What came of reading.
struct PrefixesRead {
  size_t Prompts = 0; ///< Kept now.
  /// Of the file, for which there was no room.
  size_t LeftOut = 0;
  /// The file was made by another artifact, version or CPU; none was taken.
  bool IsOfAnother = false;
};

/// Puts the prompts of the file at `Path` into `Prefixes`, which is empty, and
/// their pages into `S`, last used first as far as pages are free. The file is
/// trusted in nothing; an error, which names the field, leaves all as it was.
/// Not during a step.
Result<PrefixesRead> readPrefixes(const std::string &Path, engine::Session &S,
                                  PrefixCache &Prefixes);

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_PREFIXFILE_H
