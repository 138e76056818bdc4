//===- GrammarMaskTest.cpp - Masks against one byte after another ---------===//

#include "GrammarTestSupport.h"

#include <random>

using namespace tenon;
using namespace tenon::grammar;
using namespace tenon::test;

namespace {

std::vector<Grammar::Ptr> grammars() {
  std::vector<Grammar::Ptr> All;
  for (const char *Schema :
       {R"({})", R"({"type":"object"})",
        R"({"type":"object","properties":{"\u00e9a":{},"\u00e9":{}},
            "required":["\u00e9a"]})",
        R"({"type":"object","properties":{"a":{"type":"string","maxLength":3},
            "ab":{"enum":["x","xy",1]},"b":{"type":"array","maxItems":2}}})",
        R"({"type":"object","propertyNames":{"pattern":"^[ab]{1,2}$"}})",
        R"({"type":"object","propertyNames":{"maxLength":1},
            "additionalProperties":{"type":"null"}})",
        R"({"type":"object","patternProperties":{"a*b":{"type":"integer"}},
            "additionalProperties":{"type":"string","minLength":2}})",
        R"({"type":"integer","minimum":-20,"maximum":305,"multipleOf":5})",
        R"({"anyOf":[{"type":"string","pattern":"^a"},
            {"type":"array","items":{"type":"number","minimum":0.5}}]})",
        // Bounds that lie beyond a token's length, then within it.
        R"({"type":"string","pattern":"^[ab1x]*$","minLength":30,
            "maxLength":45})"}) {
    Result<Grammar::Ptr> G = Grammar::fromJsonSchemaText(Schema);
    EXPECT_TRUE(G) << G.error().message();
    All.push_back(*G);
  }
  for (const char *Text : {"(a|ab|\"b)*c?", "[^a]{2,5}a", "(?!.*aa)[a-c]*",
                           "[ab1x]{2,40}", "[ab1x]{33,40}",
                           // Of characters that begin with one byte some.
                           "[^\xc3\xa9]*", ".*", "[^\\s]{3,}"}) {
    Result<Grammar::Ptr> G = Grammar::fromRegex(Text);
    EXPECT_TRUE(G) << G.error().message();
    All.push_back(*G);
  }
  // What follows a terminal may be more of its characters than it takes.
  for (const char *Text :
       {"root ::= [ab]{0,3} more | \"x\"\nmore ::= \"b\" root \"a\" | \"1\"",
        "root ::= [^1]{2,5} more | \"x\"\nmore ::= \"\xc3\xa9\" root | "
        "\"a\""}) {
    Result<Grammar::Ptr> G = Grammar::fromEbnf(Text);
    EXPECT_TRUE(G) << G.error().message();
    All.push_back(*G);
  }
  Result<Grammar::Ptr> G = Grammar::fromEbnf(
      "root ::= \"a\" root \"b\" | \"ab\"? [\"{}]\nlist ::= root");
  EXPECT_TRUE(G) << G.error().message();
  All.push_back(*G);
  return All;
}

/// Tokens of characters that matter, of quotes and escapes.
std::vector<std::string> tokens(std::mt19937 &Random) {
  const std::string Pieces[] = {
      "a",           "b",      "\"",       "{",        "}",
      "[",           "]",      ":",        ",",        "1",
      "0",           ".",      "-",        " ",        "\n",
      "\\",          "\\u006", "1",        "\xc3\xa9", "\xc3",
      "x",           "null",   "\xe6\xbc", "\xc3\xa0", "\xe2\x80\xa8",
      "\xe2\x80\xb0"};
  std::vector<std::string> Made;
  for (int I = 0; I < 600; ++I) {
    std::string Token;
    for (unsigned K = 1 + Random() % 5; K > 0; --K)
      Token += Pieces[Random() % std::size(Pieces)];
    Made.push_back(Token);
  }
  for (const char *Token : {"\":0,\"a\":1", "a\":null,\"a",
                            "\":\"\",\"\":", "\",\"", "\":[{\"", "\\u0061\":1"})
    Made.push_back(Token);
  return Made;
}

std::vector<int32_t> allowed(Matcher &M) {
  std::vector<uint64_t> Mask(M.tokens()->words());
  M.mask(Mask);
  std::vector<int32_t> Ids;
  for (size_t Id = 0; Id < M.tokens()->size(); ++Id)
    if (Mask[Id / 64] >> (Id % 64) & 1)
      Ids.push_back(static_cast<int32_t>(Id));
  return Ids;
}

