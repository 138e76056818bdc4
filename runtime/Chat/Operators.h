//===- Operators.h - What signs between values do ---------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_OPERATORS_H
#define TENON_RUNTIME_CHAT_OPERATORS_H

#include "runtime/Chat/Interpreter.h"

namespace tenon::chat {

/// `A` with one of + - * / // % ** and `B`, as Python's operators.
Result<Value> calculate(Interpreter &Run, Operator Sign, const Value &A,
                        const Value &B);
/// -`V`, or +`V`.
Result<Value> withSign(const Value &V, bool Negative);

/// `A` with a comparison and `B`, in and not in included.
Result<bool> compareBy(Interpreter &Run, Operator Sign, const Value &A,
                       const Value &B);

/// `Of`.Name and `Of`[`Index`] as Jinja looks them up: attribute before
/// member, or member before attribute. Undefined when there is neither; an
/// error for what is undefined itself.
Result<Value> attributeOf(const Value &Of, const std::string &Name);
Result<Value> itemOf(const Value &Of, const Value &Index);

/// `Of`[`Start`:`Stop`:`Step`]; null and none stand for what is left out.
Result<Value> sliceOf(Interpreter &Run, const Value &Of, const Value *Start,
                      const Value *Stop, const Value *Step);

/// The first and last plus one index, from 0 to `Size`, that a slice of step 1
/// asks for.
std::pair<size_t, size_t> sliceBounds(int64_t Start, int64_t Stop, size_t Size);

/// `Format` % `Given`.
Result<Text> formatPercent(Interpreter &Run, const Text &Format,
                           const Value &Given);
/// `Format`.format(...).
Result<Text> formatBraces(Interpreter &Run, const Text &Format,
                          const Arguments &Given);

/// Text with &, <, >, ' and " as HTML spells them.
Text escapedHtml(const Text &From);

/// Python's json.dumps.
struct JsonStyle {
  bool OnlyAscii = false;
  /// What each level is indented by; null for one line.
  const std::string *Indent = nullptr;
  std::string BetweenItems = ", ";
  std::string BehindKeys = ": ";
  bool SortKeys = false;
};
Result<Text> toJson(const Value &V, const JsonStyle &Style);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_OPERATORS_H
