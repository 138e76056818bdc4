//===- SamplingTest.cpp - Choice of the next token ------------------------===//

#include "runtime/Sampling/LogitsRules.h"
#include "runtime/Sampling/Philox.h"
#include "runtime/Sampling/Sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace tenon;
using namespace tenon::sampling;

static constexpr float Infinity = std::numeric_limits<float>::infinity();

static std::string errorOf(const SamplingOptions &Options,
                           SettingNames Names = {}) {
  Status Fits = check(Options, Names);
  EXPECT_EQ(bool(Fits), bool(Sampler::create(Options)));
  return Fits ? "" : Fits.error().message();
}

static std::string pickError(const std::vector<float> &Logits,
                             double Temperature) {
  Result<Sampler> S = Sampler::create({Temperature, 0, 1, 0, 1, 0});
  Result<int32_t> Token = S->pick(Logits, 0);
  return Token ? "" : Token.error().message();
}

/// Pearson's statistic of `Draws` choices, at as many positions, against the
/// probabilities softmax(Logits / Temperature) restricted to `Kept`.
static double chiSquare(const std::vector<float> &Logits,
                        const SamplingOptions &Options,
                        const std::vector<int32_t> &Kept, int Draws) {
  Result<Sampler> S = Sampler::create(Options);
  std::vector<double> Expected(Logits.size()), Seen(Logits.size());
  double Total = 0;
  for (int32_t Token : Kept)
    Total += Expected[static_cast<size_t>(Token)] =
        std::exp(Logits[static_cast<size_t>(Token)] / Options.Temperature);
  for (int I = 0; I < Draws; ++I) {
    Result<int32_t> Token = S->pick(Logits, I);
    if (!Token)
      return Infinity;
    Seen[static_cast<size_t>(*Token)] += 1;
  }
  double Statistic = 0;
  for (size_t I = 0; I < Logits.size(); ++I) {
    double Mean = Expected[I] / Total * Draws;
    if (Mean == 0 && Seen[I] != 0)
      return Infinity;
    if (Mean != 0)
      Statistic += (Seen[I] - Mean) * (Seen[I] - Mean) / Mean;
  }
  return Statistic;
}

TEST(SamplingTest, GreedyTakesTheFirstLargest) {
  Result<Sampler> S = Sampler::create({});
  ASSERT_TRUE(S);
  EXPECT_EQ(*S->pick(std::vector<float>{1, 5, 3, 5}, 0), 1);
  EXPECT_EQ(*S->pick(std::vector<float>{-Infinity, -3, -Infinity}, 0), 1);
  S = Sampler::create({2.0, 1, 1, 0, 1, 7});
  EXPECT_EQ(*S->pick(std::vector<float>{1, 5, 3, 5}, 0), 1) << "top-k 1";
  S = Sampler::create({1e-300, 0, 1, 0, 1, 7});
  EXPECT_EQ(*S->pick(std::vector<float>{1, 5, 3, 4.9f}, 0), 1) << "cold";
}

