//===- ToolCallGrammarTest.cpp - Answers whose calls fit their tools ------===//

#include "GrammarTestSupport.h"

#include "runtime/ToolCalls/CallGrammar.h"

#include <random>
#include <set>

using namespace tenon;
using namespace tenon::grammar;
using namespace tenon::tools;

namespace {

/// Whether marks in angle brackets are tokens of their own.
enum class Vocabulary { OfBytes, WithMarks };

Json strictTool(const std::string &Name, const Json &Parameters) {
  return {{"type", "function"},
          {"function",
           {{"name", Name}, {"strict", true}, {"parameters", Parameters}}}};
}

Json oneInteger() {
  return Json::parse(R"({"type": "object", "properties": {"x":
      {"type": "integer", "minimum": -9, "maximum": 5000}}, "required": ["x"],
      "additionalProperties": false})");
}

/// The marks of a format that are tokens.
std::vector<std::string> marksOf(const ToolFormat &F) {
  std::set<std::string> Found;
  auto Add = [&](std::string_view Mark) {
    for (size_t At = 0; (At = Mark.find('<', At)) != Mark.npos; ++At)
      if (size_t End = Mark.find('>', At); End != Mark.npos)
        Found.emplace(Mark.substr(At, End + 1 - At));
  };
  for (const CallPattern &P : F.Patterns)
    for (const Element &E : P.Elements)
      Add(E.Text);
  for (const auto *All : {&F.Dropped, &F.ThinkBegin, &F.ThinkEnd})
    for (std::string_view Mark : *All)
      Add(Mark);
  // A mark with a value in it is no token: "<function=".
  std::erase_if(Found, [](const std::string &Mark) {
    return Mark.find_first_of("=\" ") != Mark.npos;
  });
  return {Found.begin(), Found.end()};
}

/// Bytes, then marks.
class Answers {
public:
  Answers(std::string_view Format, Json Tools, Vocabulary V,
          bool IsSingle = false, bool InReasoning = false)
      : Format(*findToolFormat(Format)) {
    if (V == Vocabulary::WithMarks)
      Added = marksOf(this->Format);
    std::vector<std::string> Tokens;
    for (const std::string &Mark : Added)
      Tokens.push_back(SpecialMark + Mark);
    Table = test::byteTable(Tokens);
    for (const CallPattern &P : this->Format.Patterns)
      if (const Element &First = P.Elements.front();
          First.What == Element::Mark)
        Begins.emplace_back(First.Text);
      else
        Begins.push_back(First.What == Element::Calls ? "[" : "{");
    Options.Tools = std::move(Tools);
    Options.InReasoning = InReasoning;
    Options.IsSpecial = [this](std::string_view Text) {
      return std::find(Added.begin(), Added.end(), Text) != Added.end();
    };
    Made = callGrammar(this->Format, {Options, Added, IsSingle});
  }

  const Result<Grammar::Ptr> &grammar() const { return Made; }

  /// A mark in the text is its token.
  std::vector<int32_t> tokensOf(std::string_view Text) const {
    std::vector<int32_t> Tokens;
    while (!Text.empty()) {
      int32_t Token = static_cast<unsigned char>(Text.front());
      size_t Size = 1;
      for (size_t I = 0; I < Added.size(); ++I)
        if (Text.starts_with(Added[I]) && Added[I].size() > Size) {
          Token = static_cast<int32_t>(256 + I);
          Size = Added[I].size();
        }
      Tokens.push_back(Token);
      Text.remove_prefix(Size);
    }
    return Tokens;
  }

  bool accepts(std::string_view Text) const {
    if (!Made) {
      ADD_FAILURE() << Made.error().message();
      return false;
    }
    Matcher M(*Made, Table);
    for (int32_t Token : tokensOf(Text))
      if (!M.accept(Token))
        return false;
    return M.canEnd();
  }

