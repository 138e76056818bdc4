//===- ServingTest.cpp - Many requests on one model -----------------------===//

#include "GenerationFixture.h"
#include "runtime/Generation/PromptLookup.h"
#include "runtime/Serving/Engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <gmock/gmock.h>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <thread>

using namespace tenon;
using namespace tenon::serving;
using namespace tenon::test;
using cache::SequenceId;
using generation::Answer;
using generation::FinishReason;

namespace {

TEST(RequestStateTest, MovesForwardOnly) {
  using enum RequestState;
  constexpr RequestState All[] = {Queued,   Prefilling, Decoding,
                                  Finished, Cancelled,  Failed};
  std::set<std::pair<RequestState, RequestState>> Allowed;
  for (RequestState From : All)
    for (RequestState To : All)
      if (mayMove(From, To))
        Allowed.insert({From, To});
  std::set<std::pair<RequestState, RequestState>> Expected = {
      {Queued, Prefilling},   {Queued, Cancelled},    {Queued, Failed},
      {Prefilling, Decoding}, {Prefilling, Finished}, {Prefilling, Cancelled},
      {Prefilling, Failed},   {Decoding, Finished},   {Decoding, Cancelled},
      {Decoding, Failed}};
  EXPECT_EQ(Allowed, Expected);
  EXPECT_EQ(nameOf(Failed), "failed");
}

/// A step of texts with `TextKeys` keys each and of one prompt's tokens.
static StepWork workOf(size_t Texts, size_t TextKeys, size_t Tokens,
                       size_t Begin = 0) {
  return {Texts, Texts * TextKeys, Tokens, keysOf(Begin, Tokens)};
}

/// Tokens of a long prompt that has run up to `Begin`.
static size_t sliceAt(const StepCost &Cost, double MaxMs, StepWork Texts,
                      size_t Begin = 0, size_t Most = 4096) {
  const PromptRest Rest[] = {{Begin, 10000}};
  return Cost.sliceFor(MaxMs, Texts, Rest, Most);
}

TEST(StepCostTest, CutsPromptsToTheTimeThatIsLeft) {
  StepCost Cost;
  EXPECT_EQ(sliceAt(Cost, 100, {}), StepCost::FirstSlice);
  EXPECT_EQ(sliceAt(Cost, 100, {}, 0, 20), 20u);
  EXPECT_EQ(Cost.expected(workOf(4, 100, 10)), 0);
  // 10 ms a step, 2 a text, 5 for a thousand of its keys; 1 ms a token of a
  // prompt, 1 for a thousand of its keys.
  auto Ms = [](const StepWork &W) {
    return 10 + 2 * static_cast<double>(W.Sequences) +
           static_cast<double>(W.PromptTokens) +
           (5 * static_cast<double>(W.TextKeys) +
            static_cast<double>(W.PromptKeys)) /
               1e3;
  };
  std::mt19937 Random(1);
  for (int I = 0; I < 2000; ++I) {
    StepWork W = workOf(Random() % 20, Random() % 1000,
                        Random() % 2 * (16 + Random() % 100), Random() % 2000);
    Cost.observe(W, Ms(W));
  }
  for (StepWork W : {workOf(4, 100, 40), workOf(16, 900, 16, 100),
                     workOf(0, 0, 60, 1500), workOf(10, 10, 0)})
    EXPECT_NEAR(Cost.expected(W), Ms(W), 0.03 * Ms(W));
  // 95 of 100 ms: 10 and 8 and 2 for texts, the rest for 75 tokens at the
  // beginning, where the last ones have 75 keys, and half as many at 1,000.
  StepWork Texts = workOf(4, 100, 0);
  EXPECT_NEAR(static_cast<double>(sliceAt(Cost, 100, Texts)), 72, 2);
  EXPECT_NEAR(static_cast<double>(sliceAt(Cost, 100, Texts, 1000)), 37, 2);
  EXPECT_NEAR(static_cast<double>(sliceAt(Cost, 100, workOf(4, 2000, 0))), 34,
              2)
      << "longer texts";
  // The end of one prompt and the beginning of another.
  const PromptRest Two[] = {{1000, 20}, {0, 500}};
  EXPECT_NEAR(static_cast<double>(Cost.sliceFor(100, Texts, Two, 4096)), 54, 2);
  const PromptRest Short[] = {{0, 20}, {0, 30}};
  EXPECT_EQ(Cost.sliceFor(1000, Texts, Short, 4096), 50u) << "all there is";
  EXPECT_EQ(sliceAt(Cost, 100, Texts, 0, 45), 45u);
  EXPECT_EQ(sliceAt(Cost, 10, Texts), StepCost::MinSlice);
  EXPECT_LE(sliceAt(Cost, 1e6, {}), 232u) << "twice what has run at most";
  // The machine is at half its speed from now on.
  size_t Slice = 40;
  for (int I = 0; I < 3000; ++I) {
    if (I > 5) {
      EXPECT_LE(Slice, 50u) << I;
    }
    Cost.observe(workOf(0, 0, Slice), 2 * static_cast<double>(Slice));
    Slice = sliceAt(Cost, 100, {});
  }
  EXPECT_NEAR(static_cast<double>(Slice), 46, 2);
}

TEST(StepCostTest, LeavesRoomForWhatVaries) {
  StepCost Cost;
  for (int I = 0; I < 300; ++I)
    Cost.observe(workOf(0, 0, 50), I % 2 == 0 ? 80 : 120);
  // 2 ms a token, a fifth more or less: the most is planned with.
  double Most = Cost.expected(workOf(0, 0, 50));
  EXPECT_GE(Most, 120);
  EXPECT_LE(Most, 120 * StepCost::MostAbove);
  // A slow minute is remembered for a while.
  StepCost Calm;
  for (int I = 0; I < 600; ++I)
    Calm.observe(workOf(0, 0, 50), I == 300 || I == 301 ? 130 : 100);
  EXPECT_GT(Calm.expected(workOf(0, 0, 50)), 108);
  // A single pause of the machine is not: it says nothing of the next step.
  size_t Before = sliceAt(Cost, 100, {});
  Cost.observe(workOf(0, 0, 50), 10000);
  EXPECT_GT(sliceAt(Cost, 100, {}), Before / 2);
  for (int I = 0; I < 20; ++I)
    Calm.observe(workOf(0, 0, 50), 400); // another process on the cores
  EXPECT_GT(Calm.expected(workOf(0, 0, 50)), 360);
  for (int I = 0; I < 30; ++I)
    Calm.observe(workOf(0, 0, 50), 100);
  EXPECT_LT(Calm.expected(workOf(0, 0, 50)), 165);
}

TEST(StepCostTest, LeavesRoomForWhatIsRare) {
  // One step in 500 takes almost half as much again.
  std::mt19937 Random(3);
  StepCost Cost;
  constexpr size_t Steps = 20000;
  size_t Longer = 0, Tokens = 0;
  for (size_t I = 0; I < Steps; ++I) {
    size_t Slice = sliceAt(Cost, 100, workOf(8, 100, 0));
    double Pace = (Random() % 500 == 0 ? 1.45 : 1) *
                  (0.95 + static_cast<double>(Random() % 1000) / 10000);
    double Ms = Pace * (20 + static_cast<double>(Slice));
    Cost.observe(workOf(8, 100, Slice), Ms);
    Longer += Ms > 100;
    Tokens += Slice;
  }
  EXPECT_LE(Longer, Steps / 1000);
  EXPECT_GT(Tokens, 40 * Steps) << "at no more than its price";
}

TEST(StepCostTest, ForgetsNothingWhileTheMachineIsSlow) {
  // Every third 300 steps another process is on the cores, and slices are at
  // their least: what a token takes must not be lost in the meantime.
  std::mt19937 Random(2);
  StepCost Cost;
  size_t Position = 0, Longer = 0;
  for (size_t I = 0; I < 6000; ++I) {
    bool IsSlow = I / 300 % 3 == 1;
    size_t Keys = 3000 + I * 16 % 14000;
    const PromptRest Rest[] = {{Position, 2000 - Position}};
    size_t Slice = std::min(Cost.sliceFor(200, {16, Keys, 0, 0}, Rest, 512),
                            2000 - Position);
    StepWork W = {16, Keys, Slice, keysOf(Position, Slice)};
    Position = (Position + Slice) % 2000;
    double Pace = (IsSlow ? 4.5 : 1) * (I / 40 % 2 ? 1.25 : 1) *
                  (0.925 + static_cast<double>(Random() % 1000) * 0.15 / 1000);
    double Ms = Pace * (40 + 0.22 * static_cast<double>(Slice) +
                        0.0028 * static_cast<double>(Keys) +
                        0.0008 * static_cast<double>(W.PromptKeys));
    Cost.observe(W, Ms);
    Longer += !IsSlow && Slice > StepCost::MinSlice && Ms > 200;
  }
  EXPECT_LE(Longer, 6u);
}

TEST(StepCostTest, TextsThatHaveEndedAreNotTakenFromThePrompts) {
  StepCost Cost;
  for (int I = 0; I < 20; ++I)
    Cost.observe(workOf(16, 100, 0), 100);
  // One is left; no step is of texts alone any more.
  size_t Slice = StepCost::FirstSlice;
  for (int I = 0; I < 500; ++I) {
    double Ms = 10 + static_cast<double>(Slice);
    EXPECT_LE(Ms, 200) << I;
    Cost.observe(workOf(1, 100, Slice), Ms);
    Slice = sliceAt(Cost, 200, workOf(1, 100, 0));
  }
  EXPECT_GT(Slice, 60u);
}

class PrefixCacheTest : public testing::Test {
protected:
  using Tokens = std::vector<int32_t>;
  static Tokens upTo(int32_t N, int32_t From = 0) {
    Tokens All(static_cast<size_t>(N));
    std::iota(All.begin(), All.end(), From);
    return All;
  }
  static SequenceId id(int64_t N) { return static_cast<SequenceId>(N); }
  /// Inserts the sequence `N`; pages from `OwnFrom` on are its own.
  std::vector<SequenceId> insert(int32_t N, Tokens Prompt, size_t OwnFrom = 0) {
    Tokens Pages(Prompt.size() / 4);
    for (size_t I = 0; I < Pages.size(); ++I)
      Pages[I] = static_cast<int32_t>(I < OwnFrom ? I : 10 * (N + 1) + I);
    return Cache.insert(id(N), Pages.data(), std::move(Prompt), "");
  }
  PrefixCache Cache{4};
};

TEST_F(PrefixCacheTest, FindsMostPages) {
  EXPECT_FALSE(Cache.find(upTo(20), "", 20));
  EXPECT_TRUE(insert(1, upTo(8)).empty());
  Tokens Other = upTo(12);
  Other[9] = 77;
  EXPECT_EQ(insert(2, Other), std::vector{id(1)}) << "beginning";
  std::optional<PrefixCache::Match> Found = Cache.find(upTo(20), "", 20);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Sequence, id(2));
  EXPECT_EQ(Found->Tokens, 8u);
  EXPECT_EQ(Cache.find(upTo(8), "", 7)->Tokens, 4u) << "at most 7 tokens";
  EXPECT_FALSE(Cache.find(upTo(3), "", 3)) << "no whole page";
  EXPECT_FALSE(Cache.find(upTo(20, 1), "", 20));
  EXPECT_FALSE(Cache.find(upTo(20), "salt", 20));
  EXPECT_EQ(insert(3, upTo(8)), std::vector{id(3)}) << "what is there already";
  EXPECT_EQ(Cache.pages(), 3u);
}

