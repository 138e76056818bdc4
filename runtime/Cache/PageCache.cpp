//===- PageCache.cpp - Pages of key-value caches --------------------------===//

#include "runtime/Cache/PageCache.h"

#include "runtime/Support/HugePages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace tenon;
using namespace tenon::cache;
using namespace tenon::artifact;

/// Page size where a model has no cache and only lengths are tracked.
static constexpr int64_t DefaultPageTokens = 64;
static constexpr int64_t MaxPageTokens = 1 << 20;
/// More would make the free list itself large.
static constexpr int64_t MaxPages = 1 << 24;

static Error unknownSequence(SequenceId Id) {
  return Error(ErrorKind::NotFound,
               "sequence " + std::to_string(static_cast<int64_t>(Id)) +
                   " does not exist or has ended");
}

Result<PageCache> PageCache::create(std::span<const CacheInfo> Kinds,
                                    int64_t MaxSequence, int64_t Tokens) {
  if (MaxSequence < 1)
    return Error("cache: maximum sequence length is " +
                 std::to_string(MaxSequence) + ": expected at least 1");
  PageCache C;
  C.MaxSequence = MaxSequence;
  C.PageTokens = Kinds.empty() ? DefaultPageTokens : Kinds[0].PageTokens;
  for (const CacheInfo &Info : Kinds) {
    if (Info.PageTokens < 1 || Info.PageTokens > MaxPageTokens)
      return Error("cache: page_tokens is " + std::to_string(Info.PageTokens) +
                   ": expected 1 to " + std::to_string(MaxPageTokens));
    if (Info.PageTokens != C.PageTokens)
      return Error("cache: page_tokens is " + std::to_string(Info.PageTokens) +
                   ": expected " + std::to_string(C.PageTokens) +
                   ", the same for every kind of cache");
    if (Info.Layers < 0 || Info.PageBytes < 1)
      return Error("cache: layers is " + std::to_string(Info.Layers) +
                   " and page_bytes is " + std::to_string(Info.PageBytes) +
                   ": expected at least 0 and 1");
  }
  int64_t MostTokens = MaxPages * C.PageTokens;
  if (Tokens < 1 || Tokens > MostTokens)
    return Error("cache: size is " + std::to_string(Tokens) +
                 " tokens: expected 1 to " + std::to_string(MostTokens));
  C.PageCount = (Tokens + C.PageTokens - 1) / C.PageTokens;

  for (const CacheInfo &Info : Kinds) {
    Kind K;
    K.Info = Info;
    K.Layers = Info.Layers;
    K.PageBytes = static_cast<uint64_t>(Info.PageBytes);
    auto Pages = static_cast<uint64_t>(C.PageCount);
    if (__builtin_mul_overflow(K.PageBytes, Pages, &K.Bytes) ||
        __builtin_mul_overflow(K.Bytes, static_cast<uint64_t>(K.Layers),
                               &K.Bytes))
      return Error(ErrorKind::OutOfMemory,
                   "cache: " + std::to_string(Tokens) +
                       " tokens take more bytes than 64 bits count");
    if (K.Bytes != 0) {
      void *Base = mapHuge(K.Bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
      if (Base == MAP_FAILED)
        return Error(ErrorKind::OutOfMemory,
                     "cache: cannot reserve " + std::to_string(K.Bytes) +
                         " bytes for " + std::to_string(Tokens) +
                         " tokens: " + std::strerror(errno));
      K.Base = static_cast<std::byte *>(Base);
    }
    C.Kinds.push_back(K);
  }
  C.Holders.resize(static_cast<size_t>(C.PageCount));
  C.WasTaken.resize(static_cast<size_t>(C.PageCount));
  C.Free.resize(static_cast<size_t>(C.PageCount));
  for (int64_t I = 0; I < C.PageCount; ++I)
    C.Free[static_cast<size_t>(I)] = static_cast<int32_t>(C.PageCount - 1 - I);
  return C;
}

PageCache::PageCache(PageCache &&Other) noexcept { *this = std::move(Other); }

PageCache &PageCache::operator=(PageCache &&Other) noexcept {
  if (this != &Other) {
    release();
    Kinds = std::exchange(Other.Kinds, {});
    Sequences = std::exchange(Other.Sequences, {});
    Free = std::exchange(Other.Free, {});
    Holders = std::exchange(Other.Holders, {});
    WasTaken = std::exchange(Other.WasTaken, {});
    NextId = Other.NextId;
    PageTokens = Other.PageTokens;
    PageCount = Other.PageCount;
    MaxSequence = Other.MaxSequence;
  }
  return *this;
}

PageCache::~PageCache() { release(); }

void PageCache::release() {
  for (const Kind &K : Kinds)
    if (K.Base)
      ::munmap(K.Base, K.Bytes);
  Kinds.clear();
}

SequenceId PageCache::createSequence() {
  int64_t Id = NextId++;
  Sequences[Id].Table.resize(PageTablePadding);
  return SequenceId(Id);
}

Result<SequenceId> PageCache::forkSequence(SequenceId Id) {
  auto Found = Sequences.find(static_cast<int64_t>(Id));
  if (Found == Sequences.end())
    return unknownSequence(Id);
  Sequence Copy = Found->second;
  // Pages reserved beyond the tokens there are stay the other's own.
  Copy.Pages = (Copy.Length + PageTokens - 1) / PageTokens;
  Copy.Table.resize(static_cast<size_t>(Copy.Pages));
  Copy.Table.resize(static_cast<size_t>(Copy.Pages + PageTablePadding));
  for (int64_t I = 0; I < Copy.Pages; ++I)
    ++Holders[static_cast<size_t>(Copy.Table[static_cast<size_t>(I)])];
  int64_t New = NextId++;
  Sequences[New] = std::move(Copy);
  return SequenceId(New);
}

Status PageCache::endSequence(SequenceId Id) {
  auto Found = Sequences.find(static_cast<int64_t>(Id));
  if (Found == Sequences.end())
    return unknownSequence(Id);
  returnPages(Found->second, 0);
  Sequences.erase(Found);
  return {};
}

Status PageCache::checkRoom(SequenceId Id, size_t Tokens) const {
  Result<int64_t> Length = length(Id);
  if (!Length)
    return Length.error();
  if (Tokens > static_cast<size_t>(MaxSequence - *Length))
    return Error("sequence of " + std::to_string(*Length) + " tokens and " +
                 std::to_string(Tokens) + " more: expected at most " +
                 std::to_string(MaxSequence) + ", the model's length");
  return {};
}

Status PageCache::reserve(SequenceId Id, int64_t Tokens) {
  // Negative numbers become too large ones.
  if (Status Fits = checkRoom(Id, static_cast<size_t>(Tokens)); !Fits)
    return Fits;
  Sequence &S = Sequences.find(static_cast<int64_t>(Id))->second;
  int64_t Needed = (S.Length + Tokens + PageTokens - 1) / PageTokens;
  // Of the pages there are, only the one with the next token is written to.
  auto Next = static_cast<size_t>(S.Length / PageTokens);
  bool Copies = Tokens > 0 && static_cast<int64_t>(Next) < S.Pages &&
                Holders[static_cast<size_t>(S.Table[Next])] > 1;
  int64_t Missing = std::max<int64_t>(Needed - S.Pages, 0) + (Copies ? 1 : 0);
  if (Missing > freePages())
    return Error(ErrorKind::OutOfCachePages,
                 "out of cache pages: sequence of " + std::to_string(S.Length) +
                     " tokens and " + std::to_string(Tokens) + " more needs " +
                     std::to_string(Missing) + " pages of " +
                     std::to_string(PageTokens) + " tokens, " +
                     std::to_string(freePages()) + " of " +
                     std::to_string(PageCount) + " are free");
  if (Copies) {
    int32_t Shared = S.Table[Next];
    S.Table[Next] = takePage(/*Zeroed=*/false);
    copyPage(Shared, S.Table[Next]);
    --Holders[static_cast<size_t>(Shared)];
  }
  if (S.HasDropped && Tokens > 0) {
    if (static_cast<int64_t>(Next) < S.Pages)
      zeroTokens(S.Table[Next], S.Length % PageTokens);
    S.HasDropped = false;
  }
  S.Table.resize(
      static_cast<size_t>(std::max(Needed, S.Pages) + PageTablePadding));
  for (; S.Pages < Needed; ++S.Pages)
    S.Table[static_cast<size_t>(S.Pages)] = takePage(/*Zeroed=*/true);
  return {};
}

int32_t PageCache::takePage(bool Zeroed) {
  int32_t Page = Free.back();
  Free.pop_back();
  Holders[static_cast<size_t>(Page)] = 1;
  // What is masked out is still multiplied by zero, and one infinite value left
  // behind would turn that into NaN.
  if (WasTaken[static_cast<size_t>(Page)] && Zeroed)
    for (std::span<std::byte> Range : pageMemory(Page))
      std::memset(Range.data(), 0, Range.size());
  WasTaken[static_cast<size_t>(Page)] = true;
  return Page;
}

void PageCache::copyPage(int32_t From, int32_t To) {
  for (size_t Kind = 0; Kind < Kinds.size(); ++Kind)
    for (int64_t Layer = 0; Layer < Kinds[Kind].Layers; ++Layer) {
      auto *Base = static_cast<std::byte *>(layer(Kind, Layer));
      uint64_t Bytes = Kinds[Kind].PageBytes;
      std::memcpy(Base + static_cast<uint64_t>(To) * Bytes,
                  Base + static_cast<uint64_t>(From) * Bytes, Bytes);
    }
}

Status PageCache::setLength(SequenceId Id, int64_t Length) {
  auto Found = Sequences.find(static_cast<int64_t>(Id));
  if (Found == Sequences.end())
    return unknownSequence(Id);
  Sequence &S = Found->second;
  if (Length < 0 || Length > S.Pages * PageTokens)
    return Error("sequence length " + std::to_string(Length) +
                 ": expected 0 to " + std::to_string(S.Pages * PageTokens) +
                 ", what its pages hold");
  S.Length = Length;
  returnPages(S, (Length + PageTokens - 1) / PageTokens);
  return {};
}

Status PageCache::truncateSequence(SequenceId Id, int64_t Length) {
  auto Found = Sequences.find(static_cast<int64_t>(Id));
  if (Found == Sequences.end())
    return unknownSequence(Id);
  Sequence &S = Found->second;
  if (Length < 0 || Length > S.Length)
    return Error("sequence " + std::to_string(static_cast<int64_t>(Id)) +
                 ": length " + std::to_string(Length) +
                 " to truncate to: expected 0 to " + std::to_string(S.Length) +
                 ", the tokens it holds");
  S.Length = Length;
  returnPages(S, (Length + PageTokens - 1) / PageTokens);
  // Not now: the page may be shared with a fork that needs these values.
  S.HasDropped = Length % PageTokens != 0;
  return {};
}

/// Zeroes the tokens of a page from `From` on.
static void zeroTokensOf(std::byte *Page, const artifact::CacheInfo &Info,
                         int64_t From) {
  auto Zero = [&](int64_t Begin, int64_t End) {
    std::memset(Page + Begin, 0, static_cast<size_t>(End - Begin));
  };
  if (Info.Form == artifact::LatentForm) {
    int64_t Row = Info.PageBytes / Info.PageTokens;
    return Zero(From * Row, Info.PageTokens * Row);
  }
  const PageLayout Layout = Info.layout();
  const int64_t Bytes = infoOf(Info.Format).Bytes, P = Layout.wordValues();
  // Blocks of keys and words of values that hold earlier tokens too.
  int64_t SharedKeys = From % Layout.block(), SharedValues = From % P;
  int64_t NextBlock = roundUp(From, Layout.block()),
          NextWord = roundUp(From, P);
  for (int64_t Head = 0; Head < Info.KvHeads; ++Head) {
    if (SharedKeys != 0)
      for (int64_t D = 0; D < Info.HeadDim; D += P)
        Zero(Layout.key(Head, From, D) * Bytes,
             (Layout.key(Head, NextBlock - 1, D) + P) * Bytes);
    Zero(Layout.key(Head, NextBlock, 0) * Bytes,
         Layout.key(Head + 1, 0, 0) * Bytes);
    if (SharedValues != 0)
      for (int64_t D = 0; D < Layout.valueWords(); ++D)
        Zero(Layout.value(Head, From, D) * Bytes,
             (Layout.value(Head, NextWord - 1, D) + 1) * Bytes);
    Zero(Layout.value(Head, NextWord, 0) * Bytes,
         Layout.value(Head + 1, 0, 0) * Bytes);
    if (infoOf(Info.Format).HasScales)
      for (bool OfValue : {false, true})
        Zero(Layout.scale(OfValue, Head, From),
             Layout.scale(OfValue, Head, Info.PageTokens));
  }
}

void PageCache::zeroTokens(int32_t Page, int64_t From) {
  for (size_t Kind = 0; Kind < Kinds.size(); ++Kind)
    for (int64_t Layer = 0; Layer < Kinds[Kind].Layers; ++Layer)
      zeroTokensOf(static_cast<std::byte *>(layer(Kind, Layer)) +
                       static_cast<uint64_t>(Page) * Kinds[Kind].PageBytes,
                   Kinds[Kind].Info, From);
}

void PageCache::returnPages(Sequence &S, int64_t Keep) {
  for (; S.Pages > Keep; --S.Pages) {
    int32_t &Entry = S.Table[static_cast<size_t>(S.Pages - 1)];
    int32_t Page = std::exchange(Entry, 0);
    if (--Holders[static_cast<size_t>(Page)] == 0)
      Free.push_back(Page);
  }
}

Result<int64_t> PageCache::length(SequenceId Id) const {
  auto Found = Sequences.find(static_cast<int64_t>(Id));
  if (Found == Sequences.end())
    return unknownSequence(Id);
  return Found->second.Length;
}

const int32_t *PageCache::pages(SequenceId Id) const {
  auto Found = Sequences.find(static_cast<int64_t>(Id));
  return Found == Sequences.end() ? nullptr : Found->second.Table.data();
}

void *PageCache::layer(size_t Kind, int64_t Layer) const {
  const auto &K = Kinds[Kind];
  return K.Base + static_cast<uint64_t>(Layer * PageCount) * K.PageBytes;
}

std::vector<std::span<const std::byte>> PageCache::memory() const {
  std::vector<std::span<const std::byte>> Ranges;
  for (const Kind &K : Kinds)
    if (K.Base)
      Ranges.emplace_back(K.Base, K.Bytes);
  return Ranges;
}

std::vector<std::span<std::byte>> PageCache::pageMemory(int32_t Page) const {
  std::vector<std::span<std::byte>> Ranges;
  for (size_t Kind = 0; Kind < Kinds.size(); ++Kind)
    for (int64_t Layer = 0; Layer < Kinds[Kind].Layers; ++Layer) {
      uint64_t Bytes = Kinds[Kind].PageBytes;
      Ranges.emplace_back(static_cast<std::byte *>(layer(Kind, Layer)) +
                              static_cast<uint64_t>(Page) * Bytes,
                          Bytes);
    }
  return Ranges;
}

uint64_t PageCache::bytesPerPage() const {
  uint64_t Bytes = 0;
  for (const Kind &K : Kinds)
    Bytes += static_cast<uint64_t>(K.Layers) * K.PageBytes;
  return Bytes;
}
