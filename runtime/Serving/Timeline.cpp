//===- Timeline.cpp - What a request went through -------------------------===//

#include "runtime/Serving/Timeline.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::serving;

void StepTimes::add(double Seconds) {
  Longest = std::max(Longest, Seconds);
  if (Count++ % Stride != 0)
    return;
  if (Kept.size() == Most) {
    for (size_t I = 0; 2 * I < Most; ++I)
      Kept[I] = Kept[2 * I];
    Kept.resize(Most / 2);
    Stride *= 2;
  }
  // Most is even, so this one is kept with the new stride too.
  Kept.push_back(static_cast<float>(Seconds));
}

double StepTimes::median() const {
  if (Kept.empty())
    return 0;
  std::vector<float> Sorted = Kept;
  auto Middle = Sorted.begin() + static_cast<ptrdiff_t>(Sorted.size() / 2);
  std::nth_element(Sorted.begin(), Middle, Sorted.end());
  return *Middle;
}

void Timeline::add(const PromptSlice &S) {
  if (Slices.size() < MostSlices)
    return Slices.push_back(S);
  ++MoreSlices;
  MoreSliceTokens += S.Tokens;
}

void Timeline::addStep(double Seconds, size_t InStep, bool RanPrompts) {
  Steps.add(Seconds);
  Rows += InStep;
  MostRows = std::max(MostRows, InStep);
  BesidePrompts += RanPrompts;
}
