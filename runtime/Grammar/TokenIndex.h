//===- TokenIndex.h - Tokens by the characters that they have ---*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_TOKENINDEX_H
#define TENON_RUNTIME_GRAMMAR_TOKENINDEX_H

#include "runtime/Grammar/LeadSet.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace tenon::grammar {

class TokenTable;

/// Which tokens consist of certain characters, and which begin alike, as bits:
/// what a loop of a terminal allows is then found without a walk.
class TokenIndex {
public:
  static TokenIndex build(const TokenTable &Tokens);

  /// The tokens in UTF-8, perhaps but for the end of their last character, of
  /// which all characters but the first begin with bytes of the set.
  std::vector<uint64_t> only(const LeadSet &Leads) const;
  /// The tokens at and below a node of the table; empty where they are few.
  std::span<const uint64_t> below(uint32_t Node) const {
    auto Found = Nodes.find(Node);
    return Found == Nodes.end() ? std::span<const uint64_t>() : Found->second;
  }

private:
  struct Tokens {
    std::vector<uint64_t> Bits; ///< Empty where there are few.
    std::vector<int32_t> Few;
  };
  void take(std::vector<uint64_t> &From, const LeadSet &Leads, size_t Block,
            size_t First, size_t Count) const;

  /// Those that have, behind the first, a character of some place of LeadSet:
  /// block 1 is all places, and block I is halved into 2 I and 2 I + 1.
  std::vector<Tokens> Having;
  std::vector<uint64_t> Utf8;
  std::unordered_map<uint32_t, std::vector<uint64_t>> Nodes;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_TOKENINDEX_H
