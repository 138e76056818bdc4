//===- EvaluatorTest.cpp - The oracle, op by op and against references ----===//

#include "compiler/Evaluator/Evaluator.h"
#include "compiler/Builder/ModelBuilder.h"
#include "compiler/Evaluator/Operations.h"
#include "compiler/Families/Import.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Npy.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// The manifest has one of its own.
using transformer::Activation;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

Tensor2D matrix(std::initializer_list<std::initializer_list<float>> Rows) {
  Tensor2D Result(static_cast<int64_t>(Rows.size()),
                  static_cast<int64_t>(Rows.begin()->size()));
  Result.Data.clear();
  for (const auto &Row : Rows)
    Result.Data.insert(Result.Data.end(), Row);
  return Result;
}

/// Numbers between -1 and 1 without a pattern.
Tensor2D scattered(int64_t Rows, int64_t Columns, uint32_t Seed) {
  Tensor2D Result(Rows, Columns);
  for (float &X : Result.Data) {
    Seed = Seed * 1664525u + 1013904223u;
    X = static_cast<float>(Seed >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return Result;
}

/// The largest difference, relative to the largest magnitude of `Wanted`.
double difference(const float *Got, const float *Wanted, size_t Count) {
  double Largest = 0, Error = 0;
  for (size_t I = 0; I < Count; ++I) {
    Largest = std::max(Largest, std::abs(static_cast<double>(Wanted[I])));
    // So that a NaN fails.
    double Off = std::abs(static_cast<double>(Got[I]) - Wanted[I]);
    Error = Off <= Error ? Error : Off;
  }
  return Error / Largest;
}

void expectNear(const Tensor2D &Got, const Tensor2D &Wanted,
                double Tolerance = 1e-6) {
  ASSERT_EQ(Got.Rows, Wanted.Rows);
  ASSERT_EQ(Got.Columns, Wanted.Columns);
  EXPECT_LE(difference(Got.Data.data(), Wanted.Data.data(), Got.Data.size()),
            Tolerance);
  if (testing::Test::HasFailure())
    for (size_t I = 0; I < std::min<size_t>(Got.Data.size(), 16); ++I)
      ADD_FAILURE() << I << ": " << Got.Data[I] << ", wanted "
                    << Wanted.Data[I];
}

/// Tokens 0, 1, ... of each length as sequences 0, 1, ...; all are wanted.
EvaluatorBatch batchOf(std::initializer_list<int64_t> Lengths) {
  EvaluatorBatch Batch;
  int64_t Sequence = 0;
  for (int64_t Length : Lengths) {
    std::vector<int64_t> Ids(static_cast<size_t>(Length));
    std::iota(Ids.begin(), Ids.end(), 0);
    Batch.add(Sequence++, Ids, 0, Length);
  }
  return Batch;
}

//===----------------------------------------------------------------------===//
// Ops, by hand
//===----------------------------------------------------------------------===//

class EvaluatorOps : public testing::Test {
protected:
  EvaluatorOps() { loadModelDialects(Context); }

  RopeAttr rope(RopeStyle Style, int64_t Dim, double Base,
                RopeScaling Scaling = RopeScaling::Default, double Factor = 1) {
    return RopeAttr::get(&Context, Style, Dim, Base, Scaling, Factor, 0, 0, 0);
  }

  MLIRContext Context;
};

TEST_F(EvaluatorOps, Activations) {
  using evaluate::activate;
  EXPECT_EQ(activate(Activation::None, -3), -3);
  EXPECT_EQ(activate(Activation::Relu, -3), 0);
  EXPECT_EQ(activate(Activation::Relu, 2), 2);
  EXPECT_TRUE(std::isnan(activate(Activation::Relu, NAN)));
  // The normal distribution's and the logistic function's tables.
  EXPECT_NEAR(activate(Activation::Gelu, 1), 0.8413447f, 1e-6);
  EXPECT_NEAR(activate(Activation::Gelu, -2), -2 * 0.0227501f, 1e-6);
  EXPECT_NEAR(activate(Activation::GeluTanh, 1), 0.8411920f, 1e-6);
  EXPECT_NEAR(activate(Activation::Silu, 1), 0.7310586f, 1e-6);
  EXPECT_NEAR(activate(Activation::Silu, -1), -0.2689414f, 1e-6);
}

TEST_F(EvaluatorOps, Embedding) {
  Tensor2D Table = matrix({{1, 2}, {3, 4}, {5, 6}});
  expectNear(*evaluate::embedding(Table, {2, 0, 2}),
             matrix({{5, 6}, {1, 2}, {5, 6}}));
  for (int64_t Bad : {-1, 3})
    EXPECT_EQ(evaluate::embedding(Table, {0, Bad}).error().message(),
              "index " + std::to_string(Bad) +
                  " of token 1: expected at least 0 and below 3");
}

TEST_F(EvaluatorOps, Rope) {
  // Base 1 turns every pair by the position; head_dim 6, of which 4 rotate.
  auto C = static_cast<float>(std::cos(2.0));
  auto S = static_cast<float>(std::sin(2.0));
  Tensor2D Input = matrix({{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  auto Turned = [&](float A, float B) {
    return std::pair(A * C - B * S, B * C + A * S);
  };
  auto [A, B] = Turned(1, 3);
  auto [D, E] = Turned(2, 4);
  auto [F, G] = Turned(7, 9);
  auto [H, I] = Turned(8, 10);
  expectNear(evaluate::rope(Input, {2}, 2, rope(RopeStyle::Half, 4, 1)),
             matrix({{A, D, B, E, 5, 6, F, H, G, I, 11, 12}}));
  std::tie(A, B) = Turned(1, 2);
  std::tie(D, E) = Turned(3, 4);
  std::tie(F, G) = Turned(7, 8);
  std::tie(H, I) = Turned(9, 10);
  expectNear(evaluate::rope(Input, {2}, 2, rope(RopeStyle::Interleaved, 4, 1)),
             matrix({{A, B, D, E, 5, 6, F, G, H, I, 11, 12}}));

  // Base 100 of dim 4: frequencies 1 and 1/10; linear scaling halves them.
  Tensor2D Ones = matrix({{1, 1, 0, 0}});
  auto Angle = [](double X) {
    return std::pair(static_cast<float>(std::cos(X)),
                     static_cast<float>(std::sin(X)));
  };
  std::tie(A, B) = Angle(1.5);
  std::tie(D, E) = Angle(0.15);
  expectNear(
      evaluate::rope(Ones, {3}, 1,
                     rope(RopeStyle::Half, 4, 100, RopeScaling::Linear, 2)),
      matrix({{A, D, B, E}}));
}

TEST_F(EvaluatorOps, Norms) {
  // Mean 3, variance 4; with eps 12 the scale is 1/4.
  expectNear(evaluate::layerNorm(matrix({{1, 5}, {3, 3}}), matrix({{2, 4}}),
                                 matrix({{10, 20}}), 12),
             matrix({{9, 22}, {10, 20}}));
  // Mean square 5; with eps 4 the scale is 1/3.
  expectNear(evaluate::rmsNorm(matrix({{1, -3}}), matrix({{3, 6}}), 4),
             matrix({{1, -6}}));
  // Two groups of mean squares 5 and 12.
  expectNear(
      evaluate::rmsNorm(matrix({{1, -3, 0, 24}}), matrix({{3, 6}}), 4, 2),
      matrix({{1, -6, 0, 144 / std::sqrt(292.0f)}}));
}

TEST_F(EvaluatorOps, LinearSumsInDouble) {
  Tensor2D Weight = matrix({{1, 2}, {3, 4}, {0, -1}});
  Tensor2D Bias = matrix({{10, 20, 30}});
  Tensor2D Input = matrix({{1, 1}, {2, -1}});
  expectNear(evaluate::linear(Input, Weight, nullptr),
             matrix({{3, 7, -1}, {0, 2, 1}}));
  expectNear(evaluate::linear(Input, Weight, &Bias),
             matrix({{13, 27, 29}, {10, 22, 31}}));
  expectNear(evaluate::linear(matrix({{1e8f, 1, -1e8f}}), matrix({{1, 1, 1}}),
                              nullptr),
             matrix({{1}}));
}

TEST_F(EvaluatorOps, FeedForwards) {
  Tensor2D Input = matrix({{1, 2}});
  Tensor2D Up = matrix({{1, 0}, {0, -1}, {1, 1}});
  Tensor2D UpBias = matrix({{1, 1, 1}});
  Tensor2D Down = matrix({{1, 2, 3}});
  Tensor2D DownBias = matrix({{100}});
  // relu(1, -2, 3) and relu(2, -1, 4).
  expectNear(evaluate::feedForward(Activation::Relu, Input, Up, nullptr, Down,
                                   nullptr),
             matrix({{10}}));
  expectNear(evaluate::feedForward(Activation::Relu, Input, Up, &UpBias, Down,
                                   &DownBias),
             matrix({{114}}));
  // Gates 1, 0, 5 and with a bias of 1 each 2, 1, 6.
  Tensor2D Gate = matrix({{1, 0}, {2, -1}, {1, 2}});
  expectNear(evaluate::gatedFeedForward(Activation::Relu, Input, Gate, nullptr,
                                        Up, nullptr, Down, nullptr),
             matrix({{1 + 45}}));
  expectNear(evaluate::gatedFeedForward(Activation::Relu, Input, Gate, &UpBias,
                                        Up, &UpBias, Down, &DownBias),
             matrix({{100 + 4 - 2 + 72}}));
  expectNear(evaluate::gatedProduct(Activation::Relu, Input, Gate, &UpBias, Up,
                                    nullptr),
             matrix({{2, -2, 18}}));
}

TEST_F(EvaluatorOps, Product) {
  Tensor2D Input = matrix({{1, 2}});
  Tensor2D First = matrix({{1, 1}, {-1, -1}}), Second = matrix({{0, 1}});
  Tensor2D B1 = matrix({{1, 1}}), B2 = matrix({{5}});
  Tensor2D Multiplier = matrix({{2, 3, 4}}), Residual = matrix({{7, 8, 9}});
  const Tensor2D *Weights[] = {&First, &Second}, *Biases[] = {&B1, &B2};
  expectNear(
      evaluate::product(Input, Weights, {}, Activation::None, nullptr, nullptr),
      matrix({{3, -3, 2}}));
  expectNear(evaluate::product(Input, Weights, Biases, Activation::Relu,
                               &Multiplier, &Residual),
             matrix({{4 * 2 + 7, 0 * 3 + 8, 7 * 4 + 9}}));
}

TEST_F(EvaluatorOps, AddNorm) {
  Tensor2D Left = matrix({{0, 2}}), Right = matrix({{1, 3}});
  Tensor2D Weight = matrix({{2, 4}}), Bias = matrix({{10, 20}});
  auto Layer =
      evaluate::addNorm(NormKind::Layer, Left, Right, Weight, &Bias, 12);
  expectNear(Layer.Sum, matrix({{1, 5}}));
  expectNear(Layer.Normed, matrix({{9, 22}}));
  auto Rms = evaluate::addNorm(NormKind::Rms, Left, Right, Weight, nullptr, 3);
  expectNear(Rms.Sum, matrix({{1, 5}}));
  expectNear(Rms.Normed, matrix({{0.5f, 5}}));
  expectNear(evaluate::residual(Left, Right), matrix({{1, 5}}));
}

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
  KeyValueCache Cache(2, ElementType::F32);
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
  KeyValueCache Cache(1, ElementType::BF16);
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
                                        {2}, 2, Shape.Rope);
  Tensor2D WantedKeys =
      evaluate::rope(matrix({{25 * C, 42 * C}}), {2}, 1, Shape.Rope);
  for (std::span<const Tensor2D *const> Qkv :
       {std::span<const Tensor2D *const>(One),
        std::span<const Tensor2D *const>(Three)}) {
    auto Parts = evaluate::split(Qkv, Batch, Shape);
    expectNear(Parts.Query, WantedQuery);
    expectNear(Parts.Keys, WantedKeys);
    expectNear(Parts.Values, Values);
  }

  KeyValueCache Cache(2, ElementType::F32);
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
  ASSERT_EQ(Staged.Columns, pageElements(KvHeads, HeadDim));
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
  KeyValueCache Cache(KvHeads * HeadDim, ElementType::F32);
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
  Shape.Window.reset();
  Shape.Mask = MaskKind::Bidirectional;
  expectNear(evaluate::onlineAttention(Query, Batch, Staged, Shape),
             evaluate::attention(Query, Batch, Keys, Values, Shape));

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

TEST_F(EvaluatorOps, RowsAndPools) {
  EvaluatorBatch Batch = batchOf({2, 3});
  Batch.Wanted = {1, 4};
  Tensor2D Input = matrix({{1, 2}, {3, 6}, {0, 1}, {6, 1}, {3, 1}});
  expectNear(evaluate::selectRows(Input, Batch), matrix({{3, 6}, {3, 1}}));
  Tensor2D Bias = matrix({{100}});
  expectNear(evaluate::lmHead(Input, Batch, matrix({{1, 2}}), &Bias),
             matrix({{115}, {105}}));
  expectNear(evaluate::pool(PoolKind::Mean, Input, Batch, false),
             matrix({{2, 4}, {3, 1}}));
  expectNear(evaluate::pool(PoolKind::Cls, Input, Batch, false),
             matrix({{1, 2}, {0, 1}}));
  expectNear(evaluate::pool(PoolKind::Last, Input, Batch, false),
             matrix({{3, 6}, {3, 1}}));
  expectNear(evaluate::pool(PoolKind::Mean, matrix({{3, 4}, {0, 0}}),
                            batchOf({1, 1}), true),
             matrix({{0.6f, 0.8f}, {0, 0}}));
}

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

class EvaluatorModules : public testing::Test {
protected:
  EvaluatorModules() { loadModelDialects(Context); }

  /// Parses `Text` and makes an evaluator of it with `Stored` as parameters.
  Evaluator evaluatorOf(StringRef Text) {
    Module = parseSourceString<ModuleOp>(Text, &Context, "graph.mlir");
    EXPECT_TRUE(Module);
    Status Verified = verifyModel(*Module);
    EXPECT_TRUE(Verified) << Verified.error().message();
    return Evaluator(*Module,
                     [this](StringRef Name,
                            ArrayRef<int64_t>) -> Result<std::vector<float>> {
                       auto Found = Stored.find(Name.str());
                       if (Found == Stored.end())
                         return Error("no tensor '" + Name.str() + "'");
                       return Found->second;
                     });
  }

  MLIRContext Context;
  OwningOpRef<ModuleOp> Module;
  std::map<std::string, std::vector<float>> Stored;
};

TEST_F(EvaluatorModules, ScopesAndStoredTypes) {
  Stored["table"] = {1, 2, 3, 4};
  Stored["a.w"] = {1.0039062f, 0};
  Stored["b.w"] = {0, 2};
  Evaluator E = evaluatorOf(R"(
    func.func private @dot(%s: !transformer.scope, %x: tensor<?x2xf32>)
        -> tensor<?x1xf32> {
      %w = transformer.parameter %s "w" of ffn : tensor<1x2xbf16>
      %y = transformer.linear %x, %w
          : (tensor<?x2xf32>, tensor<1x2xbf16>) -> tensor<?x1xf32>
      return %y : tensor<?x1xf32>
    }
    func.func @encode(%batch: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %root = transformer.scope ""
      %a = transformer.scope "a"
      %b = transformer.scope "b"
      %t = transformer.parameter %root "table" of embedding : tensor<2x2xf32>
      %x = transformer.embedding token %batch, %t
          : (!transformer.batch, tensor<2x2xf32>) -> tensor<?x2xf32>
      %p = call @dot(%a, %x)
          : (!transformer.scope, tensor<?x2xf32>) -> tensor<?x1xf32>
      %q = call @dot(%b, %x)
          : (!transformer.scope, tensor<?x2xf32>) -> tensor<?x1xf32>
      %r = transformer.residual %p, %q : tensor<?x1xf32>
      return %r : tensor<?x1xf32>
    })");
  // 1.0039 becomes 1 in bf16.
  auto Got = E.run("encode", batchOf({2}));
  ASSERT_TRUE(Got) << Got.error().message();
  expectNear(*Got, matrix({{1 + 4}, {3 + 8}}), 0);

  EXPECT_EQ(E.run("step", batchOf({2})).error().message(),
            "module: role 'step': expected a function that has it");
  EXPECT_EQ(E.run("encode", batchOf({3})).error().message(),
            "'transformer.embedding' at loc(\"graph.mlir\":15:12): index 2 of "
            "token 2: expected at least 0 and below 2");
  Stored.erase("b.w");
  EXPECT_EQ(E.run("encode", batchOf({2})).error().message(),
            "'transformer.parameter' at loc(\"graph.mlir\":4:12): no tensor "
            "'b.w'");
  Stored["b.w"] = {1};
  EXPECT_EQ(E.run("encode", batchOf({2})).error().message(),
            "'transformer.parameter' at loc(\"graph.mlir\":4:12): parameter "
            "'b.w' has 1 elements: expected 2");
}

TEST_F(EvaluatorModules, IndicesOfEmbeddings) {
  Stored["tokens"] = {1, 2, 3};
  Stored["positions"] = {10, 20, 30};
  Stored["types"] = {100, 200};
  Evaluator E = evaluatorOf(R"(
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %s = transformer.scope ""
      %w = transformer.parameter %s "tokens" of embedding : tensor<3x1xf32>
      %p = transformer.parameter %s "positions" of embedding : tensor<3x1xf32>
      %t = transformer.parameter %s "types" of embedding : tensor<2x1xf32>
      %x = transformer.embedding token %b, %w
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      %y = transformer.embedding position %b, %p
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      %z = transformer.embedding token_type %b, %t
          : (!transformer.batch, tensor<2x1xf32>) -> tensor<?x1xf32>
      %xy = transformer.residual %x, %y : tensor<?x1xf32>
      %xyz = transformer.residual %xy, %z : tensor<?x1xf32>
      return %xyz : tensor<?x1xf32>
    })");
  EvaluatorBatch Batch;
  Batch.add(0, {{2, 0, 1}}, 0, 0);
  Batch.TokenTypes = {0, 1, 0};
  expectNear(*E.run("encode", Batch), matrix({{113}, {221}, {132}}), 0);
  Batch.TokenTypes.clear();
  expectNear(*E.run("encode", Batch), matrix({{113}, {121}, {132}}), 0);
}

TEST_F(EvaluatorModules, DispatchPicksByRows) {
  Stored["table"] = {0, 0, 0};
  Stored["few"] = {1};
  Stored["many"] = {2};
  for (bool ByWanted : {false, true}) {
    std::string Text = R"(
      module attributes {transformer.few_tokens = 2 : i64} {
      func.func private @f(%s: !transformer.scope, %x: tensor<?x1xf32>)
          -> tensor<?x1xf32> {
        %w = transformer.parameter %s "few" of norm : tensor<1xf32>
        %y = transformer.layer_norm %x, %w, %w eps 0.5
            : (tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      }
      func.func private @m(%s: !transformer.scope, %x: tensor<?x1xf32>)
          -> tensor<?x1xf32> {
        %w = transformer.parameter %s "many" of norm : tensor<1xf32>
        %y = transformer.layer_norm %x, %w, %w eps 0.5
            : (tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      }
      func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
          attributes {transformer.role = "encode",
                      transformer.output = "hidden"} {
        %s = transformer.scope ""
        %t = transformer.parameter %s "table" of embedding : tensor<3x1xf32>
        %x = transformer.embedding token %b, %t
            : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
        %y = transformer.dispatch @f or @m by )" +
                       std::string(ByWanted ? "wanted" : "tokens") +
                       R"( (%s, %x)
            : (!transformer.scope, tensor<?x1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      } })";
    Evaluator E = evaluatorOf(Text);
    EvaluatorBatch Batch = batchOf({2});
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), 1);
    Batch = batchOf({3});
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), 2);
    Batch.Wanted.pop_back();
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), ByWanted ? 1 : 2);
  }
}

