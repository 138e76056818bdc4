//===- GrammarTest.cpp - Which texts grammars accept ----------------------===//

#include "GrammarTestSupport.h"

using namespace tenon;
using namespace tenon::grammar;
using namespace tenon::test;

namespace {

struct Case {
  const char *Grammar;
  std::vector<std::string> Accepted, Refused;
};

void check(const Result<Grammar::Ptr> &G, const Case &C) {
  ASSERT_TRUE(G) << C.Grammar << ": " << G.error().message();
  for (const std::string &Text : C.Accepted)
    EXPECT_TRUE(accepts(*G, Text)) << C.Grammar << " refuses " << Text;
  for (const std::string &Text : C.Refused)
    EXPECT_FALSE(accepts(*G, Text)) << C.Grammar << " accepts " << Text;
}

TEST(Grammar, RegularExpressions) {
  const Case Cases[] = {
      {"a*b+c?", {"b", "aab", "bbc"}, {"", "a", "abcc"}},
      {"(ab|cd){2,3}", {"abcd", "ababab"}, {"ab", "abababab"}},
      {"[^a-c\\d]", {"d", "\xc3\xa9", "\xf0\x9f\x98\x80"}, {"a", "5", "dd"}},
      {"x{0,1000}y", {"y", "xxy"}, {"x"}},
      {"^a$|b", {"a", "b"}, {"^a", "ab"}},
      {"(?=.*1)(?!.*2)[0-9]+", {"1", "310"}, {"3", "12"}},
      {"\\u00e9|\\x41|\\t", {"\xc3\xa9", "A", "\t"}, {"e"}},
      {"\\p{Lu}\\P{Lu}", {"Aa", "\xc3\x84\xc3\xa4"}, {"aA", "AA"}},
      {".", {"a", "\xe6\xbc\xa2"}, {"\n", ""}},
      {"a{,2}", {"a{,2}"}, {"a", "aa"}}};
  for (const Case &C : Cases)
    check(Grammar::fromRegex(C.Grammar), C);
}

TEST(Grammar, RegularExpressionErrors) {
  const std::pair<const char *, const char *> Cases[] = {
      {"(a)\\1", "back-reference"}, {"\\bword", "word boundary"},
      {"(?<=a)b", "lookbehind"},    {"(?i)a", "group (?i"},
      {"a++", "possessive"},        {"(a", "not closed"},
      {"[b-a]", "out of order"},    {"a)", "unmatched"},
      {"*a", "nothing to repeat"},  {"[^\\s\\S]", "no text matches"},
      {"a{9,3}", "out of order"},   {"a{1,999999}", "more than"}};
  for (auto [Pattern, Why] : Cases) {
    Result<Grammar::Ptr> G = Grammar::fromRegex(Pattern);
    ASSERT_FALSE(G) << Pattern;
    EXPECT_NE(G.error().message().find(Why), std::string::npos)
        << G.error().message();
  }
}

TEST(Grammar, Ebnf) {
  const Case Cases[] = {
      {"root ::= \"a\" b* # comment\nb ::= [0-9] | \"-\" b",
       {"a", "a1", "a--2"},
       {"a-", "1"}},
      {"root ::= \"(\" root? \")\"", {"()", "((()))"}, {"(", "(()"}},
      {"root ::= x{2,3}\nx ::= \"<\" x \">\" | \".\"",
       {"..", "<.>.", "..<<.>>"},
       {".", "...."}},
      {"root ::= (\"a\" | \"b\"\n  | \"c\")+ \"\\n\"", {"abc\n"}, {"abc"}},
      {"root ::= e\ne ::= t (\"+\" t)*\nt ::= [0-9] | \"(\" e \")\"",
       {"1+(2+3)", "((4))"},
       {"1+", "(1"}},
      {"root ::= \"x\" never | \"y\"\nnever ::= \"z\" never",
       {"y"},
       {"x", "xz"}}};
  for (const Case &C : Cases)
    check(Grammar::fromEbnf(C.Grammar), C);
}

TEST(Grammar, EbnfErrors) {
  const std::pair<const char *, const char *> Cases[] = {
      {"root ::= root \"a\" | \"b\"", "left recursion"},
      {"root ::= a \"x\" | \"y\"\na ::= \"\" root", "left recursion"},
      {"root ::= missing", "'missing' is missing"},
      {"root ::= \"a\" root", "never ends"},
      {"root ::= \"a", "line 1: a literal is not closed"},
      {"root ::= \"a\"\nroot ::= \"b\"", "given twice"},
      {"root = \"a\"", "expected a rule"},
      {"root ::= (\"a\"", "not closed"}};
  for (auto [Text, Why] : Cases) {
    Result<Grammar::Ptr> G = Grammar::fromEbnf(Text);
    ASSERT_FALSE(G) << Text;
    EXPECT_NE(G.error().message().find(Why), std::string::npos)
        << G.error().message();
  }
}

TEST(Grammar, Schemas) {
  const Case Cases[] = {
      {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{}},
           "required":["a"],"additionalProperties":false})",
       {R"({"a":1})", R"({"b":[],"a":-2})", R"( { "a" : 1.0 } )"},
       {R"({})", R"({"a":1,"a":2})", R"({"\u0061":1})", R"({"a":1,"c":2})",
        R"({"a":1.5})", R"({"a":1,})"}},
      // A key is written once, however it is spelled.
      {R"({"type":"object","properties":{"a":{"type":"integer"}}})",
       {R"({"b":1,"a":2})", R"({"\u0062":1})", R"({"b":1,"c":1})"},
       {R"({"\u0061":"x"})", R"({"b":1,"b":2})", R"({"b":1,"\u0062":2})"}},
      {R"({"type":"string","minLength":2,"maxLength":3})",
       {R"("ab")", R"("\n\u00e9")", "\"\xf0\x9f\x98\x80\xc3\xa9z\"",
        R"("\ud83d\ude00x")"},
       {R"("a")", R"("abcd")", "\"a\nb\"", R"("\ud83dab")", R"("\x41b")"}},
      {R"({"type":"string","pattern":"^[ab]+$","maxLength":2})",
       {R"("ab")", R"("\u0061")"},
       {R"("abc")", R"("c")", R"("")", R"("\u0063")"}},
      {R"({"enum":["x",1,null,{"k":[true]},2.5]})",
       {R"("x")", "1", "1.0", "2.50", "null", R"({"k":[true]})"},
       {R"("y")", "2", "1.5", R"({"k":[false]})", R"({"k":[true],"l":1})"}},
      // Known strings are spelled in one way, others freely.
      {R"({"enum":["x","\u00e9/\n",""]})",
       {R"("x")", "\"\xc3\xa9/\\n\"", R"("")"},
       {R"("\u0078")", R"("\u00e9/\n")", "\"\xc3\xa9\\/\\n\"",
        "\"\xc3\xa9/\\u000a\""}},
      {R"({"anyOf":[{"const":"x"},{"type":"string","minLength":2}]})",
       {R"("x")", R"("\u0078")", R"("xy")"},
       {R"("y")", R"("\u0079")"}},
      {R"({"type":"integer","minimum":-3,"exclusiveMaximum":120})",
       {"-3", "0", "-0", "99", "119", "5.00"},
       {"-4", "120", "1000", "-10", "5.01", "01"}},
      {R"({"type":"number","exclusiveMinimum":0.05,"maximum":1.5})",
       {"0.051", "1", "1.5", "1.50", "0.5"},
       {"0.05", "0", "1.51", "2", "-1"}},
      {R"({"type":"number","multipleOf":0.25})",
       {"0", "0.25", "-7.50", "12"},
       {"0.3", "0.255", "1.1"}},
      {R"({"type":"array","prefixItems":[{"type":"string"}],
           "items":{"type":"integer"},"minItems":2,"maxItems":3})",
       {R"(["a",1])", R"(["a",1,2])"},
       {"[]", R"(["a"])", R"([1,1])", R"(["a",1,2,3])", R"(["a","b"])"}},
      {R"({"contains":{"const":1},"type":"array","items":{"type":"integer"},
           "maxContains":2})",
       {"[1]", "[2,1,1]"},
       {"[]", "[2]", "[1,1,1]", R"([1,"a"])"}},
      {R"({"anyOf":[{"required":["a"]},{"required":["b"]}],"type":"object",
           "properties":{"a":{"type":"string"}}})",
       {R"({"b":1})", R"({"a":"x"})", R"({"a":"x","b":1})"},
       {"{}", R"({"a":1})", R"({"c":1})", R"({"b":1,"a":1})"}},
      {R"({"oneOf":[{"type":"integer"},{"minimum":2}]})",
       {"1", "2.5", R"("x")"},
       {"3", "1.5"}},
      {R"({"if":{"properties":{"k":{"const":1}},"required":["k"]},
           "then":{"required":["v"]},"type":"object"})",
       {R"({"k":2})", R"({"v":0,"k":1})", "{}"},
       {R"({"k":1})"}},
      {R"({"not":{"type":["object","array"]}})", {"1", "null"}, {"{}", "[]"}},
      {R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":
           {"c":{"type":"array","items":{"$ref":"#/$defs/t"}}},
           "additionalProperties":false}}})",
       {R"({"c":[{},{"c":[]}]})"},
       {R"({"c":[1]})", R"({"d":1})"}},
      {R"({"allOf":[{"properties":{"a":{"minimum":1}}},
           {"properties":{"a":{"maximum":2}},"required":["a"]}],
           "type":"object","unevaluatedProperties":false})",
       {R"({"a":1})", R"({"a":2})"},
       {R"({"a":3})", R"({"a":1,"b":1})"}},
      {R"({"type":"object","patternProperties":{"^x":{"type":"integer"}},
           "additionalProperties":{"type":"string"},"maxProperties":2})",
       {R"({"x1":1,"y":"s"})"},
       {R"({"x1":"s"})", R"({"y":1})", R"({"x":1,"xx":1,"xxx":1})"}},
      {R"({"type":"object","propertyNames":{"pattern":"^[ab]$"},
           "minProperties":2})",
       {R"({"a":1,"b":2})", R"({"b":1,"a":2})"},
       {R"({"a":1})", R"({"a":1,"c":1})"}},
      {R"({"type":"object","dependentRequired":{"a":["b"]}})",
       {R"({"b":1})", R"({"a":1,"b":1})", R"({"b":1,"a":1})"},
       {R"({"a":1})"}},
      {R"({"type":"string","format":"date"})",
       {R"("2024-02-29")"},
       {R"("2023-02-29")", R"("x")"}}};
  for (const Case &C : Cases)
    check(Grammar::fromJsonSchemaText(C.Grammar), C);
}

