//===- Regex.h - Regular expressions of tokenizers --------------*- C++ -*-===//
//
// The regular expressions of tokenizer.json are Oniguruma's, in Ruby's syntax;
// here they run on PCRE2. What would mean something else there is translated or
// refused. Steps and memory are limited.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_REGEX_H
#define TENON_RUNTIME_TOKENIZER_REGEX_H

#include "runtime/Support/Json.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace tenon::tokenizer {

/// What all regular expressions together may spend on one text, so that
/// encoding takes time linear in the length of the text, whatever the patterns
/// are. Holds for the searches of this thread while it lives; a search without
/// one has a budget of its own.
class RegexBudget {
public:
  explicit RegexBudget(size_t TextBytes);
  RegexBudget(const RegexBudget &) = delete;
  RegexBudget &operator=(const RegexBudget &) = delete;
  ~RegexBudget();

  /// Takes `Steps`; false when there are not that many left.
  bool take(uint64_t Steps);

  /// The one in force, or null.
  static RegexBudget *current();

private:
  uint64_t Left;
  RegexBudget *Outer;
};

/// A compiled regular expression; safe to use from several threads.
class Regex {
public:
  /// Compiles the string `Field`; an error names it, its value and why not.
  static Result<Regex> fromJson(const JsonField &Field);

  /// Called with the bytes [Begin, End) of a match.
  using OnMatch = std::function<Status(size_t Begin, size_t End)>;

  /// All matches in valid UTF-8, from the left, not overlapping; an empty
  /// match directly after a match is passed over. An error that names the
  /// pattern when the budget or the memory for a match does not suffice.
  Status forEachMatch(std::string_view Text, const OnMatch &Found) const;

private:
  struct Code;
  class Search;
  explicit Regex(std::shared_ptr<const Code> Compiled)
      : Compiled(std::move(Compiled)) {}
  std::shared_ptr<const Code> Compiled;
};

/// A pattern in PCRE2's syntax.
struct TranslatedRegex {
  std::string Fast;
  /// The same, with every character or class that repeats without bound as a
  /// group, for then PCRE2 counts each repetition as a step.
  std::string Counting;
  /// The most repetitions that are no steps in Counting.
  unsigned LargestRepeat = 1;
};

/// `Pattern` translated, or an error that says at which byte it uses what is
/// not supported.
Result<TranslatedRegex> translateRegex(std::string_view Pattern);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_REGEX_H