TEST(SamplingTest, DistributionsAreThoseAskedFor) {
  std::vector<float> Logits = {0.5f, 2, -1, 1, 0, 1.5f, -Infinity, 0.25f};
  std::vector<int32_t> All = {0, 1, 2, 3, 4, 5, 7};
  constexpr int Draws = 20000;
  // Beyond these once in a thousand: 6, 5, 4, 2 and 1 degrees of freedom.
  constexpr double Six = 22.46, Five = 20.52, Four = 18.47, Two = 13.82,
                   One = 10.83;
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 1, 0, 1, 1}, All, Draws), Six);
  EXPECT_LT(chiSquare(Logits, {0.6, 0, 1, 0, 1, 2}, All, Draws), Six);
  EXPECT_LT(chiSquare(Logits, {1.5, 3, 1, 0, 1, 3}, {1, 5, 3}, Draws), Two);
  // Probabilities: 0.39, 0.24, 0.14, 0.09, 0.07, 0.05, 0.02.
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 0.7, 0, 1, 4}, {1, 5, 3}, Draws), Two);
  // Of three kept by top-k, the nucleus of 0.75 is the first two.
  EXPECT_LT(chiSquare(Logits, {1.0, 3, 0.75, 0, 1, 5}, {1, 5}, Draws), One);
  // At least 0.15 of 0.39: all but the last two.
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 1, 0.15, 1, 6}, {0, 1, 3, 5, 7}, Draws),
            Four);
  EXPECT_LT(
      chiSquare(Logits, {0.5, 0, 1, 0.01, 1, 7}, {0, 1, 3, 4, 5, 7}, Draws),
      Five);
  // -log(p): 0.94, 1.44, 1.94, 2.44, 2.69, 2.94, 3.94; H = 1.62. Most typical
  // are 1.44, 1.94, then 0.94.
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 1, 0, 0.3, 8}, {5, 3}, Draws), One);
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 1, 0, 0.7, 9}, {5, 3, 1}, Draws), Two);
  // The test would notice: twice the temperature is another distribution.
  EXPECT_GT(chiSquare(Logits, {1.0, 0, 1, 0, 1, 1}, {1, 5, 3}, Draws), 100);
}

TEST(SamplingTest, ChoicesOfOnePositionAreADistributionToo) {
  // The same over numbers of the choice and over seeds, in place of positions.
  std::vector<float> Logits = {1, 0, 0.5f, 0.25f};
  double Total = 0, Statistic[2] = {};
  for (float Logit : Logits)
    Total += std::exp(Logit);
  constexpr int Draws = 20000;
  std::vector<double> Seen[2] = {std::vector<double>(4),
                                 std::vector<double>(4)};
  for (uint32_t I = 0; I < Draws; ++I) {
    Result<Sampler> S = Sampler::create({1.0, 0, 1, 0, 1, 5});
    Seen[0][static_cast<size_t>(*S->pick(Logits, 17, I))] += 1;
    S = Sampler::create({1.0, 0, 1, 0, 1, I});
    Seen[1][static_cast<size_t>(*S->pick(Logits, 17, 3))] += 1;
  }
  for (size_t Kind = 0; Kind < 2; ++Kind)
    for (size_t I = 0; I < 4; ++I) {
      double Mean = std::exp(Logits[I]) / Total * Draws;
      Statistic[Kind] += (Seen[Kind][I] - Mean) * (Seen[Kind][I] - Mean) / Mean;
    }
  EXPECT_LT(Statistic[0], 16.27);
  EXPECT_LT(Statistic[1], 16.27);
}

TEST(SamplingTest, ADrawDependsOnItsPlaceOnly) {
  std::vector<float> Logits;
  for (int I = 0; I < 97; ++I)
    Logits.push_back(static_cast<float>((I * 37) % 19) * 0.25f);
  Result<Sampler> S = Sampler::create({1.0, 0, 1, 0, 1, 42});
  std::vector<int32_t> Forward, Backward;
  for (int I = 0; I < 50; ++I)
    Forward.push_back(*S->pick(Logits, I));
  for (int I = 50; I-- > 0;) {
    Result<Sampler> Fresh = Sampler::create({1.0, 0, 1, 0, 1, 42});
    (void)*Fresh->pick(std::vector<float>{1, 2}, I * 3, 8);
    Backward.push_back(*Fresh->pick(Logits, I));
  }
  std::reverse(Backward.begin(), Backward.end());
  EXPECT_EQ(Forward, Backward);
  EXPECT_GT(std::set<int32_t>(Forward.begin(), Forward.end()).size(), 20u);
}

