//===- ServingCombinationsTest.cpp - Settings with each other -------------===//
//
// Every pair of settings in some request: what a request of several settings
// answers beside others is what it answers alone, each of its settings has its
// effect, and what does not go together is refused.
//
//===----------------------------------------------------------------------===//

#include "GenerationFixture.h"
#include "runtime/Serving/Scheduler.h"

#include <bitset>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <sstream>

using namespace tenon;
using namespace tenon::serving;
using namespace tenon::test;
using generation::Answer;
using generation::FinishReason;
using generation::Piece;
using testing::HasSubstr;

namespace {

/// What a request may ask for, or what may happen to it.
enum Factor : size_t {
  Stream,
  Several,
  Beams,
  LogProbs,
  Stop,
  Bias,
  Penalties,
  PrefixHit,
  Lookup,
  Cancellation,
  EncoderDecoder,
  Echo,
  Factors
};
using Combination = std::bitset<Factors>;

/// As docs/generation.md calls them.
constexpr const char *Names[Factors] = {"streaming",
                                        "n",
                                        "num_beams",
                                        "logprobs",
                                        "stop",
                                        "logit_bias",
                                        "repetition_penalty",
                                        "prefix cache",
                                        "prompt_lookup_num_tokens",
                                        "cancellation",
                                        "encoder-decoder",
                                        "echo"};

using Pair = std::pair<std::string, std::string>;
Pair sorted(std::string A, std::string B) {
  return A < B ? Pair{A, B} : Pair{B, A};
}

/// What excludes each other, with any values: the table of docs/generation.md.
const std::set<Pair> &excluded() {
  static const std::set<Pair> All = {
      sorted("num_beams", "temperature"),
      sorted("num_beams", "top_k"),
      sorted("num_beams", "top_p"),
      sorted("num_beams", "min_p"),
      sorted("num_beams", "typical_p"),
      sorted("num_beams", "prompt_lookup_num_tokens"),
      sorted("echo", "encoder-decoder"),
  };
  return All;
}

bool excludes(size_t A, size_t B) {
  return excluded().count(sorted(Names[A], Names[B])) > 0;
}

bool isPossible(Combination R) {
  for (size_t A = 0; A < Factors; ++A)
    for (size_t B = A + 1; B < Factors; ++B)
      if (R[A] && R[B] && excludes(A, B))
        return false;
  return true;
}

/// Two factors and their values.
using Covered = std::tuple<size_t, size_t, bool, bool>;
std::set<Covered> pairsOf(Combination R) {
  std::set<Covered> Pairs;
  for (size_t A = 0; A < Factors; ++A)
    for (size_t B = A + 1; B < Factors; ++B)
      Pairs.insert({A, B, R[A], R[B]});
  return Pairs;
}
std::set<Covered> possiblePairs() {
  std::set<Covered> Pairs;
  for (size_t A = 0; A < Factors; ++A)
    for (size_t B = A + 1; B < Factors; ++B)
      for (bool OfA : {false, true})
        for (bool OfB : {false, true})
          if (!OfA || !OfB || !excludes(A, B))
            Pairs.insert({A, B, OfA, OfB});
  return Pairs;
}

/// Rows that have every possible pair of values: of many at random the one that
/// has most of what is missing, again and again.
std::vector<Combination> coveringArray(uint32_t Seed) {
  std::mt19937 Random(Seed);
  std::set<Covered> Missing = possiblePairs();
  std::vector<Combination> Rows;
  while (!Missing.empty()) {
    Combination Best;
    size_t Most = 0;
    for (int I = 0; I < 200; ++I) {
      Combination R(Random() % (1u << Factors));
      if (!isPossible(R))
        continue;
      size_t New = 0;
      for (const Covered &C : pairsOf(R))
        New += Missing.count(C);
      if (New > Most) {
        Most = New;
        Best = R;
      }
    }
    if (Most == 0)
      continue; // More at random.
    for (const Covered &C : pairsOf(Best))
      Missing.erase(C);
    Rows.push_back(Best);
  }
  return Rows;
}

std::string nameOf(Combination R) {
  std::string Name;
  for (size_t F = 0; F < Factors; ++F)
    if (R[F])
      Name += std::string(Name.empty() ? "" : ", ") + Names[F];
  return Name;
}

/// What came of one choice, or has come of it so far.
std::string shown(const generation::Generation &G) {
  std::ostringstream Text;
  for (int32_t Token : G.NewTokens)
    Text << Token << " ";
  Text << "'" << G.Text << "' " << nameOf(G.Finish) << " "
       << G.StopString.value_or("-") << " " << G.StopToken.value_or(-1) << " "
       << std::hexfloat;
  for (const sampling::ScoredToken &S : G.Scores) {
    Text << S.Chosen.Token << ":" << S.Chosen.LogProbability;
    for (const sampling::TokenScore &L : S.Likeliest)
      Text << "/" << L.Token << ":" << L.LogProbability;
    Text << " ";
  }
  return Text.str();
}

std::string shown(const Answer &All) {
  std::ostringstream Text;
  for (const generation::Generation &G : All.Choices)
    Text << shown(G) << (G.Score ? std::to_string(*G.Score) : "") << "; ";
  Text << std::hexfloat;
  for (const sampling::ScoredToken &S : All.PromptScores)
    Text << S.Chosen.Token << ":" << S.Chosen.LogProbability << " ";
  return Text.str();
}

class ServingCombinationsTest : public GenerationTest {
protected:
  void SetUp() override {
    load([](Manifest &Info, CodeInfo &) { Info.FewTokens = 4; });
    Decoder = M;
    load([](Manifest &Info, CodeInfo &Code) {
      makeEncoderDecoder(Info, Code);
      Info.FewTokens = 4;
    });
    Translator = M;
    S.reset();
  }

