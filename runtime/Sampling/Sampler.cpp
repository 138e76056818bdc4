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

/// The last of the fewest of `Items` that weigh `Mass`, in the order `Before`;
/// the last of all where they do not. Changes their order.
template <typename Candidate, typename Order>
static Candidate lastOfMass(std::vector<Candidate> &Items, double Mass,
                            Order Before) {
  auto From = Items.begin(), To = Items.end();
  double Sum = 0;
  // The part that has it is halved until it is worth sorting.
  while (To - From > 32) {
    auto Middle = From + (To - From) / 2;
    std::nth_element(From, Middle, To, Before);
    double Half = Sum;
    for (auto I = From; I != Middle; ++I)
      Half += I->Weight;
    if (Half >= Mass) {
      To = Middle;
    } else {
      Sum = Half;
      From = Middle;
    }
  }
  std::sort(From, To, Before);
  while ((Sum += From->Weight) < Mass && From + 1 != To)
    ++From;
  return *From;
}

template <typename Candidate>
static bool isLikelier(const Candidate &A, const Candidate &B) {
  return A.Exponent != B.Exponent ? A.Exponent > B.Exponent : A.Token < B.Token;
}

template <typename Candidate>
static double totalOf(const std::vector<Candidate> &Items) {
  double Total = 0;
  for (const Candidate &C : Items)
    Total += C.Weight;
  return Total;
}

/// The largest scores: most of a vocabulary is seen to be less than those that
/// were found before.
void Sampler::takeTopK(const MaskedScores &Scores) {
  auto Most = static_cast<size_t>(Options.TopK);
  auto Keep = [&] {
    auto End = Left.begin() + static_cast<ptrdiff_t>(Most);
    std::nth_element(Left.begin(), End - 1, Left.end(), isLikelier<Candidate>);
    Left.erase(End, Left.end());
    return Left.back().Exponent;
  };
  double Least = -std::numeric_limits<double>::infinity();
  for (size_t Block = 0; Block < Maxima.size(); ++Block) {
    // An equal one has a higher id than all that are there.
    auto IsMore = [&](float Score) {
      return Left.size() < Most || Weigh.exponent(Score) > Least;
    };
    if (!IsMore(Maxima[Block]))
      continue;
    MaskedScores::Room Copy;
    auto Token = static_cast<int32_t>(Block * BlockSize);
    for (float Score : Scores.block(Block, Copy)) {
      if (IsMore(Score))
        Left.push_back({Token, Weigh.exponent(Score)});
      if (Left.size() == 2 * Most)
        Least = Keep();
      ++Token;
    }
  }
  if (Left.size() > Most)
    Keep();
  std::sort(
      Left.begin(), Left.end(),
      [](const Candidate &A, const Candidate &B) { return A.Token < B.Token; });
  for (Candidate &C : Left) {
    BlockWeights Weight;
    C.Weight = Weigh(std::array{Scores[static_cast<size_t>(C.Token)]}, Weight);
  }
}

/// Takes the tokens that weigh something, and at least `Least`.
void Sampler::takeHeavy(const MaskedScores &Scores, double Least) {
  Left.clear();
  // A little less than the score of such a weight: the weights will tell.
  double Lowest = -std::numeric_limits<double>::infinity();
  if (Least > 0)
    Lowest = Weigh.Largest + (std::log(Least) - 1e-6) / Weigh.Scale;
  for (size_t Block = 0; Block < Maxima.size(); ++Block) {
    if (Maxima[Block] < Lowest)
      continue;
    MaskedScores::Room Copy, Some;
    std::array<int32_t, BlockSize> Tokens;
    size_t Count = 0;
    auto Token = static_cast<int32_t>(Block * BlockSize);
    for (float Score : Scores.block(Block, Copy)) {
      Some[Count] = Score;
      Tokens[Count] = Token++;
      Count += Score >= Lowest;
    }
    BlockWeights Weights;
    Weigh(std::span(Some).first(Count), Weights);
    for (size_t I = 0; I < Count; ++I)
      if (Weights[I] > 0 && Weights[I] >= Least)
        Left.push_back({Tokens[I], Weigh.exponent(Some[I]), Weights[I]});
  }
}