TEST_F(PrefixCacheTest, EvictsWhatWasUsedLeastRecently) {
  for (int32_t I = 0; I < 3; ++I)
    EXPECT_TRUE(insert(I, upTo(8, 100 * I)).empty());
  EXPECT_TRUE(Cache.find(upTo(8), "", 8));
  EXPECT_EQ(Cache.evict(id(1)), id(2)) << "the spared one is older";
  EXPECT_EQ(Cache.evict(), id(1));
  EXPECT_EQ(Cache.evict(id(0)), std::nullopt);
  EXPECT_EQ(Cache.evict(), id(0));
  EXPECT_EQ(Cache.pages(), 0u);
  EXPECT_FALSE(Cache.find(upTo(8), "", 8));
}

TEST_F(PrefixCacheTest, CountsSharedPagesOnce) {
  for (int32_t I = 0; I < 3; ++I) {
    Tokens Prompt = upTo(12);
    Prompt.back() = 100 + I;
    EXPECT_TRUE(insert(I, Prompt, 2).empty());
    EXPECT_EQ(Cache.pages(), 3u + static_cast<size_t>(I));
  }
  // One that begins like the others, on pages of its own.
  EXPECT_TRUE(insert(3, upTo(12), 0).empty());
  EXPECT_EQ(Cache.pages(), 8u);
  for (size_t Left : {7u, 6u, 3u, 0u}) {
    EXPECT_TRUE(Cache.evict());
    EXPECT_EQ(Cache.pages(), Left);
  }
}

