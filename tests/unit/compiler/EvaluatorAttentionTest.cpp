//===- EvaluatorAttentionTest.cpp - The oracle's attention ----------------===//

#include "EvaluatorTestSupport.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

TEST_F(EvaluatorOps, Masks) {
  evaluate::AttentionShape Shape;
  EXPECT_TRUE(Shape.sees(3, 0));
  EXPECT_TRUE(Shape.sees(3, 3));
  EXPECT_FALSE(Shape.sees(3, 4));
  Shape.Window = 2;
  EXPECT_TRUE(Shape.sees(3, 2));
  EXPECT_FALSE(Shape.sees(3, 1));
  Shape.Window.reset();
  Shape.Mask = MaskKind::Bidirectional;
  EXPECT_TRUE(Shape.sees(0, 4));
  Shape.Window = 2;
  EXPECT_TRUE(Shape.sees(3, 4));
  EXPECT_TRUE(Shape.sees(3, 2));
  EXPECT_FALSE(Shape.sees(3, 5));
  EXPECT_FALSE(Shape.sees(3, 1));
  Shape.Window.reset();
  Shape.Mask = MaskKind::Prefix;
  EXPECT_TRUE(Shape.sees(0, 2, /*Prefix=*/3));
  EXPECT_FALSE(Shape.sees(0, 3, 3));
  EXPECT_FALSE(Shape.sees(3, 4, 3));
  EXPECT_TRUE(Shape.sees(5, 0, 3));
}

TEST_F(EvaluatorOps, Scores) {
  evaluate::AttentionShape Shape;
  Shape.Heads = 3;
  Shape.Scale = 0.5;
  EXPECT_DOUBLE_EQ(Shape.score(0, 8, 4, 2), 4);
  Shape.SoftCap = 2;
  EXPECT_NEAR(Shape.score(0, 8, 4, 2), 2 * 0.9640276, 1e-6);

  // Three heads: 2^-4 and 2^-8 of two, then 2^-2, the first of four.
  Shape.Alibi = AlibiAttr::get(&Context, 8.0, /*rounded=*/false);
  EXPECT_NEAR(Shape.score(0, 8, 4, 2) - 2 * 0.9640276, 2.0 / 16, 1e-6);
  EXPECT_NEAR(Shape.score(1, 8, 4, 2) - 2 * 0.9640276, 2.0 / 256, 1e-6);
  EXPECT_NEAR(Shape.score(2, 8, 4, 2) - 2 * 0.9640276, 2.0 / 4, 1e-6);

  // Rounded and scaled: 2^-1.5 is 0.353515625 in bf16, 257 is 256, and their
  // matmul 90.5.
  Shape.SoftCap.reset();
  Shape.Alibi = AlibiAttr::get(&Context, 3.0, /*rounded=*/true);
  EXPECT_EQ(Shape.score(0, 8, 300, 257), 4 + 0.5 * 90.5);

  // Of 8 buckets from one side, 4 have a distance each.
  Shape.Alibi = {};
  Shape.Buckets = BucketsAttr::get(&Context, 8, 20, /*bidirectional=*/false);
  Tensor2D Bias(8, 3);
  std::iota(Bias.Data.begin(), Bias.Data.end(), 100.0f);
  Shape.Bias = &Bias;
  EXPECT_EQ(Shape.score(1, 8, 5, 2), 4 + 110);  // Bucket 3.
  EXPECT_EQ(Shape.score(2, 8, 20, 0), 4 + 123); // Bucket 7.
  EXPECT_EQ(Shape.score(2, 8, 0, 20), 4 + 102); // Behind: bucket 0.
}