TEST(Grammar, OrderOfKeysWhenFixed) {
  SchemaOptions Options;
  Options.FixedOrder = true;
  const char *Text = R"({"type":"object","properties":{"a":{},"b":{},"c":{}},
    "required":["b"],"additionalProperties":false})";
  check(Grammar::fromJsonSchemaText(Text, Options),
        {Text,
         {R"({"a":1,"b":1,"c":1})", R"({"b":1})", R"({"b":1,"c":1})"},
         {R"({"b":1,"a":1})", R"({"a":1,"c":1})", R"({"c":1})"}});
}

TEST(Grammar, FormatsByDialect) {
  const char *Text =
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema",
    "type":"string","format":"date"})";
  check(Grammar::fromJsonSchemaText(Text), {Text, {R"("x")"}, {}});
  SchemaOptions Options;
  Options.Format = Formats::Asserted;
  check(Grammar::fromJsonSchemaText(Text, Options), {Text, {}, {R"("x")"}});
}

TEST(Grammar, WhitespaceIsBounded) {
  Result<Grammar::Ptr> G = Grammar::fromJsonSchemaText(R"({"type":"null"})");
  ASSERT_TRUE(G);
  EXPECT_TRUE(accepts(*G, std::string(64, ' ') + "null\n"));
  EXPECT_FALSE(accepts(*G, std::string(65, ' ') + "null"));
  EXPECT_FALSE(accepts(*G, "\n\n\n\n\nnull"));
}

