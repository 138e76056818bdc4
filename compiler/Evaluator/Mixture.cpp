//===- Mixture.cpp - What mixtures of experts compute ---------------------===//

#include "compiler/Evaluator/Mixture.h"

#include "compiler/Evaluator/Operations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tenon;
using namespace tenon::evaluate;
using namespace tenon::transformer;

/// The indices of the `Count` largest of `Values`, largest first.
static std::vector<int64_t> largest(const std::vector<double> &Values,
                                    int64_t Count) {
  std::vector<int64_t> Order(Values.size());
  std::iota(Order.begin(), Order.end(), 0);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int64_t A, int64_t B) { return Values[A] > Values[B]; });
  Order.resize(static_cast<size_t>(Count));
  return Order;
}

static std::vector<double> scoresOf(std::span<const float> Logits,
                                    RouterScore Score) {
  std::vector<double> Scores;
  if (Score == RouterScore::Sigmoid) {
    for (float Logit : Logits)
      Scores.push_back(1 / (1 + std::exp(-static_cast<double>(Logit))));
    return Scores;
  }
  double Maximum = *std::max_element(Logits.begin(), Logits.end());
  double Sum = 0;
  for (float Logit : Logits) {
    Scores.push_back(std::exp(Logit - Maximum));
    Sum += Scores.back();
  }
  for (double &S : Scores)
    S /= Sum;
  return Scores;
}

/// How good each group of experts is.
static std::vector<double> groupScores(const std::vector<double> &Ranks,
                                       int64_t Groups, bool Pairs) {
  std::vector<double> Scores;
  auto Size = static_cast<int64_t>(Ranks.size()) / Groups;
  for (int64_t G = 0; G < Groups; ++G) {
    std::vector<double> Group(Ranks.begin() + G * Size,
                              Ranks.begin() + (G + 1) * Size);
    std::sort(Group.begin(), Group.end(), std::greater<>());
    Scores.push_back(Pairs && Size > 1 ? Group[0] + Group[1] : Group[0]);
  }
  return Scores;
}

Choice evaluate::route(std::span<const float> Logits,
                       const Tensor2D *Correction, RouterAttr Router) {
  std::vector<double> Scores = scoresOf(Logits, Router.getScore());
  std::vector<double> Ranks = Scores;
  for (size_t E = 0; E < Ranks.size(); ++E)
    if (Correction)
      Ranks[E] += Correction->at(0, static_cast<int64_t>(E));
  if (Router.getKeptGroups() < Router.getGroups()) {
    std::vector<int64_t> Kept =
        largest(groupScores(Ranks, Router.getGroups(), Router.getPairs()),
                Router.getKeptGroups());
    auto Size = static_cast<int64_t>(Ranks.size()) / Router.getGroups();
    for (size_t E = 0; E < Ranks.size(); ++E)
      if (!llvm::is_contained(Kept, static_cast<int64_t>(E) / Size))
        Ranks[E] = -std::numeric_limits<double>::infinity();
  }

  Choice Chosen;
  Chosen.Experts = largest(Ranks, Router.getTop());
  double Sum = Router.getScore() == RouterScore::Sigmoid ? 1e-20 : 0;
  for (int64_t E : Chosen.Experts)
    Sum += Scores[E];
  for (int64_t E : Chosen.Experts)
    Chosen.Weights.push_back(Router.getScale() * Scores[E] /
                             (Router.getNormalize() ? Sum : 1));
  return Chosen;
}

/// Rows [Expert * Rows, (Expert + 1) * Rows) of a stack.
static Tensor2D matrixOf(const Tensor2D &Stack, int64_t Expert, int64_t Rows) {
  Tensor2D Matrix(Rows, Stack.Columns);
  std::copy_n(Stack.row(Expert * Rows), Rows * Stack.Columns,
              Matrix.Data.data());
  return Matrix;
}

/// Row x of expert `E` times `Stack`, plus its bias.
static Tensor2D expertLinear(const Tensor2D &Row, const Tensor2D &Stack,
                             const Tensor2D *Bias, int64_t E, int64_t Count) {
  Tensor2D Weight = matrixOf(Stack, E, Stack.Rows / Count);
  if (!Bias)
    return linear(Row, Weight, nullptr);
  Tensor2D OwnBias = matrixOf(*Bias, E, 1);
  return linear(Row, Weight, &OwnBias);
}

Tensor2D evaluate::mixture(Activation Act, const Tensor2D &Input,
                           const Tensor2D &Logits, const Tensor2D *Correction,
                           const Experts &Stored, RouterAttr Router) {
  Tensor2D Result(Input.Rows, Input.Columns);
  int64_t Count = Logits.Columns;
  for (int64_t T = 0; T < Input.Rows; ++T) {
    Choice Chosen =
        route({Logits.row(T), static_cast<size_t>(Count)}, Correction, Router);
    Tensor2D Row = matrixOf(Input, T, 1);
    std::vector<double> Sums(static_cast<size_t>(Input.Columns));
    for (size_t I = 0; I < Chosen.Experts.size(); ++I) {
      int64_t E = Chosen.Experts[I];
      Tensor2D Gate =
          expertLinear(Row, *Stored.Gate, Stored.GateBias, E, Count);
      Tensor2D Hidden = expertLinear(Row, *Stored.Up, Stored.UpBias, E, Count);
      for (int64_t J = 0; J < Hidden.Columns; ++J) {
        double G = Gate.at(0, J), U = Hidden.at(0, J);
        if (Stored.Limit) {
          G = std::min(G, *Stored.Limit);
          U = std::clamp(U, -*Stored.Limit, *Stored.Limit);
        }
        Hidden.at(0, J) = static_cast<float>(
            activate(Act, static_cast<float>(G)) * (U + Stored.UpOffset));
      }
      Tensor2D Down =
          expertLinear(Hidden, *Stored.Down, Stored.DownBias, E, Count);
      for (int64_t J = 0; J < Down.Columns; ++J)
        Sums[J] += Chosen.Weights[I] * Down.at(0, J);
    }
    for (int64_t J = 0; J < Result.Columns; ++J)
      Result.at(T, J) = static_cast<float>(Sums[J]);
  }
  return Result;
}