/// As T5 of Transformers 5.23 counts them.
TEST_F(EvaluatorOps, BucketsOfDistances) {
  const int64_t Distances[] = {-200, -128, -64, -20, -12, -9, -8,
                               -7,   -1,   0,   1,   7,   8,  9,
                               12,   20,   64,  127, 128, 200};
  const int64_t Both[] = {15, 15, 14, 10, 9,  8,  8,  7,  1,  0,
                          17, 23, 24, 24, 25, 26, 30, 31, 31, 31};
  const int64_t Behind[] = {31, 31, 26, 17, 12, 9, 8, 7, 1, 0,
                            0,  0,  0,  0,  0,  0, 0, 0, 0, 0};
  auto TwoSided = BucketsAttr::get(&Context, 32, 128, true);
  auto OneSided = BucketsAttr::get(&Context, 32, 128, false);
  for (size_t I = 0; I < std::size(Distances); ++I) {
    EXPECT_EQ(TwoSided.bucketOf(Distances[I]), Both[I]) << Distances[I];
    EXPECT_EQ(OneSided.bucketOf(Distances[I]), Behind[I]) << Distances[I];
  }
}

TEST_F(EvaluatorOps, AttentionByHand) {
  // Keys of scores ln 1, ln 2 and ln 3 weigh 1 : 2 : 3.
  auto Ln = [](double X) { return static_cast<float>(std::log(X)); };
  EvaluatorBatch Batch = batchOf({3});
  Tensor2D Query = matrix({{2}, {2}, {2}});
  Tensor2D Keys = matrix({{Ln(1)}, {Ln(2)}, {Ln(3)}});
  Tensor2D Values = matrix({{6}, {12}, {30}});
  evaluate::AttentionShape Shape;
  Shape.Scale = 0.5;
  expectNear(evaluate::attention(Query, Batch, Keys, Values, Shape),
             matrix({{6}, {10}, {20}}));
  Shape.Window = 2;
  expectNear(evaluate::attention(Query, Batch, Keys, Values, Shape),
             matrix({{6}, {10}, {(2 * 12 + 3 * 30) / 5.0f}}));
  Shape.Window.reset();
  Shape.Mask = MaskKind::Bidirectional;
  expectNear(evaluate::attention(Query, Batch, Keys, Values, Shape),
             matrix({{20}, {20}, {20}}));
  // The same tokens as two sequences.
  expectNear(
      evaluate::attention(Query, batchOf({1, 2}), Keys, Values, Shape),
      matrix({{6}, {(2 * 12 + 3 * 30) / 5.0f}, {(2 * 12 + 3 * 30) / 5.0f}}));
}

TEST_F(EvaluatorOps, BiasesAndSinksByHand) {
  // All keys score 0 but for biases of ln 1, ln 2 and ln 3 by distance.
  auto Ln = [](double X) { return static_cast<float>(std::log(X)); };
  EvaluatorBatch Batch = batchOf({3});
  Tensor2D Zero = matrix({{0}, {0}, {0}});
  Tensor2D Values = matrix({{6}, {12}, {30}});
  Tensor2D Bias = matrix({{Ln(1)}, {Ln(2)}, {Ln(3)}, {0}});
  evaluate::AttentionShape Shape;
  Shape.Buckets = BucketsAttr::get(&Context, 4, 9, /*bidirectional=*/false);
  Shape.Bias = &Bias;
  expectNear(evaluate::attention(Zero, Batch, Zero, Values, Shape),
             matrix({{6}, {(12 + 2 * 6) / 3.0f}, {(30 + 24 + 18) / 6.0f}}));

  // A sink that weighs as much as one key of score 0.
  Shape.Buckets = {};
  Tensor2D Sinks = matrix({{0}});
  Shape.Sinks = &Sinks;
  expectNear(evaluate::attention(Zero, Batch, Zero, Values, Shape),
             matrix({{3}, {6}, {12}}));
  // One that weighs everything.
  Sinks = matrix({{1000}});
  for (float Element :
       evaluate::attention(Zero, Batch, Zero, Values, Shape).Data)
    EXPECT_EQ(Element, 0);
}