TEST(Grammar, ErrorsNameTheirPlace) {
  const std::pair<const char *, const char *> Cases[] = {
      {R"({"properties":{"a":{"minimun":1}}})",
       "#/properties/a/minimun: is not a keyword: expected 'minimum'"},
      {R"({"additonalProperties":false})", "#/additonalProperties"},
      {R"({"types":"string"})", "#/types"},
      // Others count them, or the specification will.
      {R"({"type":"string","nullable":true})", "#/nullable"},
      {R"({"divisibleBy":2})", "#/divisibleBy"},
      {R"({"$recursiveRef":"#"})", "#/$recursiveRef"},
      {R"({"items":{"type":"integr"}})", "#/items/type"},
      {R"({"properties":{"a/b":{"pattern":"("}}})",
       "#/properties/a~1b/pattern"},
      {R"({"type":"array","uniqueItems":true})", "#/uniqueItems"},
      {R"({"$ref":"http://x/y"})", "#/$ref"},
      {R"({"$ref":"#/nowhere"})", "#/$ref"},
      {R"({"$ref":"#"})", "refers to itself"},
      {R"({"not":{"patternProperties":{"a":false}}})",
       "#/not/patternProperties"},
      {R"({"type":"string","format":"regex"})", "#/format"},
      {R"({"minLength":-1})", "#/minLength"},
      {R"({"type":"object","required":["a"],"properties":{"a":false}})",
       "no finite JSON value"},
      {R"({"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}})",
       "no finite JSON value"},
      {R"({"minimum":3,"maximum":1,"type":"number"})", "no finite JSON value"},
      {R"([])", "expected an object or a boolean"}};
  for (auto [Text, Why] : Cases) {
    Result<Grammar::Ptr> G = Grammar::fromJsonSchemaText(Text);
    ASSERT_FALSE(G) << Text;
    EXPECT_NE(G.error().message().find(Why), std::string::npos)
        << G.error().message();
  }
}

TEST(Grammar, UnknownKeywordsAreAnnotations) {
  const char *Text = R"({"type":"integer","propertyOrder":1,"note":"n",
    "readonly":true,"links":[],"x-order":1,"_comment":"c","_format":"f",
    "enumNames":["a"],"markdownDescription":"d"})";
  check(Grammar::fromJsonSchemaText(Text), {Text, {"1"}, {R"("a")"}});
}