/// What came of a request: tokens, text, reasons and scores of all choices.
std::string summaryOf(const Answer &All) {
  std::string Text;
  for (const generation::Generation &G : All.Choices) {
    for (int32_t Token : G.NewTokens)
      Text += std::to_string(Token) + " ";
    Text += "'" + G.Text + "' " + std::string(nameOf(G.Finish)) + " ";
    for (const sampling::ScoredToken &Score : G.Scores)
      Text += std::to_string(Score.Chosen.LogProbability) + " ";
    Text += "; ";
  }
  return Text;
}

class ServingTest : public GenerationTest {
protected:
  void SetUp() override {
    // Above 2 the variant that a token ran is seen in what follows.
    load([](Manifest &Info, CodeInfo &) { Info.FewTokens = 4; });
  }

  SchedulerOptions options(int64_t MaxNumSeqs = 4) {
    SchedulerOptions O;
    O.MaxNumSeqs = MaxNumSeqs;
    O.Clock = [this] { return Now; };
    return O;
  }
  Scheduler scheduler(SchedulerOptions O) {
    Result<Scheduler> Made = Scheduler::create(*S, std::move(O));
    EXPECT_TRUE(Made) << Made.error().message();
    return std::move(*Made);
  }

  static RequestId accepted(std::variant<RequestId, Refusal> Answer) {
    if (const auto *No = std::get_if<Refusal>(&Answer))
      ADD_FAILURE() << No->What.message();
    return std::get<RequestId>(Answer);
  }

  static Tokens randomPrompt(std::mt19937 &Random, size_t Length) {
    Tokens Prompt;
    while (Prompt.size() < Length)
      Prompt.push_back(static_cast<int32_t>(Random() % 47));
    return Prompt;
  }

  /// Without the tokens that make the code wait or fail.
  static Settings safe() {
    Settings Wish;
    Wish.BadWords = {{48}, {49}};
    return Wish;
  }

  /// Requests of mixed lengths, seeds and settings, some with common prompts.
  std::vector<Request> someRequests(size_t Count, uint32_t Seed) {
    std::mt19937 Random(Seed);
    std::vector<Request> All;
    Tokens Common = randomPrompt(Random, 48);
    for (size_t I = 0; I < Count; ++I) {
      Settings Wish = safe();
      Wish.MaxNewTokens = static_cast<int64_t>(1 + Random() % 20);
      Wish.Temperature = I % 3 == 0 ? 0 : 3.0;
      Wish.Seed = I;
      Wish.IgnoreEndOfSequence = true;
      if (I % 5 == 1)
        Wish.Choices = I % 3 == 0 ? 1 : 2;
      if (I % 7 == 0)
        Wish.RepetitionPenalty = 1.3;
      if (I % 11 == 3) {
        Wish.Beams = 3;
        Wish.Temperature.reset();
      }
      if (I % 4 == 1)
        Wish.LogProbabilities = 2;
      if (I % 8 == 1)
        Wish.Echo = true;
      Tokens Prompt = randomPrompt(Random, 1 + Random() % 15);
      if (I % 3 != 2)
        Prompt.insert(Prompt.begin(), Common.begin(),
                      Common.begin() + static_cast<ptrdiff_t>(Random() % 49));
      All.push_back(request(Wish, Prompt));
    }
    return All;
  }

  /// Runs `All` in `Order` and answers what came of each.
  std::vector<std::string> runAll(Scheduler &Plan, std::vector<Request> All,
                                  const std::vector<size_t> &Order) {
    std::map<int64_t, size_t> Places;
    for (size_t I : Order)
      Places[static_cast<int64_t>(accepted(Plan.submit(All[I])))] = I;
    std::vector<std::string> Answers(All.size());
    while (!Plan.idle())
      for (const Update &U : Plan.step()) {
        EXPECT_NE(U.State, RequestState::Failed) << U.Failure->message();
        if (U.Answer)
          Answers[Places.at(static_cast<int64_t>(U.Id))] = summaryOf(*U.Answer);
      }
    return Answers;
  }

  double Now = 0;
};

TEST_F(ServingTest, SameBytesWhateverTheLoad) {
  std::vector<Request> All = someRequests(64, 7);
  std::vector<size_t> Order(All.size());
  std::iota(Order.begin(), Order.end(), 0);
  for (int64_t MaxNumSeqs : {4, 9}) { // variants for few, and for many
    std::vector<std::string> Alone(All.size());
    for (size_t I : Order) {
      SchedulerOptions O = options(MaxNumSeqs);
      O.CachesPrefixes = false;
      Scheduler Plan = scheduler(O);
      EXPECT_EQ(Plan.variant(),
                MaxNumSeqs == 4 ? engine::Variant::Few : engine::Variant::Many);
      Alone[I] = runAll(Plan, All, {I})[I];
      EXPECT_FALSE(Alone[I].empty());
    }
    std::mt19937 Random(1);
    for (bool Caches : {false, true})
      for (double Ms : {0.001, 5.0, 1e6}) {
        SchedulerOptions O = options(MaxNumSeqs);
        O.CachesPrefixes = Caches;
        O.MaxStepMs = Ms;
        O.Clock = [this] { return Now += 0.001; };
        Scheduler Plan = scheduler(O);
        EXPECT_EQ(runAll(Plan, All, Order), Alone) << Caches << " " << Ms;
        std::shuffle(Order.begin(), Order.end(), Random);
        EXPECT_EQ(runAll(Plan, All, Order), Alone) << Caches << " again " << Ms;
        EXPECT_EQ(Plan.statistics().CachedTokens > 0, Caches);
        Plan.dropPrefixes();
        EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
      }
  }
}

