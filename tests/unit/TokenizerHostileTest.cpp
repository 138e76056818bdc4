//===- TokenizerHostileTest.cpp - Bad tokenizer.json files ----------------===//

#include "tests/unit/TokenizerTestFiles.h"

#include "runtime/Tokenizer/Unicode.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

TEST(TokenizerHostileTest, Json) {
  expectError("", {"invalid JSON"});
  expectError("{", {"invalid JSON"});
  expectError("[]", {"expected an object"});
  expectError("{}", {"version"});
  expectError("{\"a\":\"\xff\"}", {"invalid JSON"});
  expectError(R"({"version":"1.0","version":"1.0"})",
              {"duplicate key 'version'"});
  expectError(std::string(1 << 20, '['), {"nested deeper than 64"});
  expectError(R"({"model":)" + std::string(100, '{'), {"invalid JSON"});
  std::string Nested = R"({"type":"Sequence","normalizers":[)";
  std::string Deep;
  for (int I = 0; I < 100; ++I)
    Deep += Nested;
  expectError(R"({"normalizer":)" + Deep, {"nested deeper than 64"});
  std::string Wide = "{";
  for (int I = 0; I < 5000; ++I)
    Wide += "\"" + std::to_string(I) + "\":0,";
  expectError(Wide + "\"x\":0}", {"more than 4096 members"});
  Result<Tokenizer> Missing = Tokenizer::fromFile(dataPath("none.json"));
  ASSERT_FALSE(Missing);
  EXPECT_NE(Missing.error().message().find("none.json"), std::string::npos);
}

TEST(TokenizerHostileTest, CutOffAnywhere) {
  std::ifstream Stream(dataPath("odd.json"));
  std::string Text((std::istreambuf_iterator<char>(Stream)), {});
  ASSERT_TRUE(Tokenizer::fromJson(Text, "t.json"));
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  for (size_t Length = 0; Length < Text.size(); Length += 61)
    EXPECT_FALSE(Tokenizer::fromJson(Text.substr(0, Length), "t.json"));
}

TEST(TokenizerHostileTest, ChangedBytesNeverCrash) {
  std::ifstream Stream(dataPath("odd.json"));
  std::string Text((std::istreambuf_iterator<char>(Stream)), {});
  // Outside the vocabulary, where nearly all bytes are names of tokens.
  size_t Most = Text.find("\"vocab\"");
  ASSERT_NE(Most, std::string::npos);
  uint32_t Random = 1;
  auto Next = [&](size_t Bound) {
    Random = Random * 1664525u + 1013904223u;
    return (Random >> 8) % Bound;
  };
  static constexpr std::string_view Bytes = "0129-.\"{}[],:aeln\\\x01\xff";
  for (int Round = 0; Round < 400; ++Round) {
    std::string Changed = Text;
    for (size_t Count = 1 + Next(3); Count > 0; --Count)
      Changed[Next(Most)] = Bytes[Next(Bytes.size())];
    Result<Tokenizer> T = Tokenizer::fromJson(Changed, "t.json");
    if (!T) {
      EXPECT_EQ(T.error().message().find('\n'), std::string::npos);
      continue;
    }
    if (Result<Ids> Numbers = T->encode("A word [left] 12 été\n"); Numbers) {
      EXPECT_FALSE(findInvalidUtf8(T->decode(*Numbers)));
    }
  }
}

TEST(TokenizerHostileTest, Vocabulary) {
  auto Bad = [](const std::string &Tokens,
                std::initializer_list<std::string_view> Parts) {
    expectError(pairFile(Tokens, "[]"), Parts);
  };
  Bad(R"({"a":-1})", {"model.vocab", "'a'", "-1"});
  Bad(R"({"a":0,"b":0})", {"'b'", "each id once", "'a'"});
  Bad(R"({"a":4294967296})", {"'a'", "4294967296"});
  Bad(R"({"a":18446744073709551615})", {"'a'", "18446744073709551615"});
  Bad(R"({"a":4194304})", {"'a'", "4194304", "0 to 4194303"});
  Bad(R"({"a":0.5})", {"'a'", "0.5"});
  Bad(R"({"a":"0"})", {"'a'", "whole number"});
  Bad(R"({"a":null})", {"'a'"});
  Bad(R"({"a":[0]})", {"'a'"});
  Bad(R"({"a":{}})", {"'a'"});
  Bad("[]", {"model.vocab", "expected an object"});
  Bad("7", {"model.vocab", "expected an object"});
  // Json would drop the first of two, so this is put together by hand.
  expectError(R"({"version":"1.0","model":{"type":"BPE","vocab":{"a":0,"a":1},
      "merges":[]}})",
              {"'a'", "each token once"});
}