TEST_F(EvaluatorModules, RowCountsAreChecked) {
  Stored["table"] = {0, 0, 0};
  Evaluator E = evaluatorOf(R"(
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %s = transformer.scope ""
      %t = transformer.parameter %s "table" of embedding : tensor<3x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      %y = transformer.select_rows %x, %b
          : (tensor<?x1xf32>, !transformer.batch) -> tensor<?x1xf32>
      %z = transformer.residual %x, %y : tensor<?x1xf32>
      return %z : tensor<?x1xf32>
    })");
  EvaluatorBatch Batch = batchOf({3});
  EXPECT_TRUE(E.run("encode", Batch));
  Batch.Wanted = {1};
  EXPECT_EQ(E.run("encode", Batch).error().message(),
            "'transformer.residual' at loc(\"graph.mlir\":10:12): operand has "
            "1 rows: expected 3");
}

TEST_F(EvaluatorModules, Recursion) {
  Evaluator E = evaluatorOf(R"(
    func.func private @f(%b: !transformer.batch) -> tensor<?x1xf32> {
      %y = call @f(%b) : (!transformer.batch) -> tensor<?x1xf32>
      return %y : tensor<?x1xf32>
    }
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %y = call @f(%b) : (!transformer.batch) -> tensor<?x1xf32>
      return %y : tensor<?x1xf32>
    })");
  EXPECT_EQ(E.run("encode", batchOf({1})).error().message(),
            "'func.func' at loc(\"graph.mlir\":2:5): calls nest deeper than "
            "64");
}