  /// A text of allowed tokens, and what its parser says.
  ParsedAnswer random(std::mt19937 &Random) const {
    Matcher M(*Made, Table);
    ToolCallParser P(Format, Options);
    ParsedAnswer Answer;
    std::vector<uint64_t> Mask(Table->words());
    auto Feed = [&](std::vector<AnswerPart> Parts) {
      for (const AnswerPart &Part : Parts)
        Answer.add(Part);
    };
    auto Add = [&](int32_t Token) {
      if (!M.accept(Token))
        return false;
      if (Token >= 256)
        Feed(P.feed(Added[static_cast<size_t>(Token - 256)], true));
      else
        Feed(P.feed(std::string(1, static_cast<char>(Token))));
      return true;
    };
    for (int Length = 0; !(Length > 60 && M.canEnd()) && Length < 3000;
         ++Length) {
      if (Random() % 16 == 0 || (Length == 0 && Random() % 2))
        for (int32_t Token : tokensOf(Begins[Random() % Begins.size()]))
          if (!Add(Token))
            break;
      // What is forced, or begins a mark, is likelier than letters.
      static constexpr std::string_view Liked = "<[{}]>\"fx:1,";
      M.mask(Mask);
      std::vector<int32_t> Likely, Allowed;
      for (int32_t Id = 0; Id < static_cast<int32_t>(Table->size()); ++Id)
        // Which no text has.
        if (Id != static_cast<unsigned char>(SpecialMark) &&
            Mask[static_cast<size_t>(Id) / 64] >> (Id % 64) & 1) {
          Allowed.push_back(Id);
          if (Id >= 256 || Liked.find(static_cast<char>(Id)) != Liked.npos)
            Likely.push_back(Id);
        }
      if (Allowed.empty())
        break;
      const auto &From = !Likely.empty() && Random() % 4 ? Likely : Allowed;
      EXPECT_TRUE(Add(From[Random() % From.size()]));
    }
    IsWhole = M.canEnd();
    Feed(P.finish());
    return Answer;
  }

  mutable bool IsWhole = false;

private:
  const ToolFormat &Format;
  std::vector<std::string> Added;
  std::vector<std::string> Begins; ///< Of calls.
  std::shared_ptr<const TokenTable> Table;
  ToolParserOptions Options;
  Result<Grammar::Ptr> Made = Error("");
};

/// Formats that grammars do not describe.
bool isSupported(std::string_view Format, Vocabulary V) {
  static const std::set<std::string_view> Never = {"gpt-oss", "gemma4",
                                                   "pythonic", "lfm2"};
  // The first token of a call begins other things, too, or text comes first.
  static const std::set<std::string_view> WithoutMarks = {"kimi-k3",
                                                          "gigachat"};
  return !Never.contains(Format) &&
         (V == Vocabulary::OfBytes || !WithoutMarks.contains(Format));
}

/// Calls are where an answer begins, and text elsewhere.
bool isBare(const ToolFormat &F) {
  return std::any_of(F.Patterns.begin(), F.Patterns.end(),
                     [](const CallPattern &P) { return P.AtStart; });
}

} // namespace

TEST(ToolCallGrammar, ExamplesOfFormats) {
  const Json Tools = {strictTool("f", oneInteger())};
  const Json Texts = {
      strictTool("f", Json::parse(R"({"type": "object", "properties": {"x":
          {"type": "boolean"}}, "required": ["x"]})"))};
  for (Vocabulary V : {Vocabulary::OfBytes, Vocabulary::WithMarks})
    for (const ToolFormat &F : toolFormats()) {
      SCOPED_TRACE(std::string(F.Name) +
                   (V == Vocabulary::OfBytes ? "" : ", marks are tokens"));
      Answers A(F.Name, Tools, V);
      ASSERT_EQ(bool(A.grammar()), isSupported(F.Name, V))
          << (A.grammar() ? "" : A.grammar().error().message());
      if (!A.grammar())
        continue;
      const std::string Example(F.Example);
      EXPECT_TRUE(A.accepts("Some text."));
      EXPECT_TRUE(A.accepts(Example));
      EXPECT_TRUE(A.accepts("Some text. " + Example));
      // Other tools, arguments that are not whole, and of another type.
      EXPECT_FALSE(
          Answers(F.Name, {strictTool("g", oneInteger())}, V).accepts(Example));
      EXPECT_FALSE(A.accepts(Example.substr(0, Example.rfind('1') + 1)));
      EXPECT_FALSE(Answers(F.Name, Texts, V).accepts(Example));
      std::string More = Example;
      More.replace(More.rfind('1'), 1, "1.5");
      EXPECT_FALSE(A.accepts(More));
      if (isBare(F))
        continue;
      EXPECT_FALSE(A.accepts("Some text. " + More));
      EXPECT_TRUE(A.accepts(Example + Example));
      Answers One(F.Name, Tools, V, /*IsSingle=*/true);
      EXPECT_TRUE(One.accepts("Text. " + Example + " text"));
      EXPECT_FALSE(One.accepts(Example + Example));
    }
}