/// Runs of characters that are alike, as most tokens of a model are: whole and
/// half ones, too.
std::vector<std::string> runs(std::mt19937 &Random) {
  const std::string Letters[] = {"a",
                                 "b",
                                 "c",
                                 "x",
                                 "1",
                                 " ",
                                 "-",
                                 "\xc3\xa9",
                                 "a",
                                 "\xe6\xbc\xa2",
                                 "\xf0\x9f\x98\x80"};
  std::vector<std::string> Made;
  for (int I = 0; I < 700; ++I) {
    std::string Token;
    size_t Kinds = 1 + Random() % std::size(Letters);
    for (unsigned K = 1 + Random() % 9; K > 0; --K)
      Token += Letters[Random() % Kinds];
    if (Random() % 8 == 0)
      Token.pop_back();
    if (Random() % 8 == 0)
      Token += "\"";
    if (Random() % 16 == 0)
      Token += "\xa9";
    if (!Token.empty())
      Made.push_back(Token);
  }
  return Made;
}

std::string randomRegex(std::mt19937 &Random, int Depth) {
  const char *Leaves[] = {"a",    "b",     "[a-c]",    "[ab1x ]",
                          "[^a]", "[^b]",  ".",        "\\d",
                          "x1",   "[a-z]", "\xc3\xa9", "[b-\xe6\xbc\xa2]"};
  if (Depth == 0)
    return Leaves[Random() % std::size(Leaves)];
  std::string Inner = randomRegex(Random, Depth - 1);
  switch (Random() % 7) {
  case 0:
    return "(" + Inner + "|" + randomRegex(Random, Depth - 1) + ")";
  case 1:
    return "(" + Inner + ")*";
  case 2:
    return "(" + Inner + ")+";
  case 3: {
    unsigned Min = Random() % 12;
    return "(" + Inner + "){" + std::to_string(Min) + "," +
           std::to_string(Min + Random() % 30) + "}";
  }
  case 4:
    return "(" + Inner + ")?";
  default:
    return Inner + randomRegex(Random, Depth - 1);
  }
}

/// A token is in the mask exactly when its bytes may follow one by one, and a
/// text that may not end can go on.
void expectMasksEqualBytes(const Grammar::Ptr &G,
                           const std::shared_ptr<const TokenTable> &Table,
                           int Texts, int Steps, std::mt19937 &Random) {
  auto Bytes = byteTable();
  for (int Text = 0; Text < Texts; ++Text) {
    Matcher M(G, Table), ByBytes(G, Bytes);
    for (int Step = 0; Step < Steps; ++Step) {
      std::vector<int32_t> Ids = allowed(M);
      std::vector<bool> IsIn(Table->size());
      for (int32_t Id : Ids)
        IsIn[static_cast<size_t>(Id)] = true;
      for (size_t Id = 0; Id < Table->size(); ++Id) {
        size_t Count = 0;
        const std::string &Token = Table->bytesOf(int32_t(Id));
        while (Count < Token.size() &&
               ByBytes.accept(static_cast<unsigned char>(Token[Count])))
          ++Count;
        ByBytes.rollback(Count);
        ASSERT_EQ(IsIn[Id], Count == Token.size())
            << "token " << Token << ", step " << Step;
      }
      ASSERT_TRUE(!Ids.empty() || M.canEnd()) << "a dead end";
      if (Ids.empty())
        break;
      int32_t Next = Ids[Random() % Ids.size()];
      ASSERT_TRUE(M.accept(Next));
      for (char C : Table->bytesOf(Next))
        ASSERT_TRUE(ByBytes.accept(static_cast<unsigned char>(C)));
    }
  }
}

TEST(GrammarMask, EqualsBytes) {
  std::mt19937 Random(7);
  auto Table = byteTable(tokens(Random));
  for (const Grammar::Ptr &G : grammars())
    ASSERT_NO_FATAL_FAILURE(expectMasksEqualBytes(G, Table, 12, 14, Random));
}

