//===- ToolFormats.cpp - The table of tool call formats -------------------===//

#include "runtime/ToolCalls/ToolFormat.h"

#include "runtime/ToolCalls/MoreToolFormats.h"

namespace tenon::tools {

using E = Element;

static ToolFormat hermes() {
  ToolFormat F;
  F.Name = "hermes";
  F.Example = R"(<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>)";
  F.Patterns = {{{{E::Mark, "<tool_call>"},
                  {E::Space},
                  {E::Call},
                  {E::Space},
                  {E::Mark, "</tool_call>"}}}};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  // Escaped or not.
  F.TemplateTexts = {{"<tool_call>", "\"arguments"}};
  return F;
}

static ToolFormat qwen3Coder() {
  ToolFormat F;
  F.Name = "qwen3-coder";
  F.Example = "<tool_call><function=f><parameter=x>1</parameter></function>"
              "</tool_call>";
  std::vector<Element> Function = {{E::Mark, "<function="},
                                   {E::Name},
                                   {E::Mark, ">"},
                                   {E::Space},
                                   {E::Repeat},
                                   {E::Mark, "<parameter="},
                                   {E::Key},
                                   {E::Mark, ">"},
                                   {E::Line},
                                   {E::Mark, "</parameter>"},
                                   {E::Space},
                                   {E::End},
                                   {E::Mark, "</function>"}};
  std::vector<Element> Whole = {{E::Mark, "<tool_call>"}, {E::Space}};
  Whole.insert(Whole.end(), Function.begin(), Function.end());
  Whole.push_back({E::Space});
  Whole.push_back({E::Mark, "</tool_call>"});
  // Models of this family sometimes forget the outer tag.
  F.Patterns = {{Whole}, {Function}};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.Dropped = {"</tool_call>"}; // without its beginning
  F.TemplateTexts = {{"<tool_call>", "<function=", "<parameter="}};
  return F;
}

static ToolFormat glm() {
  ToolFormat F;
  F.Name = "glm";
  F.Example = "<tool_call>f<arg_key>x</arg_key><arg_value>1</arg_value>"
              "</tool_call>";
  F.Patterns = {{{{E::Mark, "<tool_call>"},
                  {E::Space},
                  {E::Name},
                  {E::Space},
                  {E::Repeat},
                  {E::Mark, "<arg_key>"},
                  {E::Key},
                  {E::Mark, "</arg_key>"},
                  {E::Space},
                  {E::Mark, "<arg_value>"},
                  {E::Value},
                  {E::Mark, "</arg_value>"},
                  {E::Space},
                  {E::End},
                  {E::Mark, "</tool_call>"}}}};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<arg_key>"}};
  return F;
}

static ToolFormat llama3() {
  ToolFormat F;
  F.Name = "llama3";
  F.Example = R"({"name": "f", "parameters": {"x": 1}})";
  std::vector<Element> More = {{E::Call},  {E::Repeat}, {E::Mark, ";"},
                               {E::Space}, {E::Call},   {E::End}};
  std::vector<Element> Tagged = {{E::Mark, "<|python_tag|>"}, {E::Space}};
  Tagged.insert(Tagged.end(), More.begin(), More.end());
  F.Patterns = {{Tagged}, {More, /*AtStart=*/true}};
  F.TemplateTexts = {{"<|python_tag|>"}, {"Environment: ipython"}};
  return F;
}

static ToolFormat pythonic() {
  ToolFormat F;
  F.Name = "pythonic";
  F.Example = "[f(x=1)]";
  F.Patterns = {
      {{{E::Pythonic}}, /*AtStart=*/true},
      {{{E::Mark, "<|python_start|>"},
        {E::Space},
        {E::Pythonic},
        {E::Space},
        {E::Mark, "<|python_end|>"}}},
  };
  F.TemplateTexts = {{"func_name1("}, {"<|python_start|>"}};
  return F;
}

static ToolFormat mistral() {
  ToolFormat F;
  F.Name = "mistral";
  F.Example = R"([TOOL_CALLS]f[ARGS]{"x": 1})";
  F.Patterns = {
      {{{E::Mark, "[TOOL_CALLS]"}, {E::Space}, {E::Calls}}},
      {{{E::Mark, "[TOOL_CALLS]"},
        {E::Space},
        {E::Name},
        {E::Mark, "[ARGS]"},
        {E::Space},
        {E::Object}}},
      {{{E::Mark, "[TOOL_CALLS]"},
        {E::Space},
        {E::Name},
        {E::Mark, "[CALL_ID]"},
        {E::Id},
        {E::Mark, "[ARGS]"},
        {E::Space},
        {E::Object}}},
      // Tokenizers of the third generation leave the second mark away.
      {{{E::Mark, "[TOOL_CALLS]"}, {E::Space}, {E::Name}, {E::Object}}},
  };
  F.ThinkBegin = {"[THINK]", "<think>"};
  F.ThinkEnd = {"[/THINK]", "</think>"};
  F.TemplateTexts = {{"[TOOL_CALLS]"}};
  return F;
}

static ToolFormat deepseekV3() {
  ToolFormat F;
  F.Name = "deepseek-v3";
  F.Example = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
              "```json\n{\"x\": 1}\n```<｜tool▁call▁end｜>";
  F.Patterns = {{{{E::Mark, "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"},
                  {E::Name},
                  {E::Mark, "\n```json\n"},
                  {E::Space},
                  {E::Object},
                  {E::Space},
                  {E::Mark, "```"},
                  {E::Space},
                  {E::Mark, "<｜tool▁call▁end｜>"}}}};
  F.Dropped = {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<｜tool▁call▁begin｜>", "```json"}};
  return F;
}

static ToolFormat deepseekV31() {
  ToolFormat F;
  F.Name = "deepseek-v3.1";
  F.Example = "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"x\": 1}"
              "<｜tool▁call▁end｜>";
  F.Patterns = {{{{E::Mark, "<｜tool▁call▁begin｜>"},
                  {E::Name},
                  {E::Mark, "<｜tool▁sep｜>"},
                  {E::Space},
                  {E::Object},
                  {E::Space},
                  {E::Mark, "<｜tool▁call▁end｜>"}}}};
  F.Dropped = {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<｜tool▁call▁begin｜>"}};
  return F;
}

/// The markup of DeepSeek from V3.2 on; V4.1 puts a space before each name.
static std::vector<CallPattern> dsmlCalls(const std::string_view (&Tag)[4]) {
  return {{{{E::Mark, Tag[0]},
            {E::Name},
            {E::Mark, "\">"},
            {E::Space},
            {E::Repeat},
            {E::Mark, Tag[1]},
            {E::Key},
            {E::Mark, "\" string=\""},
            {E::Type},
            {E::Mark, "\">"},
            {E::Value},
            {E::Mark, Tag[2]},
            {E::Space},
            {E::End},
            {E::Mark, Tag[3]}}},
          {{{E::Mark, Tag[0]}, {E::Name}, {E::Mark, "\"/>"}}}};
}

static ToolFormat deepseekV32() {
  ToolFormat F;
  F.Name = "deepseek-v3.2";
  F.Example = "<｜DSML｜invoke name=\"f\">"
              "<｜DSML｜parameter name=\"x\" string=\"false\">1"
              "</｜DSML｜parameter></｜DSML｜invoke>";
  F.Patterns =
      dsmlCalls({"<｜DSML｜invoke name=\"", "<｜DSML｜parameter name=\"",
                 "</｜DSML｜parameter>", "</｜DSML｜invoke>"});
  for (CallPattern &P :
       dsmlCalls({"<｜DSML｜ invoke name=\"", "<｜DSML｜ parameter name=\"",
                  "</｜DSML｜ parameter>", "</｜DSML｜ invoke>"}))
    F.Patterns.push_back(std::move(P));
  F.Dropped = {"<｜DSML｜function_calls>", "</｜DSML｜function_calls>",
               "<｜DSML｜tool_calls>",     "</｜DSML｜tool_calls>",
               "<｜DSML｜ calls>",         "</｜DSML｜ calls>"};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"｜DSML｜"}};
  return F;
}

static ToolFormat kimi() {
  ToolFormat F;
  F.Name = "kimi";
  F.Example = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
              "{\"x\": 1}<|tool_call_end|>";
  F.Patterns = {{{{E::Mark, "<|tool_call_begin|>"},
                  {E::Space},
                  {E::Maybe, "functions."},
                  {E::Name},
                  {E::Mark, ":"},
                  {E::Id},
                  {E::Space},
                  {E::Mark, "<|tool_call_argument_begin|>"},
                  {E::Space},
                  {E::Object},
                  {E::Space},
                  {E::Mark, "<|tool_call_end|>"}}}};
  F.Dropped = {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<|tool_call_begin|>"}};
  return F;
}

static ToolFormat kimiK3() {
  ToolFormat F;
  F.Name = "kimi-k3";
  F.Example = "<|open|>call tool=\"f\" index=\"1\"<|sep|>"
              "<|open|>argument key=\"x\" type=\"number\"<|sep|>1"
              "<|close|>argument<|sep|><|close|>call<|sep|>";
  F.Patterns = {{{{E::Mark, "<|open|>call tool=\""},
                  {E::Name},
                  {E::Mark, "\" index=\""},
                  {E::Id},
                  {E::Mark, "\"<|sep|>"},
                  {E::Repeat},
                  {E::Mark, "<|open|>argument key=\""},
                  {E::Key},
                  {E::Mark, "\" type=\""},
                  {E::Type},
                  {E::Mark, "\"<|sep|>"},
                  {E::Value},
                  {E::Mark, "<|close|>argument<|sep|>"},
                  {E::End},
                  {E::Mark, "<|close|>call<|sep|>"}}}};
  F.Dropped = {"<|open|>response<|sep|>", "<|close|>response<|sep|>",
               "<|open|>tools<|sep|>", "<|close|>tools<|sep|>",
               "<|close|>message<|sep|>"};
  F.ThinkBegin = {"<|open|>think<|sep|>"};
  F.ThinkEnd = {"<|close|>think<|sep|>"};
  F.TemplateTexts = {{"<|open|>"}};
  return F;
}

static ToolFormat gptOss() {
  ToolFormat F;
  F.Name = "gpt-oss";
  F.Example = "<|channel|>commentary to=functions.f <|constrain|>json"
              "<|message|>{\"x\": 1}<|call|>";
  // The recipient stands after the channel or, as in past turns, before it.
  for (std::string_view Begin :
       {"<|channel|>commentary to=functions.",
        "<|start|>assistant<|channel|>commentary to=functions.",
        "<|channel|>analysis to=functions.",
        "<|start|>assistant<|channel|>analysis to=functions.",
        "<|start|>assistant to=functions.", " to=functions."})
    F.Patterns.push_back({{{E::Mark, Begin},
                           {E::Name},
                           {E::SkipTo},
                           {E::Mark, "<|message|>"},
                           {E::Space},
                           {E::Object},
                           {E::Space},
                           {E::Maybe, "<|call|>"}}});
  F.Patterns.back().AtStart = true;
  F.Dropped = {"<|start|>assistant",
               "<|channel|>final<|message|>",
               "<|channel|>commentary<|message|>",
               "<|end|>",
               "<|return|>",
               "<|call|>"};
  F.ThinkBegin = {"<|channel|>analysis<|message|>"};
  F.ThinkEnd = {"<|end|>"};
  F.TemplateTexts = {{"<|channel|>", "functions."}};
  return F;
}

static ToolFormat gemma4() {
  ToolFormat F;
  F.Name = "gemma4";
  F.Example = "<|tool_call>call:f{x:1}<tool_call|>";
  F.Patterns = {{{{E::Mark, "<|tool_call>call:"},
                  {E::Name},
                  {E::Gemma, "<|\"|>"},
                  {E::Mark, "<tool_call|>"}}}};
  F.ThinkBegin = {"<|channel>thought"};
  F.ThinkEnd = {"<channel|>"};
  F.TemplateTexts = {{"<|tool_call>"}};
  return F;
}

static ToolFormat plainJson() {
  ToolFormat F;
  F.Name = "json";
  F.Example = R"({"name": "f", "arguments": {"x": 1}})";
  F.Patterns = {{{{E::Call}}, /*AtStart=*/true},
                {{{E::Calls}}, /*AtStart=*/true}};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  return F;
}

const std::vector<ToolFormat> &toolFormats() {
  static const std::vector<ToolFormat> All = {
      deepseekV32(), deepseekV3(),   deepseekV31(), kimiK3(),     kimi(),
      gptOss(),      gemma4(),       seedOss(),     minimaxM2(),  hunyuan3(),
      solar(),       commandR7b(),   apriel(),      nemotronV2(), lfm2(),
      gigachat(),    firefunction(), qwen3Coder(),  glm(),        hermes(),
      granite3(),    mistral(),      pythonic(),    llama3(),     plainJson(),
  };
  return All;
}

const ToolFormat *findToolFormat(std::string_view Name) {
  for (const ToolFormat &F : toolFormats())
    if (F.Name == Name)
      return &F;
  return nullptr;
}

std::string toolFormatNames() {
  std::string Names;
  for (const ToolFormat &F : toolFormats())
    Names += (Names.empty() ? "" : ", ") + std::string(F.Name);
  return Names;
}

const ToolFormat *detectToolFormat(std::string_view ChatTemplate) {
  auto Has = [&](std::string_view Text) {
    return ChatTemplate.find(Text) != std::string_view::npos;
  };
  for (const ToolFormat &F : toolFormats())
    for (const std::vector<std::string_view> &All : F.TemplateTexts) {
      size_t Found = 0;
      for (std::string_view Text : All)
        Found += Has(Text);
      if (Found == All.size())
        return &F;
    }
  return nullptr;
}

} // namespace tenon::tools