TEST(SamplingTest, ANucleusBeyondTheFirstSortedPrefix) {
  // Equal logits: 0.5 of 1000 tokens needs 500, the lowest indices.
  std::vector<float> Logits(1000, 1);
  Result<Sampler> S = Sampler::create({1.0, 0, 0.5, 0, 1, 11});
  std::vector<bool> Seen(1000);
  for (int I = 0; I < 20000; ++I) {
    int32_t Token = *S->pick(Logits, I);
    ASSERT_LT(Token, 500);
    Seen[static_cast<size_t>(Token)] = true;
  }
  EXPECT_EQ(std::count(Seen.begin(), Seen.begin() + 500, true), 500);
  // All are as typical as the last that is needed.
  S = Sampler::create({1.0, 0, 1, 0, 0.5, 11});
  EXPECT_EQ(S->distribution(Logits)->size(), 1000u);
}

/// What `Options` leave of a row, by sorting all of it.
static std::vector<double> leftOf(const std::vector<float> &Logits,
                                  const SamplingOptions &Options) {
  std::vector<double> P(Logits.size());
  double Largest = *std::max_element(Logits.begin(), Logits.end());
  std::vector<size_t> Order(P.size());
  for (size_t I = 0; I < P.size(); ++I) {
    P[I] = std::exp((Logits[I] - Largest) / Options.Temperature);
    Order[I] = I;
  }
  std::stable_sort(Order.begin(), Order.end(),
                   [&](size_t A, size_t B) { return P[A] > P[B]; });
  auto Normalise = [&] {
    double Sum = std::accumulate(P.begin(), P.end(), 0.0);
    for (double &Each : P)
      Each /= Sum;
  };
  for (size_t I = 0; I < P.size(); ++I)
    if (Options.TopK > 0 && I >= static_cast<size_t>(Options.TopK))
      P[Order[I]] = 0;
  Normalise();
  double Sum = 0;
  for (size_t I : Order) {
    if (Sum >= Options.TopP)
      P[I] = 0;
    Sum += P[I];
  }
  Normalise();
  double Most = P[Order.front()];
  for (double &Each : P)
    if (Each < Options.MinP * Most)
      Each = 0;
  Normalise();
  return P;
}

// More than a block of tokens, the last one not whole, and a block of which
// none may follow.
TEST(SamplingTest, LargeVocabularies) {
  std::vector<float> Logits;
  uint32_t State = 1;
  for (int I = 0; I < 2001; ++I) {
    State = State * 1664525 + 1013904223;
    bool IsOut = I % 5 == 2 || (I >= 512 && I < 768);
    Logits.push_back(IsOut ? -Infinity
                           : static_cast<float>(State >> 20) / 512 -
                                 static_cast<float>(I % 7));
  }
  const SamplingOptions Wanted[] = {
      {1, 0, 1, 0, 1, 1},     {0.2, 0, 1, 0, 1, 2},   {30, 0, 1, 0, 1, 3},
      {1, 40, 1, 0, 1, 4},    {2, 1000, 1, 0, 1, 5},  {1, 0, 0.9, 0, 1, 6},
      {9, 0, 0.99, 0, 1, 7},  {0.3, 0, 0.5, 0, 1, 8}, {1, 0, 1, 0.05, 1, 9},
      {5, 0, 0.9, 0.3, 1, 1}, {4, 200, 0.8, 0, 1, 2}, {4, 300, 1, 0.2, 1, 3},
  };
  for (const SamplingOptions &Options : Wanted) {
    SCOPED_TRACE("seed " + std::to_string(Options.Seed) + ", temperature " +
                 std::to_string(Options.Temperature));
    Result<Sampler> S = Sampler::create(Options);
    std::vector<double> Expected = leftOf(Logits, Options), Found(2001);
    auto Left = S->distribution(Logits);
    ASSERT_TRUE(Left);
    EXPECT_TRUE(std::is_sorted(
        Left->begin(), Left->end(),
        [](const auto &A, const auto &B) { return A.Token < B.Token; }));
    for (const TokenProbability &P : *Left)
      Found[static_cast<size_t>(P.Token)] = P.Probability;
    for (size_t I = 0; I < Found.size(); ++I)
      ASSERT_NEAR(Found[I], Expected[I], 1e-13) << I;
    for (int64_t Position = 0; Position < 300; ++Position) {
      double Rest = uniformAt(Options.Seed, 0, static_cast<uint64_t>(Position));
      auto Token = Left->begin();
      while ((Rest -= Token->Probability) >= 0 && Token + 1 != Left->end())
        ++Token;
      ASSERT_EQ(*S->pick(Logits, Position), Token->Token) << Position;
    }
  }
}

