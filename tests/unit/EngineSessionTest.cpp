//===- EngineSessionTest.cpp - Threads, cancelling, truncating, kinds -----===//

#include "EngineFixture.h"

#include "runtime/Engine/Executor.h"
#include "runtime/Engine/Session.h"
#include "runtime/tenon.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <omp.h>
#include <sys/mman.h>
#include <thread>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::test;

namespace {

using Tokens = std::vector<int32_t>;

class EngineSessionTest : public testing::Test {
protected:
  void write(const std::function<void(Manifest &, CodeInfo &)> &Change) {
    Status Written = writeModel(File, Change);
    ASSERT_TRUE(Written) << Written.error().message();
  }
  void SetUp() override { write(nullptr); }

  Session session(const SessionOptions &Options) {
    Result<std::shared_ptr<const Model>> M = Model::load(File);
    EXPECT_TRUE(M) << M.error().message();
    Result<Session> S = Session::create(*M, Options);
    EXPECT_TRUE(S) << S.error().message();
    return std::move(*S);
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
};

Result<std::vector<float>> step(Session &S, SequenceId Id, const Tokens &New,
                                int64_t Prefix = 0) {
  StepItem Item{Id, New, {}, OutputRows::Last, Prefix};
  Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
  if (!Answers)
    return Answers.error();
  const ItemResult &Answer = Answers->front();
  if (!Answer.Outcome)
    return Answer.Outcome.error();
  return std::vector<float>(Answer.Values.begin(), Answer.Values.end());
}

Tokens promptOf(int Count) {
  Tokens T;
  for (int I = 0; I < Count; ++I)
    T.push_back(I * 7 % 48);
  return T;
}

/// The kind of the error of `R`, which must be one.
template <typename T> ErrorKind kindOf(const Result<T> &R) {
  EXPECT_FALSE(R);
  return R ? ErrorKind::Internal : R.error().kind();
}

} // namespace

// A file large enough for it is mapped whole before the first step.
TEST_F(EngineSessionTest, MapsLargeFilesAtOnce) {
  auto MappedBytes = [](const Model &M) -> uint64_t {
    std::span<const std::byte> Bytes = M.artifact().bytes();
    std::optional<PageUse> Use = pageUse({&Bytes, 1});
    return Use ? Use->Resident : 0;
  };
  for (size_t Padding : {1u << 20, 17u << 20}) {
    ASSERT_TRUE(writeModel(File, nullptr, "{}" + std::string(Padding, ' ')));
    Result<std::shared_ptr<const Model>> M = Model::load(File);
    ASSERT_TRUE(M);
    std::span<const std::byte> Bytes = (*M)->artifact().bytes();
    // Opening has read the padding. Of what is taken away nothing is lost.
    ASSERT_EQ(::madvise(const_cast<std::byte *>(Bytes.data()), Bytes.size(),
                        MADV_DONTNEED),
              0);
    ASSERT_EQ(MappedBytes(**M), 0u);
    bool Can = populate(Bytes.first(1));
    for (int64_t Threads : {3, 1}) {
      Result<Session> S = Session::create(*M, {Threads, 100});
      ASSERT_TRUE(S);
      if (Can && Padding > (16u << 20))
        EXPECT_GE(MappedBytes(**M), Bytes.size());
      else
        EXPECT_LT(MappedBytes(**M), Bytes.size());
      Tokens T = promptOf(30);
      Result<std::vector<float>> Logits = step(*S, S->createSequence(), T);
      ASSERT_TRUE(Logits);
      EXPECT_EQ(*Logits, expectedLogits(T));
      std::optional<PageUse> Use = S->memoryUse();
      ASSERT_TRUE(Use);
      EXPECT_GT(Use->Resident, 0u);
    }
  }
}

// Two sessions are called at once from a region of two threads.
TEST_F(EngineSessionTest, InsideAParallelRegion) {
  Tokens T = promptOf(40), Next = {5};
  Tokens Whole = T;
  Whole.push_back(5);
  for (int64_t Threads : {1, 2, 3}) {
    std::vector<Session> Sessions;
    for (int I = 0; I < 2; ++I)
      Sessions.push_back(session({Threads, 0, 0}));
    std::vector<float> First[2], Second[2];
#pragma omp parallel num_threads(2)
    {
      auto I = static_cast<size_t>(omp_get_thread_num());
      EXPECT_EQ(omp_get_num_threads(), 2);
      SequenceId Id = Sessions[I].createSequence();
      if (auto Values = step(Sessions[I], Id, T))
        First[I] = *Values;
      if (auto Values = step(Sessions[I], Id, Next))
        Second[I] = *Values;
    }
    for (int I = 0; I < 2; ++I) {
      EXPECT_EQ(First[I], expectedLogits(T)) << Threads << " threads";
      EXPECT_EQ(Second[I], expectedLogits(Whole)) << Threads << " threads";
    }
  }
}

TEST_F(EngineSessionTest, EachNumberIsRunOnce) {
  for (int64_t Threads : {1, 3}) {
    Session S = session({Threads, 64});
    std::vector<int> Seen(100);
    S.forEach(Seen.size(), [&](size_t I) { ++Seen[I]; });
    EXPECT_EQ(Seen, std::vector<int>(100, 1));
    S.forEach(0, [&](size_t) { ADD_FAILURE(); });
  }
}

TEST_F(EngineSessionTest, WhatIsBesideAStepDoesNotWaitForOthers) {
  Result<Executor> Made = Executor::create(2);
  ASSERT_TRUE(Made);
  auto Threads = std::make_shared<Executor>(std::move(*Made));
  SessionOptions Options{0, 64};
  Options.Shared.Threads = Threads;
  Session S = session(Options);
  std::atomic<bool> IsOn = false, MayEnd = false;
  std::thread Other([&] {
    Threads->run([&] {
      IsOn = true;
      while (!MayEnd)
        std::this_thread::yield();
    });
  });
  while (!IsOn)
    std::this_thread::yield();
  std::vector<std::thread::id> Where(10);
  S.forEach(Where.size(),
            [&](size_t I) { Where[I] = std::this_thread::get_id(); });
  EXPECT_EQ(Where, std::vector(10, std::this_thread::get_id()));
  MayEnd = true;
  Other.join();
  S.forEach(Where.size(),
            [&](size_t I) { Where[I] = std::this_thread::get_id(); });
  EXPECT_NE(Where, std::vector(10, std::this_thread::get_id()));
}

TEST_F(EngineSessionTest, ACancelledCallChangesNothing) {
  Session S = session({2, 0, 0});
  SequenceId Id = S.createSequence();
  ASSERT_TRUE(step(S, Id, {1, 2, 3}));
  // Without a running call nothing happens.
  S.cancel();
  ASSERT_TRUE(step(S, Id, {4}));
  std::atomic<bool> HasEnded{false};
  std::thread Impatient([&] {
    // So that the step runs already.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    while (!HasEnded) {
      S.cancel();
      std::this_thread::yield();
    }
  });
  // Tokens on which the step lasts until it is cancelled.
  Result<std::vector<float>> Answer = step(S, Id, {48, 48});
  HasEnded = true;
  Impatient.join();
  EXPECT_EQ(kindOf(Answer), ErrorKind::Cancelled);
  EXPECT_EQ(Answer.error().message(), File + ": the call was cancelled");
  EXPECT_EQ(*S.length(Id), 4);
  EXPECT_EQ(*step(S, Id, {9}), expectedLogits({1, 2, 3, 4, 9}));
}