TEST_F(EvaluatorOps, PrefixesSeeEachOther) {
  KeyValueCache Cache(1, 1, CacheFormat::F32);
  EvaluatorBatch Batch = batchOf({3, 2});
  Batch.Prefixes = {2, 0};
  Tensor2D Zero = matrix({{0}, {0}, {0}, {0}, {0}});
  Tensor2D Values = matrix({{6}, {12}, {30}, {1}, {3}});
  ASSERT_TRUE(evaluate::cacheAppend(Cache, 0, Batch, Zero, Values));
  evaluate::AttentionShape Shape;
  Shape.Mask = MaskKind::Prefix;
  Tensor2D Wanted = matrix({{9}, {9}, {16}, {1}, {2}});
  expectNear(*evaluate::cachedAttention(Zero, Batch, Cache, 0, Shape), Wanted);
  expectNear(*evaluate::cachedOnlineAttention(Zero, Batch, Cache, 0, Shape),
             Wanted);
  Batch.Prefixes.clear();
  expectNear(*evaluate::cachedAttention(Zero, Batch, Cache, 0, Shape),
             matrix({{6}, {9}, {16}, {1}, {2}}));
  Batch.Prefixes = {4, 0};
  const char *Message = "sequence 0 in layer 0: expected a prefix of 4 in one "
                        "step, of which the cache holds 3";
  EXPECT_EQ(
      evaluate::cachedAttention(Zero, Batch, Cache, 0, Shape).error().message(),
      Message);
  EXPECT_EQ(evaluate::cachedOnlineAttention(Zero, Batch, Cache, 0, Shape)
                .error()
                .message(),
            Message);
}

TEST_F(EvaluatorOps, SourceTextsAreSeenWhole) {
  // Source texts of 3 and 1 tokens, then one target token of each.
  KeyValueCache Cache(1, 1, CacheFormat::F32);
  EvaluatorBatch Source = batchOf({3, 1});
  ASSERT_TRUE(evaluate::cacheAppend(Cache, 2, Source,
                                    matrix({{0}, {0}, {0}, {0}}),
                                    matrix({{6}, {12}, {30}, {7}})));
  EvaluatorBatch Target;
  Target.add(1, {{0}}, 9, 1);
  Target.add(0, {{0}}, 0, 1);
  evaluate::AttentionShape Shape;
  Shape.Mask = MaskKind::Bidirectional;
  Tensor2D Query = matrix({{1}, {1}});
  for (auto *Attention :
       {evaluate::cachedAttention, evaluate::cachedOnlineAttention}) {
    expectNear(*Attention(Query, Target, Cache, 2, Shape), matrix({{7}, {16}}));
    EXPECT_EQ(Attention(Query, Target, Cache, 0, Shape).error().message(),
              "sequence 1 in layer 0: expected a source text in the "
              "cross-attention cache, "
              "which holds none");
  }
}

TEST_F(EvaluatorOps, QueryHeadsShareKeyValueHeads) {
  // One token: each query head gets its key-value head's value.
  evaluate::AttentionShape Shape;
  Shape.Heads = 4;
  Shape.KvHeads = 2;
  expectNear(evaluate::attention(matrix({{1, 2, 3, 4, 5, 6, 7, 8}}),
                                 batchOf({1}), matrix({{1, 2, 3, 4}}),
                                 matrix({{10, 20, 30, 40}}), Shape),
             matrix({{10, 20, 10, 20, 30, 40, 30, 40}}));
}

