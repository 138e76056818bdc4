//===- SamplingBeamTest.cpp - Rules of generation, and beam search --------===//

#include "runtime/Sampling/BeamSearch.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tenon;
using namespace tenon::sampling;

static constexpr float Excluded = -std::numeric_limits<float>::infinity();
using Row = std::vector<float>;
using Tokens = std::vector<int32_t>;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Row applied(const LogitsRules &Rules, const Tokens &Sequence,
                   Row Scores) {
  Rules.apply(Sequence, 0, Scores);
  return Scores;
}

TEST(LogitsRulesTest, NothingByDefault) {
  LogitsRules Rules;
  EXPECT_FALSE(Rules.any());
  EXPECT_EQ(applied(Rules, {0, 0, 0}, {1, 2, 3}), (Row{1, 2, 3}));
  Rules.MinLength = 5;
  EXPECT_FALSE(Rules.any()) << "no token ends the sequence";
}

TEST(LogitsRulesTest, RepetitionPenalty) {
  LogitsRules Rules;
  Rules.RepetitionPenalty = 2;
  EXPECT_TRUE(Rules.any());
  // Once however often a token occurs; ids beyond the head are let be.
  EXPECT_EQ(applied(Rules, {0, 1, 0, 9}, {3, -3, 3, -3}),
            (Row{1.5, -6, 3, -3}));
}

TEST(LogitsRulesTest, NGrams) {
  LogitsRules Rules;
  Rules.NoRepeatNgram = 3;
  EXPECT_TRUE(Rules.any());
  // 1 2 was followed by 3 and by 0.
  EXPECT_EQ(applied(Rules, {1, 2, 3, 1, 2, 0, 1, 2}, {1, 1, 1, 1}),
            (Row{Excluded, 1, 1, Excluded}));
  EXPECT_EQ(applied(Rules, {1, 2}, {1, 1, 1, 1}), (Row{1, 1, 1, 1}));
  EXPECT_EQ(applied(Rules, {}, {1, 1}), (Row{1, 1}));
  Rules.NoRepeatNgram = 1;
  EXPECT_EQ(applied(Rules, {1, 2}, {1, 1, 1, 1}),
            (Row{1, Excluded, Excluded, 1}));
}

TEST(LogitsRulesTest, SuppressedMinimumAndForced) {
  LogitsRules Rules;
  Rules.Suppressed = {2, 77};
  Rules.EndOfSequence = {1};
  Rules.MinLength = 3;
  Rules.MaxLength = 5;
  EXPECT_TRUE(Rules.any());
  EXPECT_EQ(applied(Rules, {0, 0}, {1, 1, 1}), (Row{1, Excluded, Excluded}));
  EXPECT_EQ(applied(Rules, {0, 0, 0}, {1, 1, 1}), (Row{1, 1, Excluded}));
  Rules.ForcedFirst = 2;
  Rules.ForcedLast = 1;
  EXPECT_EQ(applied(Rules, {0}, {1, 1, 1}), (Row{Excluded, Excluded, 0}))
      << "forced even if suppressed";
  EXPECT_EQ(applied(Rules, {0, 0, 0}, {1, 1, 1}), (Row{1, 1, Excluded}));
  EXPECT_EQ(applied(Rules, {0, 0, 0, 0}, {1, 1, 1}),
            (Row{Excluded, 0, Excluded}));
}

TEST(LogitsRulesTest, LogProbabilities) {
  Row Scores = {0, std::log(3.0f), Excluded};
  logSoftmax(Scores);
  EXPECT_FLOAT_EQ(Scores[0], std::log(0.25f));
  EXPECT_FLOAT_EQ(Scores[1], std::log(0.75f));
  EXPECT_EQ(Scores[2], Excluded);
  Scores = {Excluded, Excluded};
  logSoftmax(Scores);
  EXPECT_EQ(Scores, (Row{Excluded, Excluded}));
  LogitsRules Rules;
  Rules.Renormalize = true;
  Rules.Suppressed = {0};
  EXPECT_EQ(applied(Rules, {0}, {5, -1}), (Row{Excluded, 0}));
}

//===----------------------------------------------------------------------===//
// Beam search
//===----------------------------------------------------------------------===//

static Result<BeamSearch> search(const BeamOptions &Options,
                                 const Tokens &Prompt) {
  return BeamSearch::create(Options, Prompt);
}

static Result<std::vector<BeamSearch::Continuation>>
advance(BeamSearch &S, const std::vector<Row> &Logits) {
  std::vector<std::span<const float>> Rows(Logits.begin(), Logits.end());
  return S.advance(Rows);
}

