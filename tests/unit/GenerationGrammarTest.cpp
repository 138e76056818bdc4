//===- GenerationGrammarTest.cpp - Texts that a grammar allows ------------===//

#include "GenerationFixture.h"
#include "LettersTokenizer.h"

#include <regex>
#include <set>

using namespace tenon;
using namespace tenon::generation;
using namespace tenon::test;

namespace {

class GenerationGrammarTest : public GenerationTest {
protected:
  void SetUp() override {
    load([](Manifest &Info,
            CodeInfo &) { Info.Generation.EndOfSequence = {20}; },
         Letters);
  }

  Settings wish(const char *Regex, int64_t NewTokens = 40) {
    Settings Wish;
    Result<grammar::Grammar::Ptr> G = grammar::Grammar::fromRegex(Regex);
    EXPECT_TRUE(G) << G.error().message();
    Wish.Grammar = *G;
    Wish.MaxNewTokens = NewTokens;
    return Wish;
  }

  static Settings drawn(Settings Wish, uint64_t Seed) {
    Wish.Temperature = 4;
    Wish.Seed = Seed;
    return Wish;
  }

  /// Runs it alone with guesses of the grammar; how many steps that took.
  Generation guessing(const Settings &Wish, int &Steps) {
    Generator G(*S, engine::Variant::Many);
    int64_t Number = *G.add(request(Wish, {5, 6}));
    for (Steps = 0; G.running() != 0; ++Steps) {
      Result<std::vector<Piece>> Pieces = G.step();
      EXPECT_TRUE(Pieces);
      // As without guesses, but more of them.
      for (const Piece &P : *Pieces)
        EXPECT_LE(P.Tokens.size(), 1u);
    }
    return G.take(Number).Choices.front();
  }
};

} // namespace

TEST_F(GenerationGrammarTest, EveryChoiceFollowsIt) {
  const std::regex Whole("(ab|c){2,4}\\(+[12]{3}\\)");
  std::set<std::string> Distinct;
  for (uint64_t Seed : {1, 2, 3}) {
    Settings Wish = drawn(wish("(ab|c){2,4}[(]+[12]{3}[)]"), Seed);
    Wish.Choices = 5;
    std::vector<Generation> All = generate(Wish, {5});
    ASSERT_EQ(All.size(), 5u);
    for (size_t I = 0; I < All.size(); ++I) {
      const Generation &G = All[I];
      Distinct.insert(G.Text);
      if (G.Finish == FinishReason::EndOfSequence)
        EXPECT_TRUE(std::regex_match(G.Text, Whole)) << G.Text;
      else
        EXPECT_EQ(G.Finish, FinishReason::Length);
      Settings Single = Wish;
      Single.Choices = 1;
      Single.FirstChoice = static_cast<int64_t>(I);
      EXPECT_EQ(generate(Single, {5}).front().NewTokens, G.NewTokens);
    }
  }
  EXPECT_GT(Distinct.size(), 8u);
}

TEST_F(GenerationGrammarTest, ThreadsDrawTheSame) {
  std::vector<std::vector<int32_t>> Before;
  for (int64_t Threads : {1, 2, 3}) {
    S.reset();
    Result<Session> Created = Session::create(M, {Threads, 400, 64});
    ASSERT_TRUE(Created) << Created.error().message();
    S.emplace(std::move(*Created));
    Generator G(*S);
    std::vector<int64_t> Numbers;
    for (uint64_t Seed : {1, 2, 3}) {
      // One grammar, so that its matchers are asked at once.
      Settings Wish = drawn(wish("(ab|c){2,9}[(]+[12]{3}[)]"), Seed);
      Wish.Choices = 4;
      Wish.RepetitionPenalty = 1.5;
      Numbers.push_back(*G.add(request(Wish, {5, 6})));
      Numbers.push_back(
          *G.add(request(drawn(wish("([abc12]|{[ab]*})+", 20), Seed), {5})));
    }
    while (G.running() != 0) {
      Result<std::vector<Piece>> Pieces = G.step();
      ASSERT_TRUE(Pieces) << Pieces.error().message();
    }
    std::vector<std::vector<int32_t>> All;
    for (int64_t Number : Numbers)
      for (const Generation &Each : G.take(Number).Choices)
        All.push_back(Each.NewTokens);
    ASSERT_EQ(All.size(), 15u);
    if (Threads == 1)
      Before = All;
    EXPECT_EQ(All, Before) << Threads << " threads";
  }
}

TEST_F(GenerationGrammarTest, GreedyTakesTheLikeliestThatItAllows) {
  size_t Overruled = 0;
  for (int32_t First = 0; First < 40; ++First) {
    Settings Wish = wish("([ab]{2}[c1(]|12|[)]){3,}2", 12);
    Tokens Whole = {First, 6};
    grammar::Matcher Must(Wish.Grammar, *M->tokenTable());
    const Tokens New = generate(Wish, Whole).front().NewTokens;
    for (int32_t Token : New) {
      std::vector<float> Logits = expectedLogits(Whole, {}, 0);
      std::optional<size_t> Best;
      for (size_t Id = 0; Id < Logits.size(); ++Id)
        if ((Id == 20 ? Must.canEnd()
                      : Must.allows(static_cast<int32_t>(Id))) &&
            (!Best || Logits[Id] > Logits[*Best]))
          Best = Id;
      ASSERT_EQ(static_cast<size_t>(Token), Best);
      Overruled +=
          *std::max_element(Logits.begin(), Logits.end()) != Logits[*Best];
      Whole.push_back(Token);
      if (Token != 20) {
        ASSERT_TRUE(Must.accept(Token));
      }
    }
  }
  EXPECT_GT(Overruled, 20u);
}