TEST_F(EvaluatorModules, Batches) {
  Stored["table"] = {0, 0, 0};
  Evaluator E = evaluatorOf(R"(
    module attributes {transformer.max_sequence = 4 : i64} {
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %s = transformer.scope ""
      %t = transformer.parameter %s "table" of embedding : tensor<3x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      return %x : tensor<?x1xf32>
    } })");
  auto ExpectRefused = [&](const EvaluatorBatch &Batch, StringRef Message) {
    auto Got = E.run("encode", Batch);
    ASSERT_FALSE(Got) << Message.str();
    EXPECT_EQ(Got.error().message(), Message.str());
  };
  EvaluatorBatch Good = batchOf({2, 1});
  EXPECT_TRUE(E.run("encode", Good));
  ExpectRefused({}, "batch: field 'TokenIds' has 0 elements: expected at "
                    "least 1");
  EvaluatorBatch Bad = Good;
  Bad.Positions.pop_back();
  ExpectRefused(Bad, "batch: field 'Positions' has 2 elements: expected 3, one "
                     "per token");
  Bad = Good;
  Bad.Sequences.pop_back();
  ExpectRefused(Bad, "batch: field 'Sequences' has 2 elements: expected 3, one "
                     "per token");
  Bad = Good;
  Bad.TokenTypes = {0};
  ExpectRefused(Bad, "batch: field 'TokenTypes' has 1 elements: expected 3, "
                     "one per token");
  Bad = Good;
  Bad.Positions[0] = -1;
  ExpectRefused(Bad, "batch: field 'Positions' of token 0 is -1: expected at "
                     "least 0");
  Bad = Good;
  Bad.Positions[2] = 4;
  ExpectRefused(Bad, "batch: field 'Positions' of token 2 is 4: expected below "
                     "4");
  Bad = Good;
  Bad.Positions[1] = 3;
  ExpectRefused(Bad, "batch: field 'Positions' of token 1 is 3: expected 1, "
                     "the next of its sequence");
  Bad = Good;
  Bad.Sequences = {0, 1, 0};
  ExpectRefused(Bad, "batch: field 'Sequences' of token 2 is 0: expected the "
                     "tokens of a sequence side by side");
  for (std::vector<int64_t> Wanted :
       {std::vector<int64_t>{0, 0}, {1, 0}, {3}, {-1}}) {
    Bad = Good;
    Bad.Wanted = Wanted;
    ExpectRefused(Bad, "batch: field 'Wanted' has " +
                           std::to_string(Wanted.back()) +
                           ": expected ascending rows below 3");
  }
}