TEST_F(ServingTest, CancelsInEveryStateAndLeavesOthersAlone) {
  std::vector<Request> All = someRequests(40, 3);
  std::vector<size_t> Order(All.size());
  std::iota(Order.begin(), Order.end(), 0);
  Scheduler First = scheduler(options());
  std::vector<std::string> Expected = runAll(First, All, Order);
  First.dropPrefixes();

  for (uint32_t Seed = 0; Seed < 20; ++Seed) {
    std::mt19937 Random(Seed);
    SchedulerOptions O = options();
    O.MaxStepMs = 0.001; // prompts in many slices
    O.Clock = [this] { return Now += 0.01; };
    Scheduler Plan = scheduler(O);
    std::map<int64_t, size_t> Places;
    for (size_t I : Order)
      Places[static_cast<int64_t>(accepted(Plan.submit(All[I])))] = I;
    std::map<int64_t, RequestState> States;
    std::set<int64_t> Cancelled;
    size_t Ended = 0;
    while (!Plan.idle()) {
      if (Random() % 3 == 0) {
        auto Id = static_cast<int64_t>(1 + Random() % All.size());
        bool Lives = !States.count(Id) || !isFinal(States[Id]);
        EXPECT_EQ(Plan.cancel(static_cast<RequestId>(Id)),
                  Lives && !Cancelled.count(Id));
        if (Lives)
          Cancelled.insert(Id);
      }
      for (const Update &U : Plan.step()) {
        auto Id = static_cast<int64_t>(U.Id);
        States[Id] = U.State;
        Ended += isFinal(U.State);
        EXPECT_EQ(U.State == RequestState::Cancelled, Cancelled.count(Id) > 0);
        if (U.Answer) {
          EXPECT_EQ(summaryOf(*U.Answer), Expected[Places[Id]]);
        }
      }
    }
    EXPECT_EQ(Ended, All.size());
    EXPECT_GT(Cancelled.size(), 3u);
    EXPECT_EQ(Plan.statistics().Cancelled, Cancelled.size());
    Plan.dropPrefixes();
    EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
  }
}

TEST_F(ServingTest, GeneratedTokensRunTheVariantForFew) {
  // In the code of the test a token that ran it counts as one 5 higher.
  Settings Wish = safe();
  Wish.MaxNewTokens = 12;
  Wish.IgnoreEndOfSequence = true;
  for (int64_t MaxNumSeqs : {4, 5}) {
    Tokens Prompt = {7, 3, 11}, Whole = Prompt, Expected;
    while (Expected.size() < 12) {
      std::vector<float> Logits = expectedLogits(Whole);
      Logits[48] = Logits[49] = -1e9f;
      auto Best = std::max_element(Logits.begin(), Logits.end());
      Expected.push_back(static_cast<int32_t>(Best - Logits.begin()));
      Whole.push_back(Expected.back() + (MaxNumSeqs == 4 ? 5 : 0));
    }
    Scheduler Plan = scheduler(options(MaxNumSeqs));
    accepted(Plan.submit(request(Wish, Prompt)));
    while (!Plan.idle())
      for (const Update &U : Plan.step())
        if (U.Answer) {
          EXPECT_EQ(U.Answer->Choices[0].NewTokens, Expected) << MaxNumSeqs;
        }
    Plan.dropPrefixes();
  }
}

TEST_F(ServingTest, WhatIsGivenUpMakesRoom) {
  SchedulerOptions O = options();
  O.MaxStepMs = 0.001; // prompts in slices of 16
  Scheduler Plan = scheduler(O);
  std::mt19937 Random(6);
  Settings Wish = safe();
  Wish.MaxNewTokens = 8;
  // Together they need the cache many times over.
  for (int I = 0; I < 60; ++I) {
    std::optional<double> Timeout;
    if (I % 2 == 0)
      Timeout = 0.5;
    RequestId Reading = accepted(
        Plan.submit(request(Wish, randomPrompt(Random, 80)), {"", Timeout}));
    RequestId Waiting = accepted(
        Plan.submit(request(Wish, randomPrompt(Random, 80)), {"", Timeout}));
    if (I % 3 == 0) { // Before it has begun.
      EXPECT_TRUE(Plan.cancel(Waiting));
    }
    Plan.step();
    EXPECT_EQ(Plan.statistics().NewTokens, 0u);
    Now += 1;
    EXPECT_TRUE(Timeout || Plan.cancel(Reading));
    EXPECT_TRUE(Timeout || I % 3 == 0 || Plan.cancel(Waiting));
    Plan.step();
    EXPECT_TRUE(Plan.idle());
  }
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
  accepted(Plan.submit(request(Wish, randomPrompt(Random, 80))));
  for (int Steps = 0; Steps < 20 && !Plan.idle(); ++Steps)
    Plan.step();
  EXPECT_EQ(Plan.statistics().Finished, 1u) << "it starts at once";
}

