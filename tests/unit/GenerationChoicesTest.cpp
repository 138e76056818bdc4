//===- GenerationChoicesTest.cpp - Several texts of one prompt ------------===//
//
// What is drawn depends on seed, choice and position only; log-probabilities
// are of the model's own logits.
//
//===----------------------------------------------------------------------===//

#include "GenerationFixture.h"

#include <cmath>
#include <limits>
#include <set>

using namespace tenon;
using namespace tenon::generation;
using namespace tenon::sampling;
using namespace tenon::test;

namespace {

using Tokens = std::vector<int32_t>;

/// Settings that draw: the model's logits are some units apart.
Settings drawn(int64_t NewTokens, uint64_t Seed = 7) {
  Settings Wish;
  Wish.MaxNewTokens = NewTokens;
  Wish.Temperature = 4;
  Wish.Seed = Seed;
  // The model waits on the one and fails on the other.
  Wish.LogitBias = {{48, -100}, {49, -100}};
  return Wish;
}

Tokens counted(size_t Count) {
  Tokens Ids;
  for (size_t I = 0; I < Count; ++I)
    Ids.push_back(static_cast<int32_t>(I * 5 % 48));
  return Ids;
}

double logProbability(const std::vector<float> &Logits, int32_t Token) {
  double Sum = 0;
  for (float Logit : Logits)
    Sum += std::exp(static_cast<double>(Logit));
  return Logits[static_cast<size_t>(Token)] - std::log(Sum);
}

} // namespace

TEST_F(GenerationTest, ChoicesAreThoseOfSingleRequests) {
  // The prompt fills one page and begins another, which forks must copy.
  load(nullptr, WordPieces);
  Settings Wish = drawn(30);
  Wish.Choices = 4;
  Wish.FirstChoice = 2;
  Generator G(*S);
  int64_t Number = *G.add(request(Wish, counted(20)));
  int64_t Free = S->cache().pageCount();
  ASSERT_TRUE(G.step());
  EXPECT_EQ(S->cache().freePages(), Free - 2) << "the prompt ran once";
  ASSERT_TRUE(G.step());
  EXPECT_EQ(S->cache().freePages(), Free - 1 - 4) << "the full page is shared";
  std::string Text;
  while (G.running() != 0) {
    auto Pieces = G.step();
    ASSERT_TRUE(Pieces);
    EXPECT_EQ(Pieces->size(), 4u);
    for (size_t I = 0; I < Pieces->size(); ++I)
      EXPECT_EQ((*Pieces)[I].Choice, static_cast<int64_t>(I));
  }
  EXPECT_EQ(S->cache().freePages(), Free);
  std::vector<Generation> All = G.take(Number).Choices;
  ASSERT_EQ(All.size(), 4u);
  std::set<Tokens> Distinct;
  for (size_t I = 0; I < All.size(); ++I) {
    Settings Single = drawn(30);
    Single.FirstChoice = Wish.FirstChoice + static_cast<int64_t>(I);
    Generation Alone = generate(Single, counted(20)).front();
    EXPECT_EQ(All[I].NewTokens, Alone.NewTokens) << I;
    EXPECT_EQ(All[I].Text, Alone.Text) << I;
    EXPECT_EQ(All[I].Finish, FinishReason::Length);
    EXPECT_EQ(All[I].NewTokens.size(), 30u);
    Distinct.insert(All[I].NewTokens);
  }
  EXPECT_EQ(Distinct.size(), 4u);
}

TEST_F(GenerationTest, TokensDoNotDependOnWhatElseRuns) {
  load();
  Tokens Prompt = counted(11);
  Tokens Alone = generate(drawn(25), Prompt).front().NewTokens;
  EXPECT_EQ(generate(drawn(25), Prompt).front().NewTokens, Alone);
  EXPECT_NE(generate(drawn(25, 8), Prompt).front().NewTokens, Alone);

  // Others that come and go, of the same seed and of another.
  Generator G(*S);
  ASSERT_TRUE(G.add(request(drawn(40), {1, 2})));
  ASSERT_TRUE(G.step());
  int64_t Same = *G.add(request(drawn(25), Prompt));
  Settings Several = drawn(9, 99);
  Several.Choices = 3;
  ASSERT_TRUE(G.add(request(Several, {3})));
  for (int Step = 0; G.running() != 0; ++Step) {
    ASSERT_TRUE(G.step());
    if (Step == 4) {
      ASSERT_TRUE(G.add(request(drawn(5, 3), {7, 7, 7})));
    }
  }
  EXPECT_EQ(G.progress(Same).NewTokens, Alone);

  // The prompt in other slices: of steps, and of rows of logits.
  load([](Manifest &M, CodeInfo &) { M.MaxTokensPerStep = 3; });
  EXPECT_EQ(generate(drawn(25), Prompt).front().NewTokens, Alone);
  Settings Scored = drawn(25);
  Scored.LogProbabilities = 2;
  Scored.Echo = true;
  EXPECT_EQ(generate(Scored, Prompt).front().NewTokens, Alone);

  // A text that is continued is drawn as if it had never been interrupted.
  Tokens Longer = Prompt;
  Longer.insert(Longer.end(), Alone.begin(), Alone.begin() + 10);
  EXPECT_EQ(generate(drawn(15), Longer).front().NewTokens,
            Tokens(Alone.begin() + 10, Alone.end()));
}