//===----------------------------------------------------------------------===//
// Stored references
//===----------------------------------------------------------------------===//

struct Fixture {
  std::string Name, Kind, Reference;
};

std::string fixturePath(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/numerics/fixtures/" + Name;
}

/// What index.json lists; empty, which a test notices, when it cannot be read.
std::vector<Fixture> fixtures() {
  std::vector<Fixture> All;
  auto Index = readJsonFile(fixturePath("index.json"));
  if (!Index)
    return All;
  for (const Json &Entry : *Index)
    All.push_back({Entry.at("name"), Entry.at("kind"), Entry.at("reference")});
  return All;
}

NpyArray arrayOf(const std::string &Path) {
  auto Array = readNpy(Path);
  EXPECT_TRUE(Array) << Array.error().message();
  return Array ? *Array : NpyArray();
}

void PrintTo(const Fixture &F, std::ostream *Out) { *Out << F.Name; }

class EvaluatorReferences : public testing::TestWithParam<Fixture> {
protected:
  EvaluatorReferences() {
    DialectRegistry Registry;
    registerDialects(Registry);
    Context.appendDialectRegistry(Registry);
    loadModelDialects(Context);
    Context.disableMultithreading();
  }

  void SetUp() override {
    std::string Directory = fixturePath(GetParam().Name);
    ImportOptions Options;
    Options.MatrixType = ElementType::F32; // What the references computed in.
    auto Imported = importModel(Context, Directory, Options);
    ASSERT_TRUE(Imported) << Imported.error().message();
    Model.emplace(std::move(*Imported));
    Ids = arrayOf(Directory + "/input_ids.npy").Integers;
    ASSERT_GE(Ids.size(), 14u);
    Wanted = arrayOf(Directory + "/" + GetParam().Reference);
    if (isDecoder())
      Greedy = arrayOf(Directory + "/greedy.npy").Integers;
    else
      Types = arrayOf(Directory + "/token_type_ids.npy").Integers;
  }

