//===- JsonRules.h - Values of a schema as rules ----------------*- C++ -*-===//
//
// What the matcher knows of a schema: for each kind of value its alternatives,
// for arrays and objects what may follow what. Only what can be completed is
// there.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_JSONRULES_H
#define TENON_RUNTIME_GRAMMAR_JSONRULES_H

#include "runtime/Grammar/Options.h"
#include "runtime/Grammar/RegexPool.h"
#include "runtime/Grammar/SchemaTypes.h"

#include <unordered_map>

namespace tenon::grammar {

using ValueId = uint32_t;

struct ArrayRules {
  /// Of the first items, then of all others.
  std::vector<ValueId> Items;
  /// Where so many items must fulfil another schema, too: the same of items
  /// that do, and of others.
  bool Counts = false;
  std::vector<ValueId> With, Without;
  uint64_t CountMin = 0, CountMax = NoLimit;
  uint64_t Min = 0, Max = NoLimit;
};

struct ObjectRules {
  struct Key {
    std::string Name;
    ValueId Value;
    /// Those that must be there if this is, itself included.
    std::vector<uint32_t> Needs;
    bool IsPossible = true;
  };
  /// In the order of the schema.
  std::vector<Key> Keys;
  std::unordered_map<std::string, uint32_t> Index;
  /// Keys by their spelling: the bytes between quotes.
  struct TrieNode {
    std::vector<std::pair<unsigned char, uint32_t>> Children;
    uint32_t Key = UINT32_MAX;   ///< That ends here.
    std::vector<uint32_t> Below; ///< Keys here and below, in order.
  };
  std::vector<TrieNode> Trie;
  std::vector<uint32_t> Required; ///< With all that they need.
  struct Others {
    NodeId Names;
    ValueId Value;
  };
  std::vector<Others> Rest;
  uint64_t Min = 0, Max = NoLimit;
};

struct Alternative {
  enum class Kind { Null, False, True, Number, Text, String, Array, Object } K;
  /// An automaton of numbers, a node of text or of a string's content, an
  /// ArrayRules or an ObjectRules.
  uint32_t Index = 0;
};

struct JsonRules {
  std::vector<std::vector<Alternative>> Values;
  std::vector<bool> Lives;
  std::vector<ArrayRules> Arrays;
  std::vector<ObjectRules> Objects;
  std::vector<NumberAutomaton> Numbers;
  uint32_t MaxWhitespace = 64;
  bool FixedOrder = false;
};

/// `Text` between the quotes of JSON, spelled as short as it can be.
std::string spelled(std::string_view Text);

/// Builds the rules of the value that fulfils the root of `Source`, which is
/// value 0.
Result<JsonRules> buildRules(SchemaSource &Source, RegexPool &Pool,
                             const SchemaOptions &Options, const Limits &Most);

/// The regular expressions of all numbers, and of all whole ones, as JSON
/// spells them.
NodeId anyNumber(RegexPool &Pool);
NodeId anyInteger(RegexPool &Pool);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_JSONRULES_H