/// The same of regular expressions that nobody has thought of, alone, as what a
/// string must be and as a part of rules.
TEST(GrammarMask, EqualsBytesOfRandomGrammars) {
  std::mt19937 Random(9);
  auto Table = byteTable(runs(Random));
  int Compiled = 0;
  for (int I = 0; I < 60; ++I) {
    std::string Regex = randomRegex(Random, 1 + int(Random() % 3));
    unsigned Longest = 5 + Random() % 40;
    unsigned Shortest = Random() % 6;
    std::string Schema = R"({"type":"string","pattern":")" +
                         std::string(Random() % 2 ? "^" : "") + "(" +
                         (Regex.find('\\') == Regex.npos ? Regex : "a+") +
                         R"()$","minLength":)" + std::to_string(Shortest) +
                         R"(,"maxLength":)" + std::to_string(Longest) + "}";
    Result<Grammar::Ptr> Each[] = {
        Grammar::fromRegex(Regex), Grammar::fromJsonSchemaText(Schema),
        Grammar::fromEbnf("root ::= part ([ -] part)*\n"
                          "part ::= [a-c]+ | [1x] part | [^a-c1x \\-]{2,5}\n")};
    for (const Result<Grammar::Ptr> &G : Each) {
      if (!G)
        continue; // What no text fulfils.
      ++Compiled;
      SCOPED_TRACE(Regex + " or " + Schema);
      ASSERT_NO_FATAL_FAILURE(expectMasksEqualBytes(*G, Table, 2, 7, Random));
    }
  }
  EXPECT_GT(Compiled, 120);
}

/// Words of a few letters, many of which begin alike, some with other
/// characters in them: subtrees that are large enough to be looked at as a
/// whole.
std::vector<std::string> manyWords(std::mt19937 &Random) {
  const std::string Rare[] = {" ",  "\"",           "\\n",          "1",
                              "\n", "\xe3\x80\x80", "\xe6\xbc\xa2", "-"};
  std::vector<std::string> Made;
  for (int I = 0; I < 5000; ++I) {
    std::string Token;
    for (unsigned K = 1 + Random() % 7; K > 0; --K)
      Token += "ab"[Random() % 2];
    if (Random() % 8 == 0)
      Token.insert(Random() % (Token.size() + 1),
                   Rare[Random() % std::size(Rare)]);
    if (Random() % 16 == 0)
      Token.insert(Random() % (Token.size() + 1), "\xe6\xbc\xa2\xe3\x81\x82");
    if (Random() % 32 == 0)
      Token.pop_back();
    if (Random() % 8 == 0)
      Token.insert(0, " ");
    if (!Token.empty())
      Made.push_back(Token);
  }
  return Made;
}

/// Loops of terminals that most tokens go around, and what leads out of them.
TEST(GrammarMask, EqualsBytesOfManyTokensAlike) {
  std::mt19937 Random(11);
  auto Table = byteTable(manyWords(Random));
  std::vector<Result<Grammar::Ptr>> All;
  for (const char *Regex :
       {"[ab]*", "[ab]+1?", ".*", "[^1]{1,9}", "(?!.*b1)[ -~]*", "a[^ ]*",
        "[ab]+( [ab]+){2,5}-", "[^\\s]*", "[^\xe6\xbc\xa2]*",
        "[\xe6\xbc\xa2"
        "ab]*",
        "(?:[ab]{2})* ?[^b]*"})
    All.push_back(Grammar::fromRegex(Regex));
  for (const char *Schema :
       {R"({"type":"string"})", R"({"type":"string","pattern":"^[ab1 ]*$"})",
        R"({"type":"string","pattern":"1","maxLength":20})",
        R"({"type":"array","items":{"type":"string","pattern":"^[ab]*$",
            "minLength":2,"maxLength":6}})"})
    All.push_back(Grammar::fromJsonSchemaText(Schema));
  for (const char *Text :
       {"root ::= word (\" \" word)* \"-\"\nword ::= [ab]+ | [1]",
        "root ::= [ab]* more\nmore ::= \"a\" [1 ]* | \"\xe6\xbc\xa2\" root",
        "root ::= \" \" [ab]{3,6} more\nmore ::= [b1]* \"-\""})
    All.push_back(Grammar::fromEbnf(Text));
  for (const Result<Grammar::Ptr> &G : All) {
    ASSERT_TRUE(G) << G.error().message();
    SCOPED_TRACE(&G - All.data());
    ASSERT_NO_FATAL_FAILURE(expectMasksEqualBytes(*G, Table, 2, 5, Random));
  }
}