  const Model &modelOf(Combination R) const {
    return R[EncoderDecoder] ? *Translator : *Decoder;
  }
  Session session(Combination R) const {
    Result<Session> Made =
        Session::create(R[EncoderDecoder] ? Translator : Decoder, {1, 400, 64});
    EXPECT_TRUE(Made) << Made.error().message();
    return std::move(*Made);
  }

  /// The settings of `R`; `StopText` with Stop.
  static Settings settingsOf(Combination R, const std::string &StopText) {
    Settings Wish;
    Wish.MaxNewTokens = 24;
    Wish.IgnoreEndOfSequence = true;
    Wish.Seed = 11;
    // Letters alone.
    for (int32_t Token = 0; Token < Vocabulary; ++Token)
      if (Token < 4 || Token > 11)
        Wish.BadWords.push_back({Token});
    if (R[Beams])
      Wish.Beams = 3;
    else
      Wish.Temperature = 4;
    if (R[Several])
      Wish.Choices = 2;
    if (R[LogProbs])
      Wish.LogProbabilities = 2;
    if (R[Stop])
      Wish.StopStrings = {StopText};
    if (R[Bias])
      Wish.LogitBias = {{5, -100}, {7, 1}};
    if (R[Penalties]) {
      Wish.RepetitionPenalty = 1.5;
      Wish.FrequencyPenalty = Wish.PresencePenalty = 1;
    }
    if (R[Lookup])
      Wish.Lookup = 3;
    Wish.Echo = R[Echo];
    return Wish;
  }

  static Tokens promptOf(Combination R) {
    std::mt19937 Random(1);
    Tokens Prompt(R[EncoderDecoder] ? size_t(MaxSource) : size_t(40));
    for (int32_t &Token : Prompt)
      Token = static_cast<int32_t>(4 + Random() % 8);
    return Prompt;
  }

  Result<Request> make(Combination R, const std::string &StopText) const {
    return makeRequest(modelOf(R), settingsOf(R, StopText), promptOf(R));
  }

  SchedulerOptions options(int64_t MaxNumSeqs, bool Caches) {
    SchedulerOptions O;
    O.MaxNumSeqs = MaxNumSeqs;
    O.CachesPrefixes = Caches;
    O.MaxStepMs = 5;
    O.Clock = [this] { return Now += 0.001; };
    return O;
  }

  static RequestId accepted(std::variant<RequestId, Refusal> Answer) {
    if (const auto *No = std::get_if<Refusal>(&Answer))
      ADD_FAILURE() << No->What.message();
    return std::get<RequestId>(Answer);
  }