  bool isDecoder() const { return GetParam().Kind == "logits"; }

  /// Runs the fused stage; batches of at most `FewTokens` run `.few` code.
  void fuse(int64_t FewTokens) {
    PassManager Passes(&Context);
    PipelineOptions Options;
    Options.FewTokens = FewTokens;
    for (const Stage &S : stages()) {
      S.Populate(Passes, Options);
      if (S.Name == "fused")
        break;
    }
    ASSERT_TRUE(succeeded(Passes.run(*Model->Module)));
    int64_t Fused = 0;
    Model->Module->walk([&](Operation *Op) {
      EXPECT_FALSE((isa<LinearOp, AttentionOp, LmHeadOp, FeedForwardOp,
                        GatedFeedForwardOp>(Op)));
      Fused += isa<OnlineAttentionOp>(Op);
    });
    EXPECT_GT(Fused, 0);
  }

  /// The output for every token, from a single step.
  Tensor2D whole(Evaluator &E, int64_t Sequence = 0) {
    EvaluatorBatch Batch;
    Batch.add(Sequence, Ids, 0, static_cast<int64_t>(Ids.size()));
    Batch.TokenTypes = Types;
    auto Got = E.run(isDecoder() ? "step" : "encode", Batch);
    EXPECT_TRUE(Got) << Got.error().message();
    return Got ? *Got : Tensor2D();
  }