/// Logits that are these probabilities.
static Row chances(const std::vector<double> &Values) {
  Row Logits;
  for (double Value : Values)
    Logits.push_back(static_cast<float>(std::log(Value)));
  return Logits;
}

TEST(BeamSearchTest, FollowsTheSecondBestFirstToken) {
  // Greedily: 1 (0.5) then 1 (0.4) = 0.2; better: 2 (0.4), then 1 (0.9) = 0.36.
  BeamOptions Options;
  Options.Beams = 2;
  Options.Rules.MaxLength = 3;
  Result<BeamSearch> S = search(Options, {0});
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_EQ(S->running(), 1u);
  auto Next = advance(*S, {chances({0.1, 0.5, 0.4})});
  ASSERT_TRUE(Next) << Next.error().message();
  ASSERT_EQ(Next->size(), 2u);
  EXPECT_EQ((*Next)[0].Parent, 0u);
  EXPECT_EQ((*Next)[0].Token, 1);
  EXPECT_EQ((*Next)[1].Parent, 0u);
  EXPECT_EQ((*Next)[1].Token, 2);
  EXPECT_EQ(S->running(), 2u);
  EXPECT_FALSE(S->finished());
  Next = advance(*S, {chances({0.3, 0.4, 0.3}), chances({0.05, 0.9, 0.05})});
  ASSERT_TRUE(Next) << Next.error().message();
  EXPECT_TRUE(Next->empty());
  EXPECT_TRUE(S->finished());
  EXPECT_EQ(S->best(), (Tokens{2, 1}));
  EXPECT_FLOAT_EQ(S->bestScore(), std::log(0.36f) / 2);
  EXPECT_FALSE(advance(*S, {})) << "after the end";
}

TEST(BeamSearchTest, LengthPenaltyWeighsFinishedOnes) {
  // Ends at once with 0.5 (token 1 ends), or after two tokens with 0.45 * 0.9.
  for (double Penalty : {0.0, 1.0}) {
    BeamOptions Options;
    Options.Beams = 2;
    Options.LengthPenalty = Penalty;
    Options.Rules.EndOfSequence = {1};
    Options.Rules.MaxLength = 10;
    Result<BeamSearch> S = search(Options, {0});
    ASSERT_TRUE(S);
    auto Next = advance(*S, {chances({0.05, 0.5, 0.45})});
    ASSERT_TRUE(Next) << Next.error().message();
    ASSERT_EQ(Next->size(), 2u) << "as many go on as there are beams";
    EXPECT_EQ((*Next)[0].Token, 2);
    EXPECT_EQ((*Next)[1].Token, 0);
    Next = advance(*S, {chances({0.05, 0.9, 0.05}), chances({0.3, 0.4, 0.3})});
    ASSERT_TRUE(Next) << Next.error().message();
    EXPECT_TRUE(S->finished()) << "two are finished, no other can beat them";
    // log 0.5 / 1 = -0.69; log 0.405 / 2 = -0.45
    EXPECT_EQ(S->best(), Penalty == 0 ? Tokens{1} : (Tokens{2, 1}));
    EXPECT_FLOAT_EQ(S->bestScore(),
                    Penalty == 0 ? std::log(0.5f) : std::log(0.405f) / 2);
  }
}

TEST(BeamSearchTest, WhatCannotBe) {
  BeamOptions Options;
  Options.Rules.MaxLength = 4;
  Options.Beams = 0;
  EXPECT_EQ(search(Options, {0}).error().message(),
            "beams is 0: expected 1 to 1024");
  Options.Beams = 2;
  Options.LengthPenalty = std::nan("");
  EXPECT_EQ(search(Options, {0}).error().message(),
            "length penalty is nan: expected a finite number");
  Options.LengthPenalty = 1;
  EXPECT_EQ(search(Options, {0, 0, 0, 0}).error().message(),
            "prompt of 4 tokens: expected at least one, and fewer than the "
            "length limit of 4");
  EXPECT_FALSE(search(Options, {}));
  Result<BeamSearch> S = search(Options, {0});
  ASSERT_TRUE(S);
  auto Next = advance(*S, {{0, std::nanf("")}});
  ASSERT_FALSE(Next);
  EXPECT_EQ(Next.error().message(),
            "logit of token 1 is NaN: the model's output is unusable");
  EXPECT_FALSE(advance(*S, {{0, 1}, {0, 1}})) << "one beam at first";
  EXPECT_FALSE(advance(*S, {{}}));
}

/// One case of SamplingBeamReference.py, which computed the results.
struct ReferenceCase {
  Tokens Prompt;
  float Bonus; ///< Of token 1, the end.
  BeamOptions Options;
  Tokens Expected;
  double Score;
};

