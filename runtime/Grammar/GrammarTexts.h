//===- GrammarTexts.h - Grammars as callers write them ----------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_GRAMMARTEXTS_H
#define TENON_RUNTIME_GRAMMAR_GRAMMARTEXTS_H

#include "runtime/Grammar/GrammarStore.h"

#include <optional>

namespace tenon::grammar {

/// What a caller says of a grammar: one of these, or none.
struct GrammarTexts {
  std::optional<std::string> JsonSchema;
  std::optional<std::string> Regex;
  std::optional<std::string> Ebnf;
  bool JsonObject = false;
  std::vector<std::string> Choices; ///< None: not given.

  bool FixedOrder = false;
  /// "", "asserted" or "annotation".
  std::string Format;

  SchemaOptions schemaOptions() const;
  /// Names of those that are given.
  std::vector<std::string> given() const;
};

/// Compiles it; null where none is given. An error for more than one, and for a
/// format that is not known.
Result<Grammar::Ptr> compile(const GrammarTexts &Texts);
/// `Known` has those that were compiled before.
Result<Grammar::Ptr> compile(const GrammarTexts &Texts, GrammarCache &Known);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_GRAMMARTEXTS_H
