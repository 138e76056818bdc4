//===- StringTokens.h - Tokens inside of JSON's strings ---------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_STRINGTOKENS_H
#define TENON_RUNTIME_GRAMMAR_STRINGTOKENS_H

#include "runtime/Grammar/Exits.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::grammar {

class TokenTable;

/// Of each token, how many characters of a JSON string it is: with these any
/// bound of a string's length costs no more than none.
struct StringTokens {
  static StringTokens build(const TokenTable &Tokens);

  /// The tokens that add at most `Max` characters to a string, and do not end
  /// it.
  const std::vector<uint64_t> &upTo(uint32_t Max) const {
    return ByChars[Max < ByChars.size() ? Max : ByChars.size() - 1];
  }

  /// Nodes of the table where a string ends, behind so many characters.
  struct Quote {
    uint32_t Node;
    uint32_t Chars;
    std::string Bytes; ///< Up to there.
  };
  std::vector<Quote> Quotes;
  /// What comes behind them.
  Exits Behind;

private:
  std::vector<std::vector<uint64_t>> ByChars;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_STRINGTOKENS_H