TEST_F(GenerationTest, ChoicesAreDistributedAsTheLogitsSay) {
  load();
  Tokens Prompt = {4, 9, 2};
  std::vector<float> Logits = expectedLogits(Prompt);
  // So many that are more likely than any other.
  std::vector<float> Sorted = Logits;
  std::sort(Sorted.rbegin(), Sorted.rend());
  int64_t Few = 5;
  while (Sorted[static_cast<size_t>(Few) - 1] ==
         Sorted[static_cast<size_t>(Few)])
    ++Few;
  ASSERT_LT(Few, 12);
  for (int64_t TopK : {int64_t(0), Few}) {
    Settings Wish = drawn(1);
    Wish.LogitBias.clear();
    Wish.Choices = MaxChoices;
    Wish.TopK = TopK;
    std::vector<double> Expected(Logits.size()), Seen(Logits.size());
    float Least = -std::numeric_limits<float>::infinity();
    if (TopK != 0)
      Least = Sorted[static_cast<size_t>(TopK) - 1];
    double Total = 0, Draws = 0;
    for (size_t I = 0; I < Logits.size(); ++I)
      if (Logits[I] >= Least)
        Total += Expected[I] = std::exp(Logits[I] / 4);
    for (uint64_t Seed = 0; Seed < 20; ++Seed) {
      Wish.Seed = Seed;
      for (const Generation &G : generate(Wish, Prompt)) {
        Seen[static_cast<size_t>(G.NewTokens.at(0))] += 1;
        Draws += 1;
      }
    }
    double Statistic = 0;
    for (size_t I = 0; I < Logits.size(); ++I) {
      double Mean = Expected[I] / Total * Draws;
      if (Mean == 0) {
        EXPECT_EQ(Seen[I], 0) << I;
        continue;
      }
      Statistic += (Seen[I] - Mean) * (Seen[I] - Mean) / Mean;
    }
    // Beyond these once in a thousand: 49, and at most 10 degrees of freedom.
    EXPECT_LT(Statistic, TopK == 0 ? 85.35 : 29.59) << TopK;
  }
}

TEST_F(GenerationTest, AChoiceMayFailAlone) {
  // Two pages: one choice may take the second, the other finds none.
  load(nullptr, WordPieces, 32);
  Settings Wish = drawn(10);
  Wish.Choices = 2;
  std::vector<Generation> All = generate(Wish, counted(16));
  EXPECT_EQ(All[0].Finish, FinishReason::Length);
  EXPECT_EQ(All[1].Finish, FinishReason::Error);
  EXPECT_EQ(All[1].Failure->kind(), ErrorKind::OutOfCachePages);
  EXPECT_EQ(All[1].NewTokens.size(), 1u);
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
}

TEST_F(GenerationTest, RoomForChoices) {
  for (size_t Length : {1, 15, 16, 17, 40}) {
    load();
    Settings Wish = drawn(30);
    Wish.Choices = 5;
    Request R = request(Wish, counted(Length));
    engine::SessionOptions Room = roomFor(*M, {&R, 1});
    auto Pages = [](size_t Tokens) { return (Tokens + 15) / 16; };
    size_t Whole = Pages(Length + 30), Shared = Length / 16;
    EXPECT_EQ(Room.CacheTokens,
              static_cast<int64_t>(16 * (Shared + 5 * (Whole - Shared))));
    Room.Threads = 1;
    S.emplace(std::move(*Session::create(M, Room)));
    for (const Generation &G : generate(Wish, counted(Length)))
      EXPECT_EQ(G.Finish, FinishReason::Length) << Length;
  }
}

