//===- PrefixFileTest.cpp - Cached prefixes that outlive their engine -----===//

#include "GenerationFixture.h"
#include "runtime/Artifact/Format.h"
#include "runtime/Serving/Engine.h"
#include "runtime/Support/InputFile.h"

#include <cstring>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <random>

using namespace tenon;
using namespace tenon::serving;
using namespace tenon::test;
using testing::HasSubstr;

namespace {

class PrefixFileTest : public GenerationTest {
protected:
  void SetUp() override {
    load([](Manifest &Info, CodeInfo &) { Info.FewTokens = 4; });
  }

  /// A session of its own, and a scheduler on it.
  struct Run {
    Session S;
    std::optional<Scheduler> Plan;
  };
  std::unique_ptr<Run> run(int64_t CacheTokens = 400, bool Caches = true) {
    Result<Session> Made = Session::create(M, {1, CacheTokens, 64});
    EXPECT_TRUE(Made);
    auto R = std::make_unique<Run>(Run{std::move(*Made), std::nullopt});
    SchedulerOptions O;
    O.MaxNumSeqs = 4;
    O.CachesPrefixes = Caches;
    O.Clock = [] { return 0.0; };
    Result<Scheduler> Plan = Scheduler::create(R->S, std::move(O));
    EXPECT_TRUE(Plan);
    R->Plan.emplace(std::move(*Plan));
    return R;
  }

  static Tokens prompt(uint32_t Seed, size_t Length) {
    std::mt19937 Random(Seed);
    Tokens All;
    while (All.size() < Length)
      All.push_back(static_cast<int32_t>(Random() % 47));
    return All;
  }

  /// The new tokens of a request, and how many of its prompt were cached.
  std::pair<Tokens, size_t> answer(Run &R, const Tokens &Prompt,
                                   const std::string &Salt = "") {
    Settings Wish;
    Wish.BadWords = {{48}, {49}};
    Wish.MaxNewTokens = 12;
    Wish.Temperature = 2;
    Wish.Seed = 5;
    Wish.IgnoreEndOfSequence = true;
    EXPECT_TRUE(std::holds_alternative<RequestId>(
        R.Plan->submit(request(Wish, Prompt), {Salt, std::nullopt})));
    std::pair<Tokens, size_t> Done;
    while (!R.Plan->idle())
      for (const Update &U : R.Plan->step())
        if (U.Answer)
          Done = {U.Answer->Choices.front().NewTokens, U.Usage.CachedTokens};
    return Done;
  }

  /// Prompts of two salts, two that share pages.
  void fill(Run &R) {
    answer(R, First);
    answer(R, Second);
    answer(R, First, "salt");
  }

  std::string saved(Run &R) {
    Status Done = R.Plan->savePrefixes(Kept);
    EXPECT_TRUE(Done) << Done.error().message();
    Result<std::string> Bytes = readFile(Kept, 1 << 24);
    EXPECT_TRUE(Bytes);
    return *Bytes;
  }
  Result<PrefixesRead> loaded(Run &R, const std::string &Bytes) {
    std::ofstream(Kept, std::ios::binary)
        .write(Bytes.data(), static_cast<std::streamsize>(Bytes.size()));
    return R.Plan->loadPrefixes(Kept);
  }

  std::string Kept = Directory / "kept.prefixes";
  Tokens First = prompt(1, 60), Second = [this] {
    Tokens All = prompt(2, 60);
    std::copy_n(First.begin(), 40, All.begin());
    return All;
  }();
};

template <typename T> T numberAt(const std::string &Bytes, size_t At) {
  T Value;
  std::memcpy(&Value, Bytes.data() + At, sizeof(T));
  return Value;
}
template <typename T> void setNumber(std::string &Bytes, size_t At, T Value) {
  std::memcpy(Bytes.data() + At, &Value, sizeof(T));
}
constexpr size_t VersionAt = 8, BindingAt = 16, PageBytesAt = 24,
                 PromptsAt = 32, PagesAt = 40, HeaderBytesAt = 48, BodyAt = 56;

/// With a header that says what it is.
std::string resealed(std::string Bytes) {
  size_t End = numberAt<uint64_t>(Bytes, HeaderBytesAt) - 8;
  setNumber(Bytes, End,
            artifact::checksumOf(std::as_bytes(std::span(Bytes).first(End))));
  return Bytes;
}

} // namespace

