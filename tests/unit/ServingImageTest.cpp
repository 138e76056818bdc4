//===- ServingImageTest.cpp - Images among many requests ------------------===//

#include "PromptImageFixture.h"
#include "runtime/Serving/Engine.h"

#include <random>

using namespace tenon;
using namespace tenon::serving;
using namespace tenon::test;

namespace {

class ServingImageTest : public PromptImageFixture {
protected:
  void SetUp() override {
    load([](Manifest &Info, CodeInfo &Code) {
      makeImageChatModel(Info, Code);
      Info.FewTokens = 4;
    });
  }

  Scheduler scheduler(bool Caches = true, int64_t MaxNumSeqs = 8) {
    SchedulerOptions O;
    O.MaxNumSeqs = MaxNumSeqs;
    O.CachesPrefixes = Caches;
    O.Clock = [this] { return Now += 0.5; };
    Result<Scheduler> Made = Scheduler::create(*S, std::move(O));
    EXPECT_TRUE(Made) << Made.error().message();
    return std::move(*Made);
  }

  /// A prompt of `Before` tokens, the image `Seed`, and `After` tokens.
  Request prompt(size_t Before, int Seed, size_t After, int32_t First = 1) {
    Tokens Prompt(Before, First);
    Prompt.push_back(ImageToken);
    Prompt.insert(Prompt.end(), After, 2);
    Settings Wish = safe();
    Wish.MaxNewTokens = 10;
    Wish.Temperature = 2;
    Wish.Seed = 5;
    return request(Wish, Prompt, {picture(Seed)});
  }

  struct Done {
    Tokens New;
    size_t Cached = 0, Images = 0;
    double ImageSeconds = 0;
  };
  /// Runs all of them at once.
  std::vector<Done> run(Scheduler &Plan, const std::vector<Request> &All,
                        const std::string &Salt = "") {
    std::map<RequestId, size_t> Places;
    for (size_t I = 0; I < All.size(); ++I) {
      auto Given = Plan.submit(All[I], {Salt, std::nullopt});
      EXPECT_TRUE(std::holds_alternative<RequestId>(Given));
      Places[std::get<RequestId>(Given)] = I;
    }
    std::vector<Done> Ended(All.size());
    while (!Plan.idle())
      for (const Update &U : Plan.step())
        if (isFinal(U.State)) {
          EXPECT_TRUE(U.Answer) << (U.Failure ? U.Failure->message() : "");
          Ended[Places[U.Id]] = {U.Answer->Choices[0].NewTokens,
                                 U.Usage.CachedTokens, U.Went->Images,
                                 U.Went->ImageSeconds};
        }
    return Ended;
  }

