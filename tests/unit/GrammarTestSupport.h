//===- GrammarTestSupport.h - Texts against grammars ------------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_GRAMMARTESTSUPPORT_H
#define TENON_TESTS_UNIT_GRAMMARTESTSUPPORT_H

#include "runtime/Grammar/Grammar.h"

#include <gtest/gtest.h>

namespace tenon::test {

/// Every byte, then `More`.
inline std::shared_ptr<const grammar::TokenTable>
byteTable(const std::vector<std::string> &More = {}) {
  std::vector<std::string> Tokens;
  for (int Byte = 0; Byte < 256; ++Byte)
    Tokens.push_back(std::string(1, static_cast<char>(Byte)));
  Tokens.insert(Tokens.end(), More.begin(), More.end());
  return grammar::TokenTable::build(Tokens);
}

inline bool accepts(const grammar::Grammar::Ptr &G, const std::string &Text) {
  static const auto Bytes = byteTable();
  grammar::Matcher M(G, Bytes);
  for (char C : Text)
    if (!M.accept(static_cast<unsigned char>(C)))
      return false;
  return M.canEnd();
}

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_GRAMMARTESTSUPPORT_H
