//===- GrammarCommand.h - tenon grammar -------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_GRAMMARCOMMAND_H
#define TENON_RUNTIME_GRAMMAR_GRAMMARCOMMAND_H

#include "runtime/Grammar/GrammarTexts.h"

namespace tenon::grammar {

/// What a command line says of a grammar: one of these, or none.
struct GrammarChoice {
  std::string JsonSchemaFile;
  /// A schema itself, in place of a file.
  std::optional<std::string> JsonSchema;
  std::optional<std::string> Regex;
  std::string EbnfFile;
  bool JsonObject = false;
  std::vector<std::string> Choices;
  bool FixedOrder = false;
  /// "", "asserted" or "annotation".
  std::string Format;

  bool hasSchema() const { return !JsonSchemaFile.empty() || JsonSchema; }
};

/// Compiles it; null where none is given. `Known` has those that were compiled
/// before.
Result<Grammar::Ptr> compile(const GrammarChoice &Choice);
Result<Grammar::Ptr> compile(const GrammarChoice &Choice, GrammarCache &Known);

struct GrammarOptions {
  GrammarChoice What;
  /// A JSON file: an array of texts.
  std::string TextsFile;
  /// A JSON file: an array of objects of a grammar ("schema", "regex", "ebnf",
  /// "choices") and "texts".
  std::string BatchFile;
  bool AsJson = false;
  /// Adds what compiling and masks took.
  bool Times = false;
};

/// Runs `tenon grammar`: says which texts are accepted, token by token, as
/// generation would choose them. `Out` becomes what it prints.
Status runGrammar(const tokenizer::Tokenizer &T, const GrammarOptions &O,
                  std::string &Out);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_GRAMMARCOMMAND_H
