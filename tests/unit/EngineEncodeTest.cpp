//===- EngineEncodeTest.cpp - Source texts, forks, prefixes, images -------===//

#include "EngineFixture.h"

#include "runtime/Engine/Batch.h"
#include "runtime/Engine/Session.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::test;

namespace {

class EngineEncodeTest : public testing::Test {
protected:
  Session session(const std::function<void(Manifest &, CodeInfo &)> &Change,
                  const SessionOptions &Options) {
    Status Written = writeModel(File, Change);
    EXPECT_TRUE(Written) << Written.error().message();
    Result<std::shared_ptr<const Model>> M = Model::load(File);
    EXPECT_TRUE(M) << M.error().message();
    Result<Session> S = Session::create(*M, Options);
    EXPECT_TRUE(S) << S.error().message();
    return std::move(*S);
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
};

using Tokens = std::vector<int32_t>;

std::string messageOf(const Status &S) { return S ? "" : S.error().message(); }

/// The logits of the last token, or nothing and a failed test.
std::vector<float> stepTarget(Session &S, SequenceId Id, const Tokens &New,
                              int64_t Prefix = 0) {
  StepItem Item{Id, New, {}, OutputRows::Last, Prefix};
  Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
  EXPECT_TRUE(Answers) << Answers.error().message();
  EXPECT_EQ(messageOf(Answers->front().Outcome), "");
  return {Answers->front().Values.begin(), Answers->front().Values.end()};
}

std::string stepError(Session &S, SequenceId Id, const Tokens &New,
                      int64_t Prefix = 0) {
  StepItem Item{Id, New, {}, OutputRows::Last, Prefix};
  Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
  return Answers ? messageOf(Answers->front().Outcome)
                 : "call: " + Answers.error().message();
}

/// The error of the item, or of the call.
std::string encodeSource(Session &S, SequenceId Id, const Tokens &Source) {
  SourceItem Item{Id, Source};
  Result<std::vector<ItemResult>> Answers = S.encodeSources({&Item, 1});
  return Answers ? messageOf(Answers->front().Outcome)
                 : "call: " + Answers.error().message();
}

} // namespace

TEST_F(EngineEncodeTest, StepsSeeTheirSource) {
  Session S = session(makeEncoderDecoder, {2, 200, 100});
  Tokens SourceA(17, 3), SourceB = {5};
  SequenceId A = S.createSequence(), B = S.createSequence();
  std::vector<SourceItem> Items = {{A, SourceA}, {B, SourceB, OutputRows::All}};
  // Together more than a step holds.
  Items.push_back({S.createSequence(), SourceA});
  Result<std::vector<ItemResult>> Rows = S.encodeSources(Items);
  ASSERT_TRUE(Rows) << Rows.error().message();
  EXPECT_EQ((*Rows)[0].Rows, 0);
  ASSERT_EQ((*Rows)[1].Rows, 1) << "the encoder's rows are there when wanted";
  EXPECT_EQ((*Rows)[1].Values[7], 5);
  EXPECT_EQ(stepTarget(S, A, {1, 2}), expectedLogits({1, 2}, SourceA));
  EXPECT_EQ(stepTarget(S, B, {4}), expectedLogits({4}, SourceB));
  EXPECT_EQ(stepTarget(S, A, {7}), expectedLogits({1, 2, 7}, SourceA));
  EXPECT_EQ(stepTarget(S, Items[2].Sequence, {7}),
            expectedLogits({7}, SourceA));
}

TEST_F(EngineEncodeTest, SourcesThatCannotBe) {
  Session S = session(makeEncoderDecoder, {1, 200, 32});
  SequenceId Id = S.createSequence();
  EXPECT_EQ(stepError(S, Id, {1}),
            "sequence 1 has no source text: expected one to be encoded before "
            "its first step");
  EXPECT_EQ(encodeSource(S, Id, Tokens(19, 1)),
            "source text of 19 tokens: expected at most 18, the model's source "
            "length, and 20, what one step holds");
  EXPECT_EQ(encodeSource(S, Id, {50}),
            "token id 50 (token 0): expected 0 to 49");
  EXPECT_EQ(encodeSource(S, Id, {}), "no tokens: expected at least one");
  EXPECT_EQ(encodeSource(S, SequenceId{9}, {1}),
            "sequence 9 does not exist or has ended");
  EXPECT_EQ(encodeSource(S, Id, {49}),
            "call: " + File +
                ": matmul of primitive 7: expected 0 to 1 (exclusive)");
  EXPECT_EQ(S.sourceCache()->freePages(), 2) << "failures return pages";
  EXPECT_EQ(encodeSource(S, Id, {1}), "");
  EXPECT_EQ(encodeSource(S, Id, {1}), "sequence 1 has a source text already");
  EXPECT_EQ(encodeSource(S, S.createSequence(), Tokens(17, 1)),
            "source text: out of cache pages: sequence of 0 tokens and 17 more "
            "needs 2 pages of 16 tokens, 1 of 2 are free");
  ASSERT_TRUE(S.endSequence(Id));
  EXPECT_EQ(S.sourceCache()->freePages(), 2);

  Session Plain = session({}, {1, 0, 0});
  EXPECT_EQ(encodeSource(Plain, Plain.createSequence(), {1}),
            "call: " + File +
                ": this model takes no source text: expected an "
                "encoder-decoder");
  EXPECT_EQ(Plain.sourceCache(), nullptr);
  Result<Session> Bad =
      Session::create(*Model::load(File), SessionOptions{1, 0, -1});
  ASSERT_FALSE(Bad);
  EXPECT_EQ(Bad.error().message(), "cache size for source texts is -1 tokens: "
                                   "expected at least 0");
}

TEST_F(EngineEncodeTest, EncodingOnlyLendsPages) {
  Session S = session(makeEncoderDecoder, {1, 200, 0});
  EXPECT_EQ(S.sourceCache()->pageCount(), 2) << "one source of full length";
  Tokens Text(18, 6), Long(19, 6);
  std::vector<EncodeItem> Items = {{Text, {}, OutputRows::Last},
                                   {Long, {}, OutputRows::All}};
  Result<std::vector<ItemResult>> Rows = S.encode(Items);
  ASSERT_TRUE(Rows);
  EXPECT_EQ((*Rows)[0].Values[0], 17006);
  EXPECT_EQ(messageOf((*Rows)[1].Outcome),
            "text of 19 tokens: expected at most 18, the model's length");
  EXPECT_EQ(S.sourceCache()->freePages(), 2);
}

TEST_F(EngineEncodeTest, ForksGoTheirOwnWays) {
  Session S = session(makeEncoderDecoder, {2, 5 * FixturePageTokens, 0});
  Tokens Source = {9, 8}, Prompt(20, 3);
  SequenceId A = S.createSequence();
  EXPECT_EQ(encodeSource(S, A, Source), "");
  stepTarget(S, A, Prompt);
  Result<SequenceId> B = S.forkSequence(A);
  ASSERT_TRUE(B) << B.error().message();
  EXPECT_EQ(*S.length(*B), 20);
  Tokens OfA = Prompt, OfB = Prompt;
  OfA.push_back(1);
  OfB.push_back(2);
  EXPECT_EQ(stepTarget(S, *B, {2}), expectedLogits(OfB, Source));
  EXPECT_EQ(stepTarget(S, A, {1}), expectedLogits(OfA, Source));
  EXPECT_EQ(S.cache().freePages(), 2) << "of five, the full page is shared";
  ASSERT_TRUE(S.endSequence(A));
  OfB.push_back(4);
  EXPECT_EQ(stepTarget(S, *B, {4}), expectedLogits(OfB, Source))
      << "the source lives as long as a fork does";
  ASSERT_TRUE(S.endSequence(*B));
  EXPECT_EQ(S.sourceCache()->freePages(), 2);
  EXPECT_EQ(S.cache().freePages(), 5);
  EXPECT_FALSE(S.forkSequence(A));
}

TEST_F(EngineEncodeTest, PrefixesStayTogether) {
  Session S = session({}, {2, 400, 0});
  SequenceId Filler = S.createSequence(), Id = S.createSequence();
  Tokens Few(8, 1), Many(30, 2);
  // A step holds 20: after the filler, the prefix must wait for the next.
  std::vector<StepItem> Items = {{Filler, Few, {}, OutputRows::Last, 0},
                                 {Id, Many, {}, OutputRows::Last, 15}};
  Result<std::vector<ItemResult>> Answers = S.step(Items);
  ASSERT_TRUE(Answers);
  EXPECT_EQ(std::vector<float>((*Answers)[0].Values.begin(),
                               (*Answers)[0].Values.end()),
            expectedLogits(Few));
  EXPECT_EQ(std::vector<float>((*Answers)[1].Values.begin(),
                               (*Answers)[1].Values.end()),
            expectedLogits(Many, {}, 15));
  Many.push_back(3);
  EXPECT_EQ(stepTarget(S, Id, {3}), expectedLogits(Many, {}, 15))
      << "the sequence keeps its prefix";
  EXPECT_EQ(stepError(S, Id, {3}, 1),
            "sequence 2: prefix of 1 tokens after 31: expected it in the "
            "sequence's first step");
  SequenceId Other = S.createSequence();
  EXPECT_EQ(stepError(S, Other, {3, 4}, 3),
            "sequence 3: prefix of 3 tokens: expected 0 to 2, what the item "
            "and one step hold");
  EXPECT_EQ(stepError(S, Other, Tokens(30, 1), 21),
            "sequence 3: prefix of 21 tokens: expected 0 to 20, what the item "
            "and one step hold");
  EXPECT_EQ(stepError(S, Other, {3, 4}, -1),
            "sequence 3: prefix of -1 tokens: expected 0 to 2, what the item "
            "and one step hold");
  EXPECT_EQ(stepTarget(S, Other, {3, 4}, 2), expectedLogits({3, 4}, {}, 2));
}

TEST_F(EngineEncodeTest, ImagesAreAClassTokenAndPatches) {
  Session S = session(makeImageModel, {2, 0, 0});
  std::vector<std::vector<float>> Patches(4, std::vector<float>(6 * 4));
  for (size_t I = 0; I < Patches.size(); ++I)
    for (size_t V = 0; V < Patches[I].size(); ++V)
      Patches[I][V] = static_cast<float>(10 * I + V / 4);
  std::vector<float> Short(23);
  std::vector<ImageItem> Items = {{Patches[0], OutputRows::All},
                                  {Short, OutputRows::All},
                                  {Patches[1], OutputRows::Last},
                                  {Patches[2], OutputRows::All},
                                  {Patches[3], OutputRows::None}};
  Result<std::vector<ItemResult>> Rows = S.encodeImages(Items);
  ASSERT_TRUE(Rows) << Rows.error().message();
  EXPECT_EQ(messageOf((*Rows)[1].Outcome),
            "image of 23 values: expected 24, 6 patches of 4");
  for (size_t I : {0, 3}) {
    ASSERT_EQ((*Rows)[I].Rows, 7);
    size_t Image = I == 0 ? 0 : 2;
    EXPECT_EQ((*Rows)[I].Values[0], 0) << "the class token's input is zeros";
    for (size_t P = 0; P < 6; ++P)
      EXPECT_EQ((*Rows)[I].Values[(P + 1) * Width + 3],
                static_cast<float>(1000 * (P + 1) + 4 * (10 * Image + P)));
  }
  ASSERT_EQ((*Rows)[2].Rows, 1);
  EXPECT_EQ((*Rows)[2].Values[0], 6000 + 4 * (10 + 5));
  EXPECT_EQ((*Rows)[4].Rows, 0);
}

TEST_F(EngineEncodeTest, ImagesThatOneStepCannotHold) {
  Session S = session(
      [](Manifest &M, CodeInfo &Code) {
        makeImageModel(M, Code);
        M.MaxTokensPerStep = 6;
      },
      {1, 0, 0});
  Result<std::vector<ItemResult>> Rows = S.encodeImages({});
  ASSERT_FALSE(Rows);
  EXPECT_EQ(Rows.error().message(),
            File + ": an image has 7 tokens: expected at most 6, what one step "
                   "holds");
}

namespace {

/// Rows that stand for two images, and what their tokens count as.
struct TwoImages {
  std::vector<float> Rows;
  std::vector<int32_t> Values;
};

TwoImages twoImages(Session &S) {
  std::vector<float> First(6 * 4), Second(6 * 4);
  for (size_t I = 0; I < First.size(); ++I) {
    First[I] = static_cast<float>(I * I % 23);
    Second[I] = static_cast<float>(I * 5 % 19);
  }
  std::vector<ImageItem> Items = {{First, OutputRows::All},
                                  {Second, OutputRows::All}};
  Result<std::vector<ItemResult>> Encoded = S.encodeImages(Items);
  EXPECT_TRUE(Encoded) << Encoded.error().message();
  TwoImages Images;
  for (const ItemResult &Each : *Encoded)
    for (size_t Row = 1; Row < 7; ++Row) {
      std::span<const float> Values = Each.Values.subspan(Row * Width, Width);
      Images.Rows.insert(Images.Rows.end(), Values.begin(), Values.end());
      Images.Values.push_back(imageTokenValue(Values));
    }
  return Images;
}

/// The rows of `Images` for the image tokens of `Part`, which follow `Before`
/// of them.
std::span<const float> rowsFor(const TwoImages &Images,
                               std::span<const int32_t> Part, size_t Before) {
  auto Count = static_cast<size_t>(
      std::count(Part.begin(), Part.end(), test::ImageToken));
  return std::span(Images.Rows).subspan(Before * Width, Count * Width);
}

} // namespace

TEST_F(EngineEncodeTest, RowsOfImagesStandForTheirTokens) {
  Session S = session(makeImageChatModel, {2, 400, 0});
  TwoImages Images = twoImages(S);
  // More than a step holds, which ends inside the second image.
  Tokens Prompt(7, 3), Meant;
  Prompt.insert(Prompt.end(), 6, test::ImageToken);
  Prompt.insert(Prompt.end(), {5, 4});
  Prompt.insert(Prompt.end(), 6, test::ImageToken);
  Prompt.insert(Prompt.end(), {8, 1});
  size_t Next = 0;
  for (int32_t Id : Prompt)
    Meant.push_back(Id == test::ImageToken ? Images.Values[Next++] : Id);
  ASSERT_EQ(Prompt.size(), 23u);
  ASSERT_NE(expectedLogits(Meant), expectedLogits(Prompt));

  Tokens Text = {1, 2, 3};
  std::vector<StepItem> Items = {{S.createSequence(), Text, {}},
                                 {S.createSequence(), Prompt, {}},
                                 {S.createSequence(), Text, {}}};
  Items[1].Features = Images.Rows;
  Result<std::vector<ItemResult>> Answers = S.step(Items);
  ASSERT_TRUE(Answers) << Answers.error().message();
  for (size_t I = 0; I < Items.size(); ++I)
    EXPECT_EQ(std::vector<float>((*Answers)[I].Values.begin(),
                                 (*Answers)[I].Values.end()),
              expectedLogits(I == 1 ? Meant : Text));

  for (size_t At = 1; At < Prompt.size(); ++At) {
    SequenceId Id = S.createSequence();
    std::span<const int32_t> All = Prompt, Head = All.first(At),
                             Tail = All.subspan(At);
    auto Before = static_cast<size_t>(
        std::count(Head.begin(), Head.end(), test::ImageToken));
    StepItem Item{Id, Head, {}, OutputRows::None};
    Item.Features = rowsFor(Images, Head, 0);
    Result<std::vector<ItemResult>> First = S.step({&Item, 1});
    ASSERT_TRUE(First && First->front().Outcome) << At;
    Item = {Id, Tail, {}, OutputRows::Last};
    Item.Features = rowsFor(Images, Tail, Before);
    Result<std::vector<ItemResult>> Second = S.step({&Item, 1});
    ASSERT_TRUE(Second && Second->front().Outcome) << At;
    EXPECT_EQ(std::vector<float>(Second->front().Values.begin(),
                                 Second->front().Values.end()),
              expectedLogits(Meant))
        << At;
    ASSERT_TRUE(S.endSequence(Id));
  }
}

TEST_F(EngineEncodeTest, RowsOfImagesThatDoNotFit) {
  Session S = session(makeImageChatModel, {1, 200, 0});
  std::vector<float> Rows(2 * Width);
  Tokens Prompt = {1, test::ImageToken, 2}, Text = {1, 2};
  auto ErrorOf = [](Session &S, const Tokens &New,
                    std::span<const float> Features) {
    StepItem Item{S.createSequence(), New, {}, OutputRows::Last};
    Item.Features = Features;
    Result<std::vector<ItemResult>> Answers = S.step({&Item, 1});
    return Answers ? messageOf(Answers->front().Outcome)
                   : "call: " + Answers.error().message();
  };
  EXPECT_EQ(ErrorOf(S, Prompt, {}),
            "0 values of images for 1 tokens that stand for them (id 47): "
            "expected 50, 50 for each");
  EXPECT_EQ(ErrorOf(S, Prompt, Rows),
            "100 values of images for 1 tokens that stand for them (id 47): "
            "expected 50, 50 for each");
  EXPECT_EQ(ErrorOf(S, Text, std::span(Rows).first(Width)),
            "50 values of images for 0 tokens that stand for them (id 47): "
            "expected 0, 50 for each");
  EXPECT_EQ(ErrorOf(S, Prompt, std::span(Rows).first(Width)), "");
  EXPECT_EQ(ErrorOf(S, Text, {}), "");
  Session Plain = session({}, {1, 200, 0});
  EXPECT_EQ(ErrorOf(Plain, Text, Rows),
            "100 values of images: this model takes none in its text: "
            "expected 0");
  EXPECT_EQ(ErrorOf(Plain, Prompt, {}), "") << "47 is a token like others";
}

TEST_F(EngineEncodeTest, BatchesWithoutImagesHaveNoRows) {
  BatchBuilder Batch;
  Slice Text, Image;
  Tokens Words = {1, 2}, Pictures = {3, 7, 7};
  std::vector<float> Rows = {1, 2, 3, 4};
  Text.Tokens = Words;
  Image.Tokens = Pictures;
  Image.Features = Rows;
  Batch.clear(2, 7);
  Batch.add(Text);
  EXPECT_EQ(Batch.finish(0).features, nullptr);
  Batch.clear(2, 7);
  Batch.add(Text);
  Batch.add(Image);
  Batch.add(Text);
  const tenon_rt_batch &Built = Batch.finish(0);
  ASSERT_NE(Built.features, nullptr);
  EXPECT_EQ(std::vector<float>(Built.features + 6, Built.features + 10), Rows);
  for (int64_t I = 10; I < Built.tokens * 2; ++I)
    EXPECT_EQ(Built.features[I], 0) << "there is memory for every row";
  Batch.clear(2, 7);
  Batch.add(Text);
  EXPECT_EQ(Batch.finish(0).features, nullptr);
}