/// Small exact numbers that depend on the last two tokens and the length.
static Row toyLogits(const Tokens &Sequence, float Bonus) {
  constexpr int32_t Vocabulary = 12;
  int32_t Last = Sequence.back(),
          Before = Sequence.size() > 1 ? Sequence[Sequence.size() - 2] : 0;
  Row Logits;
  for (int32_t T = 0; T < Vocabulary; ++T) {
    int32_t Mixed = T * 7 + Last * 13 + Before * 5 +
                    static_cast<int32_t>(Sequence.size()) * 3;
    Logits.push_back(static_cast<float>(Mixed * 37 % 101) / 16 +
                     (T == 1 ? Bonus : 0));
  }
  return Logits;
}

static BeamOptions options(int64_t Beams, int64_t MaxLength,
                           double Penalty = 1) {
  BeamOptions Options;
  Options.Beams = Beams;
  Options.LengthPenalty = Penalty;
  Options.Rules.MaxLength = MaxLength;
  Options.Rules.EndOfSequence = {1};
  return Options;
}

static std::vector<ReferenceCase> referenceCases() {
  BeamOptions Early4 = options(4, 12), Early2 = options(2, 12);
  Early4.Stops = Early2.Stops = EarlyStopping::Yes;
  BeamOptions Forced = options(2, 10);
  Forced.Rules.ForcedFirst = 5;
  Forced.Rules.ForcedLast = 1;
  BeamOptions Repeats = options(2, 10);
  Repeats.Rules.NoRepeatNgram = 2;
  Repeats.Rules.RepetitionPenalty = 1.5;
  BeamOptions Minimum = options(3, 10);
  Minimum.Rules.MinLength = 7;
  BeamOptions Suppressed = options(3, 10);
  Suppressed.Rules.Suppressed = {4, 6};
  Suppressed.Rules.Renormalize = true;
  auto Until = [](double Penalty, EarlyStopping Stops) {
    BeamOptions Options = options(2, 14, Penalty);
    Options.Stops = Stops;
    return Options;
  };
  BeamOptions TwoEnds = options(3, 10);
  TwoEnds.Rules.EndOfSequence = {1, 8};
  return {
      {{2}, 0, options(3, 8), {4, 9, 6, 8, 6, 2, 3}, -0.9245606660842896},
      {{2}, 0, options(3, 8, 2), {4, 9, 6, 8, 6, 2, 3}, -0.1320800930261612},
      {{2}, 3, options(3, 8, -1), {11, 1}, -3.4382901191711426},
      {{2},
       3,
       options(3, 12, 3),
       {4, 9, 6, 8, 6, 9, 6, 9, 11, 9, 1},
       -0.008893061429262161},
      {{2}, 2, Early4, {11, 1}, -0.9889105558395386},
      {{2}, 2, options(4, 12), {4, 9, 6, 8, 6, 2, 1}, -0.8857958912849426},
      {{2}, 4, Early2, {11, 1}, -0.8512121438980103},
      {{2}, 4, options(2, 12), {11, 1}, -0.8512121438980103},
      {{2}, 1, Forced, {5, 4, 6, 3, 11, 8, 0, 8, 1}, -0.7325888276100159},
      {{2}, 1, Repeats, {4, 9, 6, 8, 6, 2, 1}, -1.0762945413589478},
      {{2, 7, 3}, 4, Minimum, {6, 8, 6, 2, 1}, -1.6894677877426147},
      {{2}, 2, Suppressed, {11, 1}, -0.7713879346847534},
      {{2}, 1, TwoEnds, {4, 9, 6, 8}, -0.8982475399971008},
      {{2}, 2, options(8, 7), {4, 9, 6, 8, 6, 2}, -0.9422966837882996},
      {{2},
       3,
       Until(2, EarlyStopping::No),
       {4, 9, 6, 8, 6, 9, 4, 1},
       -0.12834961712360382},
      {{2},
       3,
       Until(2, EarlyStopping::Never),
       {4, 9, 6, 8, 6, 9, 6, 9, 11, 2, 11, 1},
       -0.0864827036857605},
      {{2},
       6,
       Until(2, EarlyStopping::Never),
       {4, 9, 6, 8, 6, 9, 6, 9, 11, 2, 11, 1},
       -0.16514790058135986},
      {{2}, 3, Until(-1, EarlyStopping::Never), {11, 1}, -3.4382901191711426},
  };
}

/// Runs a search on the toy to its end.
static void runOnToy(BeamSearch &S, const Tokens &Prompt, float Bonus) {
  std::vector<Tokens> Sequences = {Prompt};
  while (!S.finished()) {
    std::vector<Row> Logits;
    for (const Tokens &Sequence : Sequences)
      Logits.push_back(toyLogits(Sequence, Bonus));
    auto Next = advance(S, Logits);
    ASSERT_TRUE(Next) << Next.error().message();
    std::vector<Tokens> Grown;
    for (const BeamSearch::Continuation &C : *Next) {
      Grown.push_back(Sequences[C.Parent]);
      Grown.back().push_back(C.Token);
    }
    Sequences = std::move(Grown);
  }
}