TEST_F(ServingTest, SecondRequestTakesPagesOfTheFirst) {
  std::mt19937 Random(5);
  Settings Wish = safe();
  Wish.MaxNewTokens = 3;
  Tokens Prompt = randomPrompt(Random, 40);
  Scheduler Plan = scheduler(options());
  accepted(Plan.submit(request(Wish, Prompt)));
  accepted(Plan.submit(request(Wish, Prompt)));
  accepted(Plan.submit(request(Wish, Prompt), {"another", std::nullopt}));
  std::map<int64_t, RequestUsage> Usage;
  while (!Plan.idle())
    for (const Update &U : Plan.step())
      if (isFinal(U.State))
        Usage[static_cast<int64_t>(U.Id)] = U.Usage;
  EXPECT_EQ(Usage[1].CachedTokens, 0u);
  EXPECT_EQ(Usage[2].CachedTokens, 32u) << "the pages that were being computed";
  EXPECT_EQ(Usage[3].CachedTokens, 0u) << "of another salt";
  EXPECT_EQ(Usage[2].PromptTokens, 40u);
  EXPECT_EQ(Usage[2].NewTokens, 3u);
  Statistics Counts = Plan.statistics();
  EXPECT_EQ(Counts.PromptTokens, 40u + 8 + 40);
  EXPECT_EQ(Counts.CachedPrefixes, 2u);
  EXPECT_EQ(Counts.Finished, 3u);
  // A prompt that is all in the cache runs its last page again.
  Prompt.resize(32);
  accepted(Plan.submit(request(Wish, Prompt)));
  while (!Plan.idle())
    for (const Update &U : Plan.step())
      if (isFinal(U.State)) {
        EXPECT_EQ(U.Usage.CachedTokens, 16u);
      }
}

TEST_F(ServingTest, LookupGivesTheSameTextInFewerSteps) {
  std::vector<Request> All = someRequests(64, 21);
  std::vector<size_t> Order(All.size());
  std::iota(Order.begin(), Order.end(), 0);
  for (int64_t MaxNumSeqs : {4, 9}) {
    Scheduler Plain = scheduler(options(MaxNumSeqs));
    std::vector<std::string> Expected = runAll(Plain, All, Order);
    Plain.dropPrefixes();
    std::vector<Request> Guessing = All;
    for (size_t I = 0; I < All.size(); ++I)
      if (All[I].How.Beams == 1)
        Guessing[I].How.Lookup = static_cast<int64_t>(1 + I % 7);
    Scheduler Plan = scheduler(options(MaxNumSeqs));
    EXPECT_EQ(runAll(Plan, Guessing, Order), Expected) << MaxNumSeqs;
    Plan.dropPrefixes();
    EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());

    // A text of one token for ever.
    Settings Wish;
    Wish.MaxNewTokens = 41;
    Wish.LogitBias = {{5, 100}};
    Request Repeats = request(Wish, {1, 2});
    std::vector<uint64_t> Steps;
    std::vector<std::string> Answers;
    for (int64_t Lookup : {0, 3}) {
      Repeats.How.Lookup = Lookup;
      Scheduler Alone = scheduler(options(MaxNumSeqs));
      Answers.push_back(runAll(Alone, {Repeats}, {0})[0]);
      Steps.push_back(Alone.statistics().Steps);
    }
    EXPECT_EQ(Answers[0], Answers[1]);
    EXPECT_EQ(Steps[0], 41u);
    EXPECT_LE(Steps[1], 13u);
  }
}

TEST(PromptLookupTest, GuessesWhatFollowedLast) {
  using Tokens = std::vector<int32_t>;
  generation::PromptLookup Lookup;
  EXPECT_EQ(Lookup.guess(Tokens{1, 2, 3, 4, 9, 1, 2, 3}, 9),
            (Tokens{4, 9, 1, 2, 3, 4, 9, 1, 2}));
  EXPECT_EQ(Lookup.guess(Tokens{1, 2, 3, 4, 9, 1, 2, 3}, 2), (Tokens{4, 9}));
  EXPECT_EQ(Lookup.guess(Tokens{2, 3, 7, 2, 3, 8, 2, 3}, 2), (Tokens{8, 2}))
      << "the latest";
  EXPECT_EQ(Lookup.guess(Tokens{1, 2, 3, 4, 2, 3, 5, 1, 2, 3}, 1), Tokens{4})
      << "the longest";
  EXPECT_EQ(Lookup.guess(Tokens{7, 7, 7}, 4), (Tokens{7, 7, 7, 7}))
      << "overlapping";
  EXPECT_TRUE(Lookup.guess(Tokens{1, 2, 3}, 4).empty());
  EXPECT_TRUE(Lookup.guess(Tokens{1}, 4).empty());
  EXPECT_TRUE(Lookup.guess(Tokens{1, 2, 1, 2}, 0).empty());
}

TEST(PromptLookupTest, PausesWhenItLoses) {
  std::vector<int32_t> Text = {1, 2, 3, 1, 2};
  generation::PromptLookup Lookup;
  auto Pauses = [&] {
    int Count = 0;
    while (Lookup.guess(Text, 4).empty())
      ++Count;
    return Count;
  };
  Lookup.observe(7, 0);
  EXPECT_EQ(Pauses(), 0);
  Lookup.observe(1, 1);
  EXPECT_EQ(Pauses(), 32);
  Lookup.observe(8, 1);
  EXPECT_EQ(Pauses(), 64) << "twice as long";
  Lookup.observe(8, 2);
  EXPECT_EQ(Pauses(), 0) << "a quarter is enough";
  Lookup.observe(8, 1);
  EXPECT_EQ(Pauses(), 32) << "from the beginning";
}

TEST_F(ServingTest, PrefixesThatSharePagesTakeThemOnce) {
  // 10 pages of 16 tokens.
  load([](Manifest &Info, CodeInfo &) { Info.FewTokens = 4; }, WordPieces, 160);
  std::mt19937 Random(9);
  Settings Wish = safe();
  Wish.MaxNewTokens = 3;
  Scheduler Plan = scheduler(options());
  Tokens Common = randomPrompt(Random, 32);
  for (size_t I = 0; I < 4; ++I) {
    Tokens Prompt = Common, Own = randomPrompt(Random, 17);
    Own.front() = static_cast<int32_t>(I);
    Prompt.insert(Prompt.end(), Own.begin(), Own.end());
    accepted(Plan.submit(request(Wish, Prompt)));
    while (!Plan.idle())
      Plan.step();
    EXPECT_EQ(Plan.statistics().CachedPrefixes, I + 1);
    EXPECT_EQ(Plan.prefixes().pages(), 3 + I);
    EXPECT_EQ(S->cache().pageCount() - S->cache().freePages(),
              static_cast<int64_t>(3 + I));
  }
}