  Tensor2D step(Evaluator &E, const EvaluatorBatch &Batch) {
    auto Got = E.run("step", Batch);
    EXPECT_TRUE(Got) << Got.error().message();
    return Got ? *Got : Tensor2D();
  }

  Evaluator evaluator() {
    return Evaluator(*Model->Module, checkpointParameters(*Model->Weights));
  }

  /// The last rows of one step are those that are stored.
  void checkOutput() {
    Evaluator E = evaluator();
    Tensor2D Got = whole(E);
    ASSERT_EQ(Wanted.Shape.size(), 2u);
    ASSERT_EQ(Got.Columns, Wanted.Shape[1]);
    ASSERT_EQ(Got.Rows, static_cast<int64_t>(Ids.size()));
    ASSERT_GE(Got.Rows, Wanted.Shape[0]);
    double Error = difference(Got.row(Got.Rows - Wanted.Shape[0]),
                              Wanted.Floats.data(), Wanted.Floats.size());
    RecordProperty("error", std::to_string(Error));
    EXPECT_LE(Error, 1e-4);
  }

  /// Nine tokens of prompt, then token by token through the cache.
  void checkGreedy() {
    if (!isDecoder())
      return;
    Evaluator E = evaluator();
    std::vector<int64_t> Next(Ids.begin(), Ids.begin() + 9), Chosen;
    int64_t Position = 0;
    while (Chosen.size() < Greedy.size()) {
      EvaluatorBatch Batch;
      Batch.add(0, Next, Position, 1);
      Tensor2D Logits = step(E, Batch);
      ASSERT_EQ(Logits.Rows, 1);
      Position += static_cast<int64_t>(Next.size());
      Next = {std::max_element(Logits.Data.begin(), Logits.Data.end()) -
              Logits.Data.begin()};
      Chosen.push_back(Next.front());
    }
    EXPECT_EQ(Chosen, Greedy);
  }

