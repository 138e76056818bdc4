//===- LogProbabilities.cpp - A row of logits as probabilities ------------===//

#include "runtime/Sampling/LogProbabilities.h"

#include "runtime/Sampling/Weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
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
static Error unusable(const MaskedScores &Logits) {
  size_t Bad = 0;
  while (Logits[Bad] <= std::numeric_limits<float>::max())
    ++Bad;
  return Error("logit of token " + std::to_string(Bad) + " is " +
               (std::isnan(Logits[Bad]) ? "NaN" : "infinite") +
               ": the model's output is unusable");
}

Result<int32_t> sampling::likeliest(const MaskedScores &Logits,
                                    std::vector<float> &Maxima) {
  if (Logits.size() == 0 ||
      Logits.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return Error("sampling from " + std::to_string(Logits.size()) +
                 " logits: expected 1 to 2^31-1");
  constexpr float Least = -std::numeric_limits<float>::infinity();
  MaskedScores::Room Copy;
  Maxima.clear();
  for (size_t Block = 0; Block < Logits.blocks(); ++Block) {
    std::optional<float> Largest =
        Logits.isLeftOut(Block) ? Least : largestOf(Logits.block(Block, Copy));
    if (!Largest)
      return unusable(Logits);
    Maxima.push_back(*Largest);
  }
  auto Largest = std::max_element(Maxima.begin(), Maxima.end());
  if (*Largest == Least)
    return Error("every logit is -infinity: the model's output is unusable");
  auto Block = static_cast<size_t>(Largest - Maxima.begin());
  std::span<const float> Some = Logits.block(Block, Copy);
  auto Within = std::find(Some.begin(), Some.end(), *Largest) - Some.begin();
  return static_cast<int32_t>(Block * BlockSize) + static_cast<int32_t>(Within);
}

Result<int32_t> sampling::likeliest(std::span<const float> Logits) {
  std::vector<float> Maxima;
  return likeliest(MaskedScores(Logits), Maxima);
}

Result<LogProbabilities> LogProbabilities::of(std::span<const float> Logits) {
  LogProbabilities Row(Logits);
  MaskedScores Scores(Logits);
  Result<int32_t> Best = sampling::likeliest(Scores, Row.Maxima);
  if (!Best)
    return Best.error();
  Row.Likeliest = static_cast<size_t>(*Best);
  Weighing Weigh = Weighing::at(1, Logits[Row.Likeliest]);
  double Sum = 0;
  MaskedScores::Room Copy;
  BlockWeights Weights;
  for (size_t Block = 0; Block < Scores.blocks(); ++Block)
    Sum += Weigh(Scores.block(Block, Copy), Weights);
  Row.Normalizer = Weigh.Largest + std::log(Sum);
  return Row;
}

ScoredToken LogProbabilities::score(int32_t Token, size_t Count) const {
  auto ScoreOf = [&](int32_t Id) -> TokenScore {
    auto Index = static_cast<size_t>(Id);
    if (Id < 0 || Index >= size())
      return {Id, -std::numeric_limits<float>::infinity()};
    return {Id, static_cast<float>((*this)[Index])};
  };
  ScoredToken Answer{ScoreOf(Token), {}};
  if (Count == 0)
    return Answer;
  auto IsLikelier = [this](size_t A, size_t B) {
    return Logits[A] != Logits[B] ? Logits[A] > Logits[B] : A < B;
  };
  // A heap whose first is the least likely one.
  std::vector<size_t> Found;
  // An equal one has a higher id than those that are there.
  auto IsMore = [&](float Logit) {
    return Found.size() < Count || Logit > Logits[Found.front()];
  };
  for (size_t Block = 0; Block < Maxima.size(); ++Block) {
    if (!IsMore(Maxima[Block]))
      continue;
    size_t Begin = Block * BlockSize;
    for (size_t Id = Begin; Id < std::min(Begin + BlockSize, size()); ++Id) {
      if (!IsMore(Logits[Id]))
        continue;
      if (Found.size() == Count) {
        std::pop_heap(Found.begin(), Found.end(), IsLikelier);
        Found.pop_back();
      }
      Found.push_back(Id);
      std::push_heap(Found.begin(), Found.end(), IsLikelier);
    }
  }
  std::sort_heap(Found.begin(), Found.end(), IsLikelier);
  for (size_t Id : Found)
    Answer.Likeliest.push_back(ScoreOf(static_cast<int32_t>(Id)));
  return Answer;
}