TEST_F(EvaluatorOps, CacheKeepsSequencesAndLayersApart) {
  KeyValueCache Cache(2, 2, CacheFormat::F32);
  EvaluatorBatch Batch;
  Batch.add(7, {{0, 0}}, 0, 0);
  Batch.add(3, {{0}}, 0, 0);
  Tensor2D Keys = matrix({{1, 2}, {3, 4}, {5, 6}});
  Tensor2D Values = matrix({{10, 20}, {30, 40}, {50, 60}});
  ASSERT_TRUE(evaluate::cacheAppend(Cache, 1, Batch, Keys, Values));
  EXPECT_EQ(Cache.length(1, 7), 2);
  EXPECT_EQ(Cache.length(1, 3), 1);
  EXPECT_EQ(Cache.length(0, 7), 0);
  EXPECT_EQ(Cache.key(1, 7, 1)[0], 3);
  EXPECT_EQ(Cache.value(1, 3, 0)[1], 60);
  // An earlier position is overwritten, one too far on refused.
  EXPECT_TRUE(Cache.store(1, 7, 0, Keys.row(2), Values.row(2)));
  EXPECT_EQ(Cache.key(1, 7, 0)[0], 5);
  EXPECT_EQ(Cache.key(1, 7, 1)[0], 3);
  EXPECT_EQ(Cache.store(1, 7, 3, Keys.row(0), Values.row(0)).error().message(),
            "position 3 of sequence 7 in layer 1: expected at most 2, as many "
            "as the cache holds");
  Cache.forget(7);
  EXPECT_EQ(Cache.length(1, 7), 0);
  EXPECT_EQ(Cache.length(1, 3), 1);
}

TEST_F(EvaluatorOps, CacheRounds) {
  KeyValueCache Cache(1, 1, CacheFormat::BF16);
  float Key = 1.0039062f, Value = -3.0117188f; // Ties, to the even side.
  ASSERT_TRUE(Cache.store(0, 0, 0, &Key, &Value));
  EXPECT_EQ(*Cache.key(0, 0, 0), 1.0f);
  EXPECT_EQ(*Cache.value(0, 0, 0), -3.015625f + 0.0f);
  EXPECT_EQ(roundTo(ElementType::F32, Key), Key);
  EXPECT_EQ(roundTo(ElementType::F16, 1.0004883f), 1.0f);
}

TEST_F(EvaluatorOps, SplitTakesApartNormalisesAndRotates) {
  EvaluatorBatch Batch;
  Batch.add(0, {{0}}, 2, 0); // Position 2.
  // Two query heads and one key-value head of 2 elements.
  Tensor2D Merged = matrix({{1, 2, 3, 4, 5, 6, 7, 8}});
  Tensor2D Query = matrix({{1, 2, 3, 4}}), Keys = matrix({{5, 6}}),
           Values = matrix({{7, 8}});
  Tensor2D QueryNorm = matrix({{2, 3}}), KeyNorm = matrix({{5, 7}});
  evaluate::SplitShape Shape;
  Shape.Heads = 2;
  const Tensor2D *One[] = {&Merged}, *Three[] = {&Query, &Keys, &Values};
  auto Plain = evaluate::split(One, Batch, Shape);
  expectNear(Plain.Query, Query);
  expectNear(Plain.Keys, Keys);
  expectNear(Plain.Values, Values);

  Shape.QueryNorm = &QueryNorm;
  Shape.KeyNorm = &KeyNorm;
  Shape.Eps = 0.5;
  Shape.Rope = rope(RopeStyle::Half, 2, 1);
  float A = 1 / std::sqrt(3.0f), B = 1 / std::sqrt(13.0f),
        C = 1 / std::sqrt(31.0f);
  Tensor2D WantedQuery = evaluate::rope(matrix({{2 * A, 6 * A, 6 * B, 12 * B}}),
                                        {2}, 2, 0, Shape.Rope);
  Tensor2D WantedKeys =
      evaluate::rope(matrix({{25 * C, 42 * C}}), {2}, 1, 0, Shape.Rope);
  for (std::span<const Tensor2D *const> Qkv :
       {std::span<const Tensor2D *const>(One),
        std::span<const Tensor2D *const>(Three)}) {
    auto Parts = evaluate::split(Qkv, Batch, Shape);
    expectNear(Parts.Query, WantedQuery);
    expectNear(Parts.Keys, WantedKeys);
    expectNear(Parts.Values, Values);
  }

  // An offset is added to both norms' weights.
  Shape.NormOffset = 1;
  Tensor2D LessQuery = matrix({{1, 2}}), LessKey = matrix({{4, 6}});
  Shape.QueryNorm = &LessQuery;
  Shape.KeyNorm = &LessKey;
  auto Parts = evaluate::split(One, Batch, Shape);
  expectNear(Parts.Query, WantedQuery);
  expectNear(Parts.Keys, WantedKeys);

  KeyValueCache Cache(2, 2, CacheFormat::F32);
  EXPECT_FALSE(evaluate::splitAppend(One, Cache, 4, Batch, Shape));
  Batch.Positions = {0};
  ASSERT_TRUE(evaluate::splitAppend(One, Cache, 4, Batch, Shape));
  EXPECT_NEAR(Cache.key(4, 0, 0)[1], 42 * C, 1e-6);
  EXPECT_EQ(Cache.value(4, 0, 0)[0], 7);
}

