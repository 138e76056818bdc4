//===- ToolCallTest.cpp - Tool calls in answers ---------------------------===//

#include "runtime/ToolCalls/ArgumentValues.h"
#include "runtime/ToolCalls/ToolCallParser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::tools;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using Calls = std::vector<ToolCall>;

const ToolFormat &format(std::string_view Name) {
  const ToolFormat *F = findToolFormat(Name);
  EXPECT_TRUE(F) << Name;
  return *F;
}

/// The answer in pieces of `Size` bytes; 0: in one. A piece may end inside a
/// character.
ParsedAnswer parse(std::string_view Format, std::string_view Text,
                   size_t Size = 0, ToolParserOptions Options = {}) {
  ToolCallParser P(format(Format), std::move(Options));
  ParsedAnswer A;
  Size = Size ? Size : Text.size() + 1;
  for (size_t At = 0; At < Text.size(); At += Size)
    for (const AnswerPart &Part : P.feed(Text.substr(At, Size)))
      A.add(Part);
  for (const AnswerPart &Part : P.finish())
    A.add(Part);
  return A;
}

/// Whatever the pieces, the answer is this.
void expect(std::string_view Format, std::string_view Text,
            std::string_view Content, const Calls &Want,
            std::string_view Reasoning = "", const Json &Tools = Json()) {
  for (size_t Size : {0, 1, 2, 3, 7}) {
    SCOPED_TRACE(std::string(Format) + " by " + std::to_string(Size) + ": " +
                 std::string(Text));
    ParsedAnswer A =
        parse(Format, Text, Size, {.Tools = Tools, .IsSpecial = {}});
    EXPECT_EQ(A.Text, Content);
    EXPECT_EQ(A.Reasoning, Reasoning);
    ASSERT_EQ(A.Calls.size(), Want.size());
    for (size_t I = 0; I < Want.size(); ++I) {
      EXPECT_EQ(A.Calls[I].Name, Want[I].Name);
      EXPECT_EQ(Json::parse(A.Calls[I].Arguments),
                Json::parse(Want[I].Arguments));
    }
  }
}

const Json Weather = Json::parse(R"([{"type": "function", "function": {
  "name": "weather", "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}, "days": {"type": "integer"},
    "hint": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "wind": {"type": ["boolean", "null"]}}}}}])");

} // namespace

TEST(ToolCall, ExamplesOfAllFormatsAreCalls) {
  for (const ToolFormat &F : toolFormats()) {
    expect(F.Name, F.Example, "", {{"f", R"({"x": 1})"}});
    EXPECT_EQ(findToolFormat(F.Name), &F);
  }
}

TEST(ToolCall, WhatIsCutOffIsTextAndNoCall) {
  for (const ToolFormat &F : toolFormats())
    for (size_t End = 1; End < F.Example.size(); ++End) {
      std::string_view Cut = F.Example.substr(0, End);
      ParsedAnswer A = parse(F.Name, Cut);
      // The end of a harmony message need not be written.
      if (F.Name == "gpt-oss" && Cut.find('}') != std::string_view::npos)
        continue;
      EXPECT_THAT(A.Calls, IsEmpty()) << Cut;
      EXPECT_EQ(A.Text, Cut);
    }
}