TEST(ToolCallGrammar, WhatIsWrittenIsReadAsCallsThatFit) {
  const Json Schema = Json::parse(R"({"type": "object", "properties": {
      "x": {"type": "integer", "minimum": 3, "maximum": 5000}, "s": {"type": "string"},
      "b": {"enum": ["f", "x"], "type": "string"}}, "required": ["x", "b"],
      "additionalProperties": false})");
  const Json Tools = {strictTool("f", Schema), strictTool("fx", oneInteger())};
  std::map<std::string, Grammar::Ptr> Arguments = {
      {"f", *Grammar::fromJsonSchema(Schema)},
      {"fx", *Grammar::fromJsonSchema(oneInteger())}};
  for (Vocabulary V : {Vocabulary::OfBytes, Vocabulary::WithMarks})
    for (const ToolFormat &F : toolFormats()) {
      if (!isSupported(F.Name, V))
        continue;
      SCOPED_TRACE(F.Name);
      std::mt19937 Random(7);
      size_t Calls = 0;
      for (int Round = 0; Round < 40; ++Round) {
        Answers A(F.Name, Tools, V, /*IsSingle=*/Round % 4 == 3);
        ASSERT_TRUE(A.grammar()) << A.grammar().error().message();
        ParsedAnswer Said = A.random(Random);
        if (!A.IsWhole)
          continue;
        Calls += Said.Calls.size();
        if (Round % 4 == 3) {
          EXPECT_LE(Said.Calls.size(), 1u);
        }
        for (const ToolCall &Call : Said.Calls) {
          ASSERT_TRUE(Arguments.contains(Call.Name)) << Call.Name;
          EXPECT_TRUE(test::accepts(Arguments[Call.Name], Call.Arguments))
              << Call.Name << " " << Call.Arguments;
        }
      }
      EXPECT_GT(Calls, 10u);
    }
}

TEST(ToolCallGrammar, ToolsThatAreNotStrictTakeAnyObject) {
  Json Loose = strictTool("f", oneInteger());
  Loose["function"].erase("strict");
  EXPECT_FALSE(isStrict(Loose));
  Answers A("hermes", {Loose}, Vocabulary::OfBytes);
  auto Call = [](const char *Name, const char *Arguments) {
    return std::string("<tool_call>\n{\"name\": \"") + Name +
           "\", \"arguments\": " + Arguments + "}\n</tool_call>";
  };
  EXPECT_TRUE(A.accepts(Call("f", R"({"y": [null]})")));
  EXPECT_FALSE(A.accepts(Call("f", "[1]")));
  EXPECT_FALSE(A.accepts(Call("g", "{}")));

  Answers Parts("qwen3-coder", {Loose, strictTool("s", oneInteger())},
                Vocabulary::OfBytes);
  auto Other = [](const char *Name, const char *Arguments) {
    return std::string("<tool_call>\n<function=") + Name + ">\n" + Arguments +
           "</function>\n</tool_call>";
  };
  const char *Any = "<parameter=y>\n[null]\n</parameter>\n<parameter=z>\n"
                    "a < b</parameter>\n";
  EXPECT_TRUE(Parts.accepts(Other("f", Any)));
  EXPECT_TRUE(Parts.accepts(Other("f", "")));
  EXPECT_FALSE(Parts.accepts(Other("s", Any)));
  EXPECT_FALSE(Parts.accepts(Other("s", "")));
}