TEST_F(EvaluatorOps, StagedPages) {
  // 70 tokens make two pages; head_dim 3 is padded to 16 in values only.
  constexpr int64_t Tokens = 70, KvHeads = 2, HeadDim = 3;
  Tensor2D Query = scattered(Tokens, 2 * KvHeads * HeadDim, 1);
  Tensor2D Keys = scattered(Tokens, KvHeads * HeadDim, 2);
  Tensor2D Values = scattered(Tokens, KvHeads * HeadDim, 3);
  evaluate::SplitShape Shape;
  Shape.Heads = 2 * KvHeads;
  Shape.KvHeads = KvHeads;
  const Tensor2D *Qkv[] = {&Query, &Keys, &Values};
  Tensor2D Staged = evaluate::splitStage(Qkv, batchOf({Tokens}), Shape).Staged;
  ASSERT_EQ(Staged.Rows, 2);
  ASSERT_EQ(Staged.Columns, (PageLayout{KvHeads, HeadDim}.elements()));
  ASSERT_EQ(Staged.Columns, 2 * 64 * (3 + 16));
  // Token 67 is 3 in page 1, token 37 is 5 in block 2 of page 0.
  EXPECT_EQ(Staged.at(1, 64 * 3 + 2 * 16 + 3), Keys.at(67, 5));
  EXPECT_EQ(Staged.at(0, 2 * 3 * 16 + 1 * 16 + 5), Keys.at(37, 1));
  EXPECT_EQ(Staged.at(1, 2 * 64 * 3 + (64 + 3) * 16 + 2), Values.at(67, 5));
  EXPECT_EQ(Staged.at(0, 2 * 64 * 3 + 37 * 16 + 1), Values.at(37, 1));
  EXPECT_EQ(Staged.at(0, 2 * 64 * 3 + 37 * 16 + 3), 0); // Padding.
  EXPECT_EQ(Staged.at(1, 6), 0);                        // No token 70.
}