TEST(ToolCall, TextAroundCalls) {
  expect(
      "hermes",
      "I look.\n<tool_call>\n{\"name\": \"a\", \"arguments\": {}}\n"
      "</tool_call>\n<tool_call>\n{\"name\": \"b\", \"arguments\": "
      "{\"s\": \"</tool_call> {\\\" \", \"l\": [{\"k\": []}]}}\n"
      "</tool_call> done\n",
      "I look. done\n",
      {{"a", "{}"}, {"b", R"({"s": "</tool_call> {\" ", "l": [{"k": []}]})"}});
  expect("mistral",
         R"([TOOL_CALLS] [{"name": "a", "arguments": {}, "id": "1"}, )"
         R"({"name": "b", "arguments": {"x": "]"}}])",
         "", {{"a", "{}"}, {"b", R"({"x": "]"})"}});
  expect("mistral",
         R"(Sure.[TOOL_CALLS]a[CALL_ID]12[ARGS]{}[TOOL_CALLS]b[ARGS]{"x": 2})",
         "Sure.", {{"a", "{}"}, {"b", R"({"x": 2})"}});
  expect(
      "deepseek-v3.1",
      "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{}"
      "<｜tool▁call▁end｜><｜tool▁call▁begin｜>b<｜tool▁sep｜>{\"é\": \"｜\"}"
      "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      "", {{"a", "{}"}, {"b", R"({"é": "｜"})"}});
}

TEST(ToolCall, Harmony) {
  expect("gpt-oss",
         "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant"
         "<|channel|>commentary<|message|>First this.<|end|><|start|>assistant"
         "<|channel|>commentary to=functions.a <|constrain|>json<|message|>"
         "{\"x\": \"<|call|>\"}<|call|>",
         "First this.", {{"a", R"({"x": "<|call|>"})"}}, "Think.");
  expect(
      "gpt-oss",
      " to=functions.a<|channel|>commentary<|message|>{}<|call|>"
      "<|start|>assistant to=functions.b<|channel|>commentary json<|message|>"
      "{}<|call|>",
      "", {{"a", "{}"}, {"b", "{}"}});
  expect("gpt-oss", "<|channel|>final<|message|>Say to=functions.a!",
         "Say to=functions.a!", {});
}

TEST(ToolCall, ValuesBySchema) {
  const char *Text = "<tool_call><function=weather><parameter=city>\n12\n"
                     "</parameter><parameter=days>\n12\n</parameter>"
                     "<parameter=hint>null</parameter><parameter=more>[1]"
                     "</parameter></function></tool_call>";
  expect(
      "qwen3-coder", Text, "",
      {{"weather", R"({"city": "12", "days": 12, "hint": null, "more": [1]})"}},
      "", Weather);
  // A whole number, though no integer of the machine.
  EXPECT_EQ(typedArgument(Weather, "weather", "days", "1e300"), Json(1e300));
  // What the schema does not take stays a text.
  EXPECT_EQ(typedArgument(Weather, "weather", "days", "soon"), Json("soon"));
  EXPECT_EQ(typedArgument(Weather, "weather", "days", "3.0"), Json(3.0));
  EXPECT_EQ(typedArgument(Weather, "weather", "days", "3.5"), Json("3.5"));
  // As Python spells them, where it can be no text.
  EXPECT_EQ(typedArgument(Weather, "weather", "wind", "True"), Json(true));
  EXPECT_EQ(typedArgument(Weather, "weather", "wind", "False"), Json(false));
  EXPECT_EQ(typedArgument(Weather, "weather", "wind", "None"), Json());
  EXPECT_EQ(typedArgument(Weather, "weather", "days", "True"), Json("True"));
  EXPECT_EQ(typedArgument(Weather, "weather", "hint", "None"), Json("None"));
  EXPECT_EQ(typedArgument(Weather, "weather", "more", "None"), Json("None"));
  expect(
      "deepseek-v3.2",
      "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"a\">\n"
      "<｜DSML｜parameter name=\"s\" string=\"true\">12</｜DSML｜parameter>\n"
      "<｜DSML｜parameter name=\"n\" string=\"false\">12</｜DSML｜parameter>\n"
      "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
      "", {{"a", R"({"s": "12", "n": 12})"}});
}

TEST(ToolCall, PythonAndGemma) {
  expect("pythonic",
         "[a.b(s='it\\'s \\u00e9', n=-1.5e3, t=(1, [2]), d={'k': None}), c()]",
         "",
         {{"a.b", R"({"s": "it's é", "n": -1500.0, "t": [1, [2]],
                          "d": {"k": null}})"},
          {"c", "{}"}});
  for (const char *Text : {"[f(1)]", "[f(x=1, x=2)]", "[f(x=y)]", "[1, 2]",
                           "[f(x='a)]", "[f(x=1) g()]"})
    expect("pythonic", Text, Text, {});
  expect("gemma4",
         "<|tool_call>call:f{a b:[1,{c:true}],s:<|\"|>}, {<|\"|>}"
         "<tool_call|>",
         "", {{"f", R"({"a b": [1, {"c": true}], "s": "}, {"})"}});
}