TEST(ToolCallGrammar, Reasoning) {
  const Json Tools = {strictTool("f", oneInteger())};
  const std::string Call =
      R"(<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>)";
  for (Vocabulary V : {Vocabulary::OfBytes, Vocabulary::WithMarks}) {
    Answers A("hermes", Tools, V), In("hermes", Tools, V, false, true);
    // Nothing is a call there, nor has to be one.
    EXPECT_TRUE(A.accepts("<think>a <tool_call> is</think>" + Call));
    EXPECT_TRUE(A.accepts("<think>cut off: <tool_call>"));
    EXPECT_FALSE(A.accepts("<think>a</think><tool_call> is"));
    EXPECT_TRUE(In.accepts("a <tool_call> is</think>\n\n" + Call));
    EXPECT_FALSE(In.accepts("a</think><tool_call> is"));
    // Calls without a mark begin the answer that comes after it.
    Answers Bare("json", Tools, V), BareIn("json", Tools, V, false, true);
    const std::string Good = R"({"name": "f", "arguments": {"x": 1}})";
    const std::string Bad = R"({"name": "f", "arguments": {"x": "1"}})";
    EXPECT_TRUE(Bare.accepts(Good));
    EXPECT_FALSE(Bare.accepts(Bad));
    EXPECT_TRUE(Bare.accepts("As in " + Bad));
    EXPECT_TRUE(Bare.accepts("\n\n[" + Good + ", " + Good + "]"));
    EXPECT_FALSE(Bare.accepts("[" + Good + ", " + Bad + "]"));
    EXPECT_TRUE(Bare.accepts("<think>" + Bad + "</think>\n\n" + Good));
    EXPECT_FALSE(Bare.accepts("<think>hm</think>\n\n" + Bad));
    EXPECT_TRUE(BareIn.accepts(Bad + "</think>" + Good));
    EXPECT_FALSE(BareIn.accepts("hm</think>" + Bad));
  }
}