TEST(Grammar, LimitsAreErrors) {
  Limits Most;
  Most.SourceBytes = 10;
  EXPECT_FALSE(Grammar::fromRegex("aaaaaaaaaaaa", Most));
  EXPECT_FALSE(Grammar::fromJsonSchemaText(R"({"type":"string"})", {}, Most));
  Most = {};
  Most.Depth = 4;
  EXPECT_FALSE(Grammar::fromJsonSchemaText(
      R"({"items":{"items":{"items":{"items":{}}}}})", {}, Most));
  Most = {};
  Most.Branches = 3;
  EXPECT_FALSE(Grammar::fromJsonSchemaText(
      R"({"anyOf":[{"minimum":1},{"minimum":2},{"minimum":3},{"minimum":4}]})",
      {}, Most));
  Most = {};
  Most.States = 100;
  EXPECT_FALSE(Grammar::fromRegex("(a|b|cd|ef|gh|ij|kl|mn)*(op|qr|st)+[0-9a-z]*"
                                  "uvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"
                                  "mnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
                                  Most));
}

TEST(Grammar, Choices) {
  std::vector<std::string> Texts{"yes", "no", "not"};
  check(Grammar::fromChoices(Texts),
        {"choices", {"yes", "no", "not"}, {"", "n", "yesno"}});
  EXPECT_FALSE(Grammar::fromChoices({}));
}

} // namespace
