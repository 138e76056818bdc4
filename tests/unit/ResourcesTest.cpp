//===- ResourcesTest.cpp - Sessions that share threads and memory ---------===//

#include "EngineFixture.h"

#include "runtime/Engine/Session.h"
#include "runtime/Serving/Engine.h"
#include "runtime/tenon.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

using namespace tenon;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::test;
using testing::HasSubstr;

namespace {

using Tokens = std::vector<int32_t>;

class ResourcesTest : public testing::Test {
protected:
  void SetUp() override {
    Status Written =
        writeModel(File, [](artifact::Manifest &Info, artifact::CodeInfo &) {
          Info.FewTokens = 4;
        });
    ASSERT_TRUE(Written) << Written.error().message();
    Result<std::shared_ptr<const Model>> Loaded = Model::load(File);
    ASSERT_TRUE(Loaded) << Loaded.error().message();
    M = *Loaded;
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
  std::shared_ptr<const Model> M;
};

Resources sharedThreads(int64_t Threads) {
  Result<Executor> Team = Executor::create(Threads);
  EXPECT_TRUE(Team);
  return {std::make_shared<Executor>(std::move(*Team)), nullptr};
}

size_t threadsOfProcess() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                    std::filesystem::directory_iterator()));
}

std::vector<float> lastLogits(Session &S, const Tokens &T) {
  SequenceId Id = S.createSequence();
  StepItem Item{Id, T, {}, OutputRows::Last, 0};
  Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
  if (!Answers || !Answers->front().Outcome)
    return {};
  std::span<const float> Values = Answers->front().Values;
  std::vector<float> Copy(Values.begin(), Values.end());
  EXPECT_TRUE(S.endSequence(Id));
  return Copy;
}

} // namespace

TEST_F(ResourcesTest, SessionsShareOneTeam) {
  std::vector<Tokens> Texts;
  std::vector<std::vector<float>> Alone;
  Result<Session> Own = Session::create(M, {1, 0, 0});
  ASSERT_TRUE(Own);
  for (int I = 0; I < 30; ++I) {
    Tokens &T = Texts.emplace_back();
    for (int J = 0; J <= I; ++J)
      T.push_back((I * 5 + J) % 48);
    Alone.push_back(lastLogits(*Own, T));
    ASSERT_FALSE(Alone.back().empty());
  }
  for (int64_t Count : {1, 2, 3}) {
    Resources Shared = sharedThreads(Count);
    size_t Before = threadsOfProcess();
    std::vector<Session> Sessions;
    for (int I = 0; I < 3; ++I) {
      Result<Session> S = Session::create(M, {0, 0, 0, Shared});
      ASSERT_TRUE(S) << S.error().message();
      EXPECT_EQ(S->threads(), Count);
      Sessions.push_back(std::move(*S));
    }
    // Steps of all at once: each is alone while it runs.
    std::atomic<int> Wrong{0};
    std::vector<std::thread> Callers;
    for (Session &S : Sessions)
      Callers.emplace_back([&] {
        for (size_t I = 0; I < Texts.size(); ++I)
          Wrong += lastLogits(S, Texts[I]) != Alone[I];
      });
    for (std::thread &Caller : Callers)
      Caller.join();
    EXPECT_EQ(Wrong, 0) << Count << " threads";
    // The control thread was there before; its team came with the first step.
    // (Threads of the round before may have been ending.)
    EXPECT_LE(threadsOfProcess(), Before + static_cast<size_t>(Count) - 1);
  }
}