TEST_F(GenerationTest, LogProbabilitiesAreOfTheRawLogits) {
  load();
  Settings Wish = drawn(8);
  Wish.LogProbabilities = 3;
  Wish.PresencePenalty = 1.5;
  Wish.RepetitionPenalty = 1.4;
  Wish.LogitBias = {{5, 3}, {9, -100}, {48, -100}, {49, -100}};
  Wish.TopP = 0.9;
  Wish.Echo = true;
  Tokens Prompt = counted(25);
  Generator G(*S);
  int64_t Number = *G.add(request(Wish, Prompt));
  std::vector<ScoredToken> Streamed;
  while (G.running() != 0) {
    auto Pieces = G.step();
    ASSERT_TRUE(Pieces);
    for (const Piece &P : *Pieces) {
      EXPECT_EQ(P.Tokens.size(), P.Scores.size());
      Streamed.insert(Streamed.end(), P.Scores.begin(), P.Scores.end());
    }
  }
  Answer Done = G.take(Number);
  const Generation &Only = Done.Choices.front();
  ASSERT_EQ(Only.Scores.size(), 8u);
  ASSERT_EQ(Done.PromptScores.size(), Prompt.size() - 1);
  auto Expect = [](const Tokens &Before, const ScoredToken &Found,
                   int32_t Token) {
    std::vector<float> Logits = expectedLogits(Before);
    EXPECT_EQ(Found.Chosen.Token, Token);
    EXPECT_NEAR(Found.Chosen.LogProbability, logProbability(Logits, Token),
                1e-5);
    ASSERT_EQ(Found.Likeliest.size(), 3u);
    for (const TokenScore &Score : Found.Likeliest) {
      auto At = Logits.begin() + Score.Token;
      EXPECT_EQ(*At, *std::max_element(Logits.begin(), Logits.end()));
      EXPECT_NEAR(Score.LogProbability,
                  logProbability(expectedLogits(Before), Score.Token), 1e-5);
      *At = -std::numeric_limits<float>::infinity();
    }
  };
  Tokens Whole = {Prompt.front()};
  for (size_t I = 1; I < Prompt.size(); ++I) {
    Expect(Whole, Done.PromptScores[I - 1], Prompt[I]);
    Whole.push_back(Prompt[I]);
  }
  for (size_t I = 0; I < Only.Scores.size(); ++I) {
    Expect(Whole, Only.Scores[I], Only.NewTokens[I]);
    EXPECT_EQ(Streamed[I].Chosen.LogProbability,
              Only.Scores[I].Chosen.LogProbability);
    Whole.push_back(Only.NewTokens[I]);
  }
  EXPECT_EQ(Only.Text, (*M->tokenizer())->decode(Whole));
  // A prompt alone can be scored.
  Wish.MaxNewTokens = 0;
  Number = *G.add(request(Wish, Prompt));
  while (G.running() != 0)
    ASSERT_TRUE(G.step());
  Done = G.take(Number);
  EXPECT_EQ(Done.PromptScores.size(), Prompt.size() - 1);
  EXPECT_TRUE(Done.Choices.front().NewTokens.empty());
  EXPECT_EQ(Done.Choices.front().Text, (*M->tokenizer())->decode(Prompt));
}

TEST_F(GenerationTest, LogProbabilitiesOfABeamAddUpToItsScore) {
  load();
  Settings Wish;
  Wish.Beams = 3;
  Wish.LengthPenalty = 0.5;
  Wish.MaxNewTokens = 9;
  Wish.LogProbabilities = 1;
  Wish.Echo = true;
  Generation Found = generate(Wish, {3, 1, 4}).front();
  ASSERT_EQ(Found.Scores.size(), 9u);
  double Sum = 0;
  for (size_t I = 0; I < 9; ++I) {
    EXPECT_EQ(Found.Scores[I].Chosen.Token, Found.NewTokens[I]);
    Sum += Found.Scores[I].Chosen.LogProbability;
  }
  EXPECT_NEAR(Sum / std::sqrt(9), *Found.Score, 1e-4);
}

