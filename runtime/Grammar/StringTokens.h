//===- StringTokens.h - Tokens inside of JSON's strings ---------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_STRINGTOKENS_H
#define TENON_RUNTIME_GRAMMAR_STRINGTOKENS_H

#include "runtime/Grammar/Exits.h"
#include "runtime/Grammar/TokensByLength.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::grammar {

class TokenTable;

/// Of each token, how many characters of a JSON string it is: with these any
/// bound of a string's length costs no more than none.
struct StringTokens {
  static StringTokens build(const TokenTable &Tokens);

  /// Tokens that do not end a string, by the characters that they add to it.
  TokensByLength Inside;
  /// Nodes of the table where a string ends, behind so many characters.
  struct Quote {
    uint32_t Node;
    uint32_t Chars;
    std::string Bytes; ///< Up to there.
  };
  std::vector<Quote> Quotes;
  /// What comes behind them.
  Exits Behind;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_STRINGTOKENS_H
