//===- EvaluatorMoeTest.cpp - The oracle's mixtures of experts --------===//

#include "EvaluatorTestSupport.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;
using testing::ElementsAre;

namespace {

/// The manifest has one of its own.
using transformer::Activation;

class EvaluatorRouter : public EvaluatorOps {
protected:
  RouterAttr router(RouterScore Score, int64_t Top, bool Normalize,
                    double Scale = 1, int64_t Groups = 1, int64_t Kept = 1,
                    bool Pairs = false) {
    return RouterAttr::get(&Context, Score, Top, Normalize, Scale, Groups, Kept,
                           Pairs);
  }

  static float ln(double X) { return static_cast<float>(std::log(X)); }
  /// The logit of a sigmoid.
  static float logit(double P) {
    return static_cast<float>(std::log(P / (1 - P)));
  }

  static void expectWeights(const evaluate::Choice &Got,
                            std::initializer_list<double> Wanted) {
    ASSERT_EQ(Got.Weights.size(), Wanted.size());
    for (size_t I = 0; I < Wanted.size(); ++I)
      EXPECT_NEAR(Got.Weights[I], Wanted.begin()[I], 1e-6) << I;
  }
};

TEST_F(EvaluatorRouter, Softmax) {
  // Scores 1/10, 4/10, 3/10 and 2/10.
  const float Logits[] = {ln(1), ln(4), ln(3), ln(2)};
  auto Got =
      evaluate::route(Logits, nullptr, router(RouterScore::Softmax, 2, false));
  EXPECT_THAT(Got.Experts, ElementsAre(1, 2));
  expectWeights(Got, {0.4, 0.3});
  Got = evaluate::route(Logits, nullptr,
                        router(RouterScore::Softmax, 3, true, 1.5));
  EXPECT_THAT(Got.Experts, ElementsAre(1, 2, 3));
  expectWeights(Got, {1.5 * 4 / 9, 1.5 * 3 / 9, 1.5 * 2 / 9});
  // Of equals the first is taken.
  const float Equal[] = {0, 1, 1, 1};
  Got = evaluate::route(Equal, nullptr, router(RouterScore::Softmax, 2, true));
  EXPECT_THAT(Got.Experts, ElementsAre(1, 2));
  expectWeights(Got, {0.5, 0.5});
}

TEST_F(EvaluatorRouter, CorrectionOnlyChooses) {
  const float Logits[] = {logit(0.5), logit(0.25), logit(0.75), logit(0.5)};
  Tensor2D Correction = matrix({{0, 1, 0, 0.125f}});
  auto Got = evaluate::route(Logits, &Correction,
                             router(RouterScore::Sigmoid, 2, false));
  EXPECT_THAT(Got.Experts, ElementsAre(1, 2));
  expectWeights(Got, {0.25, 0.75});
  Got = evaluate::route(Logits, &Correction,
                        router(RouterScore::Sigmoid, 3, true, 2));
  EXPECT_THAT(Got.Experts, ElementsAre(1, 2, 3));
  expectWeights(Got, {2 * 0.25 / 1.5, 2 * 0.75 / 1.5, 2 * 0.5 / 1.5});
}

TEST_F(EvaluatorRouter, SigmoidsOfZeroDoNotDivideByZero) {
  const float Logits[] = {-1000, -1000};
  auto Got =
      evaluate::route(Logits, nullptr, router(RouterScore::Sigmoid, 1, true));
  expectWeights(Got, {0});
}

TEST_F(EvaluatorRouter, Groups) {
  // Three groups; the best expert is in the first, the best pair in the last.
  const float Logits[] = {logit(0.9), logit(0.1), logit(0.6),
                          logit(0.2), logit(0.5), logit(0.55)};
  auto Got = evaluate::route(Logits, nullptr,
                             router(RouterScore::Sigmoid, 2, false, 1, 3, 1));
  EXPECT_THAT(Got.Experts, ElementsAre(0, 1));
  Got = evaluate::route(Logits, nullptr,
                        router(RouterScore::Sigmoid, 2, false, 1, 3, 1, true));
  EXPECT_THAT(Got.Experts, ElementsAre(5, 4));
  Got = evaluate::route(Logits, nullptr,
                        router(RouterScore::Sigmoid, 3, false, 1, 3, 2, true));
  EXPECT_THAT(Got.Experts, ElementsAre(0, 5, 4));
  // A correction decides about groups, too, even one that makes all negative.
  Tensor2D Correction = matrix({{-2, -2, -1, -1, -3, -3}});
  Got = evaluate::route(Logits, &Correction,
                        router(RouterScore::Sigmoid, 2, false, 1, 3, 1, true));
  EXPECT_THAT(Got.Experts, ElementsAre(2, 3));
  expectWeights(Got, {0.6, 0.2});
}

TEST_F(EvaluatorRouter, MoeByHand) {
  // Expert 0 doubles, expert 1 squares, expert 2 is not chosen.
  Tensor2D Input = matrix({{1, -2}, {3, 5}});
  Tensor2D Logits = matrix({{ln(3), ln(1), -100}, {ln(1), ln(3), -100}});
  Tensor2D Gate = matrix({{0, 0}, {0, 0}, {1, 0}, {0, 1}, {9, 9}, {9, 9}});
  Tensor2D GateBias = matrix({{2, 2}, {0, 0}, {9, 9}});
  Tensor2D Up = matrix({{1, 0}, {0, 1}, {1, 0}, {0, 1}, {9, 9}, {9, 9}});
  Tensor2D Down = Up, DownBias = matrix({{0, 0}, {100, 200}, {9, 9}});
  evaluate::Experts Stored;
  Stored.Gate = &Gate;
  Stored.GateBias = &GateBias;
  Stored.Up = &Up;
  Stored.Down = &Down;
  RouterAttr Router = router(RouterScore::Softmax, 2, true);
  expectNear(
      evaluate::moe(Activation::None, Input, Logits, nullptr, Stored, Router),
      matrix({{0.75f * 2 + 0.25f, 0.75f * -4 + 1},
              {0.25f * 6 + 0.75f * 9, 0.25f * 10 + 0.75f * 25}}));
  // Biases behind an expert are weighted like its result.
  Stored.DownBias = &DownBias;
  expectNear(
      evaluate::moe(Activation::None, Input, Logits, nullptr, Stored, Router),
      matrix({{26.75f, 48}, {83.25f, 171.25f}}));
  // Gates at most 1.5, up within 1.5, then plus 10. Expert 0: 1.5 (u + 10);
  // expert 1: min(x, 1.5) (u + 10).
  Stored.DownBias = nullptr;
  Stored.Limit = 1.5;
  Stored.UpOffset = 10;
  expectNear(
      evaluate::moe(Activation::None, Input, Logits, nullptr, Stored, Router),
      matrix({{0.75f * 16.5f + 0.25f * 11, 0.75f * 12.75f - 0.25f * 17},
              {17.25f, 17.25f}}));
}

/// With one expert the MoE layer is a gated feed-forward; with several, all
/// chosen, the sum of theirs.
TEST_F(EvaluatorRouter, MoeIsASumOfFeedForwards) {
  constexpr int64_t Count = 3, Width = 5, Inner = 4, Tokens = 6;
  Tensor2D Input = scattered(Tokens, Width, 1);
  Tensor2D Logits = scattered(Tokens, Count, 2);
  Tensor2D Gate = scattered(Count * Inner, Width, 3);
  Tensor2D Up = scattered(Count * Inner, Width, 4);
  Tensor2D Down = scattered(Count * Width, Inner, 5);
  Tensor2D GateBias = scattered(Count, Inner, 6);
  Tensor2D UpBias = scattered(Count, Inner, 7);
  Tensor2D DownBias = scattered(Count, Width, 8);
  evaluate::Experts Stored = {&Gate,   &Up,       &Down,        &GateBias,
                              &UpBias, &DownBias, std::nullopt, 0};
  auto PartOf = [](const Tensor2D &Stack, int64_t Rows, int64_t E) {
    Tensor2D Part(Rows, Stack.Columns);
    std::copy_n(Stack.row(E * Rows), Rows * Stack.Columns, Part.Data.data());
    return Part;
  };
  Tensor2D Wanted(Tokens, Width);
  for (int64_t E = 0; E < Count; ++E) {
    Tensor2D GateOwn = PartOf(GateBias, 1, E), UpOwn = PartOf(UpBias, 1, E),
             DownOwn = PartOf(DownBias, 1, E);
    Tensor2D Result = evaluate::gatedFeedForward(
        Activation::Silu, Input, PartOf(Gate, Inner, E), &GateOwn,
        PartOf(Up, Inner, E), &UpOwn, PartOf(Down, Width, E), &DownOwn);
    for (int64_t T = 0; T < Tokens; ++T)
      for (int64_t I = 0; I < Width; ++I)
        Wanted.at(T, I) +=
            2 * Result.at(T, I) / (1 + std::exp(-Logits.at(T, E)));
  }
  expectNear(evaluate::moe(Activation::Silu, Input, Logits, nullptr, Stored,
                           router(RouterScore::Sigmoid, Count, false, 2)),
             Wanted);
}

} // namespace
