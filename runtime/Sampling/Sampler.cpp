//===- Sampler.cpp - Choice of the next token -----------------------------===//

#include "runtime/Sampling/Sampler.h"

#include "runtime/Sampling/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

namespace {

/// So many at once: compilers make of it what the machine has.
constexpr size_t PackSize = 8;
using Pack = double __attribute__((vector_size(PackSize * sizeof(double))));
using PackBits = int64_t __attribute__((vector_size(sizeof(Pack))));

} // namespace

/// e^x of each x <= 0, the same on every machine: 2^n times a Taylor series of
/// the rest, which errs by less than the last place. 0 where e^x is hardly a
/// number.
[[gnu::always_inline]] static inline void exponentials(Pack &Values) {
  constexpr double Log2E = 0x1.71547652b82fep0;
  constexpr double Ln2High = 0x1.62e42fefa38p-1, Ln2Low = 0x1.ef35793c7673p-45;
  // Adding this rounds to a whole number, which is in the lowest bits.
  constexpr double Round = 0x1.8p52;
  constexpr double Least = -700;
  PackBits IsNumber = Values > Least;
  // Others become 0, whose exponential is left out again.
  auto X =
      reinterpret_cast<Pack>(reinterpret_cast<PackBits>(Values) & IsNumber);
  Pack Shifted = X * Log2E + Round;
  Pack N = Shifted - Round;
  Pack R = (X - N * Ln2High) - N * Ln2Low;
  Pack Sum = R * (1.0 / 479001600) + 1.0 / 39916800;
  Sum = Sum * R + 1.0 / 3628800;
  Sum = Sum * R + 1.0 / 362880;
  Sum = Sum * R + 1.0 / 40320;
  Sum = Sum * R + 1.0 / 5040;
  Sum = Sum * R + 1.0 / 720;
  Sum = Sum * R + 1.0 / 120;
  Sum = Sum * R + 1.0 / 24;
  Sum = Sum * R + 1.0 / 6;
  Sum = Sum * R + 0.5;
  Sum = Sum * R + 1;
  Sum = Sum * R + 1;
  constexpr int MantissaBits = 52;
  PackBits Scaled = reinterpret_cast<PackBits>(Sum) +
                    (reinterpret_cast<PackBits>(Shifted) << MantissaBits);
  Values = reinterpret_cast<Pack>(Scaled & IsNumber);
}

