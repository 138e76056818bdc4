//===- PromptImageTest.cpp - Prompts with images --------------------------===//

#include "PromptImageFixture.h"

#include <gmock/gmock.h>

using namespace tenon;
using namespace tenon::test;
using engine::Variant;
using generation::FinishReason;
using generation::PromptStart;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class PromptImageTest : public PromptImageFixture {
protected:
  void SetUp() override { load(makeImageChatModel); }

  std::string errorOf(Tokens Prompt, std::vector<PromptImage::Ptr> Images) {
    Result<Request> R = makeRequest(*M, {}, std::move(Prompt), Images);
    return R ? "" : R.error().message();
  }
};

TEST_F(PromptImageTest, DigestsTellImagesApart) {
  EXPECT_EQ(picture(1)->Digest, picture(1)->Digest);
  EXPECT_NE(picture(1)->Digest, picture(2)->Digest);
  EXPECT_EQ(picture(1)->Patches.size(), 24u);
}

TEST_F(PromptImageTest, RequestsHaveRows) {
  Request R =
      request({}, {1, ImageToken, 2, ImageToken}, {picture(1), picture(2)});
  Tokens Expected = {1, 47, 47, 47, 47, 47, 47, 2, 47, 47, 47, 47, 47, 47};
  EXPECT_EQ(R.Prompt, Expected);
  EXPECT_THAT(generation::imageStarts(*M, R.Prompt), ElementsAre(1u, 8u));
  EXPECT_TRUE(generation::canSharePrompt(R));
  // What it may need is counted with them.
  Settings Few;
  Few.MaxNewTokens = 2;
  EXPECT_EQ(roomFor(*M, std::vector{request(Few, Tokens(9, 5))}).CacheTokens,
            16);
  EXPECT_EQ(roomFor(*M, std::vector{request(Few, {1, 47, 5, 6, 7, 8, 9, 10, 11},
                                            {picture(1)})})
                .CacheTokens,
            16);
  EXPECT_EQ(
      roomFor(*M, std::vector{request(Few, {1, 47, 5, 6, 7, 8, 9, 10, 11, 12},
                                      {picture(1)})})
          .CacheTokens,
      32);
}

TEST_F(PromptImageTest, RefusesOtherNumbersOfImages) {
  EXPECT_THAT(errorOf({1, ImageToken}, {}),
              HasSubstr("the prompt has the image token 47 1 times: expected "
                        "it once for each of 0 images"));
  EXPECT_THAT(errorOf({1, 2}, {picture(1)}), HasSubstr("47 0 times"));
  EXPECT_THAT(errorOf({ImageToken, ImageToken, 2}, {picture(1)}),
              HasSubstr("47 2 times: expected it once for each of 1 images"));
  auto Small = std::make_shared<PromptImage>();
  Small->Patches.resize(23);
  EXPECT_THAT(errorOf({ImageToken}, {Small}),
              HasSubstr("has 23 values of patches: expected the model's 24"));
  PromptImage::Ptr Good = picture(1);
  load();
  EXPECT_THAT(errorOf({ImageToken}, {Good}),
              HasSubstr("the prompt has 1 images: expected none"));
  EXPECT_EQ(errorOf({ImageToken}, {}), "") << "a token like others";
}

TEST_F(PromptImageTest, ImagesTakeTheirPlaces) {
  Settings Wish = safe();
  Wish.MaxNewTokens = 12;
  const Tokens Prompt = {3, ImageToken, 7, 9, ImageToken, ImageToken, 4};
  std::vector<PromptImage::Ptr> Images = {picture(1), picture(2), picture(3)};
  Tokens Expected = greedyOf(request(Wish, Prompt, Images), 12);
  std::swap(Images[0], Images[1]);
  EXPECT_NE(greedyOf(request(Wish, Prompt, Images), 12), Expected)
      << "a test that sees another order";
  std::swap(Images[0], Images[1]);
  // However prompts are cut, and whichever variants run.
  for (Variant V : {Variant::ByCount, Variant::Few, Variant::Many})
    for (size_t Slice : {size_t(1), size_t(3), size_t(8), SIZE_MAX}) {
      SCOPED_TRACE(Slice);
      Generator G(*S, V);
      int64_t First = *G.add(request(Wish, Prompt, Images));
      int64_t Other = *G.add(request(Wish, {5, ImageToken}, {Images[1]}));
      while (G.running() != 0)
        ASSERT_TRUE(G.step(Slice));
      EXPECT_EQ(G.take(First).Choices[0].NewTokens, Expected);
      EXPECT_EQ(G.take(Other).Choices[0].NewTokens,
                greedyOf(request(Wish, {5, ImageToken}, {Images[1]}), 12));
    }
}