namespace {

/// Every token but those whose ids are in `Out`, and how often all were asked
/// for.
struct AllBut final : AllowedTokens {
  bool allows(int32_t Token) override { return !Out.contains(Token); }
  std::span<const uint64_t> mask(size_t Vocabulary) override {
    ++Masks;
    // Bits behind the vocabulary mean nothing.
    Bits.assign(Vocabulary / 64 + 3, ~uint64_t{0});
    for (int32_t Token : Out)
      Bits[static_cast<size_t>(Token) / 64] &= ~(uint64_t{1} << (Token % 64));
    return Bits;
  }

  std::set<int32_t> Out;
  std::vector<uint64_t> Bits;
  int Masks = 0;
};

/// A random row of scores, and the same without the tokens that `Allowed`
/// leaves out: of some blocks none, of others all.
struct MaskedRow {
  explicit MaskedRow(size_t Vocabulary) {
    std::mt19937 Random(7);
    for (size_t I = 0; I < Vocabulary; ++I) {
      Raw.push_back(static_cast<float>(Random() % 4096) / 256);
      size_t Block = I / BlockSize;
      if (Block == 1 || (Block != 3 && Random() % 3 != 0))
        Allowed.Out.insert(static_cast<int32_t>(I));
      Left.push_back(Allowed.allows(static_cast<int32_t>(I)) ? Raw.back()
                                                             : -Infinity);
    }
  }

  std::vector<float> Raw, Left;
  AllBut Allowed;
};

} // namespace

TEST(SamplingTest, WhatIsNotAllowedIsAsGoodAsMinusInfinity) {
  MaskedRow Row(1300);
  const SamplingOptions Wanted[] = {{0, 0, 1, 0, 1, 1},   {1, 1, 1, 0, 1, 1},
                                    {2, 40, 1, 0, 1, 1},  {2, 1200, 1, 0, 1, 1},
                                    {2, 0, 0.9, 0, 1, 1}, {3, 0, 1, 0.05, 1, 1},
                                    {2, 0, 1, 0, 0.5, 1}};
  for (const SamplingOptions &Options : Wanted) {
    Result<Sampler> S = Sampler::create(Options);
    for (int64_t Position = 0; Position < 300; ++Position)
      ASSERT_EQ(*S->pick(Row.Raw, Position, 3, &Row.Allowed),
                *S->pick(Row.Left, Position, 3))
          << Options.Temperature << " " << Options.TopK << " " << Options.TopP;
  }
}