  /// Chunks, single tokens, and sequences side by side give what a single step
  /// of one sequence gives.
  void checkBatching() {
    Evaluator E = evaluator();
    auto Count = static_cast<int64_t>(std::min<size_t>(Ids.size(), 37));
    Ids.resize(static_cast<size_t>(Count));
    if (!isDecoder()) {
      Types.resize(static_cast<size_t>(Count));
      checkEncoderBatching(E);
      return;
    }
    Tensor2D Wanted = whole(E, /*Sequence=*/0);
    // Sequence 1 in chunks, among them single tokens, while sequence 2 runs
    // beside it some tokens behind.
    Tensor2D First(0, Wanted.Columns), Second(0, Wanted.Columns);
    int64_t Done = 0, Behind = 0;
    for (int64_t Chunk : {int64_t(5), int64_t(1), int64_t(1), int64_t(12),
                          int64_t(1), int64_t(9), int64_t(8), int64_t(0)}) {
      EvaluatorBatch Batch;
      int64_t Other = Chunk == 0 ? Count - Behind : std::min<int64_t>(Done, 4);
      Other = std::min(Other, Count - Behind);
      if (Other > 0)
        Batch.add(2, std::span(Ids).subspan(Behind, Other), Behind, Other);
      Chunk = std::min(Chunk, Count - Done);
      if (Chunk > 0)
        Batch.add(1, std::span(Ids).subspan(Done, Chunk), Done, Chunk);
      Tensor2D Got = step(E, Batch);
      ASSERT_EQ(Got.Rows, Chunk + Other);
      auto Split = Got.Data.begin() + Other * Got.Columns;
      Second.Data.insert(Second.Data.end(), Got.Data.begin(), Split);
      First.Data.insert(First.Data.end(), Split, Got.Data.end());
      Done += Chunk;
      Behind += Other;
    }
    First.Rows = Done;
    Second.Rows = Behind;
    ASSERT_EQ(Done, Count);
    ASSERT_EQ(Behind, Count);
    expectNear(First, Wanted, 1e-6);
    expectNear(Second, Wanted, 1e-6);

    // A sequence that ended may begin again, and only wanted rows come out.
    E.forget(1);
    EvaluatorBatch Last;
    Last.add(1, Ids, 0, 2);
    Tensor2D Got = step(E, Last);
    ASSERT_EQ(Got.Rows, 2);
    EXPECT_LE(difference(Got.row(0), Wanted.row(Count - 2), Got.Data.size()),
              1e-6);
    // Past the cache's end is an error.
    E.forget(1);
    Last = {};
    Last.add(1, {{0}}, 3, 1);
    auto Refused = E.run("step", Last);
    ASSERT_FALSE(Refused);
    EXPECT_NE(Refused.error().message().find(
                  "position 3 of sequence 1 in layer 0: expected at most 0"),
              std::string::npos)
        << Refused.error().message();
  }