TEST_F(PromptImageTest, ChoicesShareTheirPrompt) {
  Settings Wish = safe();
  Wish.MaxNewTokens = 10;
  Wish.Temperature = 2;
  Wish.Seed = 3;
  Wish.Choices = 3;
  std::vector<Generation> Together =
      generate(request(Wish, {3, ImageToken, 7}, {picture(1)}));
  Wish.Choices = 1;
  for (size_t I = 0; I < Together.size(); ++I) {
    Wish.FirstChoice = static_cast<int64_t>(I);
    EXPECT_EQ(
        generate(request(Wish, {3, ImageToken, 7}, {picture(1)}))[0].NewTokens,
        Together[I].NewTokens);
  }
  Settings Beams = safe();
  Beams.Beams = 2;
  Beams.MaxNewTokens = 5;
  EXPECT_EQ(generate(request(Beams, {3, ImageToken, 7}, {picture(1)}))[0]
                .NewTokens.size(),
            5u);
}

TEST_F(PromptImageTest, ImageTokensAreNeverGenerated) {
  // However likely it is made.
  Settings Wish = safe();
  Wish.MaxNewTokens = 6;
  Wish.LogitBias = {{ImageToken, 100}};
  for (int32_t First : {1, 2, 3}) {
    Request R = request(Wish, {First, ImageToken}, {picture(First)});
    EXPECT_EQ(generate(R)[0].NewTokens, greedyOf(R, 6));
  }
  Wish.Beams = 2;
  Tokens Best =
      generate(request(Wish, {1, ImageToken}, {picture(1)}))[0].NewTokens;
  EXPECT_EQ(Best.size(), 6u);
  EXPECT_EQ(std::count(Best.begin(), Best.end(), ImageToken), 0);
  // Of a model of texts it is a token like others.
  Wish.Beams.reset();
  load();
  EXPECT_EQ(generate(request(Wish, {1}))[0].NewTokens, Tokens(6, ImageToken));
}

TEST_F(PromptImageTest, GuessesEndBeforeImages) {
  // The last two tokens were followed by an image before.
  size_t Tried = 0;
  for (int32_t X = 0; X < 47 && Tried < 5; ++X)
    for (int32_t Y = 0; Y < 47; ++Y) {
      Settings Wish = safe();
      Wish.MaxNewTokens = 6;
      Request Plain = request(Wish, {X, Y, ImageToken, 5, 6, X}, {picture(1)});
      Tokens Expected = greedyOf(Plain, 6);
      if (Expected[0] != Y)
        continue;
      ++Tried;
      Wish.Lookup = 4;
      for (Variant V : {Variant::ByCount, Variant::Many}) {
        Generator G(*S, V);
        int64_t Number =
            *G.add(request(Wish, {X, Y, ImageToken, 5, 6, X}, {picture(1)}));
        while (G.running() != 0)
          ASSERT_TRUE(G.step());
        Generation Done = G.take(Number).Choices[0];
        EXPECT_EQ(Done.Finish, FinishReason::Length)
            << (Done.Failure ? Done.Failure->message() : "");
        EXPECT_EQ(Done.NewTokens, Expected);
      }
      break;
    }
  EXPECT_EQ(Tried, 5u);
}

