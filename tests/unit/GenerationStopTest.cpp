//===- GenerationStopTest.cpp - What ends a text --------------------------===//

#include "GenerationFixture.h"

#include "runtime/Generation/StopStrings.h"
#include "runtime/Tokenizer/Unicode.h"

#include <random>

using namespace tenon;
using namespace tenon::generation;
using namespace tenon::test;

namespace {

using Tokens = std::vector<int32_t>;

struct Ended {
  std::string Text;
  std::optional<size_t> Found;
  bool operator==(const Ended &) const = default;
};

/// What comes of `Text` in pieces of the given lengths, in turn.
Ended streamed(const std::vector<std::string> &Stops, const std::string &Text,
               const std::vector<size_t> &Lengths) {
  StopStrings S(Stops);
  Ended Result;
  for (size_t At = 0, I = 0; At < Text.size() && !S.found(); ++I) {
    size_t Length = Lengths[I % Lengths.size()];
    Result.Text += S.push(std::string_view(Text).substr(At, Length));
    At += Length;
  }
  Result.Found = S.found();
  if (!Result.Found)
    Result.Text += S.finish();
  EXPECT_EQ(S.push("more").empty(), Result.Found.has_value());
  return Result;
}

/// The same, looked for in the whole text.
Ended searched(const std::vector<std::string> &Stops, const std::string &Text) {
  for (size_t End = 1; End <= Text.size(); ++End) {
    std::optional<size_t> Best;
    for (size_t I = 0; I < Stops.size(); ++I)
      if (Text.substr(0, End).ends_with(Stops[I]) &&
          (!Best || Stops[I].size() > Stops[*Best].size()))
        Best = I;
    if (Best)
      return {Text.substr(0, End - Stops[*Best].size()), Best};
  }
  return {Text, std::nullopt};
}

/// Ids 4 to 11 are a, b, a space, and bytes of é, ä, € and 漢: a character may
/// be two or three tokens.
constexpr std::string_view Bytes = R"({
  "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                    "trim_offsets": true, "use_regex": true},
  "post_processor": null,
  "decoder": {"type": "ByteLevel", "add_prefix_space": true,
              "trim_offsets": true, "use_regex": true},
  "model": {"type": "BPE", "dropout": null, "unk_token": null,
    "continuing_subword_prefix": null, "end_of_word_suffix": null,
    "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
    "vocab": {"w": 0, "x": 1, "y": 2, "z": 3, "a": 4, "b": 5, "Ġ": 6, "Ã": 7,
              "©": 8, "¤": 9, "ab": 10, "Ġa": 11},
    "merges": []}
})";

/// Draws the tokens 4 to `Last` alone.
Settings letters(int64_t NewTokens, int32_t Last) {
  Settings Wish;
  Wish.MaxNewTokens = NewTokens;
  Wish.Temperature = 8;
  Wish.Seed = 5;
  for (int32_t Token = 4; Token <= Last; ++Token)
    Wish.LogitBias.push_back({Token, 100});
  return Wish;
}

} // namespace

TEST(StopStringsTest, HoldsBackWhatMayBecomeOne) {
  StopStrings S({"abab!", "bc"});
  EXPECT_EQ(S.push("xab"), "x");
  EXPECT_EQ(S.push("ab"), "") << "abab";
  EXPECT_EQ(S.push("ab"), "ab") << "its end still is";
  EXPECT_EQ(S.push("a"), "ab") << "ababa";
  EXPECT_EQ(S.push("b"), "");
  EXPECT_EQ(S.push("c?"), "aba");
  EXPECT_EQ(S.found(), 1u);
  EXPECT_EQ(S.finish(), "");
  EXPECT_EQ(StopStrings({}).push("text"), "text");
}

TEST(StopStringsTest, TheFirstToEndThenTheLongest) {
  EXPECT_EQ(streamed({"b", "ab", "abc"}, "xabc", {9}), (Ended{"x", 1}));
  EXPECT_EQ(streamed({"cd", "abcde"}, "abcde", {9}), (Ended{"ab", 0}));
}

TEST(StopStringsTest, PiecesMakeNoDifference) {
  std::mt19937 Random(11);
  auto Text = [&](size_t Most) {
    std::string Letters;
    for (size_t I = 1 + Random() % Most; I-- > 0;)
      Letters += "abc"[Random() % 3 % (1 + Random() % 3)];
    return Letters;
  };
  size_t Found = 0;
  for (int Case = 0; Case < 3000; ++Case) {
    std::vector<std::string> Stops;
    for (size_t I = 1 + Random() % 3; I-- > 0;)
      Stops.push_back(Text(6));
    std::string Whole = Text(30);
    Ended Expected = searched(Stops, Whole);
    Found += Expected.Found.has_value();
    for (size_t Length : {1, 2, 3, 30}) {
      Ended Result = streamed(Stops, Whole, {Length, 1 + Random() % 4});
      EXPECT_EQ(Result.Text, Expected.Text) << Whole << " " << Stops[0];
      // Of two that are equal either is right.
      ASSERT_EQ(Result.Found.has_value(), Expected.Found.has_value());
      if (Result.Found) {
        EXPECT_EQ(Stops[*Result.Found], Stops[*Expected.Found]);
      }
    }
  }
  EXPECT_GT(Found, 500u);
  EXPECT_LT(Found, 2900u);
}

