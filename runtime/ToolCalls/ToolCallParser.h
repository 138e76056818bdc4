//===- ToolCallParser.h - Calls in a model's answer -------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOLCALLS_TOOLCALLPARSER_H
#define TENON_RUNTIME_TOOLCALLS_TOOLCALLPARSER_H

#include "runtime/Support/Json.h"
#include "runtime/ToolCalls/ToolFormat.h"

#include <functional>
#include <memory>

namespace tenon::tools {

/// A tool call.
struct ToolCall {
  std::string Name;
  std::string Arguments; ///< A JSON object.

  bool operator==(const ToolCall &) const = default;
};

/// A piece of an answer.
struct AnswerPart {
  enum Kind { Text, Reasoning, Call };
  Kind What = Text;
  std::string Content; ///< Of Text and Reasoning.
  ToolCall Function;   ///< Of Call.
};

/// An answer as a whole.
struct ParsedAnswer {
  std::string Text, Reasoning;
  std::vector<ToolCall> Calls;
  size_t ReasoningTokens = 0; ///< That begin in the reasoning; no marks.

  void add(const AnswerPart &Part);
};

struct ToolParserOptions {
  /// The tools that the model was offered, as OpenAI defines them: their
  /// schemas say which arguments are texts where a format does not. Null: none.
  Json Tools;
  /// The prompt ends inside the model's reasoning.
  bool InReasoning = false;
  /// Whether the vocabulary has a special token of this text. Such a mark is
  /// one only where that token was generated: its spelling in other tokens is
  /// text.
  std::function<bool(std::string_view)> IsSpecial;
};

/// Splits an answer, as it is generated, into text, reasoning and calls. A
/// call is given when it is whole and well-formed, and never before: what is
/// cut off or malformed comes back as text. Time is linear in the answer's
/// length; a call has at most MaxCallBytes.
class ToolCallParser {
public:
  static constexpr size_t MaxCallBytes = size_t(1) << 20;
  /// After this many texts that began like calls the rest is plain text.
  static constexpr size_t MaxFailedCalls = 64;

  ToolCallParser(const ToolFormat &Format, ToolParserOptions Options);
  ~ToolCallParser();
  ToolCallParser(ToolCallParser &&) noexcept;
  ToolCallParser &operator=(ToolCallParser &&) noexcept;

  /// The next text of the answer, whole UTF-8 characters, which `Tokens` tokens
  /// say. `Special`: it is one special token.
  std::vector<AnswerPart> feed(std::string_view Text, bool Special = false,
                               size_t Tokens = 1);

  /// The answer ends here.
  std::vector<AnswerPart> finish();

  /// Of the tokens so far, those that begin in the reasoning; those of marks
  /// do not count, as with vLLM.
  size_t reasoningTokens() const;

private:
  class State;
  std::unique_ptr<State> S;
};

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_TOOLCALLPARSER_H
