//===- CallGrammar.h - Answers whose calls fit their tools ------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOLCALLS_CALLGRAMMAR_H
#define TENON_RUNTIME_TOOLCALLS_CALLGRAMMAR_H

#include "runtime/Grammar/Grammar.h"
#include "runtime/ToolCalls/ToolCallParser.h"

namespace tenon::tools {

/// The answers that callGrammar() accepts.
struct CallGrammarOptions {
  /// As of the parser that reads the answer: the tools, at least one, whether
  /// the prompt ends inside of reasoning, and which marks are special tokens.
  ToolParserOptions Parser;
  /// The spellings of all special and other added tokens of the vocabulary.
  std::vector<std::string> AddedTokens;
  bool IsSingle = false; ///< At most one call.
};

/// Whether the arguments of a tool, as OpenAI defines it, have to fulfil its
/// schema: its "strict" is true.
bool isStrict(const Json &Tool);

/// The schema of a tool's arguments: an object, whatever else it says.
Json argumentsSchema(const Json &Tool);

/// Any text and reasoning, between which are calls that a model writes as
/// `Format` says. What begins like a call is one, of a tool there is, and its
/// arguments fulfil the schema of a tool that is strict; those of others are
/// any object. Calls stand in no text that has their marks by chance: where
/// calls are bare JSON, an answer that begins with a bracket is one. Errors: a
/// schema that is refused, and formats and arguments whose texts no grammar
/// describes.
Result<grammar::Grammar::Ptr> callGrammar(const ToolFormat &Format,
                                          const CallGrammarOptions &Options,
                                          const grammar::Limits &Most = {});

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_CALLGRAMMAR_H