/// Bounds that lie far ahead are left out of what is looked at only where they
/// make no difference to a language of certain lengths.
TEST(GrammarMask, FarBoundsOfLanguagesWithFewLengths) {
  std::mt19937 Random(10);
  auto Table = byteTable(runs(Random));
  for (const char *Schema :
       {R"({"type":"string","pattern":"^(?:[a-c]{7})*$","maxLength":60})",
        R"({"type":"string","pattern":"^(?:[a-c]{40})*$","maxLength":60})",
        R"({"type":"string","pattern":"^(?:[abx]+ ?)*$","maxLength":34})",
        R"({"type":"string","pattern":"^(?:[abx]+ ?)*$","minLength":20,
            "maxLength":400})",
        R"({"type":"string","pattern":"^[ab]*(?:1|11)$","minLength":25,
            "maxLength":400})",
        R"({"type":"string","pattern":"^(?:x[ab]{0,15}|[ab]*)$","minLength":25,
            "maxLength":400})",
        R"({"type":"string","pattern":"^(?:a|bb|[ab]{3}x?)$","minLength":3,
            "maxLength":90})"}) {
    Result<Grammar::Ptr> G = Grammar::fromJsonSchemaText(Schema);
    ASSERT_TRUE(G) << G.error().message();
    SCOPED_TRACE(Schema);
    ASSERT_NO_FATAL_FAILURE(expectMasksEqualBytes(*G, Table, 6, 12, Random));
  }
}

TEST(GrammarMask, RollbackAndForkGoOnAlike) {
  std::mt19937 Random(8);
  auto Table = byteTable(tokens(Random));
  for (const Grammar::Ptr &G : grammars()) {
    Matcher M(G, Table);
    std::vector<std::vector<int32_t>> Masks;
    std::vector<int32_t> Taken;
    for (int Step = 0; Step < 10; ++Step) {
      Masks.push_back(allowed(M));
      if (Masks.back().empty())
        break;
      Taken.push_back(Masks.back()[Random() % Masks.back().size()]);
      Matcher Fork = M.fork();
      ASSERT_TRUE(Fork.accept(Taken.back()));
      EXPECT_EQ(allowed(M), Masks.back());
      ASSERT_TRUE(M.accept(Taken.back()));
      EXPECT_EQ(allowed(M), allowed(Fork));
    }
    size_t Back = Taken.size() / 2;
    M.rollback(Back);
    EXPECT_EQ(M.length(), Taken.size() - Back);
    EXPECT_EQ(allowed(M), Masks[Taken.size() - Back]);
  }
}

/// What is forgotten for want of memory is found again.
TEST(GrammarMask, SurvivesForgetting) {
  Limits Most;
  Most.Memory = 40'000; // Enough for the text, not for masks of all places.
  Result<Grammar::Ptr> Small =
      Grammar::fromJsonSchemaText(R"({"type":"object"})", {}, Most);
  Result<Grammar::Ptr> Large =
      Grammar::fromJsonSchemaText(R"({"type":"object"})");
  ASSERT_TRUE(Small && Large);
  auto Table = byteTable();
  Matcher A(*Small, Table), B(*Large, Table);
  for (
      char C : std::string(
          R"({"a":[1,{"b":"c"}],"b":null,"c":{"d":[true,-1.5e3,"\u00e9"]}})")) {
    EXPECT_EQ(allowed(A), allowed(B));
    ASSERT_TRUE(A.accept(C));
    ASSERT_TRUE(B.accept(C));
  }
  EXPECT_TRUE(A.canEnd());
  EXPECT_FALSE(A.accept('x'));
}

TEST(GrammarMask, GivesUpWhereTheTextAloneFillsMemory) {
  Limits Most;
  Most.Memory = 20'000;
  Result<Grammar::Ptr> G =
      Grammar::fromJsonSchemaText(R"({"type":"object"})", {}, Most);
  ASSERT_TRUE(G);
  Matcher M(*G, byteTable());
  std::string Text = "{";
  for (int I = 0; I < 100; ++I)
    Text += "\"key" + std::to_string(I) + "\":0,";
  size_t Accepted = 0;
  while (Accepted < Text.size() && M.accept(Text[Accepted]))
    ++Accepted;
  EXPECT_LT(Accepted, Text.size());
  EXPECT_TRUE(M.gaveUp());
  EXPECT_FALSE(M.canEnd());
  EXPECT_TRUE(allowed(M).empty());
  // Others are not touched.
  EXPECT_TRUE(accepts(*G, R"({"a":1})"));
}