TEST(ToolCall, FormatsOfSingleFamilies) {
  // As their templates write calls of turns before.
  expect(
      "seed-oss",
      "<seed:think>Hm.</seed:think>Look:\n<seed:tool_call>\n<function=weather>"
      "\n<parameter=city>\n12\n</parameter>\n<parameter=days>3</parameter>\n"
      "</function>\n</seed:tool_call>",
      "Look:", {{"weather", R"({"city": "\n12\n", "days": 3})"}}, "Hm.",
      Weather);
  expect(
      "minimax-m2",
      "So.\n<minimax:tool_call>\n<invoke name=\"weather\"><parameter "
      "name=\"city\">12</parameter>\n<parameter name=\"days\">3</parameter>\n"
      "</invoke>\n<invoke name=\"g\"></invoke>\n</minimax:tool_call>",
      "So.", {{"weather", R"({"city": "12", "days": 3})"}, {"g", "{}"}}, "",
      Weather);
  expect("hunyuan-3",
         "<think:opensource>Hm.</think:opensource>A<tool_calls:opensource>\n"
         "<tool_call:opensource>weather<tool_sep:opensource>\n"
         "<arg_key:opensource>city</arg_key:opensource>\n"
         "<arg_value:opensource>a\nb</arg_value:opensource>\n"
         "</tool_call:opensource>\n</tool_calls:opensource>",
         "A", {{"weather", R"({"city": "a\nb"})"}}, "Hm.", Weather);
  expect(
      "solar",
      "<|think|>Hm.<|end|><|begin|>assistant<|tool_calls|>"
      "<|tool_call:begin|>a1b2<|tool_call:name|>f<|tool_call:args|>{\"x\": 1}"
      "<|tool_call:end|><|tool_call:begin|>c3<|tool_call:name|>g"
      "<|tool_call:args|>{}<|tool_call:end|><|calls|>",
      "", {{"f", R"({"x": 1})"}, {"g", "{}"}}, "Hm.");
  expect("solar", "<|think|><|end|><|begin|>assistant<|content|>Hi.<|end|>",
         "Hi.", {});
  expect("command-r7b",
         "<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    "
         "{\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": "
         "{\"x\": 1}},\n    {\"tool_call_id\": \"1\", \"tool_name\": \"g\", "
         "\"parameters\": {}}\n]<|END_ACTION|>",
         "", {{"f", R"({"x": 1})"}, {"g", "{}"}}, "Hm.");
  expect("command-r7b",
         "<|START_THINKING|><|END_THINKING|><|START_RESPONSE|>Hi."
         "<|END_RESPONSE|>",
         "Hi.", {});
  // Two names.
  const char *Twice =
      "<|START_ACTION|>[{\"tool_name\": \"f\", \"name\": \"g\", "
      "\"parameters\": {}}]<|END_ACTION|>";
  expect("command-r7b", Twice, Twice, {});
  expect("apriel",
         "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nYes.\n"
         "<tool_calls>[{\"name\": \"f\", \"arguments\": {\"x\": 1}, \"id\": "
         "\"1\"}, {\"name\": \"g\", \"arguments\": {}}]</tool_calls>",
         "Yes.", {{"f", R"({"x": 1})"}, {"g", "{}"}}, "Hm.");
  expect("nemotron-v2",
         "Yes.\n<TOOLCALL>[{\"name\": \"f\", \"arguments\": {\"x\": 1}}, "
         "{\"name\": \"g\", \"arguments\": {}}]</TOOLCALL>",
         "Yes.", {{"f", R"({"x": 1})"}, {"g", "{}"}});
  expect("granite-3",
         "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"x\": \"]\"}}]", "",
         {{"f", R"({"x": "]"})"}});
  expect("lfm2", "A<|tool_call_start|>[f(x=1), g()]<|tool_call_end|>B", "AB",
         {{"f", R"({"x": 1})"}, {"g", "{}"}});
  expect("gigachat",
         "Yes.<|function_call|>{\"name\": \"f\", \"arguments\": {\"x\": 1}}"
         "<|message_sep|>\n\n",
         "Yes.", {{"f", R"({"x": 1})"}});
  expect("gigachat",
         "Yes.<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"f\", "
         "\"arguments\": {}}<|message_sep|>\n\n",
         "Yes.", {{"f", "{}"}});
  expect("firefunction",
         "functools[{\"name\": \"f\", \"arguments\": {\"x\": 1}}, {\"name\": "
         "\"g\", \"arguments\": {}}]",
         "", {{"f", R"({"x": 1})"}, {"g", "{}"}});
  expect("firefunction", "from functools import reduce",
         "from functools import reduce", {});
}

