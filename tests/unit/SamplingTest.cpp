//===- SamplingTest.cpp - Choice of the next token ------------------------===//

#include "runtime/Sampling/Sampler.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tenon;
using namespace tenon::sampling;

static constexpr float Infinity = std::numeric_limits<float>::infinity();

static std::string errorOf(const SamplingOptions &Options) {
  Result<Sampler> S = Sampler::create(Options);
  return S ? "" : S.error().message();
}

static std::string pickError(const std::vector<float> &Logits,
                             double Temperature) {
  Result<Sampler> S = Sampler::create({Temperature, 0, 1, 0});
  Result<int32_t> Token = S->pick(Logits);
  return Token ? "" : Token.error().message();
}

/// Pearson's statistic of `Draws` choices against the probabilities
/// softmax(Logits / Temperature) restricted to `Kept`.
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
    Result<int32_t> Token = S->pick(Logits);
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
  EXPECT_EQ(*S->pick(std::vector<float>{1, 5, 3, 5}), 1);
  EXPECT_EQ(*S->pick(std::vector<float>{-Infinity, -3, -Infinity}), 1);
  S = Sampler::create({2.0, 1, 1, 7});
  EXPECT_EQ(*S->pick(std::vector<float>{1, 5, 3, 5}), 1) << "top-k 1";
  S = Sampler::create({1e-300, 0, 1, 7});
  EXPECT_EQ(*S->pick(std::vector<float>{1, 5, 3, 4.9f}), 1) << "cold";
}

TEST(SamplingTest, DistributionsAreThoseAskedFor) {
  std::vector<float> Logits = {0.5f, 2, -1, 1, 0, 1.5f, -Infinity, 0.25f};
  std::vector<int32_t> All = {0, 1, 2, 3, 4, 5, 7};
  constexpr int Draws = 20000;
  // Beyond these once in a thousand: 6, 2 and 2 degrees of freedom.
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 1, 1}, All, Draws), 22.46);
  EXPECT_LT(chiSquare(Logits, {0.6, 0, 1, 2}, All, Draws), 22.46);
  EXPECT_LT(chiSquare(Logits, {1.5, 3, 1, 3}, {1, 5, 3}, Draws), 13.82);
  // Probabilities: 0.40, 0.24, 0.15, 0.09, ...
  EXPECT_LT(chiSquare(Logits, {1.0, 0, 0.7, 4}, {1, 5, 3}, Draws), 13.82);
  // Of three kept by top-k, the nucleus of 0.8 is the first two plus one.
  EXPECT_LT(chiSquare(Logits, {1.0, 3, 0.75, 5}, {1, 5}, Draws), 10.83);
  // The test would notice: twice the temperature is another distribution.
  EXPECT_GT(chiSquare(Logits, {1.0, 0, 1, 1}, {1, 5, 3}, Draws), 100);
}

TEST(SamplingTest, ANucleusBeyondTheFirstSortedPrefix) {
  // Equal logits: 0.5 of 1000 tokens needs 500, the lowest indices.
  std::vector<float> Logits(1000, 1);
  Result<Sampler> S = Sampler::create({1.0, 0, 0.5, 11});
  std::vector<bool> Seen(1000);
  for (int I = 0; I < 20000; ++I) {
    int32_t Token = *S->pick(Logits);
    ASSERT_LT(Token, 500);
    Seen[static_cast<size_t>(Token)] = true;
  }
  EXPECT_EQ(std::count(Seen.begin(), Seen.begin() + 500, true), 500);
}

TEST(SamplingTest, SameSeedSameTokensEverywhere) {
  std::vector<float> Logits;
  for (int I = 0; I < 97; ++I)
    Logits.push_back(static_cast<float>((I * 37) % 19) * 0.25f);
  Result<Sampler> S = Sampler::create({1.0, 0, 1, 42});
  std::vector<int32_t> Tokens;
  for (int I = 0; I < 8; ++I)
    Tokens.push_back(*S->pick(Logits));
  // From an independent implementation of the generator.
  EXPECT_EQ(Tokens, (std::vector<int32_t>{68, 59, 68, 5, 81, 3, 58, 31}));
}

TEST(SamplingTest, RefusesBadParametersAndLogits) {
  double NaN = std::nan("");
  EXPECT_EQ(errorOf({-1, 0, 1, 0}),
            "temperature is -1.000000: expected a finite number, at least 0");
  EXPECT_NE(errorOf({NaN, 0, 1, 0}), "");
  EXPECT_NE(errorOf({Infinity, 0, 1, 0}), "");
  EXPECT_EQ(errorOf({1, -2, 1, 0}),
            "top-k is -2: expected at least 0 (0 keeps all tokens)");
  EXPECT_EQ(errorOf({1, 0, 0, 0}),
            "top-p is 0.000000: expected above 0, at most 1");
  EXPECT_NE(errorOf({1, 0, 1.5, 0}), "");
  EXPECT_NE(errorOf({1, 0, NaN, 0}), "");
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
