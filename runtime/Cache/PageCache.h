//===- PageCache.h - Pages of key-value caches ------------------*- C++ -*-===//
//
// Owns the memory of caches of a session: pages are taken as sequences grow,
// shared by forks until one of them writes, and returned when sequences end.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CACHE_PAGECACHE_H
#define TENON_RUNTIME_CACHE_PAGECACHE_H

#include "runtime/Artifact/Manifest.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tenon::cache {

/// Names a sequence of one session; never reused.
enum class SequenceId : int64_t {};

/// One mapping [layer][page][page bytes] per kind of cache. A page number
/// stands for the same page of every layer of every kind. Pages handed out
/// are zero. Memory is reserved at once and taken from the machine when a page
/// is first written, 2 MiB at a time where the machine has huge pages; it is
/// kept until the end, for pages that were used are used again first. Not
/// thread-safe.
class PageCache {
public:
  /// Room for `Tokens` tokens (rounded up to whole pages) of caches as
  /// described by `Kinds`, all of which must have the same page size in tokens
  /// for they share the page tables. Sequences end at `MaxSequence` tokens.
  static Result<PageCache> create(std::span<const artifact::CacheInfo> Kinds,
                                  int64_t MaxSequence, int64_t Tokens);

  PageCache(PageCache &&Other) noexcept;
  PageCache &operator=(PageCache &&Other) noexcept;
  ~PageCache();

  /// A new sequence of length 0, which holds no page yet.
  SequenceId createSequence();
  /// A new sequence with the tokens of `Id`. Both share the pages until one
  /// of them is about to write; the copy happens in reserve().
  Result<SequenceId> forkSequence(SequenceId Id);
  /// Ends a sequence and returns the pages that no fork shares.
  Status endSequence(SequenceId Id);

  /// Whether the model's length lets the sequence grow by `Tokens` tokens.
  Status checkRoom(SequenceId Id, size_t Tokens) const;
  /// Takes pages so that the sequence can grow by `Tokens` tokens, and copies
  /// the page where they begin if a fork shares it. On an error (model's
  /// length, no page left) nothing has changed.
  Status reserve(SequenceId Id, int64_t Tokens);
  /// Makes the first `Length` tokens, for which there are pages, the content
  /// of the sequence, and returns pages beyond them.
  Status setLength(SequenceId Id, int64_t Length);

  /// Drops the tokens from the first `Length` on and returns the pages beyond.
  /// What they left on the last page is zeroed before it is next written to. An
  /// error for more tokens than the sequence holds.
  Status truncateSequence(SequenceId Id, int64_t Length);

  /// Tokens the sequence holds.
  Result<int64_t> length(SequenceId Id) const;
  /// The sequence's page numbers, followed by zeros up to PageTablePadding
  /// more entries; valid until the sequence next changes. Null for an unknown
  /// sequence.
  const int32_t *pages(SequenceId Id) const;

  /// Address of page 0 of `Layer` of kind `Kind`.
  void *layer(size_t Kind, int64_t Layer) const;

  int64_t pageTokens() const { return PageTokens; }
  int64_t pageCount() const { return PageCount; }
  int64_t freePages() const { return static_cast<int64_t>(Free.size()); }
  /// The memory that the page number `Page` stands for, one range for each
  /// layer of each kind.
  std::vector<std::span<std::byte>> pageMemory(int32_t Page) const;
  /// Bytes of one page number over all layers and kinds.
  uint64_t bytesPerPage() const;
  /// What is reserved, one range for each kind that has layers.
  std::vector<std::span<const std::byte>> memory() const;

private:
  struct Sequence {
    std::vector<int32_t> Table;
    int64_t Pages = 0;
    int64_t Length = 0;
    /// The page where the next token goes has values of dropped ones.
    bool HasDropped = false;
  };
  struct Kind {
    std::byte *Base = nullptr;
    uint64_t Bytes = 0;
    int64_t Layers = 0;
    uint64_t PageBytes = 0;
    /// How a page's values lie; see CacheInfo.
    artifact::CacheInfo Info;
  };

  PageCache() = default;
  void release();
  /// A free page, which a copy is about to fill or which has to be zero.
  int32_t takePage(bool Zeroed);
  void copyPage(int32_t From, int32_t To);
  /// Gives up pages beyond the first `Keep` of `S`; those that no other
  /// sequence holds are free again.
  void returnPages(Sequence &S, int64_t Keep);
  /// Zeroes what `Page` holds of its tokens from `From` on, in every layer.
  void zeroTokens(int32_t Page, int64_t From);

  std::vector<Kind> Kinds;
  std::unordered_map<int64_t, Sequence> Sequences;
  /// Taken from the back, lowest page number first.
  std::vector<int32_t> Free;
  /// Sequences that hold each page.
  std::vector<int32_t> Holders;
  /// Pages that are no longer as the machine gave them, which is zero.
  std::vector<bool> WasTaken;
  int64_t NextId = 1;
  int64_t PageTokens = 0;
  int64_t PageCount = 0;
  int64_t MaxSequence = 0;
};

/// Entries of zero after a page table: code may read whole vectors of it.
inline constexpr int64_t PageTablePadding = 64;

} // namespace tenon::cache

#endif // TENON_RUNTIME_CACHE_PAGECACHE_H
