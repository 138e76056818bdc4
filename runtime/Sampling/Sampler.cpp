//===- Sampler.cpp - Choice of the next token -----------------------------===//

#include "runtime/Sampling/Sampler.h"

#include "runtime/Sampling/Philox.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::sampling;

Status sampling::check(const SamplingOptions &Options, SettingNames Name) {
  if (!std::isfinite(Options.Temperature) || Options.Temperature < 0)
    return Name.refuse("temperature", Options.Temperature,
                       "a finite number, at least 0");
  if (Options.TopK < 0)
    return Name.refuse("top_k", Options.TopK,
                       "at least 0 (0 keeps all tokens)");
  auto IsShare = [](double Value) { return Value > 0 && Value <= 1; };
  if (!IsShare(Options.TopP))
    return Name.refuse("top_p", Options.TopP, "above 0, at most 1");
  if (!(Options.MinP >= 0 && Options.MinP <= 1))
    return Name.refuse("min_p", Options.MinP, "0 to 1");
  if (!IsShare(Options.TypicalP))
    return Name.refuse("typical_p", Options.TypicalP, "above 0, at most 1");
  return {};
}

Result<Sampler> Sampler::create(const SamplingOptions &Options) {
  if (Status Fits = check(Options); !Fits)
    return Fits.error();
  return Sampler(Options);
}

/// Sorts the first of `Items` by `Before`, as few as reach `Mass` of weight;
/// how many those are, and their weight. They are usually few beside the
/// vocabulary: a prefix is sorted, and a longer one until it holds them.
template <typename Candidate, typename Order>
static std::pair<size_t, double> leadingMass(std::vector<Candidate> &Items,
                                             double Mass, Order Before) {
  size_t Sorted = 0, Count = 0;
  double Sum = 0;
  while (Count < Items.size() && Sum < Mass) {
    if (Count == Sorted) {
      size_t Next = std::min(Items.size(), std::max<size_t>(64, Sorted * 8));
      auto From = Items.begin() + static_cast<ptrdiff_t>(Sorted);
      auto To = Items.begin() + static_cast<ptrdiff_t>(Next);
      if (To != Items.end())
        std::nth_element(From, To, Items.end(), Before);
      std::sort(From, To, Before);
      Sorted = Next;
    }
    Sum += Items[Count++].Weight;
  }
  return {Count, Sum};
}

template <typename Candidate>
static bool isLikelier(const Candidate &A, const Candidate &B) {
  return A.Score != B.Score ? A.Score > B.Score : A.Token < B.Token;
}

template <typename Candidate>
static double totalOf(const std::vector<Candidate> &Items) {
  double Total = 0;
  for (const Candidate &C : Items)
    Total += C.Weight;
  return Total;
}

void Sampler::keepTopK() {
  if (Options.TopK == 0 || static_cast<size_t>(Options.TopK) >= Left.size())
    return;
  auto End = Left.begin() + Options.TopK;
  std::nth_element(Left.begin(), End, Left.end(), isLikelier<Candidate>);
  Left.erase(End, Left.end());
  std::sort(Left.begin(), Left.end(), isLikelier<Candidate>);
}

void Sampler::keepNucleus() {
  if (Options.TopP == 1)
    return;
  double Mass = Options.TopP * totalOf(Left);
  Left.resize(leadingMass(Left, Mass, isLikelier<Candidate>).first);
}

void Sampler::keepTypical() {
  if (Options.TypicalP == 1)
    return;
  double Total = totalOf(Left), Normalizer = std::log(Total), Entropy = 0;
  for (const Candidate &C : Left)
    if (C.Weight != 0)
      Entropy += C.Weight / Total * (Normalizer - C.Score);
  for (Candidate &C : Left)
    C.Deviation = std::abs(Normalizer - C.Score - Entropy);
  Sorted = Left;
  size_t Count = leadingMass(Sorted, Options.TypicalP * Total,
                             [](const Candidate &A, const Candidate &B) {
                               return A.Deviation != B.Deviation
                                          ? A.Deviation < B.Deviation
                                          : A.Token < B.Token;
                             })
                     .first;
  double Largest = Sorted[Count - 1].Deviation;
  std::erase_if(Left,
                [&](const Candidate &C) { return C.Deviation > Largest; });
}

/// Leaves the tokens that may be drawn, with their weights.
Status Sampler::narrow(std::span<const float> Scores) {
  Result<int32_t> Best = likeliest(Scores);
  if (!Best)
    return Best.error();
  Left.clear();
  if (Options.Temperature == 0 || Options.TopK == 1) {
    Left.push_back({*Best, 0, 1});
    return {};
  }
  // Relative to the largest, so that nothing overflows. In double: a division
  // by a tiny temperature must not.
  double Largest = Scores[static_cast<size_t>(*Best)];
  for (size_t I = 0; I < Scores.size(); ++I)
    Left.push_back(
        {static_cast<int32_t>(I), (Scores[I] - Largest) / Options.Temperature});
  keepTopK();
  for (Candidate &C : Left)
    C.Weight = std::exp(C.Score);
  keepNucleus();
  // The largest weight is 1.
  if (Options.MinP > 0)
    std::erase_if(Left,
                  [&](const Candidate &C) { return C.Weight < Options.MinP; });
  keepTypical();
  return {};
}

Result<std::vector<TokenProbability>>
Sampler::distribution(std::span<const float> Scores) {
  if (Status Done = narrow(Scores); !Done)
    return Done.error();
  std::vector<TokenProbability> All;
  double Total = totalOf(Left);
  for (const Candidate &C : Left)
    if (C.Weight > 0)
      All.push_back({C.Token, C.Weight / Total});
  return All;
}

Result<int32_t> Sampler::pick(std::span<const float> Scores, int64_t Position,
                              uint32_t Choice) {
  if (Status Done = narrow(Scores); !Done)
    return Done.error();
  double Target =
      uniformAt(Options.Seed, Choice, static_cast<uint64_t>(Position)) *
      totalOf(Left);
  // What rounding leaves at the very end is the last possible token's.
  int32_t Token = Left.front().Token;
  for (const Candidate &C : Left) {
    if (C.Weight == 0)
      continue;
    Token = C.Token;
    Target -= C.Weight;
    if (Target < 0)
      break;
  }
  return Token;
}
