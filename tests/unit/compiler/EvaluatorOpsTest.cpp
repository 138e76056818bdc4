//===- EvaluatorOpsTest.cpp - The oracle, op by op ------------------------===//

#include "EvaluatorTestSupport.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// The manifest has one of its own.
using transformer::Activation;

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
  EXPECT_NEAR(activate(Activation::QuickGelu, 1), 0.8457958f, 1e-6);
  EXPECT_NEAR(activate(Activation::Tanh, -1), -0.7615942f, 1e-6);
  EXPECT_NEAR(activate(Activation::Sigmoid, 2), 0.8807971f, 1e-6);
  expectNear(evaluate::activation(Activation::Relu, matrix({{-1, 2}, {3, -4}})),
             matrix({{0, 2}, {3, 0}}));
}

TEST_F(EvaluatorOps, ElementByElement) {
  Tensor2D Input = matrix({{1, -2}, {30, 0}});
  expectNear(evaluate::scale(Input, -0.5), matrix({{-0.5f, 1}, {-15, 0}}));
  // tanh(1/2), tanh(-1) and tanh(15), which is 1 in f32.
  expectNear(evaluate::softCap(Input, 2),
             matrix({{2 * 0.46211716f, -2 * 0.76159416f}, {2, 0}}));
  expectNear(evaluate::clamp(Input, 1.5), matrix({{1, -1.5f}, {1.5f, 0}}));
  EXPECT_TRUE(std::isnan(evaluate::clamp(matrix({{NAN}}), 1).at(0, 0)));
  expectNear(evaluate::sigmoidGate(Input, matrix({{0}, {std::log(3.0f)}})),
             matrix({{0.5f, -1}, {22.5f, 0}}));
  expectNear(evaluate::slice(matrix({{1, 2, 3, 4}, {5, 6, 7, 8}}), 1, 2),
             matrix({{2, 3}, {6, 7}}));
}

TEST_F(EvaluatorOps, Embedding) {
  Tensor2D Table = matrix({{1, 2}, {3, 4}, {5, 6}});
  expectNear(*evaluate::embedding(Table, {2, 0, 2}),
             matrix({{5, 6}, {1, 2}, {5, 6}}));
  for (int64_t Bad : {-1, 3})
    EXPECT_EQ(evaluate::embedding(Table, {0, Bad}).error().message(),
              "index " + std::to_string(Bad) +
                  " of token 1: expected at least 0 and below 3");
  expectNear(*evaluate::embedding(Table, {1, 0}, /*Offset=*/1),
             matrix({{5, 6}, {3, 4}}));
  EXPECT_EQ(evaluate::embedding(Table, {2}, 1).error().message(),
            "index 3 of token 0: expected at least 0 and below 3");
}

TEST_F(EvaluatorOps, Sinusoid) {
  // Angles position * 1 and position * 10000^(-1/2).
  auto S = [](double X) { return static_cast<float>(std::sin(X)); };
  auto C = [](double X) { return static_cast<float>(std::cos(X)); };
  expectNear(evaluate::sinusoid({0, 3}, 4, RopeStyle::Interleaved),
             matrix({{0, 1, 0, 1}, {S(3), C(3), S(0.03), C(0.03)}}));
  expectNear(evaluate::sinusoid({0, 3}, 4, RopeStyle::Half),
             matrix({{0, 0, 1, 1}, {S(3), S(0.03), C(3), C(0.03)}}));
  // Of three columns one is a cosine.
  double Second = 3 / std::pow(10000.0, 2.0 / 3);
  expectNear(evaluate::sinusoid({3}, 3, RopeStyle::Interleaved),
             matrix({{S(3), C(3), S(Second)}}));
  expectNear(evaluate::sinusoid({3}, 3, RopeStyle::Half),
             matrix({{S(3), S(Second), C(3)}}));
}

TEST_F(EvaluatorOps, ClassTokenBeginsSequences) {
  EvaluatorBatch Batch = batchOf({2, 1});
  expectNear(evaluate::classToken(matrix({{0, 0}, {1, 2}, {0, 0}}), Batch,
                                  matrix({{7, 8}})),
             matrix({{7, 8}, {1, 2}, {7, 8}}));
}

TEST_F(EvaluatorOps, MergeFeaturesWhereTheTokenIs) {
  EvaluatorBatch Batch = batchOf({2, 1});
  Batch.TokenIds = {4, 9, 4};
  Batch.Features = matrix({{7, 8}, {-1, -1}, {5, 6}});
  Tensor2D Input = matrix({{0, 1}, {1, 2}, {2, 3}});
  expectNear(evaluate::mergeFeatures(Input, Batch, 4),
             matrix({{7, 8}, {1, 2}, {5, 6}}));
  // Without the token there may be no rows.
  Batch.Features = {};
  expectNear(evaluate::mergeFeatures(Input, Batch, 3), Input);
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
  expectNear(evaluate::rope(Input, {2}, 2, 0, rope(RopeStyle::Half, 4, 1)),
             matrix({{A, D, B, E, 5, 6, F, H, G, I, 11, 12}}));
  std::tie(A, B) = Turned(1, 2);
  std::tie(D, E) = Turned(3, 4);
  std::tie(F, G) = Turned(7, 8);
  std::tie(H, I) = Turned(9, 10);
  expectNear(
      evaluate::rope(Input, {2}, 2, 0, rope(RopeStyle::Interleaved, 4, 1)),
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
      evaluate::rope(Ones, {3}, 1, 0,
                     rope(RopeStyle::Half, 4, 100, RopeScaling::Linear, {2.0})),
      matrix({{A, D, B, E}}));

  // longrope: angles position / factor / base power, everything that rotates
  // times the attention factor.
  std::tie(A, B) = Angle(3.0 / 2);
  std::tie(D, E) = Angle(0.3 / 5);
  expectNear(evaluate::rope(matrix({{1, 1, 0, 0, 1}}), {3}, 1, 0,
                            rope(RopeStyle::Half, 4, 100, RopeScaling::LongRope,
                                 {1.5, 2.0, 5.0})),
             matrix({{1.5f * A, 1.5f * D, 1.5f * B, 1.5f * E, 1}}));

  // The last 2 of 3 elements of each head.
  std::tie(A, B) = Turned(2, 3);
  std::tie(D, E) = Turned(5, 6);
  expectNear(evaluate::rope(matrix({{1, 2, 3, 4, 5, 6}}), {2}, 2, 1,
                            rope(RopeStyle::Interleaved, 2, 1)),
             matrix({{1, A, B, 4, D, E}}));
}