TEST_F(GenerationGrammarTest, GuessesChangeNothing) {
  for (uint64_t Seed = 0; Seed < 12; ++Seed) {
    Settings Wish = drawn(wish("((abc){3}|(12){4}[(]*){2,5}"), Seed);
    Generation Plain = generate(Wish, {5, 6}).front();
    for (int64_t Lookup : {0, 1, 5}) {
      Wish.Lookup = Lookup;
      int Steps;
      Generation G = guessing(Wish, Steps);
      EXPECT_EQ(G.NewTokens, Plain.NewTokens) << Seed << " " << Lookup;
      EXPECT_EQ(G.Text, Plain.Text);
      EXPECT_EQ(G.Finish, Plain.Finish);
    }
  }
}

TEST_F(GenerationGrammarTest, ForcedTextIsNotSampled) {
  Settings Wish = wish("abcabcabcabcabcabc[(]");
  const Tokens Cut = {9, 9, 9, 9, 9, 9, 3};
  int Steps;
  Generation G = guessing(Wish, Steps);
  EXPECT_EQ(G.Text, "abcabcabcabcabcabc(");
  EXPECT_EQ(G.NewTokens, Cut);
  EXPECT_EQ(G.Finish, FinishReason::EndOfSequence);
  EXPECT_LE(Steps, 2);
  // It is as the tokenizer cuts it, where the model would rather do otherwise,
  Wish.LogitBias = {{0, 50}, {1, 50}, {2, 50}};
  EXPECT_EQ(guessing(Wish, Steps).NewTokens, Cut);
  // token by token,
  EXPECT_EQ(generate(Wish, {5, 6}).front().NewTokens, Cut);
  // and where a length cuts it in the middle of what is forced.
  Wish.MaxNewTokens = 3;
  G = guessing(Wish, Steps);
  EXPECT_EQ(G.Text, "abcabcabc");
  EXPECT_EQ(G.Finish, FinishReason::Length);
  // A token that is no more than a part of the last one is not forced.
  Wish = wish("a(b|c)");
  EXPECT_EQ(guessing(Wish, Steps).NewTokens,
            generate(Wish, {5, 6})[0].NewTokens);
}

TEST_F(GenerationGrammarTest, ForcedTokensHaveScores) {
  Settings Wish = wish("[)1]abcabcabc[)1]");
  Settings Scored = Wish;
  Scored.LogProbabilities = 2;
  int Steps, ScoredSteps;
  Generation Plain = guessing(Wish, Steps);
  Generation G = guessing(Scored, ScoredSteps);
  EXPECT_EQ(G.NewTokens, Plain.NewTokens);
  EXPECT_EQ(ScoredSteps, Steps);
  ASSERT_EQ(G.Scores.size(), G.NewTokens.size());
  Tokens Whole = {5, 6};
  for (size_t I = 0; I < G.Scores.size(); ++I) {
    std::vector<float> Logits = expectedLogits(Whole, {}, 0);
    double Sum = 0;
    for (float L : Logits)
      Sum += std::exp(double(L));
    auto Id = static_cast<size_t>(G.NewTokens[I]);
    EXPECT_NEAR(G.Scores[I].Chosen.LogProbability,
                double(Logits[Id]) - std::log(Sum), 1e-4)
        << I;
    Whole.push_back(G.NewTokens[I]);
  }
}

TEST_F(GenerationGrammarTest, ItWinsOverMinimaAndForcedTokens) {
  Settings Wish = wish("abc");
  Wish.MinNewTokens = 10;
  Generation G = generate(Wish, {5}).front();
  EXPECT_EQ(G.Text, "abc");
  EXPECT_EQ(G.Finish, FinishReason::EndOfSequence);
  load(
      [](Manifest &Info, CodeInfo &) {
        Info.Generation.EndOfSequence = {20};
        Info.Generation.ForcedFirst = 3;
        Info.Generation.ForcedLast = 20;
      },
      Letters);
  EXPECT_EQ(generate(wish("abc"), {5}).front().Text, "abc");
  G = generate(wish("(ab){30}", 6), {5}).front();
  EXPECT_EQ(G.Finish, FinishReason::Length);
  EXPECT_EQ(G.Text.find("<end>"), std::string::npos);
}

TEST_F(GenerationGrammarTest, StopsCutItAndEndsWaitForIt) {
  Settings Wish = wish("abcabc12[(]{3}");
  Wish.StopStrings = {"c1"};
  Generation G = generate(Wish, {5}).front();
  EXPECT_EQ(G.Text, "abcab");
  EXPECT_EQ(G.Finish, FinishReason::Stop);
  // The model would end at once, if it could.
  Wish = wish("abcabc12");
  Wish.LogitBias = {{20, 100}};
  G = generate(Wish, {5}).front();
  EXPECT_EQ(G.Text, "abcabc12");
  EXPECT_EQ(G.Finish, FinishReason::EndOfSequence);
  // Nor does it end where it may not, of a token that stops.
  Wish = wish("(ab)*12");
  Wish.StopTokens = {8};
  Wish.LogitBias = {{8, 100}};
  G = generate(Wish, {5}).front();
  EXPECT_TRUE(std::regex_match(G.Text, std::regex("(ab)*12"))) << G.Text;
}

TEST_F(GenerationGrammarTest, WhatLeavesNoTokenIsAnError) {
  Settings Wish = wish("[ab]+");
  Wish.BadWords = {{0}, {1}, {8}};
  Generation G = generate(Wish, {5}).front();
  ASSERT_TRUE(G.Failure);
  EXPECT_EQ(G.Failure->message(), "every token is excluded: expected rules of "
                                  "generation that leave one");
  Wish = wish("ab");
  Wish.Beams = 2;
  EXPECT_NE(errorOf(Wish).find("num_beams"), std::string::npos);
}