TEST_F(EngineSessionTest, TruncatedSequencesGoOn) {
  Session S = session({1, 4 * FixturePageTokens, 0});
  SequenceId Id = S.createSequence();
  Tokens T = promptOf(40), Kept(T.begin(), T.begin() + 5);
  ASSERT_TRUE(step(S, Id, T));
  EXPECT_EQ(S.cache().freePages(), 1);
  ASSERT_TRUE(S.truncateSequence(Id, 40)) << "nothing to drop";
  ASSERT_TRUE(S.truncateSequence(Id, 5));
  EXPECT_EQ(*S.length(Id), 5);
  EXPECT_EQ(S.cache().freePages(), 3);
  Kept.push_back(11);
  // The test model sees what dropped tokens left on the page.
  EXPECT_EQ(*step(S, Id, {11}), expectedLogits(Kept));
  Result<std::vector<float>> Failed = step(S, Id, {1, 49});
  EXPECT_EQ(kindOf(Failed), ErrorKind::Internal);
  Kept.push_back(12);
  EXPECT_EQ(*step(S, Id, {12}), expectedLogits(Kept));

  EXPECT_EQ(S.truncateSequence(Id, 8).error().message(),
            "sequence 1: length 8 to truncate to: expected 0 to 7, the tokens "
            "it holds");
  EXPECT_EQ(kindOf(S.truncateSequence(Id, -1)), ErrorKind::InvalidArgument);
  EXPECT_EQ(kindOf(S.truncateSequence(SequenceId{77}, 0)), ErrorKind::NotFound);
  ASSERT_TRUE(S.truncateSequence(Id, 0));
  EXPECT_EQ(S.cache().freePages(), 4);
  EXPECT_EQ(*step(S, Id, {3}), expectedLogits({3}));
}