  void checkEncoderBatching(Evaluator &E) {
    auto Count = static_cast<int64_t>(Ids.size());
    auto Run = [&](std::initializer_list<std::pair<int64_t, int64_t>> Parts) {
      EvaluatorBatch Batch;
      int64_t Sequence = 0;
      for (auto [From, Length] : Parts) {
        Batch.add(Sequence++, std::span(Ids).subspan(From, Length), 0, Length);
        Batch.TokenTypes.insert(Batch.TokenTypes.end(), Types.begin() + From,
                                Types.begin() + From + Length);
      }
      auto Got = E.run("encode", Batch);
      EXPECT_TRUE(Got) << Got.error().message();
      return Got ? *Got : Tensor2D();
    };
    Tensor2D Long = Run({{0, Count}}), Short = Run({{3, 11}});
    Tensor2D Both = Run({{3, 11}, {0, Count}});
    ASSERT_EQ(Both.Rows, Count + 11);
    EXPECT_LE(difference(Both.row(0), Short.row(0), Short.Data.size()), 1e-6);
    EXPECT_LE(difference(Both.row(11), Long.row(0), Long.Data.size()), 1e-6);
  }

  MLIRContext Context;
  std::optional<ImportedModel> Model;
  std::vector<int64_t> Ids, Types, Greedy;
  NpyArray Wanted;
};

TEST_P(EvaluatorReferences, Model) {
  checkOutput();
  checkGreedy();
  checkBatching();
}

TEST_P(EvaluatorReferences, Fused) {
  // Steps of the cases run both `.few` and `.many`.
  fuse(/*FewTokens=*/8);
  checkOutput();
  checkGreedy();
  checkBatching();
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EvaluatorReferences,
                         testing::ValuesIn(fixtures()),
                         [](const testing::TestParamInfo<Fixture> &Info) {
                           std::string Name = Info.param.Name;
                           std::replace(Name.begin(), Name.end(), '-', '_');
                           return Name;
                         });

TEST(EvaluatorFixtures, AreThere) { EXPECT_GE(fixtures().size(), 19u); }

/// In bf16, weights as they are stored and keys and values rounded: within the
/// tolerance of that type, yet not what f32 gives.
TEST(EvaluatorBf16, CacheIsRounded) {
  MLIRContext Context;
  std::string Directory = fixturePath("llama-gqa-llama3");
  auto Model = importModel(Context, Directory);
  ASSERT_TRUE(Model) << Model.error().message();
  auto Ids = arrayOf(Directory + "/input_ids.npy").Integers;
  auto Wanted = arrayOf(Directory + "/logits.npy").Floats;
  Evaluator E(*Model->Module, checkpointParameters(*Model->Weights));
  EvaluatorBatch Batch;
  Batch.add(0, Ids, 0, static_cast<int64_t>(Ids.size()));
  auto Got = E.run("step", Batch);
  ASSERT_TRUE(Got) << Got.error().message();
  ASSERT_EQ(Got->Data.size(), Wanted.size());
  double Error = 0, Length = 0;
  for (size_t I = 0; I < Wanted.size(); ++I) {
    Error += std::pow(static_cast<double>(Got->Data[I]) - Wanted[I], 2);
    Length += std::pow(static_cast<double>(Wanted[I]), 2);
  }
  EXPECT_LE(std::sqrt(Error / Length), 3e-2);
  EXPECT_GE(std::sqrt(Error / Length), 1e-4);
}

} // namespace
