//===- Pattern.h - What splitting and replacing look for --------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_PATTERN_H
#define TENON_RUNTIME_TOKENIZER_PATTERN_H

#include "runtime/Tokenizer/Regex.h"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace tenon::tokenizer {

/// Longer texts are refused: positions in a text are 32-bit.
inline constexpr size_t MaxTextBytes = size_t{INT32_MAX} / 4;

/// A plain string or a regular expression.
class Pattern {
public:
  /// Reads {"String": ...} or {"Regex": ...}.
  static Result<Pattern> fromJson(const JsonField &Field);

  /// Called with the bytes [Begin, End) of a match or of what is between.
  using OnPart = std::function<Status(size_t Begin, size_t End, bool IsMatch)>;

  /// The parts of `Text` from left to right; together they are all of it. Parts
  /// between matches are not empty, matches may be.
  Status forEachPart(std::string_view Text, const OnPart &Found) const;

  /// `Text` with `Content` in place of each match. Where `AtStart` is given, it
  /// goes with the text (see Normalizer::apply). An error when the text becomes
  /// longer than MaxTextBytes.
  Result<std::string> replace(std::string_view Text, std::string_view Content,
                              size_t *AtStart = nullptr) const;

private:
  explicit Pattern(std::variant<std::string, Regex> What)
      : What(std::move(What)) {}
  std::variant<std::string, Regex> What;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_PATTERN_H