TEST_F(EvaluatorOps, OnlineAttentionIsAttention) {
  // Large scores: the running maximum has to be taken out.
  constexpr int64_t KvHeads = 2, HeadDim = 5, Tokens = 150;
  EvaluatorBatch Batch = batchOf({100, 1, 49});
  Tensor2D Query = scattered(Tokens, 4 * HeadDim, 1);
  Tensor2D Keys = scattered(Tokens, KvHeads * HeadDim, 2);
  Tensor2D Values = scattered(Tokens, KvHeads * HeadDim, 3);
  const Tensor2D *Qkv[] = {&Query, &Keys, &Values};
  evaluate::SplitShape Split;
  Split.Heads = 4;
  Split.KvHeads = KvHeads;
  Tensor2D Staged = evaluate::splitStage(Qkv, Batch, Split).Staged;
  KeyValueCache Cache(KvHeads * HeadDim, KvHeads * HeadDim, CacheFormat::F32);
  ASSERT_TRUE(evaluate::cacheAppend(Cache, 0, Batch, Keys, Values));

  evaluate::AttentionShape Shape;
  Shape.Heads = 4;
  Shape.KvHeads = KvHeads;
  Shape.Scale = 300;
  for (std::optional<int64_t> Window :
       {std::optional<int64_t>(), std::optional<int64_t>(7),
        std::optional<int64_t>(70)}) {
    Shape.Window = Window;
    Tensor2D Wanted = evaluate::attention(Query, Batch, Keys, Values, Shape);
    expectNear(evaluate::onlineAttention(Query, Batch, Staged, Shape), Wanted);
    expectNear(*evaluate::cachedAttention(Query, Batch, Cache, 0, Shape),
               Wanted);
    expectNear(*evaluate::cachedOnlineAttention(Query, Batch, Cache, 0, Shape),
               Wanted);
  }
  // Everything that changes a score, and no change.
  Tensor2D Bias = scattered(8, 4, 5), Sinks = scattered(1, 4, 6);
  for (int Change = 0; Change < 7; ++Change) {
    SCOPED_TRACE(Change);
    Shape.Scale = 3;
    Shape.Window = Change == 5 ? std::optional<int64_t>(9) : std::nullopt;
    Shape.SoftCap = Change == 0 ? std::optional<double>(2) : std::nullopt;
    Shape.Alibi = Change == 1 || Change == 2
                      ? AlibiAttr::get(&Context, 8.0, Change == 2)
                      : AlibiAttr();
    Shape.Buckets =
        Change == 3 ? BucketsAttr::get(&Context, 8, 40, true) : BucketsAttr();
    Shape.Bias = &Bias;
    Shape.Sinks = Change == 4 || Change == 5 ? &Sinks : nullptr;
    for (MaskKind Mask : {MaskKind::Causal, MaskKind::Bidirectional}) {
      Shape.Mask = Mask;
      Tensor2D Wanted = evaluate::attention(Query, Batch, Keys, Values, Shape);
      expectNear(evaluate::onlineAttention(Query, Batch, Staged, Shape),
                 Wanted);
      expectNear(*evaluate::cachedAttention(Query, Batch, Cache, 0, Shape),
                 Wanted);
      expectNear(
          *evaluate::cachedOnlineAttention(Query, Batch, Cache, 0, Shape),
          Wanted);
    }
  }

  Batch.Positions.back() = 49;
  Shape.Mask = MaskKind::Causal;
  const char *Message = "position 49 of sequence 2 in layer 0: expected one "
                        "that the cache holds, which are 49";
  EXPECT_EQ(evaluate::cachedAttention(Query, Batch, Cache, 0, Shape)
                .error()
                .message(),
            Message);
  EXPECT_EQ(evaluate::cachedOnlineAttention(Query, Batch, Cache, 0, Shape)
                .error()
                .message(),
            Message);
}

/// Latent vectors, rotated keys and the matrix that expands them.
struct LatentCase {
  static constexpr int64_t Heads = 3, Rank = 5, KeyDim = 4, ValueDim = 2,
                           RopeDim = 2, Tokens = 21;
  EvaluatorBatch Batch = batchOf({14, 7});
  Tensor2D Query = scattered(Tokens, Heads *(KeyDim + RopeDim), 1);
  Tensor2D Latent = scattered(Tokens, Rank, 2);
  Tensor2D Rotated = scattered(Tokens, RopeDim, 3);
  Tensor2D Expand = scattered(Heads * (KeyDim + ValueDim), Rank, 4);
  evaluate::LatentShape Shape = {Heads, KeyDim, ValueDim, 3};
  KeyValueCache Cache{Rank + RopeDim, 0, CacheFormat::F32};

  Tensor2D run() {
    EXPECT_TRUE(evaluate::latentAppend(Cache, 0, Batch, Latent, Rotated));
    auto Got = evaluate::latentAttention(Query, Batch, Cache, 0, Expand, Shape);
    EXPECT_TRUE(Got) << Got.error().message();
    return Got ? *Got : Tensor2D();
  }
};