/// The sum of all weights, and those of blocks.
double Sampler::sumBlocks(const MaskedScores &Scores) {
  double All = 0;
  Sums.clear();
  for (size_t Block = 0; Block < Maxima.size(); ++Block) {
    // A mask leaves whole blocks without a token.
    MaskedScores::Room Copy;
    BlockWeights Weights;
    bool IsEmpty = Maxima[Block] == -std::numeric_limits<float>::infinity();
    Sums.push_back(IsEmpty ? 0 : Weigh(Scores.block(Block, Copy), Weights));
    All += Sums.back();
  }
  return All;
}

void Sampler::takeNucleus(const MaskedScores &Scores) {
  double All = sumBlocks(Scores);
  // Those that weigh less weigh less than 1 - top-p together, and never belong
  // to it.
  double Lowest = std::max((1 - Options.TopP) * All /
                               static_cast<double>(Scores.size()) / 2,
                           Options.MinP);
  // Few tokens have most of the weight: the heaviest first, then more.
  for (double Least = 1;;) {
    Least = std::max(Least / 64, Lowest);
    takeHeavy(Scores, Least);
    if (Least == Lowest || totalOf(Left) >= Options.TopP * All)
      break;
  }
  keepNucleus(Options.TopP * All);
}

void Sampler::keepNucleus(double Mass) {
  Sorted = Left;
  Candidate Last = lastOfMass(Sorted, Mass, isLikelier<Candidate>);
  std::erase_if(Left, [&](const Candidate &C) { return isLikelier(Last, C); });
}

void Sampler::keepTypical() {
  if (Options.TypicalP == 1)
    return;
  double Total = totalOf(Left), Normalizer = std::log(Total), Entropy = 0;
  for (const Candidate &C : Left)
    if (C.Weight != 0)
      Entropy += C.Weight / Total * (Normalizer - C.Exponent);
  for (Candidate &C : Left)
    C.Deviation = std::abs(Normalizer - C.Exponent - Entropy);
  Sorted = Left;
  double Largest = lastOfMass(Sorted, Options.TypicalP * Total,
                              [](const Candidate &A, const Candidate &B) {
                                return A.Deviation != B.Deviation
                                           ? A.Deviation < B.Deviation
                                           : A.Token < B.Token;
                              })
                       .Deviation;
  std::erase_if(Left,
                [&](const Candidate &C) { return C.Deviation > Largest; });
}

/// Leaves the tokens that may be drawn, with their weights and those' sum.
Status Sampler::narrow(const MaskedScores &Scores) {
  Result<int32_t> Best = likeliest(Scores, Maxima);
  if (!Best)
    return Best.error();
  Left.clear();
  IsWhole = false;
  Total = 1;
  if (Options.Temperature == 0 || Options.TopK == 1) {
    Left.push_back({*Best, 0, 1});
    return {};
  }
  Weigh = Weighing::at(Options.Temperature, Scores[static_cast<size_t>(*Best)]);
  if (Options.TopK > 0 && static_cast<size_t>(Options.TopK) < Scores.size()) {
    takeTopK(Scores);
    if (Options.TopP < 1)
      keepNucleus(Options.TopP * totalOf(Left));
  } else if (Options.TopP < 1) {
    takeNucleus(Scores);
  } else if (Options.MinP > 0 || Options.TypicalP < 1) {
    takeHeavy(Scores, Options.MinP);
  } else {
    IsWhole = true;
    Total = sumBlocks(Scores);
    return {};
  }
  // The largest weight is 1.
  if (Options.MinP > 0)
    std::erase_if(Left,
                  [&](const Candidate &C) { return C.Weight < Options.MinP; });
  keepTypical();
  Total = totalOf(Left);
  return {};
}