static double exponential(double X) {
  Pack Values = {};
  Values[0] = X;
  exponentials(Values);
  return Values[0];
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

/// The largest scores, these first: most of a vocabulary is seen to be less
/// than those that were found before.
void Sampler::takeTopK(std::span<const float> Scores) {
  auto Most = static_cast<size_t>(Options.TopK);
  auto Keep = [&] {
    auto End = Left.begin() + static_cast<ptrdiff_t>(Most);
    std::nth_element(Left.begin(), End - 1, Left.end(), isLikelier<Candidate>);
    Left.erase(End, Left.end());
    return Left.back().Score;
  };
  double Least = -std::numeric_limits<double>::infinity();
  for (size_t I = 0; I < Scores.size(); ++I) {
    // An equal one has a higher id than all that are there.
    if (Left.size() >= Most && Scores[I] <= Least)
      continue;
    Left.push_back({static_cast<int32_t>(I), Scores[I]});
    if (Left.size() == 2 * Most)
      Least = Keep();
  }
  if (Left.size() > Most)
    Keep();
  std::sort(Left.begin(), Left.end(), isLikelier<Candidate>);
}

void Sampler::keepNucleus() {
  if (Options.TopP == 1)
    return;
  double Total = totalOf(Left);
  // Those that weigh less weigh less than 1 - top-p together, and never belong
  // to it.
  double Least = (1 - Options.TopP) * Total / static_cast<double>(Left.size());
  std::erase_if(Left, [&](const Candidate &C) { return C.Weight < Least / 2; });
  Left.resize(
      leadingMass(Left, Options.TopP * Total, isLikelier<Candidate>).first);
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

/// Relative to the largest, so that nothing overflows. In double: a division by
/// a tiny temperature must not. Each machine rounds alike, whatever it takes at
/// once. Their sum.
[[gnu::always_inline]] static inline double
weighPacks(const float *Scores, size_t Count, double Largest,
           double Temperature, double *Weights) {
  size_t I = 0;
  Pack Sums = {};
  for (; I + PackSize <= Count; I += PackSize) {
    // Where few tokens may follow, most have nothing to weigh.
    bool IsEmpty = true;
    for (size_t K = 0; K < PackSize; ++K)
      IsEmpty &= Scores[I + K] == -std::numeric_limits<float>::infinity();
    if (IsEmpty) {
      std::fill_n(Weights + I, PackSize, 0);
      continue;
    }
    Pack Values;
    for (size_t K = 0; K < PackSize; ++K)
      Values[K] = Scores[I + K] - Largest;
    Values /= Temperature;
    exponentials(Values);
    Sums += Values;
    std::memcpy(Weights + I, &Values, sizeof(Values));
  }
  double Sum = 0;
  for (size_t K = 0; K < PackSize; ++K)
    Sum += Sums[K];
  for (; I < Count; ++I)
    Sum += Weights[I] = exponential((Scores[I] - Largest) / Temperature);
  return Sum;
}

[[gnu::target("avx2")]] static double weighByAvx2(const float *Scores,
                                                  size_t Count, double Largest,
                                                  double Temperature,
                                                  double *Weights) {
  return weighPacks(Scores, Count, Largest, Temperature, Weights);
}

static double weigh(const float *Scores, size_t Count, double Largest,
                    double Temperature, double *Weights) {
  static const bool HasAvx2 = __builtin_cpu_supports("avx2");
  return HasAvx2 ? weighByAvx2(Scores, Count, Largest, Temperature, Weights)
                 : weighPacks(Scores, Count, Largest, Temperature, Weights);
}

/// Leaves the tokens that may be drawn, with their weights and those' sum.
Status Sampler::narrow(std::span<const float> Scores) {
  Result<int32_t> Best = likeliest(Scores);
  if (!Best)
    return Best.error();
  Left.clear();
  IsWhole = false;
  Total = 1;
  if (Options.Temperature == 0 || Options.TopK == 1) {
    Left.push_back({*Best, 0, 1});
    return {};
  }
  double Largest = Scores[static_cast<size_t>(*Best)];
  if (Options.TopK > 0 && static_cast<size_t>(Options.TopK) < Scores.size()) {
    takeTopK(Scores);
    for (Candidate &C : Left) {
      C.Score = (C.Score - Largest) / Options.Temperature;
      C.Weight = exponential(C.Score);
    }
  } else {
    Weights.resize(Scores.size());
    Total = weigh(Scores.data(), Scores.size(), Largest, Options.Temperature,
                  Weights.data());
    IsWhole = Options.TopP == 1 && Options.MinP == 0 && Options.TypicalP == 1;
    if (IsWhole)
      return {};
    for (size_t I = 0; I < Scores.size(); ++I)
      if (Weights[I] > 0)
        Left.push_back({static_cast<int32_t>(I),
                        (Scores[I] - Largest) / Options.Temperature,
                        Weights[I]});
  }
  keepNucleus();
  // The largest weight is 1.
  if (Options.MinP > 0)
    std::erase_if(Left,
                  [&](const Candidate &C) { return C.Weight < Options.MinP; });
  keepTypical();
  Total = totalOf(Left);
  return {};
}

/// Calls `Do` with each token that may be drawn and its weight, until it says
/// false.
template <typename Function> void Sampler::forEachLeft(Function Do) const {
  for (const Candidate &C : Left)
    if (C.Weight > 0 && !Do(C.Token, C.Weight))
      return;
  for (size_t I = 0; IsWhole && I < Weights.size(); ++I)
    if (Weights[I] > 0 && !Do(static_cast<int32_t>(I), Weights[I]))
      return;
}

Result<std::vector<TokenProbability>>
Sampler::distribution(std::span<const float> Scores) {
  if (Status Done = narrow(Scores); !Done)
    return Done.error();
  std::vector<TokenProbability> All;
  forEachLeft([&](int32_t Token, double Weight) {
    All.push_back({Token, Weight / Total});
    return true;
  });
  return All;
}

Result<int32_t> Sampler::pick(std::span<const float> Scores, int64_t Position,
                              uint32_t Choice) {
  if (Status Done = narrow(Scores); !Done)
    return Done.error();
  double Target =
      uniformAt(Options.Seed, Choice, static_cast<uint64_t>(Position)) * Total;
  // What rounding leaves at the very end is the last possible token's.
  int32_t Picked = 0;
  forEachLeft([&](int32_t Token, double Weight) {
    Picked = Token;
    Target -= Weight;
    return Target >= 0;
  });
  return Picked;
}
