//===- StepCost.cpp - What a step takes -----------------------------------===//

#include "runtime/Serving/StepCost.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace tenon::serving;

/// What is left with each step of what is known: of the pace, of the fit, and
/// of the largest slice when it is not reached again.
static constexpr double PaceKept = 0.8, FitKept = 0.995, SliceKept = 0.98;

/// Tokens of prompts first: what cannot be told apart yet counts as theirs.
StepCost::Vector StepCost::termsOf(const StepWork &Work) {
  // In thousands, so that all are of a size.
  auto Thousands = [](size_t Keys) { return static_cast<double>(Keys) / 1e3; };
  return {static_cast<double>(Work.PromptTokens), Thousands(Work.PromptKeys),
          static_cast<double>(Work.Sequences),    Thousands(Work.TextKeys),
          Work.PromptTokens > 0 ? 1.0 : 0.0,      1};
}

/// By the fit alone.
double StepCost::timeOf(const StepWork &Work) const {
  Vector X = termsOf(Work);
  double Ms = 0;
  for (size_t I = 0; I < Terms; ++I)
    Ms += Each[I] * X[I];
  return Ms;
}

/// Least squares of the relative errors, no term less than nothing: a few
/// rounds of coordinate descent, which begin with the last answer. What is not
/// in a step stays: its sums are of steps that may be long ago, beside which
/// the other terms have changed.
void StepCost::fit(const StepWork &Work, double Ms) {
  constexpr int Rounds = 4;
  Vector X = termsOf(Work);
  double Weight = 1 / (Ms * Ms);
  for (size_t I = 0; I < Terms; ++I) {
    for (size_t J = 0; J < Terms; ++J)
      Products[I][J] = FitKept * Products[I][J] + Weight * X[I] * X[J];
    TimesTime[I] = FitKept * TimesTime[I] + Weight * X[I] * Ms;
  }
  for (int Round = 0; Round < Rounds; ++Round)
    for (size_t I = 0; I < Terms; ++I) {
      if (X[I] <= 0)
        continue;
      double Rest = TimesTime[I];
      for (size_t J = 0; J < Terms; ++J)
        Rest -= J == I ? 0 : Products[I][J] * Each[J];
      Each[I] = std::max(Rest / Products[I][I], 0.0);
    }
}

void StepCost::observe(const StepWork &Work, double Ms) {
  if (Work.Sequences + Work.PromptTokens == 0 || !(Ms > 0))
    return;
  double Expected = timeOf(Work);
  // What took longer than it should at most is no measure of what may run.
  auto Tokens = static_cast<double>(Work.PromptTokens);
  LargestSlice = Expected > 0 && Tokens > 0 && Ms > expected(Work)
                     ? std::min(LargestSlice, Tokens / 2)
                     : std::max(Tokens, LargestSlice * SliceKept);
  if (Expected <= 0)
    return fit(Work, Ms);
  double Now = Ms / Expected;
  double Off = std::clamp(Now - Pace.Mean, (1 / MostAbove - 1) * Pace.Mean,
                          (MostAbove - 1) * Pace.Mean);
  // Without the pace: a slow minute changes nothing of what the work is.
  fit(Work, Expected * (1 + Off / Pace.Mean));
  Pace.Deviation += (1 - PaceKept) * (std::abs(Off) - Pace.Deviation);
  remember(Off / Pace.Mean);
  Pace.Mean += (1 - PaceKept) * Off;
}

/// The oldest run of steps is forgotten little by little: a slice that grew at
/// once would be larger than the fit knows of.
void StepCost::remember(double Above) {
  constexpr size_t Runs = std::tuple_size_v<decltype(Pace.Above)>;
  constexpr size_t Length = PeakSteps / (Runs - 1);
  size_t Run = Observed / Length, At = Observed % Length;
  ++Observed;
  double &Now = Pace.Above[Run % Runs];
  Now = std::max(Now, Above);
  Pace.Above[(Run + 1) % Runs] *= 1 - 1 / static_cast<double>(Length - At);
}

double StepCost::mostPace() const {
  double Above = std::max(Margin * Pace.Deviation / Pace.Mean,
                          *std::ranges::max_element(Pace.Above));
  return Pace.Mean * (1 + std::min(Above, MostAbove - 1));
}

size_t StepCost::sliceFor(double MaxMs, const StepWork &Texts,
                          std::span<const PromptRest> Prompts,
                          size_t Most) const {
  auto Fewest = std::min(MinSlice, Most);
  if (LargestSlice == 0)
    return std::min(FirstSlice, Most);
  auto Bound = std::min(
      Most, static_cast<size_t>(
                2 * std::max(LargestSlice, static_cast<double>(FirstSlice))));
  StepWork Work = Texts;
  Work.PromptTokens = Work.PromptKeys = 0;
  for (const PromptRest &P : Prompts) {
    auto With = [&](size_t Tokens) {
      StepWork More = Work;
      More.PromptTokens += Tokens;
      More.PromptKeys += keysOf(P.Begin, Tokens);
      return More;
    };
    // The most of this prompt that fits.
    size_t Fits = 0, Not = std::min(P.Tokens, Bound - Work.PromptTokens) + 1;
    while (Not - Fits > 1) {
      size_t Middle = (Fits + Not) / 2;
      (expected(With(Middle)) <= Planned * MaxMs ? Fits : Not) = Middle;
    }
    Work = With(Fits);
    if (Fits < P.Tokens)
      return std::max(Work.PromptTokens, Fewest);
  }
  // All of it fits.
  return std::max(Work.PromptTokens, Fewest);
}

double StepCost::expected(const StepWork &Work) const {
  return timeOf(Work) * mostPace();
}