  /// The answer of `R` alone on a session of its own; the steps that it takes.
  Answer alone(Combination R, int64_t MaxNumSeqs, const std::string &StopText,
               uint64_t *Steps = nullptr) {
    Session Own = session(R);
    Result<Scheduler> Plan =
        Scheduler::create(Own, options(MaxNumSeqs, /*Caches=*/false));
    Result<Request> Wish = make(R, StopText);
    EXPECT_TRUE(Wish) << Wish.error().message();
    accepted(Plan->submit(std::move(*Wish)));
    Answer All;
    while (!Plan->idle())
      for (Update &U : Plan->step()) {
        EXPECT_NE(U.State, RequestState::Failed) << U.Failure->message();
        if (U.Answer)
          All = std::move(*U.Answer);
      }
    if (Steps)
      *Steps = Plan->statistics().Steps;
    return All;
  }

  /// A stop string that occurs in what `R` answers without one.
  std::string stopOf(Combination R, int64_t MaxNumSeqs) {
    Combination Without = R;
    Without.reset(Stop).reset(Echo);
    std::string Text =
        alone(Without, MaxNumSeqs, "").Choices.front().Text.substr(20, 5);
    return Text.substr(Text.find_first_not_of(' '));
  }

  void expectEffects(Combination R, int64_t MaxNumSeqs,
                     const std::string &StopText, const Answer &All);
  void expectSameBesideOthers(Combination R, int64_t MaxNumSeqs,
                              const std::string &StopText, const Answer &All,
                              size_t CancelAfter);

