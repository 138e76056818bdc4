//===- CacheTest.cpp - Pages of key-value caches --------------------------===//

#include "runtime/Cache/PageCache.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;

static CacheInfo kindOf(int64_t Layers, int64_t PageTokens, int64_t PageBytes) {
  CacheInfo Info;
  Info.Layers = Layers;
  Info.KvHeads = 1;
  Info.HeadDim = 1;
  Info.PageTokens = PageTokens;
  Info.PageBytes = PageBytes;
  return Info;
}

static std::string errorOf(const Status &S) {
  return S ? "" : S.error().message();
}

TEST(CacheTest, PagesComeAndGo) {
  std::vector<CacheInfo> Kinds = {kindOf(2, 8, 100), kindOf(1, 8, 5000)};
  Result<PageCache> C = PageCache::create(Kinds, 100, 30);
  ASSERT_TRUE(C) << C.error().message();
  EXPECT_EQ(C->pageCount(), 4);
  EXPECT_EQ(C->freePages(), 4);
  EXPECT_EQ(C->bytesPerPage(), 2u * 100 + 5000);
  SequenceId A = C->createSequence(), B = C->createSequence();
  EXPECT_EQ(C->freePages(), 4);
  ASSERT_TRUE(C->reserve(A, 9));
  EXPECT_EQ(C->freePages(), 2);
  ASSERT_TRUE(C->setLength(A, 9));
  ASSERT_TRUE(C->reserve(A, 7)) << "fits the page it has";
  EXPECT_EQ(C->freePages(), 2);
  EXPECT_EQ(errorOf(C->reserve(B, 17)),
            "out of cache pages: sequence of 0 tokens and 17 more needs 3 "
            "pages of 8 tokens, 2 of 4 are free");
  EXPECT_EQ(C->freePages(), 2);
  ASSERT_TRUE(C->reserve(B, 16));
  std::set<int32_t> Distinct = {C->pages(A)[0], C->pages(A)[1], C->pages(B)[0],
                                C->pages(B)[1]};
  EXPECT_EQ(Distinct.size(), 4u);
  EXPECT_EQ(C->pages(A)[2], 0) << "the table is padded";
  ASSERT_TRUE(C->endSequence(A));
  EXPECT_EQ(C->freePages(), 2);
  EXPECT_EQ(C->pages(A), nullptr);
  ASSERT_TRUE(C->setLength(B, 8));
  EXPECT_EQ(C->freePages(), 3);
  EXPECT_FALSE(C->setLength(B, 9));
  EXPECT_FALSE(C->endSequence(A));
  EXPECT_FALSE(C->reserve(A, 1));
  EXPECT_EQ(errorOf(C->reserve(B, 93)),
            "sequence of 8 tokens and 93 more: expected at most 100, the "
            "model's length");
  EXPECT_FALSE(C->reserve(B, -1));
  EXPECT_FALSE(C->reserve(B, INT64_MAX));
}

TEST(CacheTest, LayersDoNotOverlapAndPagesTakenAgainAreZero) {
  for (int64_t PageBytes : {64, 1000, 12288}) {
    std::vector<CacheInfo> Kinds = {kindOf(3, 4, PageBytes)};
    Result<PageCache> C = PageCache::create(Kinds, 64, 32);
    ASSERT_TRUE(C);
    for (int64_t L = 1; L < 3; ++L)
      EXPECT_EQ(static_cast<char *>(C->layer(0, L)) -
                    static_cast<char *>(C->layer(0, L - 1)),
                8 * PageBytes);
    SequenceId A = C->createSequence(), B = C->createSequence();
    ASSERT_TRUE(C->reserve(A, 4));
    ASSERT_TRUE(C->setLength(A, 4));
    ASSERT_TRUE(C->reserve(B, 16));
    ASSERT_TRUE(C->setLength(B, 16));
    auto PageOf = [&](int64_t Layer, int32_t Page) {
      return static_cast<unsigned char *>(C->layer(0, Layer)) +
             Page * PageBytes;
    };
    auto Fill = [&](SequenceId Id, int Pages, int Value) {
      for (int64_t L = 0; L < 3; ++L)
        for (int P = 0; P < Pages; ++P)
          std::memset(PageOf(L, C->pages(Id)[P]), Value,
                      static_cast<size_t>(PageBytes));
    };
    Fill(A, 1, 0xaa);
    Fill(B, 4, 0xbb);
    std::vector<int32_t> PagesOfB(C->pages(B), C->pages(B) + 4);
    ASSERT_TRUE(C->endSequence(B));
    SequenceId Next = C->createSequence();
    ASSERT_TRUE(C->reserve(Next, 12));
    EXPECT_EQ(std::vector<int32_t>(C->pages(Next), C->pages(Next) + 3),
              std::vector<int32_t>(PagesOfB.begin(), PagesOfB.begin() + 3));
    PagesOfB.pop_back();
    for (int64_t L = 0; L < 3; ++L) {
      for (int64_t I = 0; I < PageBytes; ++I) {
        ASSERT_EQ(PageOf(L, C->pages(A)[0])[I], 0xaa)
            << "a neighbour was touched, page of " << PageBytes;
        for (int32_t P : PagesOfB)
          ASSERT_EQ(PageOf(L, P)[I], 0)
              << "byte " << I << " of a page of " << PageBytes;
      }
    }
  }
}

