//===- TokenTable.h - The tokens of a model by their bytes ------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_TOKENTABLE_H
#define TENON_RUNTIME_GRAMMAR_TOKENTABLE_H

#include "runtime/Grammar/LeadSet.h"
#include "runtime/Grammar/StringTokens.h"
#include "runtime/Grammar/TokenIndex.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <array>
#include <memory>

namespace tenon::grammar {

/// Stands before the spelling of an added token, such as "<tool_call>", where
/// grammars have some: a byte that no text in UTF-8 has.
inline constexpr char SpecialMark = '\xFF';

/// The bytes of all tokens, as a tree in which those with the same beginning
/// share it. Immutable, and shared by all grammars of a model.
class TokenTable {
public:
  /// Of all tokens but special ones. An error where what a token adds to a
  /// text depends on those around it.
  /// With `HasAdded` also of those, and of all others that are added, as
  /// SpecialMark and their spelling.
  static Result<std::shared_ptr<const TokenTable>>
  build(const tokenizer::Tokenizer &T, bool HasAdded = false);
  /// Of tokens that are given; an empty one is never allowed.
  static std::shared_ptr<const TokenTable>
  build(const std::vector<std::string> &Tokens);

  /// One more than the highest id, and the words of a mask.
  size_t size() const { return Tokens.size(); }
  size_t words() const { return (size() + 63) / 64; }
  /// Empty for what is never allowed.
  const std::string &bytesOf(int32_t Token) const {
    return Tokens[static_cast<size_t>(Token)];
  }
  /// Of a text's first token, which some tokenizers begin otherwise.
  const TokenTable &first() const { return First ? *First : *this; }

  /// Nodes in the order of a walk in depth; 0 is the root.
  struct Node {
    uint32_t End; ///< Behind the last node below.
    uint32_t Parent;
    uint32_t Begin; ///< Its tokens are [Begin, Begin + Count) of ids().
    uint16_t Count;
    uint8_t Byte;
    uint8_t Height; ///< Of what is below, at most 255.
  };
  const std::vector<Node> &nodes() const { return Nodes; }
  /// The root's child of a byte; 0 where there is none.
  uint32_t childOfRoot(uint8_t Byte) const { return RootChildren[Byte]; }
  /// All nodes of a byte.
  std::span<const uint32_t> nodesOf(uint8_t Byte) const {
    return std::span(ByByte).subspan(
        ByteBegin[Byte], ByteBegin[size_t(Byte) + 1] - ByteBegin[Byte]);
  }
  /// What the nodes below a node consist of.
  struct Below {
    LeadSet Leads;       ///< Of its characters.
    bool Others = false; ///< Bytes that are not ASCII,
    bool IsUtf8 = true;  ///< which are whole characters but for the last one.
  };
  const Below &below(uint32_t Node) const { return Belows[Node]; }
  /// Behind the last of ids() below a node, which begin with its own.
  uint32_t idsEnd(uint32_t Node) const {
    uint32_t Next = Nodes[Node].End;
    return Next < Nodes.size() ? Nodes[Next].Begin
                               : static_cast<uint32_t>(Ids.size());
  }
  const std::vector<int32_t> &ids() const { return Ids; }
  /// By the bytes of a token that begin a character.
  const TokensByLength &byLength() const { return ByLength; }
  const StringTokens &strings() const { return Strings; }
  const TokenIndex &index() const { return Index; }

private:
  TokenTable() = default;
  void make();
  void describeBelow();

  std::vector<std::string> Tokens;
  std::vector<Node> Nodes;
  std::vector<Below> Belows;
  std::array<uint32_t, 256> RootChildren{};
  std::vector<uint32_t> ByByte;
  std::array<uint32_t, 257> ByteBegin{};
  std::vector<int32_t> Ids;
  std::unique_ptr<TokenTable> First;
  TokensByLength ByLength;
  StringTokens Strings;
  TokenIndex Index;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_TOKENTABLE_H
