//===- Formats.h - What "format" of JSON schema means -----------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_FORMATS_H
#define TENON_RUNTIME_GRAMMAR_FORMATS_H

#include <optional>
#include <string>
#include <string_view>

namespace tenon::grammar {

struct FormatMeaning {
  /// A regular expression of all such texts; none where it is unknown.
  std::optional<std::string> Pattern;
  /// It says how to show or store a value, and not which are valid.
  bool IsAnnotation = false;
};

FormatMeaning meaningOf(std::string_view Format);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_FORMATS_H