TEST(BeamSearchTest, EqualsTransformers) {
  size_t Number = 0;
  for (const ReferenceCase &Case : referenceCases()) {
    SCOPED_TRACE(Number++);
    Result<BeamSearch> S = search(Case.Options, Case.Prompt);
    ASSERT_TRUE(S) << S.error().message();
    ASSERT_NO_FATAL_FAILURE(runOnToy(*S, Case.Prompt, Case.Bonus));
    EXPECT_EQ(S->best(), Case.Expected);
    EXPECT_NEAR(S->bestScore(), Case.Score, 2e-6 * std::abs(Case.Score));
  }
}

/// One of the script's MANY: all that is found, some ended by a pair of tokens.
TEST(BeamSearchTest, AllThatIsFoundEqualsTransformers) {
  struct ManyCase {
    float Bonus;
    std::optional<std::pair<int32_t, int32_t>> Pair;
    BeamOptions Options;
    std::vector<std::pair<Tokens, double>> Expected;
  };
  BeamOptions Early = options(3, 10);
  Early.Stops = EarlyStopping::Yes;
  std::vector<ManyCase> Cases = {
      {2,
       {{6, 8}},
       options(3, 10),
       {{{4, 9, 6, 8}, -0.9244092702865601},
        {{11, 1}, -0.9889105558395386},
        {{2, 1}, -1.0569027662277222}}},
      {-2,
       {{9, 6}},
       options(4, 12, 2),
       {{{11, 3, 4, 0, 2, 5, 5, 11, 8, 3, 7}, -0.08266504853963852},
        {{11, 10, 5, 6, 3, 9, 5, 5, 9, 7, 9}, -0.08542460203170776},
        {{11, 3, 4, 0, 2, 5, 5, 11, 8, 10, 8}, -0.08639976382255554},
        {{11, 10, 5, 6, 3, 9, 5, 5, 2, 4, 2}, -0.0875001922249794}}},
      {0,
       {{4, 9}},
       Early,
       {{{11, 3, 4, 0, 2, 5, 5, 11, 8}, -0.9780385494232178},
        {{4, 9}, -1.002166509628296},
        {{11, 10, 5, 6, 3, 9, 5, 5, 2}, -1.0029231309890747}}},
      {3,
       std::nullopt,
       options(4, 9),
       {{{11, 1}, -0.8595725297927856},
        {{4, 9, 6, 8, 6, 2, 1}, -0.8993081450462341},
        {{4, 9, 6, 8, 4, 1}, -0.9825398921966553},
        {{2, 1}, -1.0265588760375977}}}};
  for (ManyCase &Case : Cases) {
    if (Case.Pair)
      Case.Options.EndsText = [&](std::span<const int32_t> New) {
        return New.size() > 1 && New[New.size() - 2] == Case.Pair->first &&
               New.back() == Case.Pair->second;
      };
    Result<BeamSearch> S = search(Case.Options, {2});
    ASSERT_TRUE(S) << S.error().message();
    ASSERT_NO_FATAL_FAILURE(runOnToy(*S, {2}, Case.Bonus));
    ASSERT_EQ(S->found(), Case.Expected.size());
    for (size_t I = 0; I < Case.Expected.size(); ++I) {
      const auto &[New, Score] = Case.Expected[I];
      EXPECT_EQ(S->best(I), New) << I;
      EXPECT_NEAR(S->bestScore(I), Score, 2e-6 * std::abs(Score)) << I;
    }
  }
}

TEST(LogitsRulesTest, GreedyEqualsTransformers) {
  LogitsRules Rules;
  Rules.NoRepeatNgram = 2;
  Rules.RepetitionPenalty = 1.5;
  Rules.EndOfSequence = {1};
  Rules.ForcedLast = 1;
  Rules.MinLength = 5;
  Rules.MaxLength = 10;
  Tokens Sequence = {2};
  while (static_cast<int64_t>(Sequence.size()) < Rules.MaxLength &&
         Sequence.back() != 1) {
    Row Logits = applied(Rules, Sequence, toyLogits(Sequence, 2));
    Sequence.push_back(static_cast<int32_t>(
        std::max_element(Logits.begin(), Logits.end()) - Logits.begin()));
  }
  EXPECT_EQ(Sequence, (Tokens{2, 4, 9, 6, 8, 11, 0, 7, 1}));
}