/// Calls `Do` with each token of a block that weighs something, and its
/// weight, until it says false.
template <typename Function>
void Sampler::forEachOf(const MaskedScores &Scores, size_t Block,
                        Function Do) const {
  MaskedScores::Room Copy;
  std::span<const float> Some = Scores.block(Block, Copy);
  BlockWeights Weights;
  Weigh(Some, Weights);
  auto Token = static_cast<int32_t>(Block * BlockSize);
  for (size_t I = 0; I < Some.size(); ++I, ++Token)
    if (Weights[I] > 0 && !Do(Token, Weights[I]))
      return;
}

Result<std::vector<TokenProbability>>
Sampler::distribution(std::span<const float> Scores) {
  if (Status Done = narrow(MaskedScores(Scores)); !Done)
    return Done.error();
  std::vector<TokenProbability> All;
  auto Add = [&](int32_t Token, double Weight) {
    All.push_back({Token, Weight / Total});
    return true;
  };
  for (const Candidate &C : Left)
    if (C.Weight > 0)
      Add(C.Token, C.Weight);
  for (size_t Block = 0; IsWhole && Block < Maxima.size(); ++Block)
    forEachOf(MaskedScores(Scores), Block, Add);
  return All;
}

/// Whether nothing is left out of what the scores say, but where only the
/// likeliest is of interest.
bool Sampler::keepsAll() const {
  return Options.Temperature == 0 || Options.TopK == 1 ||
         (Options.TopK == 0 && Options.TopP == 1 && Options.MinP == 0 &&
          Options.TypicalP == 1);
}

Result<int32_t> Sampler::pick(std::span<const float> Scores, int64_t Position,
                              uint32_t Choice, AllowedTokens *Only) {
  auto Uniform = [&](uint32_t Number) {
    return uniformAt(Options.Seed, Choice, static_cast<uint64_t>(Position),
                     Number);
  };
  if (!Only)
    return draw(MaskedScores(Scores), Uniform(0));
  uint32_t Number = 0;
  // What is wrong with tokens that are not allowed does not matter.
  if (keepsAll() && narrow(MaskedScores(Scores))) {
    // A draw costs little beside a mask, and another one only if it may differ.
    const uint32_t MostDraws = IsWhole ? 4 : 1;
    while (Number < MostDraws) {
      int32_t Liked = drawn(MaskedScores(Scores), Uniform(Number++));
      if (Only->allows(Liked))
        return Liked;
    }
  }
  return draw(MaskedScores(Scores, Only->mask(Scores.size())), Uniform(Number));
}

Result<int32_t> Sampler::draw(const MaskedScores &Scores, double Uniform) {
  if (Status Done = narrow(Scores); !Done)
    return Done.error();
  return drawn(Scores, Uniform);
}

/// The token that a number in [0, 1) stands for, of those that are left.
int32_t Sampler::drawn(const MaskedScores &Scores, double Uniform) const {
  double Target = Uniform * Total;
  // What rounding leaves at the very end is the last possible token's.
  int32_t Picked = 0;
  auto GoesOn = [&](int32_t Token, double Weight) {
    Picked = Token;
    Target -= Weight;
    return Target >= 0;
  };
  for (const Candidate &C : Left)
    if (C.Weight > 0 && !GoesOn(C.Token, C.Weight))
      return Picked;
  if (!IsWhole)
    return Picked;
  size_t Block = 0, Last = 0;
  for (; Block < Sums.size() && Target >= Sums[Block]; ++Block) {
    Target -= Sums[Block];
    if (Sums[Block] > 0)
      Last = Block;
  }
  if (Block == Sums.size()) {
    Block = Last;
    Target = Total;
  }
  forEachOf(Scores, Block, GoesOn);
  return Picked;
}