TEST(CacheTest, RefusesHostileSizes) {
  auto Try = [](std::vector<CacheInfo> Kinds, int64_t Length, int64_t Tokens) {
    Result<PageCache> C = PageCache::create(Kinds, Length, Tokens);
    return C ? std::string() : C.error().message();
  };
  EXPECT_EQ(Try({kindOf(1, 4, 64), kindOf(1, 8, 64)}, 10, 10),
            "cache: page_tokens is 8: expected 4, the same for every kind of "
            "cache");
  EXPECT_EQ(Try({kindOf(1, 0, 64)}, 10, 10),
            "cache: page_tokens is 0: expected 1 to 1048576");
  EXPECT_NE(Try({kindOf(1, INT64_MAX, 64)}, 10, 10), "");
  EXPECT_NE(Try({kindOf(-1, 4, 64)}, 10, 10), "");
  EXPECT_NE(Try({kindOf(1, 4, 0)}, 10, 10), "");
  EXPECT_NE(Try({kindOf(1, 4, 64)}, 0, 10), "");
  EXPECT_NE(Try({kindOf(1, 4, 64)}, 10, 0), "");
  EXPECT_NE(Try({kindOf(1, 4, 64)}, 10, INT64_MAX), "");
  EXPECT_EQ(Try({kindOf(INT64_MAX, 4, INT64_MAX)}, 10, 10),
            "cache: 10 tokens take more bytes than 64 bits count");
  EXPECT_NE(Try({kindOf(1 << 20, 4, int64_t(1) << 40)}, 10, 10), "")
      << "more than the address space";
}

TEST(CacheTest, ModelsWithoutACacheTrackLengths) {
  Result<PageCache> C = PageCache::create({}, 100, 100);
  ASSERT_TRUE(C);
  SequenceId A = C->createSequence();
  ASSERT_TRUE(C->reserve(A, 100));
  ASSERT_TRUE(C->setLength(A, 100));
  EXPECT_EQ(*C->length(A), 100);
  EXPECT_EQ(C->bytesPerPage(), 0u);
}

TEST(CacheTest, ForksShareUntilOneWrites) {
  std::vector<CacheInfo> Kinds = {kindOf(2, 8, 100), kindOf(1, 8, 5000)};
  Result<PageCache> C = PageCache::create(Kinds, 100, 40);
  ASSERT_TRUE(C);
  auto Byte = [&](size_t Kind, int64_t Layer, int32_t Page) -> char & {
    auto *Base = static_cast<char *>(C->layer(Kind, Layer));
    return Base[Page * Kinds[Kind].PageBytes + 99];
  };
  SequenceId A = C->createSequence();
  ASSERT_TRUE(C->reserve(A, 10));
  ASSERT_TRUE(C->setLength(A, 10));
  int32_t Full = C->pages(A)[0], Part = C->pages(A)[1];
  Byte(0, 1, Full) = 1;
  Byte(0, 1, Part) = 2;
  Byte(1, 0, Part) = 3;
  ASSERT_TRUE(C->reserve(A, 8));
  Result<SequenceId> B = C->forkSequence(A);
  ASSERT_TRUE(C->setLength(A, 10));
  ASSERT_TRUE(B);
  EXPECT_EQ(*C->length(*B), 10);
  EXPECT_EQ(C->freePages(), 3) << "a fork takes no page";
  ASSERT_TRUE(C->reserve(*B, 0));
  EXPECT_EQ(C->pages(*B)[1], Part) << "nothing to write yet";
  ASSERT_TRUE(C->reserve(*B, 1));
  EXPECT_EQ(C->freePages(), 2);
  EXPECT_EQ(C->pages(*B)[0], Full) << "a full page stays shared";
  int32_t Copied = C->pages(*B)[1];
  EXPECT_NE(Copied, Part);
  EXPECT_EQ(Byte(0, 1, Copied), 2);
  EXPECT_EQ(Byte(1, 0, Copied), 3);
  Byte(1, 0, Copied) = 4;
  EXPECT_EQ(Byte(1, 0, Part), 3);
  ASSERT_TRUE(C->reserve(A, 1));
  EXPECT_EQ(C->pages(A)[1], Part) << "the last holder writes in place";
  // Truncated into the shared page, the next token needs a copy of it.
  ASSERT_TRUE(C->setLength(*B, 5));
  EXPECT_EQ(C->freePages(), 3);
  SequenceId Rest = C->createSequence();
  ASSERT_TRUE(C->reserve(Rest, 24));
  EXPECT_EQ(C->pages(Rest)[0], Copied);
  EXPECT_EQ(Byte(1, 0, Copied), 0) << "zeroed again";
  EXPECT_EQ(errorOf(C->reserve(*B, 1)),
            "out of cache pages: sequence of 5 tokens and 1 more needs 1 "
            "pages of 8 tokens, 0 of 5 are free");
  ASSERT_TRUE(C->endSequence(Rest));
  ASSERT_TRUE(C->endSequence(A));
  EXPECT_EQ(C->freePages(), 4) << "the other sequence still holds one";
  EXPECT_EQ(Byte(0, 1, Full), 1);
  ASSERT_TRUE(C->endSequence(*B));
  EXPECT_EQ(C->freePages(), 5);
  EXPECT_FALSE(C->forkSequence(A));
}