TEST_F(EngineSessionTest, TruncatingLeavesForksAlone) {
  Session S = session({1, 4 * FixturePageTokens, 0});
  SequenceId Id = S.createSequence();
  Tokens T = promptOf(20), Short(T.begin(), T.begin() + 18);
  ASSERT_TRUE(step(S, Id, T));
  SequenceId Fork = *S.forkSequence(Id);
  ASSERT_TRUE(S.truncateSequence(Id, 18));
  EXPECT_EQ(*S.length(Fork), 20);
  Short.push_back(7);
  EXPECT_EQ(*step(S, Id, {7}), expectedLogits(Short));
  T.push_back(8);
  EXPECT_EQ(*step(S, Fork, {8}), expectedLogits(T));
  // A page that was shared when it was truncated, and is not any more.
  SequenceId Other = *S.forkSequence(Fork);
  ASSERT_TRUE(S.truncateSequence(Fork, 17));
  ASSERT_TRUE(S.endSequence(Other));
  T.resize(17);
  T.push_back(9);
  EXPECT_EQ(*step(S, Fork, {9}), expectedLogits(T));
}

TEST_F(EngineSessionTest, APrefixIsNotTruncated) {
  Session S = session({1, 0, 0});
  SequenceId Id = S.createSequence();
  ASSERT_TRUE(step(S, Id, {1, 2, 3, 4}, 3));
  EXPECT_EQ(S.truncateSequence(Id, 2).error().message(),
            "sequence 1: length 2 to truncate to: expected 0 or at least 3, "
            "its prefix");
  ASSERT_TRUE(S.truncateSequence(Id, 3));
  EXPECT_EQ(*step(S, Id, {9}), expectedLogits({1, 2, 3, 9}, {}, 3));
  ASSERT_TRUE(S.truncateSequence(Id, 0));
  EXPECT_EQ(*step(S, Id, {9}), expectedLogits({9}));

  write([](Manifest &M, CodeInfo &) { M.HasPrefixMask = false; });
  Session Plain = session({1, 0, 0});
  Result<std::vector<float>> Refused =
      step(Plain, Plain.createSequence(), {1, 2}, 1);
  EXPECT_EQ(kindOf(Refused), ErrorKind::InvalidArgument);
  EXPECT_EQ(Refused.error().message(),
            "sequence 1: prefix of 1 tokens: this model has no prefix mask: "
            "expected 0");
}