TEST_F(ResourcesTest, WhoAsksFirstIsServedFirst) {
  Result<Executor> Team = Executor::create(1);
  ASSERT_TRUE(Team);
  // 0 works until all others wait, in the order that they are told to come in.
  constexpr int Others = 4;
  std::vector<int> Order;
  std::vector<std::thread> Callers;
  std::atomic<bool> Goes{false}, Started{false};
  std::thread First([&] {
    Team->run([&] {
      Started = true;
      while (!Goes)
        std::this_thread::yield();
      Order.push_back(0);
    });
  });
  while (!Started)
    std::this_thread::yield();
  for (int I = 1; I <= Others; ++I) {
    std::atomic<bool> IsHere{false};
    Callers.emplace_back([&, I] {
      IsHere = true;
      Team->run([&, I] { Order.push_back(I); });
    });
    while (!IsHere)
      std::this_thread::yield();
    // Time to draw a number, which nothing tells.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  Goes = true;
  First.join();
  for (std::thread &Caller : Callers)
    Caller.join();
  EXPECT_THAT(Order, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(ResourcesTest, ABudgetIsTakenAndGivenBack) {
  auto Budget = std::make_shared<MemoryBudget>(100);
  {
    auto First = MemoryBudget::take(Budget, 60);
    ASSERT_TRUE(First);
    EXPECT_EQ(Budget->left(), 40u);
    auto Second = MemoryBudget::take(Budget, 41);
    ASSERT_FALSE(Second);
    EXPECT_EQ(Second.error().kind(), ErrorKind::OutOfMemory);
    EXPECT_EQ(Second.error().message(),
              "caches and working memory take 41 bytes: expected at most 40, "
              "what is left of a budget of 100");
    EXPECT_TRUE(MemoryBudget::take(Budget, 40));
    EXPECT_EQ(Budget->left(), 40u);
  }
  EXPECT_EQ(Budget->left(), 100u);
}

TEST_F(ResourcesTest, SessionsStayBelowTheBudget) {
  uint64_t OfOne = 0;
  {
    Resources Plenty{nullptr,
                     std::make_shared<MemoryBudget>(uint64_t{1} << 40)};
    Result<Session> S = Session::create(M, {1, 0, 0, Plenty});
    ASSERT_TRUE(S);
    OfOne = Plenty.Memory->total() - Plenty.Memory->left();
  }
  ASSERT_GT(OfOne, 0u);
  Resources Shared{nullptr, std::make_shared<MemoryBudget>(2 * OfOne)};
  std::optional<Session> First;
  for (int Round = 0; Round < 2; ++Round) {
    Result<Session> A = Session::create(M, {1, 0, 0, Shared});
    ASSERT_TRUE(A);
    First.emplace(std::move(*A));
    Result<Session> B = Session::create(M, {1, 0, 0, Shared});
    ASSERT_TRUE(B);
    Result<Session> C = Session::create(M, {1, 0, 0, Shared});
    ASSERT_FALSE(C);
    EXPECT_EQ(C.error().kind(), ErrorKind::OutOfMemory);
    EXPECT_THAT(C.error().message(), HasSubstr(File + ": caches"));
    // The first lives on, as its budget does, where the second has ended.
  }
  First.reset();
  EXPECT_EQ(Shared.Memory->left(), 2 * OfOne);
}

// What an engine takes by itself leaves something to the next one.
TEST_F(ResourcesTest, EnginesLeaveHalf) {
  SessionOptions Alone = serving::defaultRoom(*M, 8);
  Resources Plenty{nullptr, std::make_shared<MemoryBudget>(uint64_t{1} << 50)};
  EXPECT_EQ(serving::defaultRoom(*M, 8, Plenty).CacheTokens, Alone.CacheTokens);
  Resources Little{nullptr, std::make_shared<MemoryBudget>(1)};
  // One text of full length in any case: creating it says what is missing.
  EXPECT_EQ(serving::defaultRoom(*M, 8, Little).CacheTokens,
            M->manifest().MaxSequence);
  // Half of what six texts take is three texts.
  const artifact::CacheInfo &Cache = M->manifest().Caches.front();
  auto Text =
      static_cast<uint64_t>(M->manifest().MaxSequence / Cache.PageTokens *
                            Cache.PageBytes * Cache.Layers);
  Resources Some{nullptr, std::make_shared<MemoryBudget>(6 * Text)};
  int64_t Tokens = serving::defaultRoom(*M, 8, Some).CacheTokens;
  EXPECT_GE(Tokens, 2 * M->manifest().MaxSequence);
  EXPECT_LE(Tokens, 3 * M->manifest().MaxSequence);
}

TEST_F(ResourcesTest, InC) {
  ASSERT_TRUE(
      writeModel(File, [](artifact::Manifest &Info, artifact::CodeInfo &) {
        Info.FewTokens = 4; // The engine chooses variants.
      }));
  tenon_resources *R = nullptr;
  EXPECT_EQ(tenon_resources_create(-1, 0, &R), TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_resources_create(0, 0, nullptr), TENON_INVALID_ARGUMENT);
  ASSERT_EQ(tenon_resources_create(2, uint64_t{1} << 30, &R), TENON_OK);
  tenon_model *Loaded = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &Loaded), TENON_OK);
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_session_create_on(R, Loaded, 0, &S), TENON_OK)
      << tenon_last_error();
  tenon_session *None = nullptr;
  EXPECT_EQ(tenon_session_create_on(nullptr, Loaded, 0, &None),
            TENON_INVALID_ARGUMENT);
  // 2^20 tokens are more than 2^20 bytes.
  tenon_resources *Little = nullptr;
  ASSERT_EQ(tenon_resources_create(1, uint64_t{1} << 20, &Little), TENON_OK);
  EXPECT_EQ(tenon_session_create_on(Little, Loaded, int64_t{1} << 20, &None),
            TENON_OUT_OF_MEMORY)
      << tenon_last_error();
  tenon_resources_destroy(Little);

  tenon_engine *E = nullptr;
  tenon_engine_options Options{};
  Options.struct_size = sizeof(Options);
  Options.resources = R;
  Options.threads = 2;
  EXPECT_EQ(tenon_engine_create(Loaded, &Options, &E), TENON_INVALID_ARGUMENT);
  EXPECT_THAT(tenon_last_error(),
              HasSubstr("threads is 2: expected 0, for threads that are "
                        "shared"));
  Options.threads = 0;
  ASSERT_EQ(tenon_engine_create(Loaded, &Options, &E), TENON_OK)
      << tenon_last_error();
  // What was created on them keeps them.
  tenon_resources_destroy(R);
  tenon_settings Settings;
  tenon_settings_init(&Settings);
  Settings.max_new_tokens = 5;
  Settings.ignore_eos = 1;
  std::vector<int32_t> Prompt = {1, 2, 3};
  tenon_request Id = 0;
  ASSERT_EQ(tenon_engine_submit(E, &Settings, Prompt.data(), Prompt.size(),
                                nullptr, &Id, nullptr),
            TENON_OK);
  size_t New = 0;
  tenon_update U{};
  U.struct_size = sizeof(U);
  do {
    ASSERT_EQ(tenon_engine_wait(E, 60, &U), TENON_OK);
    if (U.piece)
      New += U.piece->token_count;
  } while (U.piece);
  EXPECT_EQ(U.state, TENON_REQUEST_FINISHED);
  EXPECT_EQ(New, 5u);
  tenon_engine_destroy(E);
  tenon_session_destroy(S);
  tenon_model_destroy(Loaded);
}