TEST_F(PromptImageTest, AStepEncodesOneImage) {
  Settings Wish = safe();
  Wish.MaxNewTokens = 2;
  double Now = 0;
  Generator G(*S, Variant::Many, [&] { return Now += 0.25; });
  int64_t First = *G.add(
      request(Wish, {1, ImageToken, ImageToken}, {picture(1), picture(2)}));
  int64_t Other = *G.add(request(Wish, {ImageToken, 9}, {picture(3)}));
  int64_t Text = *G.add(request(Wish, {1, 2, 3}));
  auto Step = [&](size_t Tokens) {
    EXPECT_TRUE(G.step(Tokens));
    std::vector<int64_t> Of;
    for (const generation::EncodedImages &Each : G.encodedImages()) {
      EXPECT_EQ(Each.Images, 1u);
      EXPECT_EQ(Each.Seconds, 0.25);
      Of.push_back(Each.Request);
    }
    return Of;
  };
  // The token before it, and its rows; nothing of others that want one.
  EXPECT_THAT(Step(64), ElementsAre(First));
  EXPECT_EQ(G.promptLeft(First), 6u);
  EXPECT_EQ(G.promptLeft(Other), 7u);
  EXPECT_EQ(G.promptLeft(Text), 0u);
  EXPECT_THAT(Step(2), ElementsAre(First));
  EXPECT_EQ(G.promptLeft(First), 4u);
  EXPECT_THAT(Step(64), ElementsAre(Other)) << "the other has its rows";
  EXPECT_EQ(G.promptLeft(First), 0u);
  EXPECT_EQ(G.promptLeft(Other), 0u);
  EXPECT_THAT(Step(64), ElementsAre());
  // Without a limit all at once.
  int64_t Whole = *G.add(
      request(Wish, {1, ImageToken, ImageToken}, {picture(1), picture(2)}));
  ASSERT_TRUE(G.step());
  ASSERT_EQ(G.encodedImages().size(), 1u);
  EXPECT_EQ(G.encodedImages()[0].Images, 2u);
  EXPECT_EQ(G.promptLeft(Whole), 0u);
}

TEST_F(PromptImageTest, ErrorsAreOfTheirRequestAlone) {
  Settings Wish = safe();
  Wish.MaxNewTokens = 4;
  Request Bad = request(Wish, {3, ImageToken}, {picture(1)});
  auto Small = std::make_shared<PromptImage>();
  Small->Patches.resize(5);
  Bad.Images = {Small};
  Request Good = request(Wish, {3, ImageToken}, {picture(1)});
  Generator G(*S);
  int64_t Failing = *G.add(Bad), Running = *G.add(Good);
  while (G.running() != 0)
    ASSERT_TRUE(G.step(16));
  Generation Failed = G.take(Failing).Choices[0];
  EXPECT_EQ(Failed.Finish, FinishReason::Error);
  ASSERT_TRUE(Failed.Failure);
  EXPECT_THAT(Failed.Failure->message(), HasSubstr("5"));
  EXPECT_EQ(G.take(Running).Choices[0].NewTokens, greedyOf(Good, 4));
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
  // Images that the prompt has no room for.
  Bad.Images = {};
  Result<int64_t> None = G.add(Bad);
  ASSERT_FALSE(None);
  EXPECT_THAT(None.error().message(), HasSubstr("rows of 1 images: expected "
                                                "those of 0"));
}

TEST_F(PromptImageTest, StartsNeedNoImages) {
  Settings Wish = safe();
  Wish.MaxNewTokens = 8;
  Request R = request(Wish, {1, 2, ImageToken, 3, ImageToken, 4},
                      {picture(1), picture(2)});
  Tokens Expected = greedyOf(R, 8);
  Generator Before(*S, Variant::Many);
  int64_t Number = *Before.add(R, std::nullopt, /*KeepsPrompt=*/true);
  while (Before.promptLeft(Number) != 0)
    ASSERT_TRUE(Before.step());
  cache::SequenceId Kept = *Before.keptPrompt(Number);
  // In the middle of the first, behind it, and in the middle of the second.
  for (auto [Start, Images] : {std::pair<size_t, size_t>{5, 2},
                               {7, 2},
                               {8, 1},
                               {9, 1},
                               {11, 1},
                               {15, 0}}) {
    SCOPED_TRACE(Start);
    cache::SequenceId Fork = *S->forkSequence(Kept);
    ASSERT_TRUE(S->truncateSequence(Fork, static_cast<int64_t>(Start)));
    Generator G(*S, Variant::Many);
    Number = *G.add(R, PromptStart{Fork, Start}, false);
    size_t Encoded = 0;
    while (G.running() != 0) {
      ASSERT_TRUE(G.step());
      for (const generation::EncodedImages &Each : G.encodedImages())
        Encoded += Each.Images;
    }
    EXPECT_EQ(Encoded, Images);
    EXPECT_EQ(G.take(Number).Choices[0].NewTokens, Expected);
  }
  ASSERT_TRUE(S->endSequence(Kept));
}

} // namespace