TEST_F(PrefixFileTest, TheSameAnswersInALaterProcess) {
  auto Plain = run(400, false);
  auto Before = run();
  fill(*Before);
  std::string Bytes = saved(*Before);

  auto After = run();
  Result<PrefixesRead> Done = loaded(*After, Bytes);
  ASSERT_TRUE(Done) << Done.error().message();
  EXPECT_EQ(Done->Prompts, 3u);
  EXPECT_EQ(Done->LeftOut, 0u);
  EXPECT_EQ(After->Plan->statistics().CachedPrefixes, 3u);
  EXPECT_EQ(After->S.cache().freePages(), Before->S.cache().freePages())
      << "pages are shared as before";
  // Order, salts, tokens and pages.
  EXPECT_EQ(saved(*After), Bytes);
  for (const Tokens &Prompt : {First, Second}) {
    std::pair<Tokens, size_t> Expected = answer(*Plain, Prompt);
    std::pair<Tokens, size_t> Found = answer(*After, Prompt);
    EXPECT_EQ(Expected.second, 0u);
    EXPECT_EQ(Found.second, 48u);
    EXPECT_EQ(Found.first, Expected.first);
  }
  EXPECT_EQ(answer(*After, First, "salt").second, 48u);
  EXPECT_EQ(answer(*After, Second, "salt").second, 32u);
  EXPECT_EQ(answer(*After, First, "other").second, 0u);
  After->Plan->dropPrefixes();
  EXPECT_EQ(After->S.cache().freePages(), After->S.cache().pageCount());
}

TEST_F(PrefixFileTest, NothingKeptAndNothingWanted) {
  auto Empty = run();
  std::string Bytes = saved(*Empty);
  auto After = run();
  fill(*After);
  Result<PrefixesRead> Done = loaded(*After, Bytes);
  ASSERT_TRUE(Done) << Done.error().message();
  EXPECT_EQ(Done->Prompts, 0u);
  EXPECT_EQ(After->Plan->statistics().CachedPrefixes, 0u) << "in their place";
  auto Without = run(400, false);
  fill(*After);
  Done = loaded(*Without, saved(*After));
  ASSERT_TRUE(Done);
  EXPECT_EQ(Done->Prompts, 0u);
  EXPECT_EQ(Without->S.cache().freePages(), Without->S.cache().pageCount());
  EXPECT_EQ(After->Plan->loadPrefixes(Directory / "none").error().kind(),
            ErrorKind::NotFound);
}

TEST_F(PrefixFileTest, ThoseUsedLastFindRoom) {
  auto Before = run();
  fill(*Before); // First with a salt was last.
  auto Small = run(70);
  Result<PrefixesRead> Done = loaded(*Small, saved(*Before));
  ASSERT_TRUE(Done) << Done.error().message();
  EXPECT_EQ(Done->Prompts, 1u);
  EXPECT_EQ(Done->LeftOut, 2u);
  EXPECT_THAT(saved(*Small), HasSubstr("salt"));
}

TEST_F(PrefixFileTest, PromisedPagesAreNotTaken) {
  auto Before = run();
  fill(*Before);
  std::string Bytes = saved(*Before);
  auto After = run(160);
  Settings Wish;
  Wish.BadWords = {{48}, {49}};
  Wish.MaxNewTokens = 100;
  Wish.IgnoreEndOfSequence = true;
  ASSERT_TRUE(std::holds_alternative<RequestId>(
      After->Plan->submit(request(Wish, prompt(3, 10)), {})));
  After->Plan->step();
  Result<PrefixesRead> Done = loaded(*After, Bytes);
  ASSERT_TRUE(Done) << Done.error().message();
  EXPECT_GT(Done->LeftOut, 0u);
  while (!After->Plan->idle())
    for (const Update &U : After->Plan->step())
      EXPECT_NE(U.State, RequestState::Failed) << U.Failure->message();
}

// Every byte counts, but for a file of another version or binding.
TEST_F(PrefixFileTest, DamagedFiles) {
  auto Before = run();
  answer(*Before, First);
  std::string Bytes = saved(*Before);
  auto After = run();
  int64_t Pages = After->S.cache().pageCount();
  size_t Header = numberAt<uint64_t>(Bytes, HeaderBytesAt);
  for (size_t I = 0; I < Bytes.size(); I += I < Header ? 1 : 37) {
    std::string Damaged = Bytes;
    Damaged[I] = static_cast<char>(Damaged[I] ^ 0x10);
    Result<PrefixesRead> Done = loaded(*After, Damaged);
    bool OfAnother = (I >= VersionAt && I < VersionAt + 4) ||
                     (I >= BindingAt && I < BindingAt + 8);
    if (OfAnother) {
      ASSERT_TRUE(Done) << I;
      EXPECT_TRUE(Done->IsOfAnother);
      continue;
    }
    ASSERT_FALSE(Done) << "byte " << I;
    EXPECT_EQ(Done.error().kind(), ErrorKind::DamagedFile);
    EXPECT_THAT(Done.error().message(), HasSubstr(Kept + ": "));
    ASSERT_EQ(After->S.cache().freePages(), Pages);
  }
  for (size_t Length = 0; Length < Bytes.size();
       Length += Length < Header ? 1 : 37)
    ASSERT_FALSE(loaded(*After, Bytes.substr(0, Length))) << Length;
  EXPECT_FALSE(loaded(*After, Bytes + 'a'));
  EXPECT_TRUE(loaded(*After, Bytes));
}