TEST(ToolCall, JsonThatIsNoCallIsText) {
  for (const char *Text : {R"({"capital": "Paris"})", "{}", R"({"name": "f"})",
                           R"({"name": "f", "arguments": "x"})",
                           R"({"name": "f", "arguments": {}, "age": 3})",
                           R"({"name": "f", "arguments": {"x": 1, "x": 2}})"})
    for (const char *Format : {"json", "llama3"})
      expect(Format, Text, Text, {});
  // Only where the answer begins, and of a tool that there is.
  const char *Call = R"({"name": "weather", "arguments": {}})";
  expect("json", std::string("A call: ") + Call, std::string("A call: ") + Call,
         {});
  expect("json", Call, "", {{"weather", "{}"}}, "", Weather);
  const char *Other = R"({"name": "Ann", "parameters": {}})";
  expect("llama3", Other, Other, {}, "", Weather);
  expect("llama3",
         R"({"name": "a", "parameters": {}}; {"name": "b", "parameters": {}})",
         "", {{"a", "{}"}, {"b", "{}"}});
}

TEST(ToolCall, MalformedCallsAreText) {
  for (const char *Text :
       {"<tool_call>not json</tool_call>",
        "<tool_call>{\"name\": \"f\", \"arguments\": {]}}</tool_call>",
        "<tool_call>{\"name\": \"f\", \"arguments\": {}} x</tool_call>"})
    expect("hermes", Text, Text, {});
  // A whole one behind it counts.
  expect("hermes",
         "<tool_call>?<tool_call>{\"name\": \"f\", \"arguments\": {}}"
         "</tool_call>",
         "<tool_call>?", {{"f", "{}"}});
}

TEST(ToolCall, Reasoning) {
  const char *Call =
      "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
  expect("hermes", std::string("<think>\nHm.\n</think>\n\nYes.\n") + Call,
         "Yes.", {{"f", "{}"}}, "Hm.");
  ParsedAnswer A = parse("hermes", std::string("Hm.</think>") + Call, 1,
                         {.Tools = {}, .InReasoning = true, .IsSpecial = {}});
  EXPECT_EQ(A.Reasoning, "Hm.");
  EXPECT_EQ(A.Text, "");
  EXPECT_THAT(A.Calls, ElementsAre(ToolCall{"f", "{}"}));
}