TEST_F(GenerationTest, StopStringsSpanTokensAndCharacters) {
  load(nullptr, Bytes);
  Settings Wish = letters(60, 11);
  Generation Whole = generate(Wish, {4}).front();
  ASSERT_EQ(Whole.NewTokens.size(), 60u);
  ASSERT_NE(Whole.Text.find("é"), std::string::npos) << Whole.Text;
  ASSERT_NE(Whole.Text.find("ä"), std::string::npos) << Whole.Text;
  auto IsStart = [&](size_t At) {
    return At >= Whole.Text.size() || (Whole.Text[At] & 0xc0) != 0x80;
  };
  // Every part of the text of whole characters, up to 7 bytes.
  for (size_t From = 0; From < Whole.Text.size(); ++From)
    for (size_t Length : {1, 2, 3, 5, 7}) {
      if (!IsStart(From) || !IsStart(From + Length))
        continue;
      std::string Stop = Whole.Text.substr(From, Length);
      if (Stop.size() < Length)
        continue;
      Wish.StopStrings = {Stop, "never"};
      for (bool IsIncluded : {false, true}) {
        Wish.IncludeStop = IsIncluded;
        Generator G(*S);
        int64_t Number = *G.add(request(Wish, {4}));
        std::string Text;
        while (G.running() != 0) {
          auto Pieces = G.step();
          ASSERT_TRUE(Pieces);
          for (const Piece &P : *Pieces) {
            EXPECT_FALSE(tokenizer::findInvalidUtf8(P.Text)) << P.Text;
            Text += P.Text;
          }
        }
        Generation Cut = G.take(Number).Choices.front();
        size_t End = Whole.Text.find(Stop);
        EXPECT_EQ(Cut.Text,
                  Whole.Text.substr(0, End + (IsIncluded ? Length : 0)));
        EXPECT_EQ(Text, Cut.Text) << "streamed";
        EXPECT_EQ(Cut.Finish, FinishReason::Stop) << Stop;
        EXPECT_EQ(Cut.StopString, Stop);
        EXPECT_FALSE(Cut.StopToken);
        ASSERT_LE(Cut.NewTokens.size(), 60u);
        EXPECT_TRUE(std::equal(Cut.NewTokens.begin(), Cut.NewTokens.end(),
                               Whole.NewTokens.begin()));
      }
    }
  // What is held back belongs to a text that ends otherwise.
  Wish.IncludeStop = false;
  std::string Last = Whole.Text.substr(Whole.Text.rfind("a"));
  Wish.StopStrings = {Last + "and more"};
  EXPECT_EQ(generate(Wish, {4}).front().Text, Whole.Text);
  EXPECT_EQ(generate(Wish, {4}).front().Finish, FinishReason::Length);
}

TEST_F(GenerationTest, StopTokensAndEnds) {
  load([](Manifest &M, CodeInfo &) { M.Generation.EndOfSequence = {7}; });
  Settings Wish = letters(40, 11);
  Generation Plain = generate(Wish, {4}).front();
  ASSERT_EQ(Plain.Finish, FinishReason::EndOfSequence);
  ASSERT_GT(Plain.NewTokens.size(), 4u);
  auto FirstOf = [&](const Tokens &In, int32_t Token) {
    return static_cast<size_t>(std::find(In.begin(), In.end(), Token) -
                               In.begin());
  };
  Wish.IgnoreEndOfSequence = true;
  Tokens All = generate(Wish, {4}).front().NewTokens;
  ASSERT_EQ(All.size(), 40u);
  int32_t Stop = All[2];
  size_t At = FirstOf(All, Stop);
  Wish.StopTokens = {Stop};
  Generation Cut = generate(Wish, {4}).front();
  EXPECT_EQ(Cut.Finish, FinishReason::Stop);
  EXPECT_EQ(Cut.StopToken, Stop);
  EXPECT_FALSE(Cut.StopString);
  ASSERT_EQ(Cut.NewTokens, Tokens(All.begin(), All.begin() + At + 1));
  const tokenizer::Tokenizer &T = **M->tokenizer();
  EXPECT_EQ(Cut.Text, T.decode(std::span(All).first(At)));
  Wish.IncludeStop = true;
  EXPECT_EQ(generate(Wish, {4}).front().Text,
            T.decode(std::span(All).first(At + 1)));
  // An end that is named as a stop, too, is an end unless ends are ignored.
  Wish.StopTokens = {7};
  EXPECT_EQ(generate(Wish, {4}).front().Finish, FinishReason::Stop);
  Wish.IgnoreEndOfSequence = false;
  EXPECT_EQ(generate(Wish, {4}).front().Finish, FinishReason::EndOfSequence);
}