// Numbers that are wrong under a checksum that is right.
TEST_F(PrefixFileTest, HostileFiles) {
  auto Before = run();
  answer(*Before, First);
  const std::string Bytes = saved(*Before);
  auto After = run();
  auto Refused = [&](auto Change) {
    std::string Changed = Bytes;
    Change(Changed);
    Result<PrefixesRead> Done = loaded(*After, resealed(Changed));
    return Done ? "" : Done.error().message();
  };
  auto Set = [](size_t At, auto Value) {
    return [=](std::string &In) { setNumber(In, At, Value); };
  };
  EXPECT_EQ(Refused([](std::string &) {}), "");
  size_t Salt = BodyAt, Count = BodyAt + 4, Tokens = BodyAt + 8,
         Numbers = Tokens + size_t{48} * 4;
  ASSERT_EQ(numberAt<uint32_t>(Bytes, Count), 3u) << "pages of 16 tokens";
  EXPECT_THAT(Refused(Set(Tokens, int32_t{-1})),
              HasSubstr("tokens is -1: expected 0 to "));
  EXPECT_THAT(Refused(Set(Tokens + 4, int32_t{1} << 30)),
              HasSubstr("tokens is 1073741824: expected 0 to "));
  EXPECT_THAT(Refused(Set(Numbers, uint32_t{3})),
              HasSubstr("page_numbers is 3: expected less than 3"));
  EXPECT_THAT(Refused(Set(Count, uint32_t{0})), HasSubstr("pages is 0"));
  EXPECT_THAT(Refused(Set(Count, ~uint32_t{0})),
              HasSubstr("pages is 4294967295: expected what the file holds"));
  EXPECT_THAT(Refused(Set(Salt, ~uint32_t{0})), HasSubstr("field 'salt'"));
  EXPECT_THAT(Refused(Set(PromptsAt, ~uint64_t{0})),
              HasSubstr("ends within the field"));
  EXPECT_THAT(Refused(Set(PromptsAt, uint64_t{0})), HasSubstr("header_bytes"));
  EXPECT_THAT(Refused(Set(PagesAt, ~uint64_t{0})), HasSubstr("pages is"));
  EXPECT_THAT(Refused(Set(PageBytesAt, uint64_t{0})), HasSubstr("page_bytes"));
}

TEST_F(PrefixFileTest, OfAnotherArtifact) {
  auto Before = run();
  fill(*Before);
  std::string Bytes = saved(*Before);
  load([](Manifest &Info, CodeInfo &) { Info.FewTokens = 3; });
  auto After = run();
  Result<PrefixesRead> Done = loaded(*After, Bytes);
  ASSERT_TRUE(Done);
  EXPECT_TRUE(Done->IsOfAnother);
  EXPECT_EQ(After->Plan->statistics().CachedPrefixes, 0u);
}

// Between the steps of an engine that works.
TEST_F(PrefixFileTest, OfAnEngine) {
  SchedulerOptions O;
  O.MaxNumSeqs = 4;
  Result<Engine> E = Engine::create(M, {1, 400, 64}, O);
  ASSERT_TRUE(E);
  Settings Wish;
  Wish.BadWords = {{48}, {49}};
  Wish.MaxNewTokens = 20;
  Wish.IgnoreEndOfSequence = true;
  std::promise<size_t> Ended;
  ASSERT_TRUE(std::holds_alternative<RequestId>(
      E->submit(request(Wish, First), {}, [&](const Update &U) {
        if (isFinal(U.State))
          Ended.set_value(U.Usage.NewTokens);
      })));
  for (int I = 0; I < 10; ++I)
    EXPECT_TRUE(E->savePrefixes(Kept));
  EXPECT_EQ(Ended.get_future().get(), 20u);
  EXPECT_TRUE(E->savePrefixes(Kept));
  Result<PrefixesRead> Done = E->loadPrefixes(Kept);
  ASSERT_TRUE(Done) << Done.error().message();
  EXPECT_EQ(Done->Prompts, 1u);
  EXPECT_EQ(E->statistics().CachedPrefixes, 1u);
}
