//===- PrefixFile.h - Cached prefixes that outlive their engine -*- C++ -*-===//
//
// A file of cached prefixes: their tokens, and the pages of keys and values
// that the model made of them. All numbers are little-endian:
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
// Pages that prompts share are there once. Prompts with images are left out. An
// artifact may hold the same as a section.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SERVING_PREFIXFILE_H
#define TENON_RUNTIME_SERVING_PREFIXFILE_H

#include "runtime/Engine/Session.h"
#include "runtime/Generation/Generator.h"
#include "runtime/Serving/PrefixCache.h"
#include "runtime/Support/OutputFile.h"

#include <string>
#include <string_view>

namespace tenon::serving {

/// Marks the prompts that an artifact holds: they are no secret of anybody's,
/// and found by requests of every salt.
inline constexpr std::string_view ArtifactSalt = "\nartifact";

/// What decides the bits of keys and values beside the tokens, as a hash: the
/// artifact but for the prompts in it, this version of Tenon, and the CPU,
/// whose caches too decide how the library cuts its products.
uint64_t bindingOf(const engine::Model &M);

/// Gives `Out` all that is kept in `Prefixes` on the pages of `S`, but what
/// has come from the artifact, and prompts with images, whose numbers mean
/// something to one scheduler alone. Not during a step.
Status writePrefixes(const ByteSink &Out, const engine::Session &S,
                     const PrefixCache &Prefixes);
/// The same into a file, which is replaced when the new one is whole.
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

/// Puts the prompts of the file at `Path` into `Prefixes` and their pages into
/// `S`, last used first, on at most `MaxPages` of the free ones. The file is
/// trusted in nothing; an error names the field. One that comes after pages
/// were taken, because the file changes, ends every prompt of `Prefixes`. Not
/// during a step.
Result<PrefixesRead> readPrefixes(const std::string &Path, engine::Session &S,
                                  int64_t MaxPages, PrefixCache &Prefixes);
/// The same of the prompts in the artifact of `S`, under ArtifactSalt.
Result<PrefixesRead> readArtifactPrefixes(engine::Session &S, int64_t MaxPages,
                                          PrefixCache &Prefixes);

/// The longest beginning of `Prompt` among the prompts of `Salt` and of the
/// artifact, but at most `MaxTokens` tokens.
std::optional<PrefixCache::Match> findPrefix(PrefixCache &Prefixes,
                                             std::span<const int32_t> Prompt,
                                             std::string_view Salt,
                                             size_t MaxTokens);

/// A sequence of its own that begins with what was found.
Result<cache::SequenceId> forkPrefix(engine::Session &S,
                                     const PrefixCache::Match &Found);

/// The prompts in an artifact, for requests that run without a scheduler.
class ArtifactPrompts {
public:
  /// Puts them on pages of `S`, which outlives this.
  static Result<ArtifactPrompts> create(engine::Session &S);

  const PrefixesRead &read() const { return Read; }

  /// What need not run again of the prompt of `R`; the generator ends it.
  std::optional<generation::PromptStart> startOf(const generation::Request &R);

private:
  explicit ArtifactPrompts(engine::Session &S)
      : S(&S), Kept(static_cast<size_t>(S.cache().pageTokens())) {}

  engine::Session *S;
  PrefixCache Kept;
  PrefixesRead Read;
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_PREFIXFILE_H