/// Attention of multi-head keys and values made of the latent vectors; values
/// are filled up to the width of keys.
TEST_F(EvaluatorOps, LatentAttentionIsAttention) {
  LatentCase L;
  constexpr int64_t HeadDim = LatentCase::KeyDim + LatentCase::RopeDim;
  constexpr int64_t Rows = LatentCase::KeyDim + LatentCase::ValueDim;
  Tensor2D Both = evaluate::linear(L.Latent, L.Expand, nullptr);
  Tensor2D Keys(L.Tokens, L.Heads * HeadDim),
      Values(L.Tokens, L.Heads * HeadDim);
  for (int64_t T = 0; T < L.Tokens; ++T)
    for (int64_t H = 0; H < L.Heads; ++H) {
      std::copy_n(Both.row(T) + H * Rows, L.KeyDim, Keys.row(T) + H * HeadDim);
      std::copy_n(L.Rotated.row(T), L.RopeDim,
                  Keys.row(T) + H * HeadDim + L.KeyDim);
      std::copy_n(Both.row(T) + H * Rows + L.KeyDim, L.ValueDim,
                  Values.row(T) + H * HeadDim);
    }
  evaluate::AttentionShape Shape;
  Shape.Heads = Shape.KvHeads = L.Heads;
  Shape.Scale = L.Shape.Scale;
  Tensor2D Padded = evaluate::attention(L.Query, L.Batch, Keys, Values, Shape);
  Tensor2D Wanted(L.Tokens, L.Heads * L.ValueDim);
  for (int64_t T = 0; T < L.Tokens; ++T)
    for (int64_t H = 0; H < L.Heads; ++H)
      std::copy_n(Padded.row(T) + H * HeadDim, L.ValueDim,
                  Wanted.row(T) + H * L.ValueDim);
  expectNear(L.run(), Wanted);
}

/// K moved to the query and V behind the sum: attention with one head of
/// latent vectors that all query heads share.
TEST_F(EvaluatorOps, LatentAttentionIsItsAbsorbedForm) {
  LatentCase L;
  constexpr int64_t Width = LatentCase::Rank + LatentCase::RopeDim;
  constexpr int64_t QueryDim = LatentCase::KeyDim + LatentCase::RopeDim;
  constexpr int64_t Rows = LatentCase::KeyDim + LatentCase::ValueDim;
  Tensor2D Query(L.Tokens, L.Heads * Width), Keys(L.Tokens, Width);
  for (int64_t T = 0; T < L.Tokens; ++T) {
    std::copy_n(L.Latent.row(T), L.Rank, Keys.row(T));
    std::copy_n(L.Rotated.row(T), L.RopeDim, Keys.row(T) + L.Rank);
    for (int64_t H = 0; H < L.Heads; ++H) {
      for (int64_t R = 0; R < L.Rank; ++R)
        for (int64_t D = 0; D < L.KeyDim; ++D)
          Query.at(T, H * Width + R) +=
              L.Query.at(T, H * QueryDim + D) * L.Expand.at(H * Rows + D, R);
      std::copy_n(L.Query.row(T) + H * QueryDim + L.KeyDim, L.RopeDim,
                  Query.row(T) + H * Width + L.Rank);
    }
  }
  evaluate::AttentionShape Shape;
  Shape.Heads = L.Heads;
  Shape.Scale = L.Shape.Scale;
  Tensor2D Sums = evaluate::attention(Query, L.Batch, Keys, Keys, Shape);
  Tensor2D Wanted(L.Tokens, L.Heads * L.ValueDim);
  for (int64_t T = 0; T < L.Tokens; ++T)
    for (int64_t H = 0; H < L.Heads; ++H)
      for (int64_t D = 0; D < L.ValueDim; ++D)
        for (int64_t R = 0; R < L.Rank; ++R)
          Wanted.at(T, H * L.ValueDim + D) +=
              L.Expand.at(H * Rows + L.KeyDim + D, R) *
              Sums.at(T, H * Width + R);
  expectNear(L.run(), Wanted, 2e-6);

  L.Batch.Positions.back() = 7;
  EXPECT_EQ(
      evaluate::latentAttention(L.Query, L.Batch, L.Cache, 0, L.Expand, L.Shape)
          .error()
          .message(),
      "position 7 of sequence 1 in layer 0: expected one that the cache holds, "
      "which are 7");
}

} // namespace
