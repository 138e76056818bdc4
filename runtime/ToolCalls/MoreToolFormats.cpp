//===- MoreToolFormats.cpp - Rows of single families ----------------------===//

#include "runtime/ToolCalls/MoreToolFormats.h"

namespace tenon::tools {

using E = Element;

ToolFormat seedOss() {
  ToolFormat F;
  F.Name = "seed-oss";
  F.Example = "<seed:tool_call><function=f><parameter=x>1</parameter>"
              "</function></seed:tool_call>";
  F.Patterns = {{{{E::Mark, "<seed:tool_call>"},
                  {E::Space},
                  {E::Mark, "<function="},
                  {E::Name},
                  {E::Mark, ">"},
                  {E::Space},
                  {E::Repeat},
                  {E::Mark, "<parameter="},
                  {E::Key},
                  {E::Mark, ">"},
                  {E::Value},
                  {E::Mark, "</parameter>"},
                  {E::Space},
                  {E::End},
                  {E::Mark, "</function>"},
                  {E::Space},
                  {E::Mark, "</seed:tool_call>"}}}};
  F.ThinkBegin = {"<seed:think>"};
  F.ThinkEnd = {"</seed:think>"};
  F.TemplateTexts = {{"<seed:tool_call>"}};
  return F;
}

ToolFormat minimaxM2() {
  ToolFormat F;
  F.Name = "minimax-m2";
  F.Example = "<invoke name=\"f\"><parameter name=\"x\">1</parameter>"
              "</invoke>";
  F.Patterns = {{{{E::Mark, "<invoke name=\""},
                  {E::Name},
                  {E::Mark, "\">"},
                  {E::Space},
                  {E::Repeat},
                  {E::Mark, "<parameter name=\""},
                  {E::Key},
                  {E::Mark, "\">"},
                  {E::Value},
                  {E::Mark, "</parameter>"},
                  {E::Space},
                  {E::End},
                  {E::Mark, "</invoke>"}}}};
  // Around all calls of an answer.
  F.Dropped = {"<minimax:tool_call>", "</minimax:tool_call>"};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<minimax:tool_call>"}};
  return F;
}

ToolFormat hunyuan3() {
  ToolFormat F;
  F.Name = "hunyuan-3";
  F.Example = "<tool_call:opensource>f<tool_sep:opensource>"
              "<arg_key:opensource>x</arg_key:opensource>"
              "<arg_value:opensource>1</arg_value:opensource>"
              "</tool_call:opensource>";
  F.Patterns = {{{{E::Mark, "<tool_call:opensource>"},
                  {E::Name},
                  {E::Mark, "<tool_sep:opensource>"},
                  {E::Space},
                  {E::Repeat},
                  {E::Mark, "<arg_key:opensource>"},
                  {E::Key},
                  {E::Mark, "</arg_key:opensource>"},
                  {E::Space},
                  {E::Mark, "<arg_value:opensource>"},
                  {E::Value},
                  {E::Mark, "</arg_value:opensource>"},
                  {E::Space},
                  {E::End},
                  {E::Mark, "</tool_call:opensource>"}}}};
  F.Dropped = {"<tool_calls:opensource>", "</tool_calls:opensource>"};
  F.ThinkBegin = {"<think:opensource>"};
  F.ThinkEnd = {"</think:opensource>"};
  // The template puts the names together.
  F.TemplateTexts = {{"'<tool_sep{}>'", "':opensource'"}};
  return F;
}

ToolFormat solar() {
  ToolFormat F;
  F.Name = "solar";
  F.Example = "<|tool_call:begin|>a1<|tool_call:name|>f<|tool_call:args|>"
              "{\"x\": 1}<|tool_call:end|>";
  F.Patterns = {{{{E::Mark, "<|tool_call:begin|>"},
                  {E::Id},
                  {E::Mark, "<|tool_call:name|>"},
                  {E::Name},
                  {E::Mark, "<|tool_call:args|>"},
                  {E::Space},
                  {E::Object},
                  {E::Space},
                  {E::Mark, "<|tool_call:end|>"}}}};
  F.Dropped = {"<|begin|>assistant", "<|content|>", "<|tool_calls|>",
               "<|calls|>", "<|end|>"};
  F.ThinkBegin = {"<|think|>"};
  F.ThinkEnd = {"<|end|>"};
  F.TemplateTexts = {{"<|tool_call:begin|>"}};
  return F;
}

/// An array of calls between two marks, of which the second may be empty.
static CallPattern callsBetween(std::string_view Begin, std::string_view End) {
  CallPattern P = {{{E::Mark, Begin}, {E::Space}, {E::Calls}}};
  if (!End.empty()) {
    P.Elements.push_back({E::Space});
    P.Elements.push_back({E::Mark, End});
  }
  return P;
}

ToolFormat commandR7b() {
  ToolFormat F;
  F.Name = "command-r7b";
  F.Example = "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": "
              "\"f\", \"parameters\": {\"x\": 1}}]<|END_ACTION|>";
  F.Patterns = {callsBetween("<|START_ACTION|>", "<|END_ACTION|>")};
  F.Dropped = {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>",
               "<|END_TEXT|>"};
  F.ThinkBegin = {"<|START_THINKING|>"};
  F.ThinkEnd = {"<|END_THINKING|>"};
  F.TemplateTexts = {{"<|START_ACTION|>"}};
  return F;
}

ToolFormat apriel() {
  ToolFormat F;
  F.Name = "apriel";
  F.Example = R"(<tool_calls>[{"name": "f", "arguments": {"x": 1}}])"
              "</tool_calls>";
  F.Patterns = {callsBetween("<tool_calls>", "</tool_calls>")};
  F.ThinkBegin = {"Here are my reasoning steps:"};
  F.ThinkEnd = {"[BEGIN FINAL RESPONSE]"};
  F.TemplateTexts = {{"<tool_calls>["}};
  return F;
}

ToolFormat nemotronV2() {
  ToolFormat F;
  F.Name = "nemotron-v2";
  F.Example = R"(<TOOLCALL>[{"name": "f", "arguments": {"x": 1}}]</TOOLCALL>)";
  F.Patterns = {callsBetween("<TOOLCALL>", "</TOOLCALL>")};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<TOOLCALL>"}};
  return F;
}

ToolFormat granite3() {
  ToolFormat F;
  F.Name = "granite-3";
  F.Example = R"(<|tool_call|>[{"name": "f", "arguments": {"x": 1}}])";
  F.Patterns = {callsBetween("<|tool_call|>", "")};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<|tool_call|>"}};
  return F;
}

ToolFormat lfm2() {
  ToolFormat F;
  F.Name = "lfm2";
  F.Example = "<|tool_call_start|>[f(x=1)]<|tool_call_end|>";
  F.Patterns = {{{{E::Mark, "<|tool_call_start|>"},
                  {E::Space},
                  {E::Pythonic},
                  {E::Space},
                  {E::Mark, "<|tool_call_end|>"}}}};
  F.ThinkBegin = {"<think>"};
  F.ThinkEnd = {"</think>"};
  F.TemplateTexts = {{"<|tool_call_start|>"}, {"<|tool_list_start|>"}};
  return F;
}

ToolFormat gigachat() {
  ToolFormat F;
  F.Name = "gigachat";
  F.Example = R"(<|function_call|>{"name": "f", "arguments": {"x": 1}})";
  // GigaChat 3 has a turn of a role of its own, 3.1 a mark.
  for (std::string_view Begin :
       {"<|function_call|>", "function call<|role_sep|>"})
    F.Patterns.push_back({{{E::Mark, Begin}, {E::Space}, {E::Call}}});
  F.Dropped = {"<|message_sep|>"};
  F.TemplateTexts = {{"<|role_sep|>", "function call"}};
  return F;
}

ToolFormat firefunction() {
  ToolFormat F;
  F.Name = "firefunction";
  F.Example = R"(functools[{"name": "f", "arguments": {"x": 1}}])";
  F.Patterns = {{{{E::Mark, "functools"}, {E::Calls}}}};
  F.TemplateTexts = {{"functools["}};
  return F;
}

} // namespace tenon::tools