// Later draws must not be what the first one has decided already.
TEST(SamplingTest, AForbiddenDrawIsDrawnAgain) {
  MaskedRow Row(1300);
  Result<Sampler> S = Sampler::create({3, 0, 1, 0, 1, 5});
  std::vector<double> P(Row.Raw.size());
  const auto Distribution = S->distribution(Row.Left);
  for (const TokenProbability &Each : *Distribution)
    P[static_cast<size_t>(Each.Token)] = Each.Probability;
  constexpr int Draws = 200000, Classes = 25;
  std::vector<double> Seen(Classes), Expected(Classes);
  for (size_t I = 0; I < P.size(); ++I)
    Expected[I % Classes] += P[I] * Draws;
  int Forbidden = 0;
  for (int64_t Position = 0; Position < Draws; ++Position) {
    int32_t Free = *S->pick(Row.Raw, Position);
    int32_t Token = *S->pick(Row.Raw, Position, 0, &Row.Allowed);
    ASSERT_TRUE(Row.Allowed.allows(Token));
    if (Row.Allowed.allows(Free)) {
      ASSERT_EQ(Token, Free);
    } else {
      ++Forbidden;
    }
    Seen[static_cast<size_t>(Token) % Classes] += 1;
  }
  // Masks cost time, and are made behind four draws.
  double Share = static_cast<double>(Forbidden) / Draws;
  double Masks = Draws * std::pow(Share, 4);
  EXPECT_GT(Share, 1.0 / 3);
  EXPECT_NEAR(Row.Allowed.Masks, Masks, 4 * std::sqrt(Masks));
  double Statistic = 0;
  for (size_t I = 0; I < Classes; ++I)
    Statistic +=
        (Seen[I] - Expected[I]) * (Seen[I] - Expected[I]) / Expected[I];
  EXPECT_LT(Statistic, 51.18) << "24 degrees of freedom, once in a thousand";
}

TEST(SamplingTest, WhatIsWrongWithForbiddenTokensDoesNotMatter) {
  MaskedRow Row(600);
  for (int32_t Token : Row.Allowed.Out)
    Row.Raw[static_cast<size_t>(Token)] = Token % 2 ? Infinity : NAN;
  for (double TopP : {1.0, 0.9}) {
    Result<Sampler> S = Sampler::create({2, 0, TopP, 0, 1, 5});
    Result<int32_t> Token = S->pick(Row.Raw, 0, 0, &Row.Allowed);
    ASSERT_TRUE(Token) << Token.error().message();
    EXPECT_TRUE(Row.Allowed.allows(*Token));
    Row.Raw[599] = NAN;
    Row.Allowed.Out.erase(599);
    Token = S->pick(Row.Raw, 0, 0, &Row.Allowed);
    ASSERT_FALSE(Token);
    EXPECT_EQ(Token.error().message(),
              "logit of token 599 is NaN: the model's output is unusable");
    Row.Allowed.Out.insert(599);
  }
}

// With fused operations, for which a compiler has to be told not to use them,
// other bits come out; and so they would on machines without.
TEST(SamplingTest, WeightsHaveTheSameBitsOnEveryMachine) {
  std::vector<float> Scores;
  for (size_t I = 0; I < BlockSize; ++I)
    Scores.push_back(2 - static_cast<float>(I) * 0.13f);
  BlockWeights Weights;
  double Sum = Weighing::at(0.7, 2)(Scores, Weights);
  uint64_t Bits = 0;
  for (size_t I = 0; I < BlockSize; ++I) {
    double Exact = std::exp((double(Scores[I]) - 2) / 0.7);
    EXPECT_NEAR(Weights[I] / Exact, 1, 1e-13) << I;
    Bits = std::rotl(Bits, 1) ^ std::bit_cast<uint64_t>(Weights[I]);
  }
  EXPECT_EQ(Sum, 0x1.799af537a6e3bp+2);
  EXPECT_EQ(Bits, 0x9c581b09fdc1b2f7);
}

TEST(SamplingTest, WhatCannotBeAScoreIsFoundAnywhere) {
  std::vector<float> Logits(523);
  for (size_t I = 0; I < Logits.size(); ++I)
    Logits[I] = static_cast<float>(I % 97);
  for (size_t I = 0; I < Logits.size(); ++I) {
    std::vector<float> Bad = Logits;
    Bad[I] = Infinity;
    EXPECT_EQ(pickError(Bad, 1),
              "logit of token " + std::to_string(I) +
                  " is infinite: the model's output is unusable");
    Bad[I] = 97;
    EXPECT_EQ(*likeliest(Bad), static_cast<int32_t>(I));
  }
}

