//===- Ebnf.h - Grammars as rules -------------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_EBNF_H
#define TENON_RUNTIME_GRAMMAR_EBNF_H

#include "runtime/Grammar/Machine.h"

namespace tenon::grammar {

/// Reads rules `name ::= ...` of literals, classes, groups, `|`, `*`, `+`, `?`,
/// `{m,n}` and comments; the text is what the rule "root" makes. What needs no
/// recursion becomes regular expressions. An error, with the line, for anything
/// else, for rules that nothing can be made of, and for left recursion.
Result<Source> readEbnf(std::string_view Text, const Limits &Most);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_EBNF_H
