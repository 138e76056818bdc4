//===- TimelineTest.cpp - What requests went through ----------------------===//

#include "GenerationFixture.h"
#include "runtime/Serving/Scheduler.h"

#include <numeric>
#include <random>

using namespace tenon;
using namespace tenon::serving;
using namespace tenon::test;

namespace {

TEST(StepTimesTest, BoundedAndAsGoodAsAll) {
  StepTimes Times;
  EXPECT_EQ(Times.median(), 0);
  constexpr size_t Count = 10000;
  std::vector<double> All(Count);
  std::iota(All.begin(), All.end(), 0);
  std::shuffle(All.begin(), All.end(), std::mt19937(1));
  for (double Seconds : All)
    Times.add(Seconds);
  EXPECT_EQ(Times.count(), Count);
  EXPECT_EQ(Times.longest(), Count - 1.0);
  EXPECT_NEAR(Times.median(), Count / 2.0, 0.1 * Count);
  StepTimes Few;
  for (double Seconds : {3.0, 1.0, 2.0})
    Few.add(Seconds);
  EXPECT_EQ(Few.median(), 2);
  Timeline T;
  for (size_t I = 0; I < 100; ++I)
    T.add({I, 2, 0, 0, 0, 0});
  EXPECT_EQ(T.Slices.size(), Timeline::MostSlices);
  EXPECT_EQ(T.MoreSlices, 100 - Timeline::MostSlices);
  EXPECT_EQ(T.MoreSliceTokens, 2 * T.MoreSlices);
}

class TimelineTest : public GenerationTest {
protected:
  void SetUp() override { load(); }

  RequestId submit(Scheduler &Plan, Tokens Prompt, int64_t NewTokens) {
    Settings Wish;
    Wish.BadWords = {{48}, {49}}; // These make the code wait or fail.
    Wish.IgnoreEndOfSequence = true;
    Wish.MaxNewTokens = NewTokens;
    auto Given = Plan.submit(request(Wish, std::move(Prompt)), {});
    EXPECT_TRUE(std::holds_alternative<RequestId>(Given));
    return std::get<RequestId>(Given);
  }
  /// A step of one second; what has ended stays.
  void step(Scheduler &Plan) {
    Plan.begin();
    Now += 1;
    Plan.run();
    for (const Update &U : Plan.finish())
      if (isFinal(U.State))
        Ended[U.Id] = U.Went;
  }

  double Now = 10;
  std::map<RequestId, std::shared_ptr<const Timeline>> Ended;
};

TEST_F(TimelineTest, SaysWhatARequestWentThrough) {
  SchedulerOptions O;
  O.MaxNumSeqs = 2;
  O.MaxStepMs = 1; // A slice has StepCost::MinSlice tokens.
  O.Clock = [this] { return Now; };
  Result<Scheduler> Plan = Scheduler::create(*S, std::move(O));
  ASSERT_TRUE(Plan) << Plan.error().message();
  RequestId Long = submit(*Plan, {1}, 30);
  step(*Plan);
  step(*Plan);
  Tokens Prompt;
  for (int32_t I = 0; I < 40; ++I)
    Prompt.push_back(I % 40);
  Now += 0.25;
  RequestId Short = submit(*Plan, Prompt, 4);
  RequestId Waiting = submit(*Plan, Prompt, 1);

  std::optional<Timeline> T = Plan->timeline(Short);
  ASSERT_TRUE(T);
  EXPECT_EQ(T->State, RequestState::Queued);
  EXPECT_EQ(T->Submitted, 12.25);
  EXPECT_FALSE(T->Prefilling);
  step(*Plan);
  T = Plan->timeline(Short);
  ASSERT_TRUE(T);
  EXPECT_EQ(T->State, RequestState::Prefilling);
  ASSERT_EQ(T->Slices.size(), 1u);
  EXPECT_EQ(T->Slices[0].Step, 3u);
  EXPECT_EQ(T->Slices[0].Begin, 12.25);
  EXPECT_EQ(Plan->timeline(Waiting)->State, RequestState::Queued);
  while (!Ended.contains(Waiting))
    step(*Plan);

  const Timeline &W = *Ended.at(Short);
  EXPECT_EQ(W.State, RequestState::Finished);
  EXPECT_EQ(W.Prefilling, 12.25);
  size_t Tokens = 0;
  for (const PromptSlice &Slice : W.Slices) {
    Tokens += Slice.Tokens;
    EXPECT_EQ(Slice.Rows, 1u) << "the long text";
    EXPECT_EQ(Slice.Others, 0u);
    EXPECT_EQ(Slice.Seconds, 1);
  }
  EXPECT_EQ(Tokens, Prompt.size());
  EXPECT_EQ(W.Decoding, 12.25 + static_cast<double>(W.Slices.size()));
  // The first token comes of the prompt.
  EXPECT_EQ(W.Steps.count(), 3u);
  EXPECT_EQ(W.Steps.median(), 1);
  EXPECT_EQ(W.Rows, 6u);
  EXPECT_EQ(W.MostRows, 2u);
  EXPECT_EQ(W.BesidePrompts, 0u);
  EXPECT_EQ(W.Ended, *W.Decoding + 3);
  EXPECT_EQ(W.CachedTokens, 0u);
  EXPECT_FALSE(Plan->timeline(Short)) << "it has ended";

  const Timeline &Later = *Ended.at(Waiting);
  EXPECT_EQ(Later.Submitted, 12.25);
  EXPECT_EQ(Later.Prefilling, W.Ended);
  auto Page = static_cast<size_t>(S->cache().pageTokens());
  EXPECT_EQ(Later.CachedTokens, 39 / Page * Page);
  EXPECT_EQ(Later.CachedPages, 39 / Page);
  EXPECT_EQ(Later.Slices.at(0).Tokens, 40 - Later.CachedTokens);
  EXPECT_FALSE(Later.Decoding) << "its prompt was all there was to run";

  // The long one was decoded while prompts ran.
  EXPECT_EQ(Plan->timeline(Long)->BesidePrompts,
            W.Slices.size() + Later.Slices.size());
  ASSERT_TRUE(Plan->cancel(Long));
  step(*Plan);
  EXPECT_EQ(Ended.at(Long)->State, RequestState::Cancelled);
  EXPECT_GT(Ended.at(Long)->Steps.count(), 3u);
}

} // namespace