// Every kind once, in C++ and in C (Cancelled in C: CApiTest).
TEST_F(EngineSessionTest, KindsOfErrors) {
  EXPECT_EQ(kindOf(Model::load(Directory / "missing")), ErrorKind::NotFound);
  tenon_model *M = nullptr;
  EXPECT_EQ(tenon_model_load((Directory / "missing").c_str(), &M),
            TENON_NOT_FOUND);
  std::ofstream(Directory / "text") << "no artifact";
  EXPECT_EQ(kindOf(Model::load(Directory / "text")), ErrorKind::DamagedFile);
  EXPECT_EQ(tenon_model_load((Directory / "text").c_str(), &M),
            TENON_DAMAGED_FILE);

  Session S = session({1, FixturePageTokens, 0});
  SequenceId Id = S.createSequence();
  EXPECT_EQ(kindOf(step(S, Id, {-1})), ErrorKind::InvalidArgument);
  EXPECT_EQ(kindOf(step(S, SequenceId{9}, {1})), ErrorKind::NotFound);
  EXPECT_EQ(kindOf(step(S, Id, promptOf(17))), ErrorKind::OutOfCachePages);
  EXPECT_EQ(kindOf(step(S, Id, promptOf(91))), ErrorKind::InvalidArgument);
  EXPECT_EQ(kindOf(step(S, Id, {49})), ErrorKind::Internal);
  EXPECT_EQ(kindOf(S.model().tokenizer()), ErrorKind::NotFound);

  tenon_session *C = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  ASSERT_EQ(tenon_session_create(M, 1, FixturePageTokens, &C), TENON_OK);
  auto StatusOf = [&](const Tokens &T) {
    tenon_sequence Sequence = 0;
    EXPECT_EQ(tenon_sequence_create(C, &Sequence), TENON_OK);
    tenon_item Item = {
        sizeof(tenon_item),     Sequence, T.data(), nullptr, T.size(),
        TENON_OUTPUT_ROWS_LAST, 0};
    tenon_output Output = {};
    Output.struct_size = sizeof(tenon_output);
    tenon_status Call =
        tenon_session_run(C, TENON_ENTRY_STEP, &Item, 1, &Output);
    EXPECT_EQ(tenon_sequence_end(C, Sequence), TENON_OK);
    return Call == TENON_OK ? Output.status : Call;
  };
  EXPECT_EQ(StatusOf({1}), TENON_OK);
  EXPECT_EQ(StatusOf({-1}), TENON_INVALID_ARGUMENT);
  EXPECT_EQ(StatusOf(promptOf(17)), TENON_OUT_OF_CACHE_PAGES);
  EXPECT_EQ(StatusOf({49}), TENON_INTERNAL);
  tenon_session_destroy(C);
  tenon_model_destroy(M);

  auto Creates = [&](ErrorKind Kind, tenon_status Status) {
    Result<std::shared_ptr<const Model>> Loaded = Model::load(File);
    ASSERT_TRUE(Loaded) << Loaded.error().message();
    EXPECT_EQ(kindOf(Session::create(*Loaded, {1, 0, 0})), Kind);
    ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
    EXPECT_EQ(tenon_session_create(M, 1, 0, &C), Status);
    tenon_model_destroy(M);
  };
  write(
      [](Manifest &, CodeInfo &Code) { Code.ArenaBytes = uint64_t(1) << 45; });
  Creates(ErrorKind::OutOfMemory, TENON_OUT_OF_MEMORY);
  write([](Manifest &, CodeInfo &Code) {
    Code.ScratchBytes = uint64_t(1) << 45;
  });
  Creates(ErrorKind::OutOfMemory, TENON_OUT_OF_MEMORY);
  // The library has no f32 matmul with bf16 results.
  write([](Manifest &, CodeInfo &Code) {
    Code.Primitives[0].Destination = StorageFormat::BF16;
  });
  Creates(ErrorKind::UnsupportedCpu, TENON_UNSUPPORTED_CPU);
  for (ErrorKind Kind : {ErrorKind::NotFound, ErrorKind::Cancelled})
    EXPECT_EQ(Error(Kind, "x").withContext("f").kind(), Kind);
  EXPECT_EQ(Error("x").ofContent().kind(), ErrorKind::DamagedFile);
  EXPECT_EQ(Error(ErrorKind::OutOfMemory, "x").ofContent().kind(),
            ErrorKind::OutOfMemory);
}