TEST(ToolCallGrammar, ArgumentsWithoutQuotes) {
  auto Call = [](const char *Arguments) {
    return "<tool_call>\n<function=f>\n" + std::string(Arguments) +
           "</function>\n</tool_call>";
  };
  const Json Schema = Json::parse(R"({"type": "object", "properties": {
      "path": {"type": "string", "description": "of a file"},
      "mode": {"type": "string", "enum": ["r", "w"]},
      "lines": {"type": "array", "items": {"type": "integer"}},
      "note": {"type": ["string", "null"]}}, "required": ["path", "mode"]})");
  Answers A("qwen3-coder", {strictTool("f", Schema)}, Vocabulary::OfBytes);
  EXPECT_TRUE(A.accepts(Call(
      "<parameter=path>\n/a \"b\" {\n</parameter>\n"
      "<parameter=mode>w</parameter>\n<parameter=lines>\n[1, 2]\n</parameter>\n"
      "<parameter=note>null</parameter>\n")));
  EXPECT_TRUE(A.accepts(
      Call("<parameter=path>a</parameter>\n<parameter=mode>r</parameter>\n")));
  // Line breaks around a value belong to the format, of an enum's too.
  EXPECT_TRUE(A.accepts(Call("<parameter=path>\na\n</parameter>\n"
                             "<parameter=mode>\nr\n</parameter>\n")));
  for (const char *Bad :
       {"<parameter=path>a</parameter>\n",
        "<parameter=path>a</parameter>\n<parameter=mode>x</parameter>\n",
        "<parameter=path>a</parameter>\n<parameter=mode>r</parameter>\n"
        "<parameter=lines>[1, 2.5]</parameter>\n",
        "<parameter=path>a</parameter>\n<parameter=mode>r</parameter>\n"
        "<parameter=other>1</parameter>\n"})
    EXPECT_FALSE(A.accepts(Call(Bad))) << Bad;

  auto Refusal = [](const char *Text) {
    Answers Not("qwen3-coder", {strictTool("f", Json::parse(Text))},
                Vocabulary::OfBytes);
    return Not.grammar() ? "" : Not.grammar().error().message();
  };
  EXPECT_EQ(Refusal(R"({"properties": {"a": {"type": "string",
                "pattern": "a"}}})"),
            "calls of the format 'qwen3-coder' write texts without quotes: the "
            "argument 'a' of 'f' has 'pattern': expected none");
  EXPECT_EQ(Refusal(R"({"properties": {"a": {"type": ["string",
                "integer"]}}})"),
            "calls of the format 'qwen3-coder' write texts without quotes: the "
            "argument 'a' of 'f' may be one or not: expected the type "
            "\"string\" alone");
  EXPECT_EQ(Refusal(R"({"properties": {"a": true}})"),
            "calls of the format 'qwen3-coder' write texts without quotes: the "
            "argument 'a' of 'f' may be one or not: expected a \"type\"");
  EXPECT_EQ(Refusal(R"({"required": ["b"]})"),
            "calls of the format 'qwen3-coder' write texts without quotes: the "
            "argument 'b' of 'f' is required: expected its schema");
  EXPECT_EQ(Refusal(R"({"properties": {"a>b": {"type": "integer"}}})"),
            "calls of the format 'qwen3-coder' write texts without quotes: the "
            "argument 'a>b' of 'f' cannot be written: expected a name without "
            "'>'");
  EXPECT_EQ(Refusal(R"({"minProperties": 1})"),
            "calls of the format 'qwen3-coder' have arguments one by one: the "
            "schema of 'f' has 'minProperties' beside them");
}

TEST(ToolCallGrammar, MarksSayWhichArgumentsAreTexts) {
  const Json Schema = Json::parse(R"({"type": "object", "properties": {
      "n": {"type": ["integer", "null"]}, "s": {"type": ["string", "null"]}},
      "required": ["n", "s"]})");
  Answers A("deepseek-v3.2", {strictTool("f", Schema)}, Vocabulary::OfBytes);
  auto Call = [](const char *NumberIsText, const char *TextIsText) {
    return std::string(
               "<｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"n\" "
               "string=\"") +
           NumberIsText +
           "\">5</｜DSML｜parameter><｜DSML｜parameter name=\"s\" string=\"" +
           TextIsText + "\">5</｜DSML｜parameter></｜DSML｜invoke>";
  };
  EXPECT_TRUE(A.accepts(Call("false", "true")));
  EXPECT_FALSE(A.accepts(Call("true", "true")));
  EXPECT_FALSE(A.accepts(Call("false", "false")));
}

TEST(ToolCallGrammar, Errors) {
  auto Refusal = [](std::string_view Format, Json Tools) {
    Answers Not(Format, std::move(Tools), Vocabulary::OfBytes);
    return Not.grammar() ? "" : Not.grammar().error().message();
  };
  EXPECT_EQ(Refusal("gemma4", {strictTool("f", oneInteger())}),
            "calls of the format 'gemma4' cannot be held to schemas while they "
            "are written");
  EXPECT_EQ(
      Refusal("hermes", {strictTool("g", oneInteger()),
                         strictTool("f", {{"uniqueItems", 3}})}),
      "tools[1].function.parameters: JSON schema: #/uniqueItems: expected "
      "true or false");
  EXPECT_EQ(Refusal("hermes", {strictTool("f", true)}),
            "tools[0].function.parameters is a boolean: expected an object");
  EXPECT_EQ(Refusal("hermes", {{{"type", "function"}}}),
            "tools[0] is no function: expected {\"type\": \"function\", "
            "\"function\": {\"name\": ..., \"parameters\": ...}}");
}
