//===- SamplingReferenceTest.cpp - Choices against Transformers -----------===//
//
// Scores, distributions and draws that SamplingReference.py has computed.
//
//===----------------------------------------------------------------------===//

#include "runtime/Sampling/LogitsRules.h"
#include "runtime/Sampling/Philox.h"
#include "runtime/Sampling/Sampler.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tenon;
using namespace tenon::sampling;

namespace {

using Row = std::vector<float>;
using Tokens = std::vector<int32_t>;

constexpr float Never = -std::numeric_limits<float>::infinity();

struct DistributionCase {
  SamplingOptions Options;
  std::vector<double> Left;
};

struct DrawCase {
  uint64_t Seed;
  uint32_t Choice;
  int64_t Position;
  double Uniform;
  int32_t Token;
};

#include "SamplingReference.inc"

constexpr int VocabularySize = 24;

/// The same as logits() of the script.
Row rowOf(int Number) {
  Row Logits;
  for (int Token = 0; Token < VocabularySize; ++Token)
    Logits.push_back(
        static_cast<float>((Token * 37 + Number * 29 + 11) % 101) / 16 - 3);
  return Logits;
}

/// After the sequence of the script, of which 5 tokens are the prompt.
void expectScores(const LogitsRules &Rules, const Row &Expected,
                  const char *What) {
  Row Scores = rowOf(0);
  EXPECT_TRUE(Rules.any()) << What;
  Rules.apply(Tokens{3, 17, 3, 8, 5, 11, 3, 11, 11, 20, 8}, 5, Scores);
  ASSERT_EQ(Scores.size(), Expected.size());
  for (size_t I = 0; I < Scores.size(); ++I)
    EXPECT_FLOAT_EQ(Scores[I], Expected[I]) << What << ", token " << I;
}

} // namespace

TEST(SamplingReferenceTest, Rules) {
  LogitsRules All;
  auto Alone = [](auto Set) {
    LogitsRules Rules;
    Set(Rules);
    return Rules;
  };
  const std::vector<TokenBias> Bias = {{7, 2.5f}, {11, -1.25f}, {3, 0.5f}};
  const std::vector<Tokens> Words = {{20, 8, 4}, {8, 8, 6}, {9}, {8, 2}};
  expectScores(Alone([&](LogitsRules &R) { R.Bias = Bias; }), biasScores,
               "bias");
  expectScores(Alone([](LogitsRules &R) { R.RepetitionPenalty = 1.3; }),
               repetitionScores, "repetition penalty");
  expectScores(Alone([](LogitsRules &R) { R.RepetitionPenalty = 0.8; }),
               rewardScores, "repetition reward");
  expectScores(Alone([](LogitsRules &R) { R.PresencePenalty = 0.7; }),
               presenceScores, "presence penalty");
  expectScores(Alone([](LogitsRules &R) { R.FrequencyPenalty = 0.4; }),
               frequencyScores, "frequency penalty");
  expectScores(Alone([&](LogitsRules &R) { R.BadWords = Words; }),
               badWordsScores, "bad words");
  for (int64_t Fewest : {6, 7})
    expectScores(Alone([&](LogitsRules &R) {
                   R.EndOfSequence = {1, 2};
                   R.MinNewTokens = Fewest;
                 }),
                 Fewest == 6 ? enoughNewTokensScores : minNewTokensScores,
                 "minimum of new tokens");
  All.Bias = Bias;
  All.RepetitionPenalty = 1.3;
  All.PresencePenalty = -0.5;
  All.FrequencyPenalty = 0.25;
  All.BadWords = Words;
  All.EndOfSequence = {1, 2};
  All.MinNewTokens = 7;
  All.Suppressed = {6, 13};
  expectScores(All, togetherScores, "together");
}

TEST(SamplingReferenceTest, Distributions) {
  int Number = 0;
  for (const DistributionCase &Case : Distributions) {
    Result<Sampler> S = Sampler::create(Case.Options);
    ASSERT_TRUE(S) << S.error().message();
    auto Left = S->distribution(rowOf(Number));
    ASSERT_TRUE(Left);
    std::vector<double> Found(VocabularySize);
    for (const TokenProbability &P : *Left)
      Found[static_cast<size_t>(P.Token)] = P.Probability;
    // Its probabilities are of f32.
    for (size_t I = 0; I < Found.size(); ++I)
      EXPECT_NEAR(Found[I], Case.Left[I], 1e-6)
          << "case " << Number << ", token " << I;
    ++Number;
  }
}

TEST(SamplingReferenceTest, Draws) {
  for (const DrawCase &Case : Draws) {
    EXPECT_EQ(
        uniformAt(Case.Seed, Case.Choice, static_cast<uint64_t>(Case.Position)),
        Case.Uniform);
    SamplingOptions Options;
    Options.Temperature = 1;
    Options.Seed = Case.Seed;
    Result<Sampler> S = Sampler::create(Options);
    EXPECT_EQ(*S->pick(rowOf(1), Case.Position, Case.Choice), Case.Token)
        << Case.Seed << " " << Case.Choice << " " << Case.Position;
  }
}

// Of Random123 (kat_vectors), the authors' library.
TEST(SamplingReferenceTest, PublishedVectorsOfPhilox) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t Ones = 0xffffffff;
  EXPECT_EQ(philox({Ones, Ones, Ones, Ones}, {Ones, Ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}