TEST(GrammarMask, GivesUpAfterTooManySteps) {
  // Each rule begins like all others: a text of n letters is in n^2 places.
  Limits Most;
  Most.Steps = 2'000;
  Most.StepsPerToken = 50;
  Result<Grammar::Ptr> G = Grammar::fromEbnf(
      "root ::= a \"!\"\na ::= \"x\" | \"x\" a | \"x\" a a", Most);
  ASSERT_TRUE(G) << G.error().message();
  EXPECT_TRUE(accepts(*G, "xxxxx!"));
  Matcher M(*G, byteTable());
  size_t Accepted = 0;
  while (Accepted < 10'000 && M.accept('x'))
    ++Accepted;
  EXPECT_GT(Accepted, 5u);
  EXPECT_LT(Accepted, 10'000u);
  EXPECT_TRUE(M.gaveUp());
  M.rollback(1);
  EXPECT_FALSE(M.allows('x')); // What has failed stays so.
  EXPECT_TRUE(accepts(*G, "xxxxx!"));
}

TEST(GrammarMask, CallersOfARuleAreOne) {
  // Of every value each schema may be the one: 3^40 ways to the innermost one.
  Result<Grammar::Ptr> G = Grammar::fromJsonSchemaText(R"json({
    "$ref": "#/$defs/any",
    "$defs": {
      "any": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"},
                        {"$ref": "#/$defs/c"}]},
      "a": {"type": "object", "required": ["a"],
            "properties": {"of": {"$ref": "#/$defs/any"}, "a": {"const": 1}}},
      "b": {"type": "object", "required": ["b"],
            "properties": {"of": {"$ref": "#/$defs/any"}, "b": {"const": 1}}},
      "c": {"type": "object", "required": ["c"],
            "properties": {"of": {"$ref": "#/$defs/any"}, "c": {"const": 1}}}
    }})json");
  ASSERT_TRUE(G) << G.error().message();
  std::string Text, End;
  for (int I = 0; I < 40; ++I) {
    Text += R"({"of":)";
    End += I % 2 == 0 ? R"(,"a":1})" : R"(,"c":1})";
  }
  EXPECT_TRUE(accepts(*G, Text + R"({"b":1})" + End));
  EXPECT_FALSE(accepts(*G, Text + R"({"d":1})" + End));
  EXPECT_FALSE(accepts(*G, Text + R"({"b":1})" + End + "}"));
}

TEST(GrammarMask, KeysGoOnBeyondAscii) {
  Result<Grammar::Ptr> G = Grammar::fromJsonSchemaText(
      R"({"type":"object","properties":{"\u00e9a":{},"\u6f22":{}},
          "additionalProperties":false})");
  ASSERT_TRUE(G) << G.error().message();
  EXPECT_TRUE(accepts(*G, "{\"\xc3\xa9"
                          "a\":1,\"\xe6\xbc\xa2\":2}"));
}

TEST(GrammarMask, ForcedText) {
  Result<Grammar::Ptr> G = Grammar::fromRegex("abc(d|e)|abcx");
  ASSERT_TRUE(G);
  Matcher M(*G, byteTable());
  EXPECT_EQ(M.forced(), "abc");
  for (char C : std::string("abcd"))
    ASSERT_TRUE(M.accept(C));
  EXPECT_EQ(M.forced(), "");
  EXPECT_TRUE(M.isComplete());
}

TEST(GrammarMask, ForcedStrings) {
  Result<Grammar::Ptr> G =
      Grammar::fromJsonSchemaText(R"({"enum":["get_weather","get_time"]})");
  ASSERT_TRUE(G);
  Matcher M(*G, byteTable());
  ASSERT_TRUE(M.accept('"'));
  EXPECT_EQ(M.forced(), "get_");
  for (char C : std::string("get_w"))
    ASSERT_TRUE(M.accept(C));
  EXPECT_EQ(M.forced(), "eather\"");

  // Of any length.
  const std::string Long(1000, 'x');
  G = Grammar::fromJsonSchemaText("{\"const\":\"" + Long + "\"}");
  ASSERT_TRUE(G);
  EXPECT_TRUE(accepts(*G, '"' + Long + '"'));
  EXPECT_FALSE(accepts(*G, "\"\\u0078" + Long.substr(1) + '"'));
}

/// The first token of a text may be spelled otherwise.
TEST(GrammarMask, EmptyTokensAreNeverAllowed) {
  Result<Grammar::Ptr> G = Grammar::fromRegex("a+");
  ASSERT_TRUE(G);
  Matcher M(*G, TokenTable::build({"", "a", "aa", "b"}));
  EXPECT_EQ(allowed(M), (std::vector<int32_t>{1, 2}));
  EXPECT_FALSE(M.accept(0));
  EXPECT_FALSE(M.accept(-1));
  EXPECT_FALSE(M.accept(4));
}

} // namespace
