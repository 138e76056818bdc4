//===- Moe.cpp - What mixtures of experts compute -------------------------===//

#include "compiler/Evaluator/Moe.h"

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

/// What expert `E` of `Count` makes of `Row` before its down matmul.
static Tensor2D expertHidden(Activation Act, const Tensor2D &Row,
                             const Experts &Stored, int64_t E, int64_t Count) {
  Tensor2D Gate = expertLinear(Row, *Stored.Gate, Stored.GateBias, E, Count);
  Tensor2D Hidden = expertLinear(Row, *Stored.Up, Stored.UpBias, E, Count);
  for (int64_t J = 0; J < Hidden.Columns; ++J) {
    double G = Gate.at(0, J), U = Hidden.at(0, J);
    if (Stored.Limit) {
      G = std::min(G, *Stored.Limit);
      U = std::clamp(U, -*Stored.Limit, *Stored.Limit);
    }
    Hidden.at(0, J) = static_cast<float>(activate(Act, static_cast<float>(G)) *
                                         (U + Stored.UpOffset));
  }
  return Hidden;
}

Tensor2D evaluate::moe(Activation Act, const Tensor2D &Input,
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
      Tensor2D Down = expertLinear(expertHidden(Act, Row, Stored, E, Count),
                                   *Stored.Down, Stored.DownBias, E, Count);
      for (int64_t J = 0; J < Down.Columns; ++J)
        Sums[J] += Chosen.Weights[I] * Down.at(0, J);
    }
    for (int64_t J = 0; J < Result.Columns; ++J)
      Result.at(T, J) = static_cast<float>(Sums[J]);
  }
  return Result;
}

//===----------------------------------------------------------------------===//
// Step by step, as placed
//===----------------------------------------------------------------------===//

MoeRoutes evaluate::moeRoute(const Tensor2D &Logits, const Tensor2D *Correction,
                             RouterAttr Router) {
  MoeRoutes Routes = {{Logits.Rows, Router.getTop()},
                      {Logits.Rows, Router.getTop()}};
  for (int64_t T = 0; T < Logits.Rows; ++T) {
    Choice Chosen = route({Logits.row(T), static_cast<size_t>(Logits.Columns)},
                          Correction, Router);
    for (int64_t J = 0; J < Router.getTop(); ++J) {
      Routes.Choices.at(T, J) = static_cast<float>(Chosen.Experts[J]);
      Routes.Weights.at(T, J) = static_cast<float>(Chosen.Weights[J]);
    }
  }
  return Routes;
}

Result<MoeGroups> evaluate::moeGroup(const Tensor2D &Choices, int64_t Experts) {
  std::vector<std::vector<size_t>> Of(static_cast<size_t>(Experts));
  for (size_t I = 0; I < Choices.Data.size(); ++I) {
    auto Expert = static_cast<int64_t>(Choices.Data[I]);
    if (Expert < 0 || Expert >= Experts)
      return Error("choice " + std::to_string(I) + " is " +
                   std::to_string(Expert) + ": expected an expert below " +
                   std::to_string(Experts));
    Of[static_cast<size_t>(Expert)].push_back(I);
  }
  MoeGroups Groups = {{Choices.Rows, Choices.Columns}, {1, Experts + 1}};
  size_t Place = 0;
  for (int64_t E = 0; E < Experts; ++E) {
    for (size_t I : Of[static_cast<size_t>(E)])
      Groups.Order.Data[Place++] = static_cast<float>(I);
    Groups.Offsets.at(0, E + 1) = static_cast<float>(Place);
  }
  return Groups;
}

/// Calls `Do` with every choice and its expert, in the order of `Groups`; an
/// error when these do not list `Count` choices.
static Status forEachChoice(const MoeGroups &Groups, int64_t Count,
                            llvm::function_ref<void(int64_t, int64_t)> Do) {
  int64_t Experts = Groups.Offsets.Columns - 1, Place = 0;
  for (int64_t E = 0; E < Experts; ++E) {
    auto From = static_cast<int64_t>(Groups.Offsets.at(0, E));
    auto To = static_cast<int64_t>(Groups.Offsets.at(0, E + 1));
    if (From != Place || To < From || To > Count)
      return Error("offsets of expert " + std::to_string(E) + " are " +
                   std::to_string(From) + " and " + std::to_string(To) +
                   ": expected to go on from " + std::to_string(Place) +
                   " and to end at " + std::to_string(Count) + " at most");
    for (; Place < To; ++Place) {
      auto Choice = static_cast<int64_t>(Groups.Order.Data[Place]);
      if (Choice < 0 || Choice >= Count)
        return Error("order has " + std::to_string(Choice) +
                     ": expected choices below " + std::to_string(Count));
      Do(Choice, E);
    }
  }
  if (Place != Count)
    return Error("offsets end at " + std::to_string(Place) + ": expected " +
                 std::to_string(Count));
  return {};
}

Result<Tensor2D> evaluate::moeGateUp(Activation Act, const Tensor2D &Input,
                                     const MoeGroups &Groups,
                                     const Experts &Stored) {
  int64_t Top = Groups.Order.Columns, Count = Groups.Offsets.Columns - 1;
  int64_t Inner = Stored.Gate->Rows / Count;
  Tensor2D Hidden(Input.Rows, Top * Inner);
  Status S =
      forEachChoice(Groups, Input.Rows * Top, [&](int64_t Choice, int64_t E) {
        Tensor2D Row = matrixOf(Input, Choice / Top, 1);
        std::copy_n(expertHidden(Act, Row, Stored, E, Count).row(0), Inner,
                    Hidden.Data.data() + Choice * Inner);
      });
  if (!S)
    return S.error();
  return Hidden;
}

Result<Tensor2D> evaluate::moeDown(const Tensor2D &Input,
                                   const MoeGroups &Groups,
                                   const Experts &Stored) {
  int64_t Top = Groups.Order.Columns, Count = Groups.Offsets.Columns - 1;
  int64_t Inner = Stored.Down->Columns, Width = Stored.Down->Rows / Count;
  Tensor2D Parts(Input.Rows, Top * Width);
  Status S =
      forEachChoice(Groups, Input.Rows * Top, [&](int64_t Choice, int64_t E) {
        Tensor2D Row(1, Inner);
        std::copy_n(Input.Data.data() + Choice * Inner, Inner, Row.row(0));
        std::copy_n(
            expertLinear(Row, *Stored.Down, Stored.DownBias, E, Count).row(0),
            Width, Parts.Data.data() + Choice * Width);
      });
  if (!S)
    return S.error();
  return Parts;
}

Tensor2D evaluate::moeCombine(const Tensor2D &Input, const Tensor2D &Weights) {
  int64_t Top = Weights.Columns;
  Tensor2D Result(Input.Rows, Input.Columns / Top);
  for (int64_t T = 0; T < Result.Rows; ++T)
    for (int64_t I = 0; I < Result.Columns; ++I) {
      double Sum = 0;
      for (int64_t J = 0; J < Top; ++J)
        Sum += static_cast<double>(Weights.at(T, J)) *
               Input.at(T, J * Result.Columns + I);
      Result.at(T, I) = static_cast<float>(Sum);
    }
  return Result;
}
