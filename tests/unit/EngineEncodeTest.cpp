//===- EngineEncodeTest.cpp - Source texts, forks, prefixes, images -------===//

#include "EngineFixture.h"

#include "runtime/Engine/Session.h"

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
std::vector<float> stepOne(Session &S, SequenceId Id, const Tokens &New,
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
  EXPECT_EQ(stepOne(S, A, {1, 2}), expectedLogits({1, 2}, SourceA));
  EXPECT_EQ(stepOne(S, B, {4}), expectedLogits({4}, SourceB));
  EXPECT_EQ(stepOne(S, A, {7}), expectedLogits({1, 2, 7}, SourceA));
  EXPECT_EQ(stepOne(S, Items[2].Sequence, {7}), expectedLogits({7}, SourceA));
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
  stepOne(S, A, Prompt);
  Result<SequenceId> B = S.forkSequence(A);
  ASSERT_TRUE(B) << B.error().message();
  EXPECT_EQ(*S.length(*B), 20);
  Tokens OfA = Prompt, OfB = Prompt;
  OfA.push_back(1);
  OfB.push_back(2);
  EXPECT_EQ(stepOne(S, *B, {2}), expectedLogits(OfB, Source));
  EXPECT_EQ(stepOne(S, A, {1}), expectedLogits(OfA, Source));
  EXPECT_EQ(S.cache().freePages(), 2) << "of five, the full page is shared";
  ASSERT_TRUE(S.endSequence(A));
  OfB.push_back(4);
  EXPECT_EQ(stepOne(S, *B, {4}), expectedLogits(OfB, Source))
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
  EXPECT_EQ(stepOne(S, Id, {3}), expectedLogits(Many, {}, 15))
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
  EXPECT_EQ(stepOne(S, Other, {3, 4}, 2), expectedLogits({3, 4}, {}, 2));
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