TEST(SamplingTest, WhatIsLikelyBesides) {
  std::vector<float> Logits = {1, 3, -Infinity, 3, 2};
  Result<LogProbabilities> Row = LogProbabilities::of(Logits);
  ASSERT_TRUE(Row);
  double Sum = std::exp(1) + 2 * std::exp(3) + std::exp(2);
  ScoredToken Token = Row->score(0, 3);
  EXPECT_EQ(Token.Chosen.Token, 0);
  EXPECT_FLOAT_EQ(Token.Chosen.LogProbability,
                  static_cast<float>(1 - std::log(Sum)));
  ASSERT_EQ(Token.Likeliest.size(), 3u);
  EXPECT_EQ(Token.Likeliest[0].Token, 1) << "of equal ones the lowest first";
  EXPECT_EQ(Token.Likeliest[1].Token, 3);
  EXPECT_EQ(Token.Likeliest[2].Token, 4);
  EXPECT_FLOAT_EQ(Token.Likeliest[2].LogProbability,
                  static_cast<float>(2 - std::log(Sum)));
  EXPECT_EQ(Row->score(2, 0).Chosen.LogProbability, -Infinity);
  EXPECT_EQ(Row->score(99, 9).Chosen.LogProbability, -Infinity);
  EXPECT_EQ(Row->score(99, 9).Likeliest.size(), 5u);
}

TEST(SamplingTest, WhatIsLikelyInALargeVocabulary) {
  // Equal ones within blocks and across them.
  std::vector<float> Logits;
  std::mt19937 Random(11);
  for (int I = 0; I < 1500; ++I)
    Logits.push_back(static_cast<float>(Random() % 64) / 8 - 3);
  std::vector<int32_t> Order(Logits.size());
  std::iota(Order.begin(), Order.end(), 0);
  std::stable_sort(Order.begin(), Order.end(), [&](int32_t A, int32_t B) {
    return Logits[static_cast<size_t>(A)] > Logits[static_cast<size_t>(B)];
  });
  double Sum = 0;
  for (float Logit : Logits)
    Sum += std::exp(static_cast<double>(Logit));
  Result<LogProbabilities> Row = LogProbabilities::of(Logits);
  ASSERT_TRUE(Row);
  for (size_t Count : {1, 2, 20, 300, 1500, 2000}) {
    ScoredToken Token = Row->score(8, Count);
    ASSERT_EQ(Token.Likeliest.size(), std::min<size_t>(Count, 1500));
    for (size_t I = 0; I < Token.Likeliest.size(); ++I) {
      ASSERT_EQ(Token.Likeliest[I].Token, Order[I]) << Count << " " << I;
      EXPECT_FLOAT_EQ(
          Token.Likeliest[I].LogProbability,
          static_cast<float>(Logits[size_t(Order[I])] - std::log(Sum)));
    }
  }
}

