//===- EngineTest.cpp - Models, sessions, steps ---------------------------===//

#include "EngineFixture.h"

#include "runtime/Engine/Executor.h"
#include "runtime/Engine/Session.h"
#include "runtime/tenon.h"

#include <atomic>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::tokenizer;
using namespace tenon::test;

namespace {

class EngineTest : public testing::Test {
protected:
  void SetUp() override {
    Status Written = writeModel(File);
    ASSERT_TRUE(Written) << Written.error().message();
  }

  Session session(int64_t CacheTokens = 0, int64_t Threads = 2) {
    Result<std::shared_ptr<const Model>> M = Model::load(File);
    EXPECT_TRUE(M) << M.error().message();
    Result<Session> S = Session::create(*M, {Threads, CacheTokens});
    EXPECT_TRUE(S) << S.error().message();
    return std::move(*S);
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
};

std::vector<float> valuesOf(const ItemResult &Answer) {
  return {Answer.Values.begin(), Answer.Values.end()};
}

/// One step of one sequence, which must go well.
std::vector<float> stepOne(Session &S, SequenceId Id,
                           const std::vector<int32_t> &Tokens,
                           OutputRows Outputs = OutputRows::Last) {
  StepItem Item{Id, Tokens, {}, Outputs};
  Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
  if (!Answers || !Answers->front().Outcome) {
    ADD_FAILURE() << (Answers ? Answers->front().Outcome.error().message()
                              : Answers.error().message());
    return {};
  }
  return valuesOf(Answers->front());
}

/// The error of the only item, or of the call.
std::string errorOf(Session &S, const StepItem &Item) {
  Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
  if (!Answers)
    return "call: " + Answers.error().message();
  return Answers->front().Outcome ? ""
                                  : Answers->front().Outcome.error().message();
}

std::vector<int32_t> someTokens(int Count, int Seed = 1) {
  std::vector<int32_t> Tokens;
  for (int I = 0; I < Count; ++I)
    Tokens.push_back((I * 11 + Seed * 5) % 48);
  return Tokens;
}

std::vector<int32_t> prefix(const std::vector<int32_t> &Tokens, size_t Count) {
  return {Tokens.begin(), Tokens.begin() + static_cast<ptrdiff_t>(Count)};
}

} // namespace

TEST_F(EngineTest, GivesTheLogitsOfTheLastToken) {
  Session S = session();
  SequenceId Id = S.createSequence();
  EXPECT_EQ(stepOne(S, Id, {3, 1, 4}), expectedLogits({3, 1, 4}));
  EXPECT_EQ(*S.length(Id), 3);
}

TEST_F(EngineTest, LongPromptsAreSplitAndGiveEveryRow) {
  Session S = session();
  std::vector<int32_t> Tokens = someTokens(MaxSequence);
  std::vector<float> Rows =
      stepOne(S, S.createSequence(), Tokens, OutputRows::All);
  ASSERT_EQ(Rows.size(), static_cast<size_t>(MaxSequence * Width));
  for (size_t T = 0; T < Tokens.size(); ++T)
    EXPECT_EQ(std::vector<float>(
                  Rows.begin() + static_cast<ptrdiff_t>(T * Width),
                  Rows.begin() + static_cast<ptrdiff_t>((T + 1) * Width)),
              expectedLogits(prefix(Tokens, T + 1)))
        << "row " << T;
}

TEST_F(EngineTest, TokenByTokenEqualsOnePrefill) {
  Session S = session();
  SequenceId Id = S.createSequence();
  std::vector<int32_t> Tokens = someTokens(45);
  for (size_t T = 0; T < Tokens.size(); ++T)
    EXPECT_EQ(stepOne(S, Id, {Tokens[T]}),
              expectedLogits(prefix(Tokens, T + 1)));
}

TEST_F(EngineTest, RaggedBatchEqualsSingleSequences) {
  Session S = session(3 * MaxSequence);
  std::vector<std::vector<int32_t>> Tokens = {
      someTokens(33, 1), someTokens(1, 2), someTokens(6, 3)};
  std::vector<StepItem> Items;
  for (const auto &T : Tokens)
    Items.push_back({S.createSequence(), T, {}, OutputRows::Last});
  Items[1].Outputs = OutputRows::None;
  Result<std::vector<ItemResult>> Answers = S.step(Items);
  ASSERT_TRUE(Answers);
  EXPECT_EQ(valuesOf((*Answers)[0]), expectedLogits(Tokens[0]));
  EXPECT_EQ((*Answers)[1].Rows, 0);
  EXPECT_EQ(valuesOf((*Answers)[2]), expectedLogits(Tokens[2]));
  // A decode step of all three, the second catching up with two.
  std::vector<std::vector<int32_t>> More = {{7}, {8, 9}, {10}};
  for (size_t I = 0; I < 3; ++I) {
    Items[I].Tokens = More[I];
    Items[I].Outputs = OutputRows::Last;
    Tokens[I].insert(Tokens[I].end(), More[I].begin(), More[I].end());
  }
  Answers = S.step(Items);
  ASSERT_TRUE(Answers);
  for (size_t I = 0; I < 3; ++I)
    EXPECT_EQ(valuesOf((*Answers)[I]), expectedLogits(Tokens[I])) << I;
}

TEST_F(EngineTest, OutOfPagesHurtsOnlyItsSequence) {
  Session S = session(3 * FixturePageTokens);
  std::vector<int32_t> Small = someTokens(16, 1), Large = someTokens(33, 2);
  SequenceId A = S.createSequence(), B = S.createSequence(),
             C = S.createSequence();
  std::vector<StepItem> Items = {{A, Small, {}, OutputRows::Last},
                                 {B, Large, {}, OutputRows::Last},
                                 {C, Small, {}, OutputRows::Last}};
  Result<std::vector<ItemResult>> Answers = S.step(Items);
  ASSERT_TRUE(Answers);
  EXPECT_EQ(valuesOf((*Answers)[0]), expectedLogits(Small));
  EXPECT_EQ(valuesOf((*Answers)[2]), expectedLogits(Small));
  ASSERT_FALSE((*Answers)[1].Outcome);
  EXPECT_EQ((*Answers)[1].Outcome.error().message(),
            "out of cache pages: sequence of 0 tokens and 33 more needs 3 "
            "pages of 16 tokens, 2 of 3 are free");
  EXPECT_EQ((*Answers)[1].Rows, 0);
  EXPECT_EQ(*S.length(B), 0);
  // With the pages of the others it fits, and finds them zeroed.
  ASSERT_TRUE(S.endSequence(A));
  ASSERT_TRUE(S.endSequence(C));
  EXPECT_EQ(stepOne(S, B, Large), expectedLogits(Large));
}

TEST_F(EngineTest, RecycledPagesAreZero) {
  Session S = session(2 * FixturePageTokens);
  for (int Round = 0; Round < 3; ++Round) {
    SequenceId Id = S.createSequence();
    std::vector<int32_t> Tokens = someTokens(32 - Round, Round);
    EXPECT_EQ(stepOne(S, Id, Tokens), expectedLogits(Tokens));
    ASSERT_TRUE(S.endSequence(Id));
  }
}

TEST_F(EngineTest, EndOfTheModelsLength) {
  Session S = session();
  SequenceId Id = S.createSequence();
  std::vector<int32_t> Tokens = someTokens(MaxSequence - 1);
  stepOne(S, Id, Tokens);
  std::vector<int32_t> Two = {1, 2};
  EXPECT_EQ(errorOf(S, {Id, Two, {}, OutputRows::Last}),
            "sequence of 89 tokens and 2 more: expected at most 90, the "
            "model's length");
  Tokens.push_back(1);
  EXPECT_EQ(stepOne(S, Id, {1}), expectedLogits(Tokens));
}

TEST_F(EngineTest, BadRequests) {
  Session S = session();
  SequenceId Id = S.createSequence();
  std::vector<int32_t> Negative = {1, -1}, Large = {Vocabulary}, Good = {1, 2},
                       Types = {0, 2}, OneType = {0};
  EXPECT_EQ(errorOf(S, {Id, Negative, {}, OutputRows::Last}),
            "token id -1 (token 1): expected 0 to 49");
  EXPECT_EQ(errorOf(S, {Id, Large, {}, OutputRows::Last}),
            "token id 50 (token 0): expected 0 to 49");
  EXPECT_EQ(errorOf(S, {Id, Good, Types, OutputRows::Last}),
            "token type 2 (token 1): expected 0 to 1");
  EXPECT_EQ(errorOf(S, {Id, Good, OneType, OutputRows::Last}),
            "1 token types for 2 tokens: expected one per token");
  EXPECT_EQ(errorOf(S, {Id, {}, {}, OutputRows::Last}),
            "no tokens: expected at least one");
  EXPECT_EQ(errorOf(S, {SequenceId{77}, Good, {}, OutputRows::Last}),
            "sequence 77 does not exist or has ended");
  EXPECT_EQ(*S.length(Id), 0);
  std::vector<StepItem> Twice(2, {Id, Good, {}, OutputRows::Last});
  Result<std::vector<ItemResult>> Answers = S.step(Twice);
  ASSERT_TRUE(Answers);
  EXPECT_EQ(valuesOf((*Answers)[0]), expectedLogits(Good));
  ASSERT_FALSE((*Answers)[1].Outcome);
  EXPECT_EQ((*Answers)[1].Outcome.error().message(),
            "sequence " + std::to_string(static_cast<int64_t>(Id)) +
                " occurs twice in one step");
}

TEST_F(EngineTest, AnErrorInACallbackLeavesSequencesAsBefore) {
  Session S = session();
  SequenceId Id = S.createSequence();
  stepOne(S, Id, {1, 2});
  std::vector<int32_t> Failing = {49};
  EXPECT_EQ(errorOf(S, {Id, Failing, {}, OutputRows::Last}),
            "call: " + File +
                ": matmul of primitive 7: expected 0 to 1 (exclusive)");
  EXPECT_EQ(*S.length(Id), 2);
  EXPECT_EQ(stepOne(S, Id, {3}), expectedLogits({1, 2, 3}));
}

TEST_F(EngineTest, EncodesWholeTexts) {
  Session S = session();
  std::vector<int32_t> A = someTokens(15), B = someTokens(7, 2),
                       TypesB = {0, 0, 1, 1, 0, 1, 1}, Long(21, 1);
  std::vector<EncodeItem> Items = {{A, {}, OutputRows::All},
                                   {Long, {}, OutputRows::All},
                                   {B, TypesB, OutputRows::All}};
  Result<std::vector<ItemResult>> Answers = S.encode(Items);
  ASSERT_TRUE(Answers);
  EXPECT_EQ((*Answers)[1].Outcome.error().message(),
            "text of 21 tokens: expected at most 20, the model's length");
  ASSERT_EQ((*Answers)[0].Rows, 15);
  ASSERT_EQ((*Answers)[2].Rows, 7);
  for (size_t T = 0; T < 15; ++T)
    EXPECT_EQ((*Answers)[0].Values[T * Width],
              static_cast<float>(A[T] + 1000 * static_cast<int32_t>(T)));
  for (size_t T = 0; T < 7; ++T)
    EXPECT_EQ((*Answers)[2].Values[T * Width + 49],
              static_cast<float>(B[T] + 100 * TypesB[T] +
                                 1000 * static_cast<int32_t>(T)));

  Answers = S.embed(Items);
  ASSERT_TRUE(Answers);
  float Sum = 0;
  for (int32_t Id : B)
    Sum += static_cast<float>(Id);
  ASSERT_EQ((*Answers)[2].Rows, 1);
  EXPECT_EQ((*Answers)[2].Values[0], Sum);
}

TEST_F(EngineTest, ThreadsDoNotChangeTheResult) {
  std::vector<int32_t> Tokens = someTokens(30);
  for (int64_t Threads : {1, 2, 3, 5}) {
    Session S = session(0, Threads);
    EXPECT_EQ(S.threads(), Threads);
    EXPECT_EQ(stepOne(S, S.createSequence(), Tokens), expectedLogits(Tokens));
  }
}

TEST_F(EngineTest, CountsMatmuls) {
  Session S = session();
  SequenceId Id = S.createSequence();
  stepOne(S, Id, {1});
  stepOne(S, Id, {1});
  EXPECT_EQ(S.matmulCounters().Library, 2);
  EXPECT_EQ(S.matmulCounters().Reference, 0);
  EXPECT_EQ(S.matmulCounters().Primitives, 1);
}

TEST_F(EngineTest, RefusesWhatTheLibraryLacks) {
  Status Written = writeModel(File, [](Manifest &, CodeInfo &Code) {
    Code.Primitives.push_back(Code.Primitives[0]);
    Code.Primitives[1].Destination = StorageFormat::BF16;
  });
  ASSERT_TRUE(Written) << Written.error().message();
  Result<std::shared_ptr<const Model>> M = Model::load(File);
  ASSERT_TRUE(M) << M.error().message();
  Result<Session> S = Session::create(*M, {});
  ASSERT_FALSE(S);
  EXPECT_TRUE(
      S.error().message().starts_with(File + ": primitive 1 (f32 [rows,20]"))
      << S.error().message();
  EXPECT_TRUE(S.error().message().ends_with("has no implementation"))
      << S.error().message();
}

TEST_F(EngineTest, RefusesWhatTheMachineCannotHold) {
  Status Written = writeModel(File, [](Manifest &, CodeInfo &Code) {
    Code.ArenaBytes = uint64_t(1) << 45;
  });
  ASSERT_TRUE(Written) << Written.error().message();
  Result<std::shared_ptr<const Model>> M = Model::load(File);
  ASSERT_TRUE(M) << M.error().message();
  Result<Session> S = Session::create(*M, {});
  ASSERT_FALSE(S);
  EXPECT_TRUE(S.error().message().starts_with(
      File + ": field 'arena_bytes' is 35184372088832: expected at most "))
      << S.error().message();

  M = Model::load(File);
  S = Session::create(*M, {-1, 0});
  ASSERT_FALSE(S);
  EXPECT_EQ(S.error().message(),
            "threads is -1: expected 0 (one per core) to 4096");
  S = Session::create(*M, {0, -5});
  ASSERT_FALSE(S);
  EXPECT_EQ(S.error().message(),
            "cache size is -5 tokens: expected at least 0");
}

TEST_F(EngineTest, EntriesAndTokenizerThatAreMissing) {
  Status Written = writeModel(File, [](Manifest &M, CodeInfo &) {
    M.Entries.erase(M.Entries.begin() + 1, M.Entries.end());
  });
  ASSERT_TRUE(Written) << Written.error().message();
  Session S = session();
  Result<std::vector<ItemResult>> Answers = S.embed({});
  ASSERT_FALSE(Answers);
  EXPECT_EQ(Answers.error().message(),
            File + ": this model has no entry 'embed': it has step");
  Result<const Tokenizer *> Text = S.model().tokenizer();
  ASSERT_FALSE(Text);
  EXPECT_EQ(Text.error().message(),
            File + ": the artifact has no tokenizer, as its model had no "
                   "tokenizer.json: give token ids instead of text");
}

TEST_F(EngineTest, CInterface) {
  tenon_model *M = nullptr;
  EXPECT_EQ(tenon_model_load((Directory / "missing").c_str(), &M),
            TENON_NOT_FOUND);
  EXPECT_EQ(std::string(tenon_last_error()),
            (Directory / "missing") + ": cannot open: No such file or "
                                      "directory");
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  EXPECT_EQ(tenon_model_vocabulary(M), Vocabulary);
  EXPECT_EQ(tenon_model_max_sequence(M), MaxSequence);
  EXPECT_EQ(tenon_model_has_entry(M, TENON_ENTRY_EMBED), 1);
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_session_create(M, 1, 0, &S), TENON_OK);
  // The session keeps what it needs.
  tenon_model_destroy(M);
  tenon_sequence Id = 0;
  ASSERT_EQ(tenon_sequence_create(S, &Id), TENON_OK);
  std::vector<int32_t> Tokens = {5, 6, 7}, Bad = {-5};
  tenon_item Items[2] = {{sizeof(tenon_item), Id, Tokens.data(), nullptr,
                          Tokens.size(), TENON_OUTPUT_ROWS_LAST, 0},
                         {sizeof(tenon_item), Id, Bad.data(), nullptr,
                          Bad.size(), TENON_OUTPUT_ROWS_LAST, 0}};
  tenon_output Outputs[2] = {};
  Outputs[0].struct_size = Outputs[1].struct_size = sizeof(tenon_output);
  ASSERT_EQ(tenon_session_run(S, TENON_ENTRY_STEP, Items, 2, Outputs),
            TENON_OK);
  ASSERT_EQ(Outputs[0].status, TENON_OK);
  EXPECT_EQ(Outputs[0].rows, 1u);
  EXPECT_EQ(Outputs[0].width, static_cast<size_t>(Width));
  EXPECT_EQ(std::vector<float>(Outputs[0].values, Outputs[0].values + Width),
            expectedLogits(Tokens));
  EXPECT_EQ(Outputs[1].status, TENON_INVALID_ARGUMENT);
  EXPECT_NE(Outputs[1].error, nullptr);
  EXPECT_EQ(Outputs[1].rows, 0u);
  int64_t Length = 0;
  EXPECT_EQ(tenon_sequence_length(S, Id, &Length), TENON_OK);
  EXPECT_EQ(Length, 3);
  EXPECT_EQ(tenon_sequence_end(S, Id), TENON_OK);
  EXPECT_EQ(tenon_sequence_end(S, Id), TENON_NOT_FOUND);
  EXPECT_EQ(tenon_session_run(nullptr, TENON_ENTRY_STEP, nullptr, 0, nullptr),
            TENON_INVALID_ARGUMENT);
  tenon_session_destroy(S);
}

TEST(ExecutorTest, BarriersSeparatePhases) {
  Result<Executor> Threads = Executor::create(3);
  ASSERT_TRUE(Threads);
  struct Shared {
    Executor *Threads;
    std::atomic<int64_t> Count{0};
    std::atomic<int64_t> Mistakes{0};
  } Work{&*Threads, {}, {}};
  Threads->run([&] {
    Threads->parallel(
        [](void *Environment, int64_t, int64_t Team) {
          auto &W = *static_cast<Shared *>(Environment);
          for (int64_t Phase = 1; Phase <= 1000; ++Phase) {
            ++W.Count;
            W.Threads->barrier();
            if (W.Count != Phase * Team)
              ++W.Mistakes;
            W.Threads->barrier();
          }
        },
        &Work);
  });
  EXPECT_EQ(Work.Count, 3000);
  EXPECT_EQ(Work.Mistakes, 0);
}