/// Which token each byte of a page of keys and values belongs to, from the
/// layout as it is written down.
static std::vector<int64_t> tokensOfBytes(const CacheInfo &Info) {
  std::vector<int64_t> Tokens;
  int64_t Bytes = infoOf(Info.Format).Bytes, P = 4 / Bytes;
  auto Add = [&](int64_t Token, int64_t Count) {
    Tokens.insert(Tokens.end(), static_cast<size_t>(Count), Token);
  };
  for (int64_t Head = 0; Head < Info.KvHeads; ++Head)
    for (int64_t Block = 0; Block < 4; ++Block)
      for (int64_t Word = 0; Word < (Info.HeadDim + P - 1) / P; ++Word)
        for (int64_t Lane = 0; Lane < 16; ++Lane)
          Add(Block * 16 + Lane, 4);
  for (int64_t Head = 0; Head < Info.KvHeads; ++Head)
    for (int64_t Word = 0; Word < 64 / P; ++Word)
      for (int64_t D = 0; D < (Info.HeadDim + 15) / 16 * 16; ++D)
        for (int64_t I = 0; I < P; ++I)
          Add(Word * P + I, Bytes);
  if (Info.Format == CacheFormat::I8)
    for (int64_t Scale = 0; Scale < 2 * Info.KvHeads * 64; ++Scale)
      Add(Scale % 64, 4);
  return Tokens;
}

TEST(CacheTest, DroppedTokensAreZeroBeforeTheNextOne) {
  for (const CacheFormatInfo &Format : CacheFormats)
    for (int64_t HeadDim : {1, 6, 19, 64})
      for (int64_t Length : {1, 2, 3, 15, 16, 17, 33, 50, 63}) {
        CacheInfo Info = kindOf(2, 64, 0);
        Info.KvHeads = 3;
        Info.HeadDim = HeadDim;
        Info.Format = Format.Value;
        std::vector<int64_t> Tokens = tokensOfBytes(Info);
        Info.PageBytes = static_cast<int64_t>(Tokens.size());
        ASSERT_EQ(Info.layout().bytes(), Info.PageBytes) << Format.Name;
        Result<PageCache> C =
            PageCache::create(std::vector<CacheInfo>{Info}, 128, 128);
        ASSERT_TRUE(C) << C.error().message();
        SequenceId Id = C->createSequence();
        ASSERT_TRUE(C->reserve(Id, 64));
        ASSERT_TRUE(C->setLength(Id, 64));
        auto *Page = static_cast<uint8_t *>(C->layer(0, 1)) +
                     C->pages(Id)[0] * Info.PageBytes;
        std::memset(Page, 0xff, Tokens.size());
        ASSERT_TRUE(C->truncateSequence(Id, Length));
        ASSERT_TRUE(C->reserve(Id, 1));
        for (size_t I = 0; I < Tokens.size(); ++I)
          ASSERT_EQ(Page[I], Tokens[I] < Length ? 0xff : 0)
              << Format.Name << ", heads of " << HeadDim << ", length "
              << Length << ": byte " << I << " of token " << Tokens[I];
      }
}
