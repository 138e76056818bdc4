//===- Sampler.cpp - Choice of the next token -----------------------------===//

#include "runtime/Sampling/Sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace tenon;
using namespace tenon::sampling;

Result<Sampler> Sampler::create(const SamplingOptions &Options) {
  auto Refuse = [](const char *What, double Value, const char *Expected) {
    return Error(std::string(What) + " is " + std::to_string(Value) +
                 ": expected " + Expected);
  };
  if (!std::isfinite(Options.Temperature) || Options.Temperature < 0)
    return Refuse("temperature", Options.Temperature,
                  "a finite number, at least 0");
  if (Options.TopK < 0)
    return Error("top-k is " + std::to_string(Options.TopK) +
                 ": expected at least 0 (0 keeps all tokens)");
  if (!(Options.TopP > 0 && Options.TopP <= 1))
    return Refuse("top-p", Options.TopP, "above 0, at most 1");
  return Sampler(Options);
}

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

Result<int32_t> Sampler::pick(std::span<const float> Logits) {
  Result<int32_t> Found = likeliest(Logits);
  if (!Found || Options.Temperature == 0 || Options.TopK == 1)
    return Found;
  auto Best = static_cast<size_t>(*Found);

  Order.resize(Logits.size());
  std::iota(Order.begin(), Order.end(), 0);
  auto Before = [&](int32_t A, int32_t B) {
    float X = Logits[static_cast<size_t>(A)],
          Y = Logits[static_cast<size_t>(B)];
    return X != Y ? X > Y : A < B;
  };
  if (Options.TopK != 0 && static_cast<size_t>(Options.TopK) < Order.size()) {
    std::nth_element(Order.begin(), Order.begin() + Options.TopK, Order.end(),
                     Before);
    Order.resize(static_cast<size_t>(Options.TopK));
    std::sort(Order.begin(), Order.end(), Before);
  }

  // Relative to the largest, so that nothing overflows. In double: a division
  // by a tiny temperature must not.
  double Largest = Logits[Best];
  auto WeightOf = [&](int32_t Token) {
    return std::exp((Logits[static_cast<size_t>(Token)] - Largest) /
                    Options.Temperature);
  };
  Weights.resize(Order.size());
  double Total = 0;
  for (size_t I = 0; I < Order.size(); ++I)
    Total += Weights[I] = WeightOf(Order[I]);

  if (Options.TopP < 1) {
    // The nucleus is usually tiny beside the vocabulary: order a prefix only,
    // a longer one until it holds the nucleus.
    size_t Sorted = 0, Kept = 0;
    double Sum = 0;
    while (Kept < Order.size() && Sum < Options.TopP * Total) {
      if (Kept == Sorted) {
        size_t Next = std::min(Order.size(), std::max<size_t>(64, Sorted * 8));
        auto From = Order.begin() + static_cast<ptrdiff_t>(Sorted);
        auto To = Order.begin() + static_cast<ptrdiff_t>(Next);
        if (To != Order.end())
          std::nth_element(From, To, Order.end(), Before);
        std::sort(From, To, Before);
        for (size_t I = Sorted; I < Next; ++I)
          Weights[I] = WeightOf(Order[I]);
        Sorted = Next;
      }
      Sum += Weights[Kept++];
    }
    Order.resize(Kept);
    Weights.resize(Kept);
    Total = Sum;
  }

  double Target = uniform() * Total;
  for (size_t I = 0; I < Order.size(); ++I) {
    Target -= Weights[I];
    if (Target < 0)
      return Order[I];
  }
  // Rounding left the target at the very end: the last possible token.
  for (size_t I = Order.size(); I-- > 0;)
    if (Weights[I] > 0)
      return Order[I];
  return static_cast<int32_t>(Best);
}
