//===- ArgumentValues.h - Arguments that are not JSON -----------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOLCALLS_ARGUMENTVALUES_H
#define TENON_RUNTIME_TOOLCALLS_ARGUMENTVALUES_H

#include "runtime/Support/Json.h"
#include "runtime/ToolCalls/ToolCallParser.h"

#include <optional>

namespace tenon::tools {

/// A call with more, or a value with more members, is malformed: each is
/// compared with those before it.
inline constexpr size_t MaxArguments = 1024;

inline bool isSpace(char C) {
  return C == ' ' || C == '\t' || C == '\n' || C == '\r';
}

/// The value of argument `Key` of `Function` that a model wrote as `Text`
/// without quotes: what the tool's schema allows. JSON where it parses as one
/// of the schema's types, or as Python's True, False or None where it takes no
/// text, else a text; without a schema, JSON if it is some.
Json typedArgument(const Json &Tools, std::string_view Function,
                   std::string_view Key, std::string_view Text);

/// Whether `Tools`, as OpenAI defines them, has a function `Name`.
bool isOffered(const Json &Tools, std::string_view Name);

/// `Value` in one line; bytes of its texts that are not UTF-8 become U+FFFD.
inline std::string jsonText(const Json &Value) {
  return Value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Calls in Python's syntax with arguments by name and literals as values:
/// "[f(a=1, b='x'), g()]". Nothing when it is not that.
std::optional<std::vector<ToolCall>> readPythonCalls(std::string_view Text);

/// Gemma's form of an object, "{key:value, ...}", with strings between two
/// `Quote` and other values as in JSON. Nothing when it is not that.
std::optional<Json> readGemmaObject(std::string_view Text,
                                    std::string_view Quote);

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_ARGUMENTVALUES_H