TEST_F(ServingTest, PrefixesMakeRoom) {
  // 6 pages of 16 tokens.
  load([](Manifest &Info, CodeInfo &) { Info.FewTokens = 4; }, WordPieces, 96);
  std::mt19937 Random(9);
  Settings Wish = safe();
  Wish.MaxNewTokens = 10;
  Wish.IgnoreEndOfSequence = true;
  Scheduler Plan = scheduler(options());
  for (int I = 0; I < 30; ++I) {
    accepted(
        Plan.submit(request(Wish, randomPrompt(Random, 1 + Random() % 80))));
    if (I % 3 == 0)
      while (!Plan.idle())
        for (const Update &U : Plan.step()) {
          EXPECT_NE(U.State, RequestState::Failed);
          if (U.Answer) {
            EXPECT_EQ(U.Answer->Choices[0].Finish, FinishReason::Length);
          }
        }
  }
  while (!Plan.idle())
    Plan.step();
  EXPECT_EQ(Plan.statistics().Finished, 30u);
}

TEST_F(ServingTest, Refusals) {
  SchedulerOptions O = options(2);
  O.MaxQueued = 3;
  Scheduler Plan = scheduler(O);
  Settings Wish = safe();
  Wish.Choices = 3;
  Wish.Temperature = 1;
  auto Refused = [](std::variant<RequestId, Refusal> Answer) {
    return std::get<Refusal>(Answer);
  };
  Refusal No = Refused(Plan.submit(request(Wish, {1})));
  EXPECT_EQ(No.Why, Refusal::Reason::NeverFits);
  EXPECT_EQ(No.What.message(),
            "the request needs 3 texts at once: expected at most 2");
  Wish.Choices = 1;
  for (int I = 0; I < 3; ++I)
    accepted(Plan.submit(request(Wish, {1})));
  No = Refused(Plan.submit(request(Wish, {1})));
  EXPECT_EQ(No.Why, Refusal::Reason::QueueFull);
  EXPECT_EQ(No.What.message(),
            "the queue holds 3 requests: expected fewer than 3");
  EXPECT_GE(No.RetryAfter, 1);
  while (!Plan.idle())
    Plan.step();
  accepted(Plan.submit(request(Wish, {1})));
  EXPECT_EQ(Plan.statistics().Refused, 2u);
  while (!Plan.idle())
    Plan.step();

  load(nullptr, WordPieces, 32);
  Scheduler Small = scheduler(options());
  Wish.MaxNewTokens = 40;
  No = Refused(Small.submit(request(Wish, {1})));
  EXPECT_EQ(No.What.message(),
            "the request needs 48 tokens of cache: expected at most 32");
}

TEST_F(ServingTest, OptionsOutOfRange) {
  auto ErrorOf = [&](SchedulerOptions O) {
    Result<Scheduler> Made = Scheduler::create(*S, std::move(O));
    return Made ? "" : Made.error().message();
  };
  EXPECT_EQ(ErrorOf(options(0)), "max_num_seqs is 0: expected 1 to 1024");
  SchedulerOptions O = options();
  O.MaxStepMs = 0;
  EXPECT_EQ(ErrorOf(O),
            "max_step_ms is 0.000000: expected more than 0 milliseconds");
}

TEST_F(ServingTest, TimeoutsAndFailuresEndOneRequest) {
  Settings Wish = safe();
  Wish.MaxNewTokens = 30;
  Wish.IgnoreEndOfSequence = true;
  Scheduler Plan = scheduler(options(1));
  RequestId Slow = accepted(Plan.submit(request(Wish, {1}), {"", 10.0}));
  RequestId Waiting = accepted(Plan.submit(request(Wish, {2}), {"", 5.0}));
  RequestId Good = accepted(Plan.submit(request(Wish, {3})));
  std::map<RequestId, Update> Last;
  while (!Plan.idle()) {
    for (Update &U : Plan.step())
      Last[U.Id] = std::move(U);
    Now += 1;
  }
  EXPECT_EQ(Last[Slow].State, RequestState::Failed);
  EXPECT_EQ(Last[Slow].Usage.NewTokens, 11u);
  EXPECT_EQ(Last[Waiting].State, RequestState::Failed);
  EXPECT_EQ(Last[Waiting].Usage.NewTokens, 0u);
  EXPECT_NE(Last[Waiting].Failure->message().find("not finished after 5"),
            std::string::npos);
  EXPECT_EQ(Last[Good].State, RequestState::Finished);
  EXPECT_EQ(Last[Good].Answer->Choices[0].NewTokens.size(), 30u);

  // The step fails as a whole: all that run fail, the next ones do not.
  constexpr int32_t FailingToken = 49;
  RequestId Bad = accepted(Plan.submit(request(Wish, {FailingToken})));
  RequestId Next = accepted(Plan.submit(request(Wish, {4})));
  while (!Plan.idle())
    for (Update &U : Plan.step())
      Last[U.Id] = std::move(U);
  EXPECT_EQ(Last[Bad].State, RequestState::Failed);
  EXPECT_EQ(Last[Next].State, RequestState::Finished);
  Plan.dropPrefixes();
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
}

TEST_F(ServingTest, LongPromptsNeitherStarveNorFreeze) {
  std::mt19937 Random(2);
  SchedulerOptions O = options();
  O.MaxStepMs = 1;
  O.CachesPrefixes = false;
  O.Clock = [this] { return Now += 1; }; // steps take far too long
  Scheduler Plan = scheduler(O);
  Settings Wish = safe();
  Wish.MaxNewTokens = 20;
  Wish.IgnoreEndOfSequence = true;
  RequestId Text = accepted(Plan.submit(request(Wish, {1})));
  while (Plan.statistics().NewTokens == 0) {
    std::vector<Update> News = Plan.step();
    if (!News.empty() && !News[0].Pieces.empty())
      break;
  }
  Wish.MaxNewTokens = 1;
  RequestId Long =
      accepted(Plan.submit(request(Wish, randomPrompt(Random, 80))));
  size_t Steps = 0, TextTokens = 0;
  for (bool Ended = false; !Ended; ++Steps)
    for (const Update &U : Plan.step()) {
      Ended |= U.Id == Long && isFinal(U.State);
      if (U.Id == Text && !U.Pieces.empty())
        TextTokens += U.Pieces[0].Tokens.size();
    }
  EXPECT_LE(Steps, 80 / StepCost::MinSlice) << "the bound on starvation";
  EXPECT_EQ(TextTokens, Steps) << "a text gets a token in every step";
}

