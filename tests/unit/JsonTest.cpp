//===- JsonTest.cpp - Checked reading of JSON -----------------------------===//

#include "runtime/Support/Json.h"
#include "tests/unit/CheckpointFixture.h"

#include <chrono>

using namespace tenon;

namespace {

class JsonFiles : public TemporaryFiles {};

TEST(JsonTest, KeepsTheOrderOfKeys) {
  auto Parsed = parseJson(R"({"z":1,"a":[true,null,"é"]})", "f");
  ASSERT_TRUE(Parsed);
  EXPECT_EQ(Parsed->dump(), R"({"z":1,"a":[true,null,"é"]})");
}

TEST(JsonTest, Syntax) {
  for (const char *Text : {"", "{", "[1,]", "{} x", "'a'", "NaN", "01",
                           "\"\n\"", "1e999", "\"\\ud800\""})
    EXPECT_ERROR(parseJson(Text, "f.json"), "f.json", "invalid JSON: ");
  EXPECT_ERROR(parseJson("\"\xff\"", "f.json"), "f.json", "invalid JSON: ");
  EXPECT_ERROR(parseJson("\"\xc3\"", "f.json"), "f.json", "invalid JSON: ");
}

TEST(JsonTest, DuplicateKeys) {
  EXPECT_ERROR(parseJson(R"({"a":1,"b":{"a":1},"a":2})", "f.json"), "f.json",
               "duplicate key 'a'");
  EXPECT_ERROR(parseJson(R"([{"x":{"k":1,"k":1}}])", "f.json"), "f.json",
               "duplicate key 'k'");
  EXPECT_TRUE(parseJson(R"([{"k":1},{"k":1}])", "f.json"));
}

TEST(JsonTest, DuplicateKeysFarApart) {
  EXPECT_ERROR(parseJson(R"({"b":{},"a":[{}],"":0,"c":{"b":1},"b":[]})", "f"),
               "f", "duplicate key 'b'");
  EXPECT_ERROR(parseJson(R"({"":0,"":0})", "f"), "f", "duplicate key ''");
  // Escapes are resolved before keys are compared.
  EXPECT_ERROR(parseJson(R"({"\u0061":0,"a":0})", "f"), "f",
               "duplicate key 'a'");
  // A key that begins like another is not its twin.
  EXPECT_TRUE(parseJson(R"({"a":0,"a\u0000":0,"aa":0})", "f"));
}

TEST(JsonTest, LargeObjects) {
  // A vocabulary's size; quadratic time would be seconds.
  constexpr int Count = 200'000;
  std::string Text = "{";
  for (int I = 0; I < Count; ++I)
    Text += "\"key" + std::to_string(I) + "\":" + std::to_string(I) + ",";
  auto Start = std::chrono::steady_clock::now();
  auto Parsed = parseJson(Text + "\"last\":[{}]}", "f");
  auto Twice = parseJson(Text + "\"key7\":0}", "f");
  std::chrono::duration<double> Taken =
      std::chrono::steady_clock::now() - Start;
  ASSERT_TRUE(Parsed);
  ASSERT_EQ(Parsed->size(), Count + 1u);
  int Next = 0;
  for (const auto &[Key, Value] : Parsed->items()) {
    if (Next == Count)
      break;
    ASSERT_EQ(Key, "key" + std::to_string(Next));
    ASSERT_EQ(Value, Next++);
  }
  EXPECT_EQ((*Parsed)["last"].dump(), "[{}]");
  EXPECT_ERROR(Twice, "f", "duplicate key 'key7'");
  EXPECT_LT(Taken.count(), 10.0);
}

TEST(JsonTest, Nesting) {
  const char *Text =
      R"({"a":[[],{"b":{"c":[1,-2,2.5,"x",false]}},null],"d":{}})";
  auto Parsed = parseJson(Text, "f");
  ASSERT_TRUE(Parsed);
  EXPECT_EQ(Parsed->dump(), Text);
  EXPECT_EQ(parseJson("3", "f")->dump(), "3");
}

TEST(JsonTest, Depth) {
  auto Nested = [](size_t Depth) {
    return std::string(Depth, '[') + std::string(Depth, ']');
  };
  EXPECT_TRUE(parseJson(Nested(MaxJsonDepth), "f.json"));
  EXPECT_ERROR(parseJson(Nested(MaxJsonDepth + 1), "f.json"), "f.json",
               "nested deeper than 64");
  EXPECT_ERROR(parseJson(std::string(1 << 20, '['), "f.json"), "f.json",
               "nested deeper than 64");
  EXPECT_TRUE(parseJson("\"" + std::string(100, '[') + "\"", "f.json"));
  EXPECT_TRUE(parseJson(R"(["\"[[", 1])", "f.json"));
}

TEST_F(JsonFiles, Files) {
  EXPECT_TRUE(readJsonFile(write("a.json", "{}")));
  EXPECT_ERROR(readJsonFile(pathOf("none")), pathOf("none"), "cannot open");
  EXPECT_ERROR(readJsonFile(pathOf("a.json"), 1), pathOf("a.json"),
               "is 2 bytes long: expected at most 1");
}

TEST(JsonTest, Printable) {
  EXPECT_EQ(printable("a b"), "'a b'");
  EXPECT_EQ(printable(std::string_view("\x1b[2J\n\0\x7f", 7)),
            "'\\x1b[2J\\x0a\\x00\\x7f'");
  EXPECT_EQ(printable(std::string(80, 'x')), "'" + std::string(80, 'x') + "'");
  EXPECT_EQ(printable(std::string(81, 'x')),
            "'" + std::string(80, 'x') + "...'");
}

TEST(JsonTest, PrintableUnicode) {
  EXPECT_EQ(printable("é€😀\xc2\xa0"), "'é€😀\xc2\xa0'");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m\xc2\x80\xc2\x9f"),
            "'a\\xc2\\x9b31m\\xc2\\x80\\xc2\\x9f'");
  // Lone, overlong, surrogate, too large and truncated.
  EXPECT_EQ(printable("\x9b"), "'\\x9b'");
  EXPECT_EQ(printable("\xc0\xaf"), "'\\xc0\\xaf'");
  EXPECT_EQ(printable("\xe0\x80\x9b"), "'\\xe0\\x80\\x9b'");
  EXPECT_EQ(printable("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'");
  EXPECT_EQ(printable("é\xe2\x82"), "'é\\xe2\\x82'");
  // The cut leaves out a character that would not fit whole.
  std::string Long(79, 'x');
  EXPECT_EQ(printable(Long + "éy"), "'" + Long + "...'");
  EXPECT_EQ(printable(std::string(78, 'x') + "é"),
            "'" + std::string(78, 'x') + "é'");
  EXPECT_EQ(printable(std::string(77, 'x') + "😀"),
            "'" + std::string(77, 'x') + "...'");
}

TEST(JsonTest, Fields) {
  Json Value = *parseJson(
      R"({"a":{"b":[1,"x"]},"t":true,"f":2.5,"n":null,"o":{},"h":18446744073709551615})",
      "f");
  JsonField Top(Value, "f.json");
  EXPECT_TRUE(Top.has("a"));
  EXPECT_FALSE(Top.has("n"));
  EXPECT_FALSE(Top.has("none"));
  JsonField A = *Top.member("a");
  JsonField B = *A.member("b");
  EXPECT_FALSE(B.has("x"));
  EXPECT_EQ(B.path(), "a.b");
  EXPECT_EQ(*B.arraySize(), 2u);
  EXPECT_EQ(*B.element(0)->asInteger(0, 1), 1);
  EXPECT_EQ(*B.element(1)->asString(), "x");
  EXPECT_EQ(*Top.member("t")->asBool(), true);
  EXPECT_EQ(*Top.member("f")->asNumber(), 2.5);

  EXPECT_ERROR(Top.member("none"), "f.json", "missing field 'none'");
  EXPECT_ERROR(A.member("none"), "f.json", "missing field 'a.none'");
  EXPECT_ERROR(B.member("x"), "f.json",
               "field 'a.b' is an array: expected an object");
  EXPECT_ERROR(B.element(2), "f.json", "missing element 'a.b[2]'");
  EXPECT_ERROR(A.element(0), "f.json",
               "field 'a' is an object: expected an array");
  EXPECT_ERROR(A.arraySize(), "f.json", "expected an array");
  EXPECT_ERROR(B.element(0)->asString(), "f.json",
               "field 'a.b[0]' is 1: expected a string");
  EXPECT_ERROR(B.element(0)->asBool(), "f.json", "expected true or false");
  EXPECT_ERROR(B.element(1)->asNumber(), "f.json",
               "field 'a.b[1]' is 'x': expected a finite number");
  EXPECT_ERROR(B.element(0)->asInteger(2, 5), "f.json",
               "field 'a.b[0]' is 1: expected a whole number from 2 to 5");
  EXPECT_ERROR(Top.member("f")->asInteger(0, 9), "f.json", "field 'f' is 2.5");
  EXPECT_ERROR(Top.member("h")->asInteger(-9, INT64_MAX), "f.json",
               "field 'h' is 18446744073709551615");
}

} // namespace