TEST(ToolCall, TokensOfReasoning) {
  auto Count = [](std::vector<std::string_view> Tokens,
                  bool InReasoning = false) {
    ToolCallParser P(
        format("hermes"),
        {.Tools = {}, .InReasoning = InReasoning, .IsSpecial = {}});
    for (std::string_view Text : Tokens)
      P.feed(Text);
    P.finish();
    return P.reasoningTokens();
  };
  EXPECT_EQ(Count({"a", "<think>", "b", "\n", "</think>", "c"}), 2u);
  // Each counts where it begins.
  EXPECT_EQ(Count({"<th", "ink>", "b", " <", "i>", "</th", "ink>", "c"}), 3u);
  EXPECT_EQ(Count({"b.</", "think>c", "d"}, true), 1u);
  EXPECT_EQ(Count({"b", "</th"}, true), 2u) << "no mark";
  ToolCallParser P(format("hermes"),
                   {.Tools = {}, .InReasoning = true, .IsSpecial = {}});
  P.feed("a", /*Special=*/false, /*Tokens=*/3);
  EXPECT_EQ(P.reasoningTokens(), 3u);
}

TEST(ToolCall, PiecesThatEndInsideAMark) {
  expect("hermes", "<think>a<think>b</think>c", "c", {}, "ab");
  expect("hermes", " \n ", " \n ", {});
  // Just as much as a header may have before its mark.
  std::string Header(255, 'x');
  expect("gpt-oss",
         "<|channel|>commentary to=functions.f " + Header +
             "<|message|>{}<|call|>",
         "", {{"f", "{}"}});
  // A name of an argument that is not UTF-8.
  ParsedAnswer A =
      parse("qwen3-coder", "<tool_call><function=f><parameter=\xd0>1"
                           "</parameter></function></tool_call>");
  ASSERT_EQ(A.Calls.size(), 1u);
  EXPECT_EQ(A.Calls[0].Arguments, "{\"\xEF\xBF\xBD\":1}");
}

TEST(ToolCall, SpellingOfASpecialTokenIsText) {
  ToolParserOptions Options;
  Options.IsSpecial = [](std::string_view Text) {
    return Text == "<tool_call>" || Text == "</tool_call>";
  };
  const char *Body = "{\"name\": \"f\", \"arguments\": {}}";
  for (bool Special : {false, true}) {
    ToolCallParser P(format("hermes"), Options);
    ParsedAnswer A;
    for (auto [Text, Is] : {std::pair("<tool_call>", Special),
                            {Body, false},
                            {"</tool_call>", Special},
                            {"<|im_end|>", true}})
      for (const AnswerPart &Part : P.feed(Text, Is))
        A.add(Part);
    for (const AnswerPart &Part : P.finish())
      A.add(Part);
    EXPECT_EQ(A.Calls.size(), Special ? 1u : 0u);
    EXPECT_EQ(A.Text, Special
                          ? ""
                          : std::string("<tool_call>") + Body + "</tool_call>");
  }
}

TEST(ToolCall, TextIsGivenAtOnce) {
  ToolCallParser P(format("hermes"), {});
  std::vector<AnswerPart> Parts = P.feed("Hello <");
  ASSERT_EQ(Parts.size(), 1u);
  EXPECT_EQ(Parts[0].Content, "Hello");
  Parts = P.feed("b");
  ASSERT_EQ(Parts.size(), 1u);
  EXPECT_EQ(Parts[0].Content, " <b");
}