  std::shared_ptr<const Model> Decoder, Translator;
  double Now = 0;
  size_t Cancelled = 0; ///< Requests, before they had ended.
};

/// That what `R` asks for shows in its answer `All`.
void ServingCombinationsTest::expectEffects(Combination R, int64_t MaxNumSeqs,
                                            const std::string &StopText,
                                            const Answer &All) {
  auto Without = [&](Factor F) {
    Combination Less = R;
    return alone(Less.reset(F), MaxNumSeqs, StopText);
  };
  const tokenizer::Tokenizer &T = **Decoder->tokenizer();
  std::string Before = R[Echo] ? T.decode(promptOf(R)) : "";
  EXPECT_EQ(All.Choices.size(), R[Several] ? 2u : 1u);
  for (const generation::Generation &G : All.Choices) {
    EXPECT_EQ(G.Score.has_value(), R[Beams]);
    EXPECT_TRUE(G.Text.starts_with(Before)) << G.Text;
    EXPECT_EQ(G.Scores.size(), R[LogProbs] ? G.NewTokens.size() : 0u);
    for (const sampling::ScoredToken &Score : G.Scores)
      EXPECT_EQ(Score.Likeliest.size(), 2u);
    for (int32_t Token : G.NewTokens)
      EXPECT_TRUE(Token >= 4 && Token <= 11 && (!R[Bias] || Token != 5));
    if (R[Stop]) {
      EXPECT_EQ(G.Text.find(StopText, Before.size()), std::string::npos);
    }
  }
  EXPECT_EQ(All.PromptScores.size(),
            R[Echo] && R[LogProbs] ? promptOf(R).size() - 1 : 0u);
  const generation::Generation &First = All.Choices.front();
  if (R[Several]) {
    EXPECT_NE(All.Choices[1].NewTokens, First.NewTokens);
    EXPECT_EQ(shown(Without(Several).Choices.front()), shown(First));
  }
  if (R[Stop] && !R[Beams]) {
    std::string Whole = Without(Stop).Choices.front().Text;
    EXPECT_EQ(First.Finish, FinishReason::Stop);
    EXPECT_EQ(First.StopString, StopText);
    EXPECT_EQ(First.Text, Whole.substr(0, Whole.find(StopText, Before.size())));
  }
  if (R[Stop] && R[Beams]) {
    EXPECT_NE(shown(Without(Stop)), shown(All));
  }
  if (R[Penalties]) {
    Combination Whole = R, Less = R;
    Whole.reset(Stop);
    Less.reset(Stop).reset(Penalties);
    EXPECT_NE(shown(alone(Less, MaxNumSeqs, "")),
              shown(alone(Whole, MaxNumSeqs, "")));
  }
  if (R[Echo]) {
    // Behind other words the first begins with a space.
    EXPECT_EQ(Before + " " + Without(Echo).Choices.front().Text, First.Text);
  }
  if (R[LogProbs]) {
    EXPECT_EQ(Without(LogProbs).Choices.front().NewTokens, First.NewTokens);
  }
}

/// That `R` answers `All` in a scheduler that has other requests too, or as
/// much of it as there was before it was cancelled.
void ServingCombinationsTest::expectSameBesideOthers(
    Combination R, int64_t MaxNumSeqs, const std::string &StopText,
    const Answer &All, size_t CancelAfter) {
  Session Shared = session(R);
  Result<Scheduler> Plan =
      Scheduler::create(Shared, options(MaxNumSeqs, /*Caches=*/true));
  Settings Plain = settingsOf(Combination(), "");
  auto Submit = [&](const Settings &Wish, Tokens Prompt) {
    return accepted(
        Plan->submit(*makeRequest(modelOf(R), Wish, std::move(Prompt))));
  };
  if (R[PrefixHit]) {
    Submit(Plain, promptOf(R));
    while (!Plan->idle())
      Plan->step();
  }
  Submit(Plain, {4, 5});
  RequestId Id = accepted(Plan->submit(*make(R, StopText)));
  Plain.Choices = 2;
  Submit(Plain, {11});
  Answer Streamed;
  Streamed.Choices.resize(All.Choices.size());
  bool Ended = false, IsCancelled = false;
  for (size_t Steps = 0; !Plan->idle(); ++Steps) {
    if (R[Cancellation] && Steps == CancelAfter) {
      IsCancelled = Plan->cancel(Id);
      EXPECT_EQ(IsCancelled, !Ended);
    }
    for (const Update &U : Plan->step()) {
      EXPECT_NE(U.State, RequestState::Failed) << U.Failure->message();
      if (U.Id != Id)
        continue;
      for (const Piece &P : U.Pieces) {
        auto &G = Streamed.Choices.at(static_cast<size_t>(P.Choice));
        G.NewTokens.insert(G.NewTokens.end(), P.Tokens.begin(), P.Tokens.end());
        G.Scores.insert(G.Scores.end(), P.Scores.begin(), P.Scores.end());
        G.Text += P.Text;
        G.Finish = P.Finish;
        G.StopString = P.StopString;
        G.StopToken = P.StopToken;
      }
      if (!isFinal(U.State))
        continue;
      Ended = true;
      // As docs/serving.md says which requests take part.
      bool Shares =
          R[PrefixHit] && !R[EncoderDecoder] && !(R[Echo] && R[LogProbs]);
      EXPECT_EQ(U.State,
                IsCancelled ? RequestState::Cancelled : RequestState::Finished);
      if (U.Answer) {
        EXPECT_EQ(U.Usage.CachedTokens, Shares ? 32u : 0u);
        EXPECT_EQ(shown(*U.Answer), shown(All));
      }
    }
  }
  EXPECT_TRUE(Ended);
  Cancelled += IsCancelled;
  if (R[Stream])
    for (size_t I = 0; I < All.Choices.size(); ++I) {
      const generation::Generation &Whole = All.Choices[I],
                                   &Part = Streamed.Choices[I];
      if (!IsCancelled) {
        EXPECT_EQ(shown(Part), shown(Whole));
        continue;
      }
      EXPECT_TRUE(Whole.Text.starts_with(Part.Text));
      ASSERT_LE(Part.NewTokens.size(), Whole.NewTokens.size());
      EXPECT_TRUE(std::equal(Part.NewTokens.begin(), Part.NewTokens.end(),
                             Whole.NewTokens.begin()));
    }
  Plan->dropPrefixes();
  EXPECT_EQ(Shared.cache().freePages(), Shared.cache().pageCount());
  if (const cache::PageCache *Sources = Shared.sourceCache()) {
    EXPECT_EQ(Sources->freePages(), Sources->pageCount());
  }
}

TEST_F(ServingCombinationsTest, ArrayCoversEveryPair) {
  std::set<Covered> Found;
  for (Combination R : coveringArray(1)) {
    EXPECT_TRUE(isPossible(R)) << nameOf(R);
    Found.merge(pairsOf(R));
  }
  EXPECT_EQ(Found, possiblePairs());
  EXPECT_LE(coveringArray(1).size(), 20u) << "a few rows are enough";
}

TEST_F(ServingCombinationsTest, EverySettingBesideEveryOther) {
  size_t Fewer = 0;
  for (uint32_t Seed : {1, 2, 3, 4})
    for (Combination R : coveringArray(Seed))
      for (int64_t MaxNumSeqs : {4, 9}) { // variants for few, and for many
        SCOPED_TRACE(nameOf(R) + ": " + std::to_string(MaxNumSeqs));
        std::string StopText = R[Stop] ? stopOf(R, MaxNumSeqs) : "";
        // Guesses change nothing but the number of steps.
        Combination Plain = R;
        Plain.reset(Lookup);
        uint64_t Steps = 0, Guessing = 0;
        Answer All = alone(Plain, MaxNumSeqs, StopText, &Steps);
        expectEffects(Plain, MaxNumSeqs, StopText, All);
        EXPECT_EQ(shown(alone(R, MaxNumSeqs, StopText, &Guessing)), shown(All));
        EXPECT_LE(Guessing, Steps);
        Fewer += Guessing < Steps;
        for (size_t CancelAfter : {0, 1, 2, 5})
          if (R[Cancellation] || CancelAfter == 0)
            expectSameBesideOthers(R, MaxNumSeqs, StopText, All, CancelAfter);
      }
  EXPECT_GT(Fewer, 5u) << "guesses are tried";
  EXPECT_GT(Cancelled, 50u);
}

TEST_F(ServingCombinationsTest, WhatExcludesEachOtherIsRefused) {
  for (size_t A = 0; A < Factors; ++A)
    for (size_t B = A + 1; B < Factors; ++B) {
      Combination R;
      Result<Request> Made = make(R.set(A).set(B), "a");
      std::string What = Made ? "" : Made.error().message();
      EXPECT_EQ(What.empty(), !excludes(A, B)) << nameOf(R) << ": " << What;
      if (What.empty())
        continue;
      for (size_t F : {A, B})
        EXPECT_THAT(What, HasSubstr(F == EncoderDecoder ? "expected a decoder"
                                                        : Names[F]));
      EXPECT_EQ(What.find('\n'), std::string::npos);
    }
  // With drawing, which is no factor: where n is, something must be drawn.
  for (std::optional<double> Settings::*Drawn :
       {&Settings::Temperature, &Settings::TopP, &Settings::MinP,
        &Settings::TypicalP}) {
    Settings Wish;
    Wish.Beams = 3;
    Wish.*Drawn = 0.5;
    Result<Request> Made = makeRequest(*Decoder, Wish, {4});
    ASSERT_FALSE(Made);
    EXPECT_THAT(Made.error().message(),
                testing::AllOf(HasSubstr("num_beams is 3"),
                               HasSubstr("temperature"), HasSubstr("top_k"),
                               HasSubstr("top_p"), HasSubstr("min_p"),
                               HasSubstr("typical_p")));
  }
  Settings Wish;
  Wish.Beams = 3;
  Wish.TopK = 5;
  EXPECT_FALSE(makeRequest(*Decoder, Wish, {4}));
}

/// The names in a cell, between backticks or without.
std::vector<std::string> namesIn(std::string Cell) {
  std::erase(Cell, '`');
  std::vector<std::string> Found;
  std::istringstream Parts(Cell);
  for (std::string Part; std::getline(Parts, Part, ',');) {
    Part.erase(0, Part.find_first_not_of(' '));
    Part.erase(Part.find_last_not_of(' ') + 1);
    Found.push_back(Part);
  }
  return Found;
}

TEST_F(ServingCombinationsTest, ThePageSaysWhatExcludesEachOther) {
  std::istringstream Page(contentOf(TENON_TEST_DATA "/../docs/generation.md"));
  std::set<Pair> Found;
  bool IsThere = false, IsHead = true;
  for (std::string Line; std::getline(Page, Line);) {
    if (Line.starts_with("#"))
      IsThere = Line == "## What excludes each other";
    if (!IsThere || !Line.starts_with("|"))
      continue;
    if (IsHead) {
      IsHead = !Line.starts_with("|---");
      continue;
    }
    size_t Middle = Line.find('|', 1);
    for (const std::string &A : namesIn(Line.substr(1, Middle - 1)))
      for (const std::string &B : namesIn(Line.substr(
               Middle + 1, Line.find('|', Middle + 1) - Middle - 1)))
        Found.insert(sorted(A, B));
  }
  EXPECT_EQ(Found, excluded());
}

} // namespace