TEST(SamplingTest, RefusesBadParametersAndLogits) {
  double NaN = std::nan("");
  EXPECT_EQ(errorOf({-1, 0, 1, 0, 1, 0}),
            "temperature is -1: expected a finite number, at least 0");
  EXPECT_NE(errorOf({NaN, 0, 1, 0, 1, 0}), "");
  EXPECT_NE(errorOf({Infinity, 0, 1, 0, 1, 0}), "");
  EXPECT_EQ(errorOf({1, -2, 1, 0, 1, 0}),
            "top_k is -2: expected at least 0 (0 keeps all tokens)");
  EXPECT_EQ(errorOf({1, 0, 0, 0, 1, 0}),
            "top_p is 0: expected above 0, at most 1");
  EXPECT_NE(errorOf({1, 0, 1.5, 0, 1, 0}), "");
  EXPECT_NE(errorOf({1, 0, NaN, 0, 1, 0}), "");
  EXPECT_EQ(errorOf({1, 0, 1, -0.25, 1, 0}, {true}),
            "--min-p is -0.25: expected 0 to 1");
  EXPECT_NE(errorOf({1, 0, 1, 1.5, 1, 0}), "");
  EXPECT_NE(errorOf({1, 0, 1, NaN, 1, 0}), "");
  EXPECT_EQ(errorOf({1, 0, 1, 0, 0, 0}, {true}),
            "--typical-p is 0: expected above 0, at most 1");
  EXPECT_NE(errorOf({1, 0, 1, 0, 1.5, 0}), "");
  EXPECT_NE(errorOf({1, 0, 1, 0, NaN, 0}), "");
  EXPECT_EQ(errorOf({1, 0, 1, 1, 1, 0}), "");
  float Bad = std::nanf("");
  for (double Temperature : {0.0, 1.0}) {
    EXPECT_EQ(pickError({1, Bad, 2}, Temperature),
              "logit of token 1 is NaN: the model's output is unusable");
    EXPECT_EQ(pickError({Bad, 1}, Temperature),
              "logit of token 0 is NaN: the model's output is unusable");
    EXPECT_EQ(pickError({1, Infinity}, Temperature),
              "logit of token 1 is infinite: the model's output is unusable");
    EXPECT_EQ(pickError({-Infinity, -Infinity}, Temperature),
              "every logit is -infinity: the model's output is unusable");
    EXPECT_NE(pickError({}, Temperature), "");
  }
}

TEST(SamplingTest, RefusesRulesOutOfRange) {
  auto ErrorOf = [](auto Set) {
    LogitsRules Rules;
    Set(Rules);
    Status Fits = check(Rules, 50);
    return Fits ? "" : Fits.error().message();
  };
  auto Penalty = [&](double LogitsRules::*Field, double Value) {
    return ErrorOf([&](LogitsRules &R) { R.*Field = Value; });
  };
  double NaN = std::nan("");
  for (double Value : {0.0, -1.0, 1e-38, 1e38, NaN, double(Infinity)})
    EXPECT_NE(Penalty(&LogitsRules::RepetitionPenalty, Value), "");
  EXPECT_EQ(Penalty(&LogitsRules::RepetitionPenalty, 0),
            "repetition_penalty is 0: expected 0.000001 to 1000000 (1 changes "
            "nothing)");
  EXPECT_EQ(Penalty(&LogitsRules::PresencePenalty, 2.5),
            "presence_penalty is 2.5: expected -2 to 2");
  EXPECT_EQ(Penalty(&LogitsRules::FrequencyPenalty, -2.5),
            "frequency_penalty is -2.5: expected -2 to 2");
  EXPECT_NE(Penalty(&LogitsRules::FrequencyPenalty, NaN), "");
  EXPECT_EQ(Penalty(&LogitsRules::FrequencyPenalty, -2), "");
  auto Bias = [&](std::vector<TokenBias> Values) {
    return ErrorOf([&](LogitsRules &R) { R.Bias = Values; });
  };
  EXPECT_EQ(Bias({{49, 100}, {0, -100}}), "");
  EXPECT_EQ(Bias({{50, 1}}), "logit_bias of token is 50: expected 0 to 49");
  EXPECT_EQ(Bias({{-1, 1}}), "logit_bias of token is -1: expected 0 to 49");
  EXPECT_EQ(Bias({{4, 100.5f}}),
            "logit_bias of token 4 is 100.5: expected -100 to 100");
  EXPECT_EQ(Bias({{4, 1}, {5, 1}, {4, 1}}),
            "logit_bias of token 4 is given twice: expected it once");
  auto Words = [&](std::vector<std::vector<int32_t>> Values) {
    return ErrorOf([&](LogitsRules &R) { R.BadWords = Values; });
  };
  EXPECT_EQ(Words({{1}, {49, 0}}), "");
  EXPECT_EQ(Words({{1}, {}}),
            "bad_words: one has no tokens: expected at least one");
  EXPECT_EQ(Words({{1, 50}}), "bad_words: token id 50: expected 0 to 49");
}
