//===- LogProbabilities.cpp - A row of logits as probabilities ------------===//

#include "runtime/Sampling/LogProbabilities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace tenon;
using namespace tenon::sampling;

Result<int32_t> sampling::likeliest(std::span<const float> Logits) {
  if (Logits.empty() ||
      Logits.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return Error("sampling from " + std::to_string(Logits.size()) +
                 " logits: expected 1 to 2^31-1");
  size_t Best = 0;
  for (size_t I = 0; I < Logits.size(); ++I) {
    // False for NaN and +inf alike.
    if (!(Logits[I] <= std::numeric_limits<float>::max()))
      return Error("logit of token " + std::to_string(I) + " is " +
                   (std::isnan(Logits[I]) ? "NaN" : "infinite") +
                   ": the model's output is unusable");
    if (Logits[I] > Logits[Best])
      Best = I;
  }
  if (Logits[Best] == -std::numeric_limits<float>::infinity())
    return Error("every logit is -infinity: the model's output is unusable");
  return static_cast<int32_t>(Best);
}

Result<LogProbabilities> LogProbabilities::of(std::span<const float> Logits) {
  Result<int32_t> Best = sampling::likeliest(Logits);
  if (!Best)
    return Best.error();
  auto At = static_cast<size_t>(*Best);
  // Relative to the largest, so that nothing overflows and the sum is at least
  // 1.
  double Largest = Logits[At], Sum = 0;
  for (float Logit : Logits)
    Sum += std::exp(Logit - Largest);
  return LogProbabilities(Logits, Largest + std::log(Sum), At);
}

ScoredToken LogProbabilities::score(int32_t Token, size_t Count) const {
  auto ScoreOf = [&](int32_t Id) -> TokenScore {
    auto Index = static_cast<size_t>(Id);
    if (Id < 0 || Index >= size())
      return {Id, -std::numeric_limits<float>::infinity()};
    return {Id, static_cast<float>((*this)[Index])};
  };
  ScoredToken Answer{ScoreOf(Token), {}};
  Count = std::min(Count, size());
  if (Count == 0)
    return Answer;
  std::vector<int32_t> Order(size());
  std::iota(Order.begin(), Order.end(), 0);
  auto End = Order.begin() + static_cast<std::ptrdiff_t>(Count);
  std::partial_sort(Order.begin(), End, Order.end(), [&](int32_t A, int32_t B) {
    float X = Logits[static_cast<size_t>(A)],
          Y = Logits[static_cast<size_t>(B)];
    return X != Y ? X > Y : A < B;
  });
  for (auto Id = Order.begin(); Id != End; ++Id)
    Answer.Likeliest.push_back(ScoreOf(*Id));
  return Answer;
}
