//===- JsonTest.cpp - Checked reading of JSON -----------------------------===//

#include "runtime/Support/Json.h"
#include "tests/unit/CheckpointFixture.h"

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
