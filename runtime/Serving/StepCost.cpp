//===- StepCost.cpp - What a step takes -----------------------------------===//

#include "runtime/Serving/StepCost.h"

#include <algorithm>
#include <cmath>

using namespace tenon::serving;

/// What a new value counts for, and what is left of the largest slice when it
/// is not reached again.
static constexpr double NewWeight = 0.2, Decay = 0.98;
/// What is lost of a peak with each step.
static constexpr double PeakDecay = 0.01;

void StepCost::Estimate::add(double Value, double Weight) {
  if (Mean == 0 && Deviation == 0) {
    Mean = Value;
    // Nothing is known of it yet.
    Deviation = Value / 8;
    return;
  }
  // A pause of the machine says little of the next step.
  double Most = std::max(4 * Deviation, Mean / 2);
  double Off = std::clamp(Value - Mean, -Most, Most);
  Deviation += Weight * (std::abs(Off) - Deviation);
  // Slow and fast minutes of a machine differ by more than steps in a row.
  Peak = std::max(Weight < NewWeight ? 0 : Mean + Off,
                  Peak - PeakDecay * std::max(Peak - Mean, 0.0));
  Mean += Weight * Off;
}

double StepCost::Estimate::most() const {
  return std::max(Mean + Margin * Deviation, Peak);
}

/// Of more texts than were seen the time is as many times theirs; of fewer the
/// same, for the weights are read all the same.
double StepCost::textsAtMost(size_t Sequences) const {
  if (Sequences == 0)
    return 0;
  double More = static_cast<double>(std::max(Sequences, TextSequences)) /
                static_cast<double>(TextSequences);
  return TextStep.most() * More;
}

void StepCost::observe(size_t PromptTokens, size_t Sequences, double Ms) {
  if (PromptTokens == 0) {
    if (Sequences == 0)
      return;
    TextStep.add(Ms, NewWeight);
    TextSequences = Sequences;
    return;
  }
  // At least: what is taken for the texts' is not seen as the prompts'.
  double Texts =
      TextStep.Mean * std::min(1.0, static_cast<double>(Sequences) /
                                        static_cast<double>(TextSequences));
  auto Tokens = static_cast<double>(PromptTokens);
  // The fewer tokens, the more of it is noise.
  double Share = std::min(1.0, Tokens / static_cast<double>(MinSlice));
  PromptToken.add(std::max(Ms - Texts, 0.0) / Tokens, NewWeight * Share);
  LargestSlice = std::max(Tokens, LargestSlice * Decay);
}

size_t StepCost::sliceFor(double MaxMs, size_t Sequences, size_t Most) const {
  double Tokens = FirstSlice;
  if (LargestSlice > 0)
    Tokens =
        std::min((Planned * MaxMs - textsAtMost(Sequences)) /
                     std::max(PromptToken.most(), 1e-9),
                 2 * std::max(LargestSlice, static_cast<double>(FirstSlice)));
  auto Fewest = static_cast<double>(MinSlice);
  return static_cast<size_t>(
      std::min(std::max(Tokens, Fewest), static_cast<double>(Most)));
}

double StepCost::expected(size_t PromptTokens, size_t Sequences) const {
  return PromptToken.most() * static_cast<double>(PromptTokens) +
         textsAtMost(Sequences);
}
