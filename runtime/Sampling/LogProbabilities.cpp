//===- LogProbabilities.cpp - A row of logits as probabilities ------------===//

#include "runtime/Sampling/LogProbabilities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

using namespace tenon;
using namespace tenon::sampling;

/// The largest of at most BlockSize logits; none where one is NaN or +inf.
static std::optional<float> largestOf(std::span<const float> Logits) {
  // Of registers that every machine has, so many as hide how long one takes.
  constexpr size_t PackSize = 4, Packs = 4;
  using Pack = float __attribute__((vector_size(PackSize * sizeof(float))));
  using PackBits = int32_t __attribute__((vector_size(sizeof(Pack))));
  constexpr float Least = -std::numeric_limits<float>::infinity();
  const Pack Most = Pack{} + std::numeric_limits<float>::max();
  Pack Largest[Packs];
  PackBits AreGood = ~PackBits{};
  std::fill_n(Largest, Packs, Pack{} + Least);
  auto Take = [&](const float *From) {
    for (size_t P = 0; P < Packs; ++P) {
      Pack Values;
      std::memcpy(&Values, From + P * PackSize, sizeof(Values));
      // False for NaN and +inf alike.
      AreGood &= Values <= Most;
      Largest[P] = Values > Largest[P] ? Values : Largest[P];
    }
  };
  constexpr size_t Step = PackSize * Packs;
  size_t I = 0;
  for (; I + Step <= Logits.size(); I += Step)
    Take(Logits.data() + I);
  if (I < Logits.size()) {
    std::array<float, Step> Rest;
    std::fill(
        std::copy(Logits.begin() + ptrdiff_t(I), Logits.end(), Rest.begin()),
        Rest.end(), Least);
    Take(Rest.data());
  }
  float Answer = Least;
  bool IsGood = true;
  for (size_t K = 0; K < PackSize; ++K) {
    IsGood &= AreGood[K] != 0;
    for (const Pack &P : Largest)
      Answer = std::max(Answer, P[K]);
  }
  return IsGood ? std::optional(Answer) : std::nullopt;
}

/// What is wrong with logits of which one is NaN or +inf.
static Error unusable(std::span<const float> Logits) {
  auto Bad = std::find_if_not(Logits.begin(), Logits.end(), [](float X) {
    return X <= std::numeric_limits<float>::max();
  });
  return Error("logit of token " + std::to_string(Bad - Logits.begin()) +
               " is " + (std::isnan(*Bad) ? "NaN" : "infinite") +
               ": the model's output is unusable");
}

Result<int32_t> sampling::likeliest(std::span<const float> Logits,
                                    std::vector<float> &Maxima) {
  if (Logits.empty() ||
      Logits.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return Error("sampling from " + std::to_string(Logits.size()) +
                 " logits: expected 1 to 2^31-1");
  Maxima.clear();
  for (size_t From = 0; From < Logits.size(); From += BlockSize) {
    std::optional<float> Largest = largestOf(
        Logits.subspan(From, std::min(BlockSize, Logits.size() - From)));
    if (!Largest)
      return unusable(Logits);
    Maxima.push_back(*Largest);
  }
  auto Block = std::max_element(Maxima.begin(), Maxima.end());
  if (*Block == -std::numeric_limits<float>::infinity())
    return Error("every logit is -infinity: the model's output is unusable");
  auto From = Logits.begin() + (Block - Maxima.begin()) * ptrdiff_t(BlockSize);
  return static_cast<int32_t>(std::find(From, Logits.end(), *Block) -
                              Logits.begin());
}

Result<int32_t> sampling::likeliest(std::span<const float> Logits) {
  std::vector<float> Maxima;
  return likeliest(Logits, Maxima);
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
