//===- PrefixCache.h - Prompts whose pages are kept -------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SERVING_PREFIXCACHE_H
#define TENON_RUNTIME_SERVING_PREFIXCACHE_H

#include "runtime/Cache/PageCache.h"

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::serving {

/// Finds the kept sequence that shares most whole pages with a prompt: an index
/// of hash chains, page after page, as in vLLM's automatic prefix caching. Ids
/// are stored and compared, so that a collision of hashes costs time and
/// nothing else. Owns no memory: who inserts a sequence ends it when the index
/// gives it back.
class PrefixCache {
public:
  explicit PrefixCache(size_t PageTokens) : PageTokens(PageTokens) {}

  struct Match {
    cache::SequenceId Sequence{};
    size_t Tokens = 0; ///< Whole pages that the two share.
  };

  /// The longest match of at most `MaxTokens` tokens among the sequences of
  /// `Salt`, which counts as used now. Requests of different salts never share.
  std::optional<Match> find(std::span<const int32_t> Prompt,
                            std::string_view Salt, size_t MaxTokens);

  /// Keeps `Sequence`, which holds the tokens `Prompt`, whole pages, whose
  /// numbers are the first of `Numbers`. What it makes superfluous is given
  /// back: a sequence that is the beginning of it, or itself where it is the
  /// beginning of another one.
  std::vector<cache::SequenceId> insert(cache::SequenceId Sequence,
                                        const int32_t *Numbers,
                                        std::vector<int32_t> Prompt,
                                        std::string Salt);

  /// Forgets and gives back the sequence that was not used for longest, but not
  /// `Spared`.
  std::optional<cache::SequenceId>
  evict(std::optional<cache::SequenceId> Spared = std::nullopt);

  /// Calls `Visit` with sequence, tokens and salt of each, last used first.
  template <typename Function> void forEach(Function Visit) const {
    for (const Entry &E : Entries)
      Visit(E.Sequence, std::span<const int32_t>(E.Tokens), E.Salt);
  }

  /// Pages of all sequences, those that they share counted once.
  size_t pages() const { return Holders.size(); }
  size_t size() const { return Entries.size(); }

private:
  struct Entry {
    cache::SequenceId Sequence{};
    std::vector<int32_t> Tokens;
    std::string Salt;
    std::vector<uint64_t> Chain; ///< One hash for each page and those before.
    std::vector<int32_t> Pages;  ///< Their numbers.
  };
  using Place = std::list<Entry>::iterator;

  std::vector<uint64_t> chainOf(std::span<const int32_t> Tokens,
                                std::string_view Salt) const;
  /// The first entry that begins with the first `Count` pages of `Tokens`.
  std::optional<Place> findPages(std::span<const int32_t> Tokens,
                                 std::string_view Salt, uint64_t Hash,
                                 size_t Count);
  cache::SequenceId remove(Place P);

  size_t PageTokens;
  std::list<Entry> Entries; ///< Last used first.
  /// How many entries hold a page, by its number. Not all that begin alike
  /// share: some ran before the other could be found.
  std::unordered_map<int32_t, size_t> Holders;
  std::unordered_multimap<uint64_t, Place> Index;
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_PREFIXCACHE_H