TEST_F(ServingTest, StepsKeepTheBoundsOfGapsAndWaits) {
  load(
      [](Manifest &Info, CodeInfo &) {
        Info.FewTokens = 4;
        Info.MaxTokensPerStep = 400;
      },
      WordPieces, 8000);
  constexpr double MaxMs = 100;
  SchedulerOptions O = options(40);
  O.MaxStepMs = MaxMs;
  O.CachesPrefixes = false;
  O.MaxQueued = 1000;
  Scheduler Plan = scheduler(O);
  std::mt19937 Random(4);
  // What a step takes: texts 10 ms and 2 for each, a token of a prompt 0.5 to
  // 1.5 as time goes by; a sixth more or less.
  auto CostOf = [&](size_t Texts, size_t Tokens, size_t Step) {
    double Phase = std::sin(static_cast<double>(Step) / 200);
    double Noise = static_cast<double>(Random() % 1000) / 3000 - 1. / 6;
    double Ms = (Texts == 0 ? 0 : 10 + 2 * static_cast<double>(Texts)) +
                (1 + Phase / 2) * static_cast<double>(Tokens);
    return Ms * (1 + Noise);
  };
  struct Wait {
    size_t Bound = 0;
    uint64_t Begin = 0;
  };
  std::map<RequestId, Wait> Prompts;
  std::map<RequestId, bool> IsText; // And whether it is under way.
  size_t Submitted = 0, Texts = 0, LongSlices = 0, Ended = 0, Longer = 0;
  auto Submit = [&](size_t Length, int64_t NewTokens) {
    Settings Wish = safe();
    Wish.MaxNewTokens = NewTokens;
    Wish.IgnoreEndOfSequence = true;
    RequestId Id =
        accepted(Plan.submit(request(Wish, randomPrompt(Random, Length))));
    size_t Before = Submitted - Plan.statistics().PromptTokens;
    Prompts[Id] = {(Before + Length + StepCost::MinSlice - 1) /
                       StepCost::MinSlice,
                   Plan.statistics().Steps};
    Submitted += Length;
    return Id;
  };
  for (size_t Step = 0; Step < 3000; ++Step) {
    // Prompts come in bursts, up to ten at once; texts come and go.
    if (Random() % 25 == 0)
      for (size_t I = Random() % 10; I > 0; --I)
        if (Prompts.size() < 20)
          Submit(1 + Random() % 80, 1);
    if (IsText.size() < 16 && Random() % 4 == 0)
      IsText[Submit(5, 80)] = false;
    Plan.begin();
    size_t Left = Submitted - Plan.statistics().PromptTokens;
    size_t Slice = std::min(Plan.slice(), Left);
    double Ms = CostOf(Texts, Slice, Step);
    Plan.run();
    Now += Ms / 1e3;
    size_t Expected = Texts, Given = 0;
    for (const Update &U : Plan.finish()) {
      bool WasText = IsText.count(U.Id) && IsText[U.Id];
      Given += WasText && !U.Pieces.empty();
      if (auto At = Prompts.find(U.Id);
          At != Prompts.end() && !U.Pieces.empty()) {
        // Its prompt has run.
        EXPECT_LE(Plan.statistics().Steps - At->second.Begin, At->second.Bound)
            << "the bound of a wait";
        ++Ended;
        Prompts.erase(At);
        if (IsText.count(U.Id)) {
          IsText[U.Id] = true;
          ++Texts;
        }
      }
      if (isFinal(U.State) && IsText.erase(U.Id))
        --Texts;
    }
    EXPECT_EQ(Given, Expected) << "each text gets its token";
    // The bound of a gap; before it nothing is known.
    if (Step > 20) {
      double Least =
          7. / 6 *
          (10 + 2 * static_cast<double>(Expected) + 1.5 * StepCost::MinSlice);
      Longer += Ms > std::max(MaxMs, Least);
      EXPECT_LE(Ms, 1.1 * std::max(MaxMs, Least)) << "step " << Step;
    }
    LongSlices += Slice > 2 * StepCost::MinSlice;
  }
  EXPECT_LE(Longer, 3u) << "99.9 % of the steps keep the bound";
  EXPECT_GT(LongSlices, 40u) << "what is left of the time is used";
  EXPECT_GT(Ended, 300u);
}

