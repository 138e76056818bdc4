//===- StepCost.cpp - What a step takes -----------------------------------===//

#include "runtime/Serving/StepCost.h"

#include <algorithm>

using namespace tenon::serving;

/// What a new value counts for.
static constexpr double Weight = 0.3;

static void average(double &Mean, double Value) {
  Mean = Mean == 0 ? Value : Mean + Weight * (Value - Mean);
}

void StepCost::observe(size_t PromptTokens, size_t Sequences, double Ms) {
  if (PromptTokens == 0) {
    if (Sequences != 0)
      average(TextStep, Ms);
    return;
  }
  double Texts = Sequences == 0 ? 0 : TextStep;
  average(PerPromptToken,
          std::max(Ms - Texts, 0.0) / static_cast<double>(PromptTokens));
}

size_t StepCost::sliceFor(double MaxMs, size_t Sequences, size_t Most) const {
  size_t Slice = FirstSlice;
  if (PerPromptToken > 0) {
    double Left = MaxMs - (Sequences == 0 ? 0 : TextStep);
    double Tokens = std::max(Left, 0.0) / PerPromptToken;
    Slice =
        Tokens < static_cast<double>(Most) ? static_cast<size_t>(Tokens) : Most;
  }
  return std::min(std::max(Slice, MinSlice), Most);
}

double StepCost::expected(size_t PromptTokens, size_t Sequences) const {
  return PerPromptToken * static_cast<double>(PromptTokens) +
         (Sequences == 0 ? 0 : TextStep);
}