TEST_F(GenerationTest, NothingEndsBeforeTheMinimum) {
  load([](Manifest &M, CodeInfo &) { M.Generation.EndOfSequence = {7}; });
  Settings Wish = letters(40, 11);
  Wish.MinNewTokens = 12;
  Wish.StopTokens = {5};
  Generation Found = generate(Wish, {4}).front();
  EXPECT_EQ(Found.Finish, FinishReason::EndOfSequence)
      << "of this seed; a stop would do as well";
  EXPECT_GT(Found.NewTokens.size(), 12u);
  for (size_t I = 0; I < 12; ++I)
    EXPECT_TRUE(Found.NewTokens[I] != 7 && Found.NewTokens[I] != 5) << I;
  // Stop strings in the first tokens are text.
  Wish = letters(40, 11);
  Wish.IgnoreEndOfSequence = true;
  Generation Whole = generate(Wish, {4}).front();
  size_t Begin =
      (*M->tokenizer())->decode(std::span(Whole.NewTokens).first(12)).size();
  std::string Stop = Whole.Text.substr(Begin - 1, 1); // The last of them.
  Wish.MinNewTokens = 12;
  Wish.StopStrings = {Stop};
  Found = generate(Wish, {4}).front();
  EXPECT_EQ(Found.Finish, FinishReason::Stop);
  EXPECT_EQ(Found.Text, Whole.Text.substr(0, Whole.Text.find(Stop, Begin)));
}

TEST_F(GenerationTest, BeamsEndWithStopTokens) {
  load();
  Settings Wish;
  Wish.Beams = 2;
  Wish.MaxNewTokens = 10;
  Tokens All = generate(Wish, {3, 1, 4}).front().NewTokens;
  Wish.StopTokens = {All[3]};
  Wish.LengthPenalty = -2; // Short texts score better.
  Generation Found = generate(Wish, {3, 1, 4}).front();
  EXPECT_LT(Found.NewTokens.size(), 10u);
  EXPECT_EQ(Found.Finish, FinishReason::Stop);
  EXPECT_EQ(Found.StopToken, All[3]);
}

TEST_F(GenerationTest, BeamsEndWithStopStrings) {
  load(nullptr, Bytes);
  Settings Wish = letters(12, 6);
  Wish.Temperature.reset();
  Wish.Beams = 3;
  Wish.Choices = 3;
  std::vector<Generation> Whole = generate(Wish, {4});
  std::string Stop = Whole.front().Text.substr(4, 2);
  Wish.StopStrings = {Stop};
  Wish.LengthPenalty = -2; // Short texts score better.
  std::vector<Generation> Found = generate(Wish, {4});
  ASSERT_EQ(Found.size(), 3u);
  EXPECT_EQ(Found.front().Finish, FinishReason::Stop);
  for (const Generation &G : Found) {
    EXPECT_EQ(G.Text.find(Stop), std::string::npos) << G.Text;
    std::string All = (*M->tokenizer())->decode(G.NewTokens);
    if (G.Finish == FinishReason::Stop) {
      EXPECT_EQ(G.StopString, Stop);
      EXPECT_EQ(All, G.Text + Stop) << "its last token completes it";
    }
  }
  Wish.IncludeStop = true;
  EXPECT_TRUE(generate(Wish, {4}).front().Text.ends_with(Stop));
  // Nor before the fewest new tokens.
  Wish.MinNewTokens = 11;
  for (const Generation &G : generate(Wish, {4}))
    EXPECT_GE(G.NewTokens.size(), 11u);
}

TEST_F(GenerationTest, WordsThatMustNotOccur) {
  load(nullptr, Bytes);
  const tokenizer::Tokenizer &T = **M->tokenizer();
  // Behind a space: "Ġ" and "a" are two tokens without merges.
  auto Words = tokensOfWord(T, "  ab");
  ASSERT_TRUE(Words) << Words.error().message();
  EXPECT_EQ(*Words, (std::vector<Tokens>{{4, 5}}));
  EXPECT_FALSE(tokensOfWord(T, "  "));
  EXPECT_FALSE(tokensOfWord(T, "\xff"));
  Settings Wish = letters(60, 5);
  ASSERT_NE(generate(Wish, {4}).front().Text.find("ab"), std::string::npos);
  Wish.BadWords = *Words;
  std::string Text = generate(Wish, {4}).front().Text;
  EXPECT_EQ(Text.find("ab"), std::string::npos) << Text;
  EXPECT_NE(Text.find('a'), std::string::npos) << Text;
}