TEST_F(GenerationTest, BeamSearchAnswersItsBestTexts) {
  load();
  Settings Wish;
  Wish.Beams = 4;
  Wish.MaxNewTokens = 6;
  Wish.LogProbabilities = 0;
  Generation Best = generate(Wish, {3, 1, 4}).front();
  Wish.Choices = 4;
  std::vector<Generation> All = generate(Wish, {3, 1, 4});
  ASSERT_EQ(All.size(), 4u);
  EXPECT_EQ(All[0].NewTokens, Best.NewTokens);
  std::set<Tokens> Different;
  for (size_t I = 0; I < 4; ++I) {
    Different.insert(All[I].NewTokens);
    EXPECT_LE(*All[I].Score, *All[I == 0 ? 0 : I - 1].Score);
    double Sum = 0;
    for (const sampling::ScoredToken &Score : All[I].Scores)
      Sum += Score.Chosen.LogProbability;
    EXPECT_NEAR(Sum / 6, *All[I].Score, 1e-4);
  }
  EXPECT_EQ(Different.size(), 4u);
  // Beams have room of their own, whatever of them is answered.
  Request R = request(Wish, {3, 1, 4});
  int64_t Whole = roomFor(*M, {&R, 1}).CacheTokens;
  R.How.Choices = 1;
  EXPECT_EQ(Whole, roomFor(*M, {&R, 1}).CacheTokens);
}

TEST_F(GenerationTest, RulesSeeThePromptOrNot) {
  load();
  Tokens Prompt = {4, 9, 2, 9};
  auto Follow = [&](const LogitsRules &Rules, size_t Count) {
    Tokens Whole = Prompt;
    while (Whole.size() < Prompt.size() + Count) {
      std::vector<float> Logits = expectedLogits(Whole);
      Rules.apply(Whole, Prompt.size(), Logits);
      Whole.push_back(static_cast<int32_t>(
          std::max_element(Logits.begin(), Logits.end()) - Logits.begin()));
    }
    return Tokens(Whole.begin() + 4, Whole.end());
  };
  Settings Wish;
  Wish.MaxNewTokens = 20;
  LogitsRules Rules;
  std::set<Tokens> Distinct = {greedy(Prompt, 20)};
  auto Check = [&](const char *What) {
    Tokens Found = generate(Wish, Prompt).front().NewTokens;
    EXPECT_EQ(Found, Follow(Rules, 20)) << What;
    EXPECT_TRUE(Distinct.insert(Found).second) << What << " changed nothing";
    Wish = {};
    Wish.MaxNewTokens = 20;
    Rules = {};
  };
  Wish.PresencePenalty = Rules.PresencePenalty = 2;
  Check("presence");
  Wish.FrequencyPenalty = Rules.FrequencyPenalty = 1.75;
  Check("frequency");
  Wish.RepetitionPenalty = 1.5;
  Rules.RepetitionPenalty = 1.5;
  Check("repetition");
  Tokens Plain = greedy(Prompt, 20);
  Wish.LogitBias = Rules.Bias = {{Plain[2], -3.5f}, {11, 6}};
  Check("bias");
  Wish.BadWords = Rules.BadWords = {{Plain[0], Plain[1]}};
  Check("bad words");
  Wish.BadWords = {{Prompt.back(), Plain[0]}};
  EXPECT_NE(generate(Wish, Prompt).front().NewTokens.front(), Plain[0])
      << "a bad word may begin in the prompt";
}

TEST_F(GenerationTest, RulesThatLeaveNothing) {
  load();
  Settings Wish;
  for (int32_t Token = 0; Token < Vocabulary; ++Token)
    Wish.BadWords.push_back({Token});
  Generation Failed = generate(Wish, {3}).front();
  ASSERT_TRUE(Failed.Failure);
  EXPECT_EQ(Failed.Failure->message(),
            "every token is excluded: expected rules of generation that leave "
            "one");
}