TEST(TokenizerHostileTest, Merges) {
  auto Bad = [](const std::string &Merges,
                std::initializer_list<std::string_view> Parts,
                const std::string &Options = "") {
    expectError(pairFile(R"({"a":0,"b":1,"ab":2})", Merges, Options), Parts);
  };
  Bad(R"(["a b","a x"])", {"model.merges[1]", "'x'"});
  Bad(R"(["x a"])", {"model.merges[0]", "'x'"});
  Bad(R"(["b a"])", {"model.merges[0]", "'ba'"});
  Bad(R"(["ab"])", {"model.merges[0]", "one space"});
  Bad(R"(["a b c"])", {"model.merges[0]", "one space"});
  Bad(R"([["a"]])", {"model.merges[0]", "two tokens"});
  Bad(R"([["a",1]])", {"model.merges[0]", "two tokens"});
  Bad("[3]", {"model.merges[0]", "3"});
  Bad(R"({"a":"b"})", {"model.merges", "expected an array"});
  Bad(R"(["a b"])", {"longer than the prefix"},
      R"(,"continuing_subword_prefix":"####")");
  Bad("[]", {"model.dropout", "0.1"}, R"(,"dropout":0.1)");
  Bad("[]", {"model.fuse_unk"}, R"(,"fuse_unk":1)");
  Bad("[]", {"model.unk_token"}, R"(,"unk_token":3)");
}

TEST(TokenizerHostileTest, AddedTokens) {
  auto Bad = [](const std::string &Tokens,
                std::initializer_list<std::string_view> Parts) {
    expectError(file({{"added_tokens", Tokens}}), Parts);
  };
  auto Token = [](const std::string &Id, const std::string &Content,
                  const std::string &Normalized = "false") {
    return R"({"id":)" + Id + R"(,"content":)" + Content +
           R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":)" +
           Normalized + R"(,"special":true})";
  };
  Bad("[" + Token("-1", R"("x")") + "]", {"added_tokens[0].id", "-1"});
  Bad("[" + Token("99999999999", R"("x")") + "]",
      {"added_tokens[0].id", "99999999999"});
  Bad("[" + Token("300", R"("x")") + "]", {"'x'", "300", "256"});
  Bad("[" + Token("3", R"("x")") + "]", {"'x'", "3", "256"});
  Bad("[" + Token("4", R"("<0x03>")") + "]", {"'<0x03>'", "expected 3"});
  Bad("[" + Token("256", R"("x")") + "," + Token("256", R"("y")") + "]",
      {"added_tokens[1]", "'y'", "257"});
  Bad("[" + Token("256", R"("x")") + "," + Token("257", R"("x")") + "]",
      {"added_tokens[1]", "each token once"});
  Bad("[" + Token("256", R"("")") + "]", {"added_tokens[0].content"});
  Bad("[" + Token("256", "\"" + std::string(1025, 'x') + "\"") + "]",
      {"added_tokens[0].content", "1024"});
  Bad("[" + Token("256", "5") + "]", {"added_tokens[0].content", "a string"});
  Bad(R"([{"id":256,"content":"x"}])", {"added_tokens[0].single_word"});
  Bad("{}", {"added_tokens", "expected an array"});
  Bad("[1]", {"added_tokens[0]", "expected an object"});
  expectError(
      file({{"added_tokens", "[" + Token("256", R"(" ")", "true") + "]"},
            {"normalizer", R"({"type":"Strip","strip_left":true,
                                       "strip_right":true})"}}),
      {"normalizes to nothing"});
  // The model's ids leave a gap, so that the next free id is taken.
  expectError(file({{"model", R"({"type":"BPE","vocab":{"a":1},"merges":[]})"},
                    {"added_tokens", "[" + Token("1", R"("x")") + "]"}}),
              {"each id once"});
}

TEST(TokenizerHostileTest, UnknownPartsAndOptions) {
  for (const char *Part :
       {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"}) {
    expectError(file({{Part, R"({"type":"Foo"})"}}),
                {std::string(Part) + ".type", "'Foo'"});
    expectError(file({{Part, R"({"type":5})"}}), {std::string(Part) + ".type"});
    expectError(file({{Part, "[]"}}), {Part});
    expectError(file({{Part, "3"}}), {Part});
  }
  expectError(file({{"extra", "1"}}), {"unknown field 'extra'"});
  expectError(file({{"version", "\"2.0\""}}), {"version", "2.0"});
  expectError(file({{"normalizer", R"({"type":"NFC","x":1})"}}),
              {"unknown field 'normalizer.x'"});
  expectError(file({{"pre_tokenizer", R"({"type":"BertPreTokenizer","x":1})"}}),
              {"unknown field 'pre_tokenizer.x'"});
  expectError(file({{"decoder", R"({"type":"Fuse","x":1})"}}),
              {"unknown field 'decoder.x'"});
  expectError(pairFile("{}", "[]", R"(,"x":1)"), {"unknown field 'model.x'"});
  expectError(file({{"pre_tokenizer", R"({"type":"Split","pattern":
      {"String":"a","Regex":"a"},"behavior":"Isolated","invert":false})"}}),
              {"pre_tokenizer.pattern"});
  expectError(file({{"pre_tokenizer", R"({"type":"Split","pattern":
      {"String":"a"},"behavior":"isolated","invert":false})"}}),
              {"pre_tokenizer.behavior", "'isolated'"});
  expectError(file({{"truncation", R"({"max_length":-1,"strategy":"OnlyFirst",
                                       "stride":0})"}}),
              {"truncation.max_length", "-1"});
  expectError(file({{"decoder", R"({"type":"Strip","content":"ab","start":0,
                                    "stop":0})"}}),
              {"decoder.content", "one character"});
  std::string Fuses;
  for (int I = 0; I < 70; ++I)
    Fuses += std::string(I ? "," : "") + R"({"type":"Fuse"})";
  expectError(
      file({{"decoder", R"({"type":"Sequence","decoders":[)" + Fuses + "]}"}}),
      {"at most 64"});
}

TEST(TokenizerHostileTest, TextThatGrowsWithoutEnd) {
  // Each step makes a thousand characters of one.
  std::string Steps;
  for (int I = 0; I < 20; ++I)
    Steps += std::string(I ? "," : "") +
             R"({"type":"Replace","pattern":{"String":"a"},"content":")" +
             std::string(1000, 'a') + "\"}";
  std::string Answer =
      pieces(file({{"normalizer",
                    R"({"type":"Sequence","normalizers":[)" + Steps + "]}"}}),
             "a");
  EXPECT_NE(Answer.find("replacing makes more than"), std::string::npos)
      << Answer.substr(0, 200);
}

TEST(TokenizerHostileTest, PostProcessorIds) {
  auto Bad = [](const std::string &Id,
                std::initializer_list<std::string_view> Parts) {
    expectError(file({{"post_processor", R"({"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"B","type_id":0}},
      {"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{
      "B":{"id":"B","ids":[)" + Id + R"(],"tokens":["x"]}}})"}}),
                Parts);
  };
  Bad("256", {"post_processor", "256", "the id of a token"});
  Bad("-1", {"ids[0]", "-1"});
  Bad("99999999999999", {"ids[0]"});
  expectError(file({{"post_processor", R"({"type":"BertProcessing",
      "sep":["s",256],"cls":["c",0]})"}}),
              {"256"});
  expectError(file({{"post_processor", R"({"type":"BertProcessing",
      "sep":["s"],"cls":["c",0]})"}}),
              {"post_processor.sep"});
  expectError(file({{"post_processor", R"({"type":"TemplateProcessing",
      "single":[{"Sequence":{"id":"B","type_id":0}}],"pair":[],
      "special_tokens":{}})"}}),
              {"single[0].Sequence.id", "'B'"});
  expectError(file({{"post_processor", R"({"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"X","type_id":0}}],"pair":[],
      "special_tokens":{}})"}}),
              {"single[0].SpecialToken.id", "'X'"});
}

TEST(TokenizerHostileTest, AllPatternsShareABudget) {
  // Each piece alone takes few enough steps, all of them do not.
  std::string Piece = std::string(16, 'a') + "! ", Text;
  for (int I = 0; I < 1000; ++I)
    Text += Piece;
  auto Split = [](const char *Pattern) {
    return R"({"type":"Split","pattern":{"Regex":")" + std::string(Pattern) +
           R"("},"behavior":"Isolated","invert":false})";
  };
  std::string Tokenizer = file(
      {{"pre_tokenizer", R"({"type":"Sequence","pretokenizers":[)" +
                             Split(" ") + "," + Split("(a|a)*[cd]") + "]}"}});
  EXPECT_EQ(pieces(Tokenizer, Piece).find("expected a pattern"),
            std::string::npos);
  EXPECT_NE(pieces(Tokenizer, Text).find("pretokenizers[1].pattern.Regex"),
            std::string::npos);
}

TEST(TokenizerHostileTest, LongMatchesAreNoAttack) {
  auto Split = [](const char *Pattern) {
    return file(
        {{"pre_tokenizer", R"({"type":"Split","pattern":{"Regex":)" +
                               Json(Pattern).dump() +
                               R"(},"behavior":"Isolated","invert":false})"}});
  };
  std::string Letters(200000, 'a'), Digits(9000, '7');
  EXPECT_EQ(pieces(Split("[a-z]+"), Letters + " b"), Letters + "| |b|");
  EXPECT_EQ(pieces(Split("(?:[a-z]|-)+"), Letters + " b"), Letters + "| |b|");
  EXPECT_EQ(pieces(Split("\\s+(?!\\S)|\\s+"), std::string(9000, ' ') + "b"),
            std::string(8999, ' ') + "| |b|");
  // Groups of three digits counted from the right look ahead to the end.
  std::string Grouped;
  for (int I = 0; I < 3000; ++I)
    Grouped += "777|";
  EXPECT_EQ(pieces(Split("[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9]))"), Digits),
            Grouped);
}

TEST(TokenizerHostileTest, Patterns) {
  auto Split = [](const std::string &Pattern) {
    return file(
        {{"pre_tokenizer", R"({"type":"Split","pattern":{"Regex":)" +
                               Json(Pattern).dump() +
                               R"(},"behavior":"Isolated","invert":false})"}});
  };
  for (const char *Pattern : {"(a", "a)", "*", "[b-a]", "(?<=a*)b", "\\b"})
    expectError(Split(Pattern), {"pre_tokenizer.pattern.Regex"});
  // Backtracking without end is an error, also where every match takes few
  // steps but all of them together do not, and where steps are dear.
  for (const char *Pattern :
       {"(?:a+)+$", "(?:a|aa)+$", "(?:a*)*[bc]", "(a|a)*[cd]", "a(?=a*a*X)|a",
        "a(?=(?:a*+b|a)*X)|a", "a(?=(?:(?=a*+X)a|a)*X)|a",
        "a(?=(?:a{500}b|a)*X)|a", "a(?=a*+X)|a", "a(?=a*+X)"}) {
    std::string Answer = pieces(Split(Pattern), std::string(8000, 'a') + "!");
    EXPECT_NE(Answer.find("expected a pattern that needs few steps"),
              std::string::npos)
        << Pattern << ": " << Answer.substr(0, 200);
    EXPECT_NE(Answer.find("pre_tokenizer.pattern.Regex"), std::string::npos);
  }
}

} // namespace
