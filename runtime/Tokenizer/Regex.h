//===- Regex.h - Regular expressions of tokenizers --------------*- C++ -*-===//
//
// The regular expressions of tokenizer.json are Oniguruma's, in Ruby's syntax;
// here they run on PCRE2. What would mean something else there is translated or
// refused. Steps and memory of a match are limited.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_REGEX_H
#define TENON_RUNTIME_TOKENIZER_REGEX_H

#include "runtime/Support/Json.h"

#include <functional>
#include <memory>

namespace tenon::tokenizer {

/// A compiled regular expression; safe to use from several threads.
class Regex {
public:
  /// Compiles the string `Field`; an error names it, its value and why not.
  static Result<Regex> fromJson(const JsonField &Field);

  /// Called with the bytes [Begin, End) of a match.
  using OnMatch = std::function<Status(size_t Begin, size_t End)>;

  /// All matches in valid UTF-8, from the left, not overlapping; an empty
  /// match directly after a match is passed over. An error when a match needs
  /// more steps or memory than allowed.
  Status forEachMatch(std::string_view Text, const OnMatch &Found) const;

private:
  struct Code;
  explicit Regex(std::shared_ptr<const Code> Compiled)
      : Compiled(std::move(Compiled)) {}
  std::shared_ptr<const Code> Compiled;
};

/// `Pattern` in PCRE2's syntax, or an error that says at which byte it uses
/// what is not supported.
Result<std::string> translateRegex(std::string_view Pattern);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_REGEX_H