TEST_F(GenerationTest, RefusesSettings) {
  load();
  auto Error = [&](auto Set) {
    Settings Wish;
    Set(Wish);
    std::string Message = errorOf(Wish);
    EXPECT_NE(Message, "");
    return Message;
  };
  EXPECT_EQ(Error([](Settings &S) { S.Choices = 0; }),
            "n is 0: expected 1 to 1024");
  EXPECT_EQ(Error([](Settings &S) {
              S.Choices = 1025;
              S.NamesAreOptions = true;
            }),
            "--n is 1025: expected 1 to 1024");
  EXPECT_EQ(Error([](Settings &S) { S.Choices = 2; }),
            "n is 2: the likeliest tokens are the same in every choice: "
            "expected 1, or temperature above 0");
  EXPECT_EQ(Error([](Settings &S) { S.FirstChoice = -1; }),
            "first_choice is -1: expected 0 to 4294967295");
  EXPECT_EQ(Error([](Settings &S) {
              S.Beams = 2;
              S.Choices = 3;
            }),
            "num_beams is 2: beam search answers its best texts: expected at "
            "least n, 3");
  EXPECT_EQ(Error([](Settings &S) { S.LogProbabilities = 51; }),
            "logprobs is 51: expected 0 to 50, the vocabulary");
  EXPECT_EQ(Error([](Settings &S) { S.LogProbabilities = -1; }),
            "logprobs is -1: expected 0 to 50, the vocabulary");
  EXPECT_EQ(Error([](Settings &S) { S.StopTokens = {50}; }),
            "stop_token_id is 50: expected 0 to 49");
  EXPECT_EQ(Error([](Settings &S) { S.StopStrings = {"a", ""}; }),
            "stop is '': expected at least one character");
  EXPECT_NE(Error([](Settings &S) {
              S.StopStrings = {"\xc3"};
            }).find("expected UTF-8"),
            std::string::npos);
  EXPECT_EQ(Error([](Settings &S) {
              S.MaxNewTokens = 5;
              S.MinNewTokens = 6;
            }),
            "min_new_tokens is 6: expected 0 to 5, max_new_tokens");
  EXPECT_EQ(Error([](Settings &S) { S.MinNewTokens = -1; }),
            "min_new_tokens is -1: expected 0 to 128, max_new_tokens");
  EXPECT_EQ(Error([](Settings &S) { S.MinP = 2; }),
            "min_p is 2: expected 0 to 1");
  EXPECT_EQ(Error([](Settings &S) { S.RepetitionPenalty = 0; }),
            "repetition_penalty is 0: expected 0.000001 to 1000000 (1 changes "
            "nothing)");
  EXPECT_EQ(Error([](Settings &S) { S.LogitBias = {{50, 1}}; }),
            "logit_bias of token is 50: expected 0 to 49");
  EXPECT_EQ(Error([](Settings &S) { S.BadWords = {{}}; }),
            "bad_words: one has no tokens: expected at least one");
  load(nullptr, "");
  EXPECT_EQ(Error([](Settings &S) { S.StopStrings = {"a"}; }),
            File + ": stop: the artifact has no tokenizer: expected "
                   "stop_token_id");
  load(makeEncoderDecoder);
  EXPECT_EQ(Error([](Settings &S) { S.Echo = true; }),
            File + ": echo: this model answers its prompt: expected a decoder, "
                   "which goes on with it");
}

TEST_F(GenerationTest, DefaultsOfTheModel) {
  load([](Manifest &M, CodeInfo &) {
    M.Generation.Sample = true;
    M.Generation.MinP = 0.25;
    M.Generation.TypicalP = 0.75;
    M.Generation.RepetitionPenalty = 1.5;
    M.Generation.MinNewTokens = 3;
    M.Generation.BadWords = {{1, 2}};
    M.Generation.StopStrings = {"x"};
  });
  Settings Wish;
  Wish.BadWords = {{5}};
  Wish.StopStrings = {"y"};
  Request R = request(Wish, {1});
  EXPECT_EQ(R.How.Sampling.MinP, 0.25);
  EXPECT_EQ(R.How.Sampling.TypicalP, 0.75);
  EXPECT_EQ(R.Rules.RepetitionPenalty, 1.5);
  EXPECT_EQ(R.Rules.MinNewTokens, 3);
  EXPECT_EQ(R.Rules.BadWords, (std::vector<Tokens>{{1, 2}, {5}}));
  EXPECT_EQ(R.StopStrings, (std::vector<std::string>{"y", "x"}));
  Wish.MinP = 0;
  Wish.TypicalP = 1;
  Wish.RepetitionPenalty = 1;
  Wish.MinNewTokens = 0;
  R = request(Wish, {1});
  EXPECT_EQ(R.How.Sampling.MinP, 0);
  EXPECT_EQ(R.How.Sampling.TypicalP, 1);
  EXPECT_EQ(R.Rules.RepetitionPenalty, 1);
  EXPECT_EQ(R.Rules.MinNewTokens, 0);
  // Who limits the choice wants one.
  load();
  EXPECT_EQ(request({}, {1}).How.Sampling.Temperature, 0);
  Wish = {};
  Wish.MinP = 0.1;
  EXPECT_EQ(request(Wish, {1}).How.Sampling.Temperature, 1);
}