TEST_F(ServingTest, EngineServesManyThreads) {
  std::vector<Request> All = someRequests(48, 11);
  std::vector<size_t> Order(All.size());
  std::iota(Order.begin(), Order.end(), 0);
  std::vector<std::string> Expected;
  {
    Scheduler Plan = scheduler(options());
    Expected = runAll(Plan, All, Order);
    Plan.dropPrefixes();
  }
  SchedulerOptions O;
  O.MaxNumSeqs = 4;
  O.MaxQueued = 10000;
  Result<Engine> Made = Engine::create(M, {1, 400, 64}, O);
  ASSERT_TRUE(Made) << Made.error().message();
  Engine E = std::move(*Made);
  std::mutex Lock;
  std::vector<std::string> Wrong;
  std::atomic<size_t> Ended = 0, Given = 0;
  std::vector<std::thread> Clients;
  for (uint32_t C = 0; C < 4; ++C)
    Clients.emplace_back([&, C] {
      std::mt19937 Random(C);
      for (size_t Turn = 0; Turn < 100; ++Turn) {
        size_t I = Random() % All.size();
        std::variant<RequestId, Refusal> Id =
            E.submit(All[I], {}, [&, I](const Update &U) {
              if (!isFinal(U.State))
                return;
              ++Ended;
              std::lock_guard Guard(Lock);
              if (U.State == RequestState::Failed ||
                  (U.Answer && summaryOf(*U.Answer) != Expected[I]))
                Wrong.push_back(std::to_string(I));
            });
        ++Given;
        if (Random() % 3 == 0)
          E.cancel(std::get<RequestId>(Id));
      }
    });
  for (std::thread &C : Clients)
    C.join();
  EXPECT_TRUE(E.drain(60));
  Statistics Counts = E.statistics();
  EXPECT_EQ(Ended, Given);
  EXPECT_EQ(Counts.Finished + Counts.Cancelled, 400u);
  EXPECT_GT(Counts.Cancelled, 0u);
  EXPECT_THAT(Wrong, testing::IsEmpty());
  EXPECT_LT(Counts.FreePages, Counts.Pages) << "prompts are kept";
  E.dropPrefixes();
  Counts = E.statistics();
  EXPECT_EQ(Counts.FreePages, Counts.Pages);
  EXPECT_EQ(Counts.CachedPrefixes, 0u);
  std::variant<RequestId, Refusal> Late = E.submit(All[0], {}, nullptr);
  EXPECT_EQ(std::get<Refusal>(Late).Why, Refusal::Reason::Stopped);
}

TEST_F(ServingTest, ClosedEngineFinishesWhatItHas) {
  Result<Engine> E = Engine::create(M, {1, 400, 64}, SchedulerOptions());
  ASSERT_TRUE(E) << E.error().message();
  Settings Wish = safe();
  std::atomic<size_t> Finished = 0;
  for (int I = 0; I < 3; ++I)
    (void)E->submit(request(Wish, {I}), {}, [&](const Update &U) {
      Finished += U.State == RequestState::Finished;
    });
  E->close();
  std::variant<RequestId, Refusal> Late =
      E->submit(request(Wish, {3}), {}, [](const Update &) {});
  ASSERT_TRUE(std::holds_alternative<Refusal>(Late));
  EXPECT_EQ(std::get<Refusal>(Late).Why, Refusal::Reason::Stopped);
  EXPECT_TRUE(E->drain(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(Finished, 3u);
}

TEST_F(ServingTest, TheLastOfUpdatesDeliveredTogetherSaysSo) {
  Result<Engine> E = Engine::create(M, {1, 400, 64}, SchedulerOptions());
  ASSERT_TRUE(E) << E.error().message();
  // Holds up the engine until it has all requests.
  std::atomic<bool> IsSubmitted = false;
  // All on the engine's thread. Updates of one delivery: whose they are.
  std::set<RequestId> Together;
  size_t Largest = 0;
  bool MoreFollow = false;
  Settings Wish = safe();
  Wish.MaxNewTokens = 20;
  Wish.IgnoreEndOfSequence = true;
  for (int I = 0; I < 4; ++I)
    (void)E->submit(request(Wish, {I}), {}, [&](const Update &U) {
      IsSubmitted.wait(false);
      EXPECT_TRUE(Together.insert(U.Id).second) << "two steps' in one delivery";
      MoreFollow = U.MoreFollow;
      if (MoreFollow)
        return;
      Largest = std::max(Largest, Together.size());
      Together.clear();
    });
  IsSubmitted = true;
  IsSubmitted.notify_all();
  EXPECT_TRUE(E->drain(60));
  EXPECT_FALSE(MoreFollow);
  EXPECT_GT(Largest, 2u);
}

TEST_F(ServingTest, EngineEndsWithRequestsUnderWay) {
  std::atomic<size_t> Cancelled = 0;
  {
    Result<Engine> E = Engine::create(M, {1, 400, 64}, SchedulerOptions());
    ASSERT_TRUE(E) << E.error().message();
    Settings Wish = safe();
    Wish.MaxNewTokens = 80;
    Wish.IgnoreEndOfSequence = true;
    for (int I = 0; I < 20; ++I)
      (void)E->submit(request(Wish, {I}), {}, [&](const Update &U) {
        Cancelled += U.State == RequestState::Cancelled;
      });
    EXPECT_FALSE(E->drain(0));
  }
  EXPECT_GT(Cancelled, 0u);
}

TEST_F(ServingTest, DrainingEndsWhenAllIsGivenUp) {
  Result<Engine> E = Engine::create(M, {1, 400, 64}, SchedulerOptions());
  ASSERT_TRUE(E) << E.error().message();
  Settings Wish = safe();
  Wish.MaxNewTokens = 80;
  Wish.IgnoreEndOfSequence = true;
  // Holds the engine up before its request can end.
  std::atomic<bool> HasBegun = false, IsGivenUp = false;
  RequestState Last = RequestState::Queued;
  (void)E->submit(request(Wish, {1}), {}, [&](const Update &U) {
    Last = U.State;
    HasBegun = true;
    HasBegun.notify_all();
    IsGivenUp.wait(false);
  });
  HasBegun.wait(false);
  bool Finished = true;
  std::thread Drainer([&] { Finished = E->drain(3600); });
  E->giveUp();
  IsGivenUp = true;
  IsGivenUp.notify_all();
  Drainer.join();
  EXPECT_FALSE(Finished);
  EXPECT_EQ(Last, RequestState::Cancelled);
}

TEST_F(ServingTest, DrainingWaitsForTheLastUpdate) {
  Result<Engine> E = Engine::create(M, {1, 400, 64}, SchedulerOptions());
  ASSERT_TRUE(E) << E.error().message();
  std::atomic<bool> IsTold = false, HasHeard = false;
  (void)E->submit(request(safe(), {1}), {}, [&](const Update &U) {
    if (!isFinal(U.State))
      return;
    IsTold = true;
    IsTold.notify_all();
    // Long enough for a drain() that does not wait.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    HasHeard = true;
  });
  IsTold.wait(false);
  EXPECT_TRUE(E->drain(0));
  EXPECT_TRUE(HasHeard);
}

} // namespace
