//===- ToolFormat.h - How models write tool calls ---------------*- C++ -*-===//
//
// The formats as data: ToolCallParser reads calls by them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOLCALLS_TOOLFORMAT_H
#define TENON_RUNTIME_TOOLCALLS_TOOLFORMAT_H

#include "runtime/Support/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools {

/// One part of what a call looks like.
struct Element {
  enum Kind {
    Mark,     ///< `Text`, exactly.
    Maybe,    ///< `Text` or nothing.
    Space,    ///< Any whitespace, also none.
    Name,     ///< The function: letters, digits and "_-.".
    Id,       ///< An identifier of the call, which is dropped: like Name.
    SkipTo,   ///< At most 256 bytes of one line up to the next Mark.
    Object,   ///< A JSON object: the arguments.
    Call,     ///< A JSON object with name (or tool_name) and arguments.
    Calls,    ///< A JSON array of such objects.
    Pythonic, ///< "[f(a=1, b='x'), g()]".
    Gemma,    ///< "{key:value}" with strings between two `Text`: the arguments.
    Key,      ///< The name of an argument, up to the next Mark.
    Value,    ///< Its value up to the next Mark: text, or JSON by its schema.
    Line,     ///< The same, without one line break at each end.
    Type,     ///< Of the next Value: "true" (as in string="true") and "string"
              ///< are text, all else JSON.
    Repeat,   ///< What follows, up to End, any number of times: as long as
              ///< its first Mark is found.
    End,      ///< Of Repeat.
  };
  Kind What;
  std::string_view Text = {};
};

/// One way to write a call, or several at once.
struct CallPattern {
  std::vector<Element> Elements;
  /// Only where an answer begins: a JSON object elsewhere is text.
  bool AtStart = false;
};

/// What a family of models writes.
struct ToolFormat {
  std::string_view Name;    ///< As in --tool-format.
  std::string_view Example; ///< A call of f with {"x": 1}, for people.
  std::vector<CallPattern> Patterns;
  /// Marks around calls that carry nothing: "<|tool_calls_section_begin|>".
  std::vector<std::string_view> Dropped;
  /// Reasoning goes from one of `ThinkBegin` to one of `ThinkEnd`.
  std::vector<std::string_view> ThinkBegin, ThinkEnd;
  /// A chat template that has all texts of one row speaks this format.
  std::vector<std::vector<std::string_view>> TemplateTexts;
};

/// All formats, the most particular ones first.
const std::vector<ToolFormat> &toolFormats();

/// The format called `Name`; null when there is none.
const ToolFormat *findToolFormat(std::string_view Name);

/// "hermes, qwen3-coder, ...": the names, for messages.
std::string toolFormatNames();

/// The format that a chat template tells the model to write, by texts that
/// it has; null when it has those of none.
const ToolFormat *detectToolFormat(std::string_view ChatTemplate);

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_TOOLFORMAT_H