TEST(ToolCall, HostileAnswersCostLinearTime) {
  for (const ToolFormat &F : toolFormats()) {
    std::string Begin(F.Example.substr(0, F.Example.find('f') + 1));
    std::string Text;
    while (Text.size() < 300000)
      Text += Begin + "{\"a\": \"";
    ParsedAnswer A = parse(F.Name, Text, 11);
    EXPECT_THAT(A.Calls, IsEmpty());
    EXPECT_GT(A.Text.size() + A.Reasoning.size(), Text.size() / 3) << F.Name;
  }
  // Nothing is looked for behind many that fail.
  for (size_t Before : {0, 1}) {
    std::string Text;
    for (size_t I = Before; I < ToolCallParser::MaxFailedCalls; ++I)
      Text += "<tool_call>?";
    Text += "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    EXPECT_EQ(parse("hermes", Text).Calls.size(), Before);
  }
  for (size_t Count : {MaxArguments, MaxArguments + 1}) {
    std::string Python = "[f(", Xml = "<tool_call><function=f>";
    for (size_t I = 0; I < Count; ++I) {
      std::string Key = "a" + std::to_string(I);
      Python += (I ? "," : "") + Key + "=1";
      Xml += "<parameter=" + Key + ">1</parameter>";
    }
    size_t Calls = Count == MaxArguments;
    EXPECT_EQ(parse("pythonic", Python + ")]").Calls.size(), Calls);
    EXPECT_EQ(
        parse("qwen3-coder", Xml + "</function></tool_call>").Calls.size(),
        Calls);
  }
  // Longer than a call may be.
  std::string Long = "<tool_call>{\"name\": \"f\", \"arguments\": {\"s\": \"" +
                     std::string(ToolCallParser::MaxCallBytes, 'x') +
                     "\"}}</tool_call>";
  EXPECT_EQ(parse("hermes", Long, 4096).Text, Long);
}

TEST(ToolCall, FormatsOfTemplates) {
  auto NameOf = [](std::string_view Template) {
    const ToolFormat *F = detectToolFormat(Template);
    return F ? std::string(F->Name) : "none";
  };
  EXPECT_EQ(NameOf("<tool_call>\n{\"name\": ..., \"arguments\""), "hermes");
  EXPECT_EQ(NameOf("<tool_call>\n{\\\"name\\\": ..., \\\"arguments\\\""),
            "hermes");
  // Other shapes between marks that look the same.
  EXPECT_EQ(NameOf("<tool_call><invoke name="), "none");
  EXPECT_EQ(NameOf("<function=name>{{ arguments }}</function>"), "none");
  EXPECT_EQ(NameOf("<tool_call>\n<function=example><parameter=a>"),
            "qwen3-coder");
  EXPECT_EQ(NameOf("<tool_call>{name}<arg_key>"), "glm");
  EXPECT_EQ(NameOf("<｜tool▁call▁begin｜>x<｜tool▁sep｜>y```json"),
            "deepseek-v3");
  EXPECT_EQ(NameOf("<｜tool▁call▁begin｜>x<｜tool▁sep｜>y"), "deepseek-v3.1");
  EXPECT_EQ(NameOf("Environment: ipython"), "llama3");
  EXPECT_EQ(NameOf("<seed:tool_call>\n<function=a>\n<parameter=b>"),
            "seed-oss");
  EXPECT_EQ(NameOf("<minimax:tool_call>"), "minimax-m2");
  EXPECT_EQ(NameOf("= ':opensource' '<tool_call{}>' '<tool_sep{}>'"),
            "hunyuan-3");
  EXPECT_EQ(NameOf("<|tool_call:begin|>"), "solar");
  EXPECT_EQ(NameOf("<|START_ACTION|>["), "command-r7b");
  EXPECT_EQ(NameOf("<tool_call></tool_call> <tool_calls>[{\"arguments\""),
            "apriel");
  EXPECT_EQ(NameOf("<tool_calls>{\"arguments\""), "none");
  EXPECT_EQ(NameOf("<TOOLCALL>["), "nemotron-v2");
  EXPECT_EQ(NameOf("with <|tool_call|> followed by"), "granite-3");
  EXPECT_EQ(NameOf("<|tool_list_start|>["), "lfm2");
  EXPECT_EQ(NameOf("role_sep=\"<|role_sep|>\" 'function call'"), "gigachat");
  EXPECT_EQ(NameOf("functools[{name}]"), "firefunction");
  EXPECT_EQ(NameOf("{{ messages }}"), "none");
}