  double Now = 0;
};

TEST_F(ServingImageTest, EqualImagesAreSharedAndNotEncoded) {
  Scheduler Plan = scheduler();
  // 10 tokens and 6 rows are a page of 16.
  Done First = run(Plan, {prompt(10, 1, 20)})[0];
  EXPECT_EQ(First.Cached, 0u);
  EXPECT_EQ(First.Images, 1u);
  EXPECT_GT(First.ImageSeconds, 0);
  Done Again = run(Plan, {prompt(10, 1, 20)})[0];
  EXPECT_EQ(Again.New, First.New);
  EXPECT_EQ(Again.Cached, 32u);
  EXPECT_EQ(Again.Images, 0u);
  EXPECT_EQ(Again.ImageSeconds, 0);
  // At once: the second waits for the pages of the first.
  Plan.dropPrefixes();
  std::vector<Done> Both = run(Plan, {prompt(10, 1, 20), prompt(10, 1, 20)});
  EXPECT_EQ(Both[0].New, First.New);
  EXPECT_EQ(Both[1].New, First.New);
  EXPECT_EQ(Both[0].Images + Both[1].Images, 1u);
  // One that lies on two pages, of which one is kept, is encoded again.
  Done Cut = run(Plan, {prompt(13, 1, 4)})[0];
  Done CutAgain = run(Plan, {prompt(13, 1, 4)})[0];
  EXPECT_EQ(CutAgain.Cached, 16u);
  EXPECT_EQ(CutAgain.Images, 1u);
  EXPECT_EQ(CutAgain.New, Cut.New);
  // Requests of another salt share nothing.
  Done Salted = run(Plan, {prompt(10, 1, 20)}, "salt")[0];
  EXPECT_EQ(Salted.Cached, 0u);
  EXPECT_EQ(Salted.Images, 1u);
  Plan.dropPrefixes();
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
}

TEST_F(ServingImageTest, EqualTokensWithOtherImagesAreNot) {
  // Also where but one row of the image is on the first page.
  for (size_t Before : {size_t(0), size_t(10), size_t(15), size_t(20)}) {
    SCOPED_TRACE(Before);
    Done Alone[2];
    for (int Image : {1, 2}) {
      Scheduler Plan = scheduler(/*Caches=*/false);
      Alone[Image - 1] = run(Plan, {prompt(Before, Image, 20)})[0];
    }
    ASSERT_NE(Alone[0].New, Alone[1].New) << "a test that sees the difference";
    Scheduler Plan = scheduler();
    EXPECT_EQ(run(Plan, {prompt(Before, 1, 20)})[0].New, Alone[0].New);
    Done Other = run(Plan, {prompt(Before, 2, 20)})[0];
    EXPECT_EQ(Other.New, Alone[1].New);
    EXPECT_EQ(Other.Cached, Before / 16 * 16) << "the text before it";
    Plan.dropPrefixes();
    std::vector<Done> Both =
        run(Plan, {prompt(Before, 1, 20), prompt(Before, 2, 20)});
    EXPECT_EQ(Both[0].New, Alone[0].New);
    EXPECT_EQ(Both[1].New, Alone[1].New);
    // The token itself is no image's number.
    EXPECT_EQ(run(Plan, {prompt(Before, 1, 20)})[0].New, Alone[0].New);
    Plan.dropPrefixes();
  }
}

TEST_F(ServingImageTest, TheLoadChangesNothing) {
  std::mt19937 Random(7);
  std::vector<Request> All;
  for (int I = 0; I < 40; ++I) {
    Tokens Prompt;
    std::vector<PromptImage::Ptr> Images;
    for (size_t K = Random() % 12; K-- > 0;)
      Prompt.push_back(static_cast<int32_t>(Random() % 3));
    for (size_t K = Random() % 4; K-- > 0;) {
      Prompt.push_back(ImageToken);
      Images.push_back(picture(1 + static_cast<int>(Random() % 3)));
      Prompt.push_back(static_cast<int32_t>(Random() % 3));
    }
    Prompt.push_back(5);
    Settings Wish = safe();
    Wish.MaxNewTokens = static_cast<int64_t>(1 + Random() % 12);
    Wish.Temperature = I % 2 == 0 ? 0 : 2;
    Wish.Seed = static_cast<uint64_t>(I);
    Wish.Choices = I % 6 == 1 ? 2 : 1;
    All.push_back(request(Wish, Prompt, Images));
  }
  for (int64_t MaxNumSeqs : {2, 8}) {
    Scheduler Single = scheduler(/*Caches=*/false, MaxNumSeqs);
    std::vector<Tokens> Alone;
    for (const Request &R : All)
      Alone.push_back(run(Single, {R})[0].New);
    for (bool Caches : {false, true}) {
      Scheduler Plan = scheduler(Caches, MaxNumSeqs);
      for (int Round : {0, 1}) {
        std::vector<Done> Together = run(Plan, All);
        for (size_t I = 0; I < All.size(); ++I)
          EXPECT_EQ(Together[I].New, Alone[I])
              << I << " round " << Round << " caches " << Caches;
      }
      Plan.dropPrefixes();
    }
  }
}

TEST_F(ServingImageTest, FailuresAreOfOneRequest) {
  Request Bad = prompt(3, 1, 3);
  auto Small = std::make_shared<PromptImage>(*picture(2));
  Small->Patches.pop_back();
  Bad.Images = {Small};
  Scheduler Plan = scheduler();
  Plan.submit(Bad);
  Plan.submit(prompt(3, 3, 3));
  size_t Failed = 0, Good = 0;
  while (!Plan.idle())
    for (const Update &U : Plan.step())
      if (U.Answer)
        ++(U.Answer->Choices[0].Failure ? Failed : Good);
  EXPECT_EQ(Failed, 1u);
  EXPECT_EQ(Good, 1u);
  Plan.dropPrefixes();
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
}

TEST_F(ServingImageTest, FilesKeepPromptsWithoutImages) {
  std::string Kept = Directory / "kept";
  Request Text = request(safe(), Tokens(40, 3));
  Text.MaxNewTokens = 1;
  {
    Scheduler Plan = scheduler();
    run(Plan, {prompt(20, 1, 20), Text});
    EXPECT_EQ(Plan.statistics().CachedPrefixes, 2u);
    Status Saved = Plan.savePrefixes(Kept);
    ASSERT_TRUE(Saved) << Saved.error().message();
    Plan.dropPrefixes();
  }
  Scheduler Plan = scheduler();
  Result<PrefixesRead> Read = Plan.loadPrefixes(Kept);
  ASSERT_TRUE(Read) << Read.error().message();
  EXPECT_EQ(Read->Prompts, 1u);
  EXPECT_EQ(run(Plan, {Text})[0].Cached, 32u);
  EXPECT_EQ(run(Plan, {prompt(20, 1, 20)})[0].Cached, 0u);
  Plan.dropPrefixes();
}

TEST_F(ServingImageTest, NumbersOfImages) {
  ImageNumbers Numbers;
  Tokens One = Numbers.promptOf(*M, prompt(1, 1, 1));
  EXPECT_EQ(One, (Tokens{1, -1, -1, -1, -1, -1, -1, 2}));
  EXPECT_TRUE(hasImage(One));
  EXPECT_FALSE(hasImage(Tokens{0, 1}));
  EXPECT_EQ(Numbers.promptOf(*M, prompt(0, 2, 0)), Tokens(6, -2));
  EXPECT_EQ(Numbers.promptOf(*M, prompt(1, 1, 1)), One);
  EXPECT_EQ(Numbers.size(), 2u);
  // What is forgotten has another number from then on.
  Numbers.keepOnly({-2});
  EXPECT_EQ(Numbers.size(), 1u);
  EXPECT_EQ(Numbers.promptOf(*M, prompt(0, 2, 0)), Tokens(6, -2));
  EXPECT_EQ(Numbers.promptOf(*M, prompt(0, 1, 0)), Tokens(6, -3));
}

TEST_F(ServingImageTest, ImagesOfPromptsThatAreGoneAreForgotten) {
  Scheduler Plan = scheduler(true, 1);
  Settings Wish = safe();
  Wish.MaxNewTokens = 1;
  auto Of = [&](int Seed) {
    std::vector<float> Pixels(24, static_cast<float>(Seed));
    return request(Wish, {ImageToken, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                   {generation::makePromptImage(Pixels, *M->manifest().Image)});
  };
  for (int Seed = 0; Seed < 1100; ++Seed)
    run(Plan, {Of(Seed)});
  EXPECT_LT(Plan.images().size(), 1024u);
  // The last one is known and kept.
  EXPECT_EQ(run(Plan, {Of(1099)})[0].Cached, 16u);
  Plan.dropPrefixes();
}

} // namespace