/// What Transformers 5.23 computes for dim 8, base 10000, factor 4 and an
/// original context of 64.
TEST_F(EvaluatorOps, YarnFrequencies) {
  for (bool Truncate : {true, false}) {
    RopeAttr Yarn =
        rope(RopeStyle::Half, 8, 10000, RopeScaling::Yarn,
             {4.0, 32.0, 1.0, 64.0, Truncate ? 1.0 : 0.0, 1.138629436111989});
    const float Second = Truncate ? 0.0625f : 0.025595249608159065f;
    const float Wanted[] = {1, Second, 0.0024999999441206455f,
                            0.0002500000118743628f};
    SmallVector<float> Got = Yarn.frequencies();
    ASSERT_EQ(Got.size(), 4u);
    for (size_t I = 0; I < 4; ++I)
      EXPECT_NEAR(Got[I], Wanted[I], 1e-6 * Wanted[I]) << I;
    EXPECT_FLOAT_EQ(Yarn.attentionFactor(), 1.1386294f);
  }
}

TEST_F(EvaluatorOps, Norms) {
  // Mean 3, variance 4; with eps 12 the scale is 1/4.
  Tensor2D Bias = matrix({{10, 20}});
  expectNear(evaluate::layerNorm(matrix({{1, 5}, {3, 3}}), matrix({{2, 4}}),
                                 &Bias, 12),
             matrix({{9, 22}, {10, 20}}));
  expectNear(evaluate::layerNorm(matrix({{1, 5}, {3, 3}}), matrix({{2, 4}}),
                                 nullptr, 12),
             matrix({{-1, 2}, {0, 0}}));
  // Two groups of scale 1/4 with shared weights, and with their own.
  Tensor2D Groups = matrix({{1, 5, 14, 10}});
  expectNear(evaluate::layerNorm(Groups, matrix({{2, 4}}), &Bias, 12, 2),
             matrix({{9, 22, 11, 18}}));
  Tensor2D OwnBias = matrix({{10, 20, 30, 40}});
  expectNear(
      evaluate::layerNorm(Groups, matrix({{2, 4, 6, 8}}), &OwnBias, 12, 2),
      matrix({{9, 22, 33, 36}}));
  // Mean square 5; with eps 4 the scale is 1/3.
  expectNear(evaluate::rmsNorm(matrix({{1, -3}}), matrix({{3, 6}}), 4),
             matrix({{1, -6}}));
  // Two groups of mean squares 5 and 12.
  expectNear(
      evaluate::rmsNorm(matrix({{1, -3, 0, 24}}), matrix({{3, 6}}), 4, 2),
      matrix({{1, -6, 0, 144 / std::sqrt(292.0f)}}));
  expectNear(evaluate::rmsNorm(matrix({{1, -3, 3, -1}}),
                               matrix({{3, 6, 9, 12}}), 4, 2),
             matrix({{1, -6, 9, -4}}));
  expectNear(evaluate::rmsNorm(matrix({{1, -3}}), matrix({{2, 5}}), 4, 1, 1),
             matrix({{1, -6}}));
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
  expectNear(evaluate::gatedMatmul(Activation::Relu, Input, Gate, &UpBias, Up,
                                   nullptr),
             matrix({{2, -2, 18}}));
}

TEST_F(EvaluatorOps, Matmul) {
  Tensor2D Input = matrix({{1, 2}});
  Tensor2D First = matrix({{1, 1}, {-1, -1}}), Second = matrix({{0, 1}});
  Tensor2D B1 = matrix({{1, 1}}), B2 = matrix({{5}});
  Tensor2D Multiplier = matrix({{2, 3, 4}}), Residual = matrix({{7, 8, 9}});
  const Tensor2D *Weights[] = {&First, &Second}, *Biases[] = {&B1, &B2};
  expectNear(
      evaluate::matmul(Input, Weights, {}, Activation::None, nullptr, nullptr),
      matrix({{3, -3, 2}}));
  expectNear(evaluate::matmul(Input, Weights, Biases, Activation::Relu,
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
  Rms = evaluate::addNorm(NormKind::Rms, Left, Right, Weight, nullptr, 3, 1);
  expectNear(Rms.Normed, matrix({{0.75f, 6.25f}}));
  Layer = evaluate::addNorm(NormKind::Layer, Left, Right, Weight, nullptr, 12);
  expectNear(Layer.Normed, matrix({{-1, 2}}));
  expectNear(evaluate::residual(Left, Right), matrix({{1, 5}}));
}

TEST_F(EvaluatorOps, RowsAndPools) {
  EvaluatorBatch Batch = batchOf({2, 3});
  Batch.OutputRows = {1, 4};
  Tensor2D Input = matrix({{1, 2}, {3, 6}, {0, 1}, {6, 1}, {3, 1}});
  expectNear(evaluate::selectOutputRows(Input, Batch),
             matrix({{3, 6}, {3, 1}}));
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

} // namespace
