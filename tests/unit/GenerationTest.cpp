//===- GenerationTest.cpp - Requests and the loop over tokens -------------===//

#include "GenerationFixture.h"

#include <atomic>
#include <thread>

using namespace tenon;
using namespace tenon::generation;
using namespace tenon::test;

TEST_F(GenerationTest, RequestsJoinAndLeave) {
  load();
  Settings Wish;
  Wish.MaxNewTokens = 6;
  Generator G(*S);
  int64_t A = *G.add(request(Wish, {4, 5}));
  Wish.MaxNewTokens = 2;
  Tokens Seen;
  std::string Text;
  int64_t B = -1;
  for (int Step = 0; G.running() != 0; ++Step) {
    if (Step == 2)
      B = *G.add(request(Wish, {6}));
    Result<std::vector<Piece>> Pieces = G.step();
    ASSERT_TRUE(Pieces) << Pieces.error().message();
    for (const Piece &P : *Pieces)
      if (P.Request == A) {
        Seen.insert(Seen.end(), P.Tokens.begin(), P.Tokens.end());
        Text += P.Text;
      }
  }
  EXPECT_EQ(Seen, greedy({4, 5}, 6));
  EXPECT_EQ(G.progress(A).NewTokens, Seen);
  EXPECT_EQ(G.progress(A).Text, Text);
  EXPECT_EQ(Text, (*M->tokenizer())->decode(Seen));
  EXPECT_EQ(G.progress(A).Finish, FinishReason::Length);
  EXPECT_EQ(G.progress(B).NewTokens, greedy({6}, 2));
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
}

TEST_F(GenerationTest, GivingUpFreesPages) {
  load();
  {
    Generator G(*S);
    int64_t A = *G.add(request({}, {4, 5}));
    ASSERT_TRUE(G.add(request({}, {6})));
    ASSERT_TRUE(G.step());
    EXPECT_EQ(S->cache().freePages(), S->cache().pageCount() - 2);
    EXPECT_EQ(G.take(A).Choices.front().NewTokens, greedy({4, 5}, 1));
    EXPECT_EQ(G.running(), 1u);
    EXPECT_EQ(S->cache().freePages(), S->cache().pageCount() - 1);
  }
  EXPECT_EQ(S->cache().freePages(), S->cache().pageCount());
}

TEST_F(GenerationTest, CancelledStepsLeaveNoGuesses) {
  load();
  Settings Wish;
  Wish.LogitBias = {{48, 100}};
  Wish.MaxNewTokens = 100;
  Wish.Lookup = 4;
  Generator G(*S);
  ASSERT_TRUE(G.add(request(Wish, {4, 5})));
  ASSERT_TRUE(G.step());
  ASSERT_TRUE(G.step());
  std::atomic<bool> HasEnded{false};
  std::thread Impatient([&] {
    while (!HasEnded) {
      S->cancel();
      std::this_thread::yield();
    }
  });
  // A step that appends 48 and guesses another lasts until it is cancelled.
  size_t Cancelled = 0;
  Status Other;
  while (Cancelled < 200 && Other)
    if (Result<std::vector<Piece>> Pieces = G.step(); !Pieces) {
      if (Pieces.error().kind() == ErrorKind::Cancelled)
        ++Cancelled;
      else
        Other = Pieces.error();
    } else {
      for (const Piece &P : *Pieces)
        if (P.Finish != FinishReason::None)
          Other = Error("a text has ended");
    }
  HasEnded = true;
  Impatient.join();
  EXPECT_TRUE(Other) << Other.error().message();
}

TEST_F(GenerationTest, EndsAndErrors) {
  Tokens Expected;
  load([&](Manifest &M, CodeInfo &) {
    Expected = greedy({4, 5}, 3);
    M.Generation.EndOfSequence = {Expected.back()};
  });
  Generator G(*S);
  int64_t A = *G.add(request({}, {4, 5}));
  int64_t B = *G.add(request({}, {49}));
  EXPECT_FALSE(G.step()) << "token 49 fails the whole step";
  EXPECT_EQ(G.take(B).Choices.front().Finish, FinishReason::None);
  while (G.running() != 0)
    ASSERT_TRUE(G.step());
  size_t End = 0;
  while (Expected[End] != Expected.back())
    ++End;
  EXPECT_EQ(G.progress(A).NewTokens.size(), End + 1);
  EXPECT_EQ(G.progress(A).Finish, FinishReason::EndOfSequence);
  int64_t C = *G.add(request({}, {4, 77}));
  ASSERT_TRUE(G.step());
  EXPECT_EQ(G.progress(C).Finish, FinishReason::Error);
  EXPECT_EQ(G.progress(C).Failure->kind(), ErrorKind::InvalidArgument);
}

TEST_F(GenerationTest, SettingsThatContradictEachOther) {
  load();
  Settings Wish;
  Wish.Beams = 2;
  Wish.Temperature = 1;
  EXPECT_EQ(errorOf(Wish),
            "num_beams is 2: beam search takes the likeliest tokens: expected "
            "1 with temperature, top_k, top_p, min_p or typical_p");
  Wish = {};
  Wish.LengthPenalty = 2;
  EXPECT_EQ(errorOf(Wish), "length_penalty: needs num_beams of at least 2");
  Wish.NamesAreOptions = true;
  EXPECT_EQ(errorOf(Wish), "--length-penalty: needs --num-beams of at least 2");
  Wish = {};
  Wish.Beams = 0;
  EXPECT_EQ(errorOf(Wish), "num_beams is 0: expected 1 to 1024");
}

TEST_F(GenerationTest, Prefixes) {
  load();
  Settings Wish;
  Wish.MaxNewTokens = 3;
  Wish.Prefix = 2;
  Generator G(*S);
  int64_t A = *G.add(request(Wish, {4, 5, 6}));
  while (G.running() != 0)
    ASSERT_TRUE(G.step());
  EXPECT_EQ(G.progress(A).NewTokens, greedy({4, 5, 6}, 3, 2));
  load([](Manifest &M, CodeInfo &) { M.HasPrefixMask = false; });
  EXPECT_EQ(errorOf(Wish), File + ": prefix_tokens is 2: this model has no "
                                  "prefix mask: expected 0");
}
