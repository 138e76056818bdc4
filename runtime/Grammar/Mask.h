//===- Mask.h - Which tokens may follow -------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_MASK_H
#define TENON_RUNTIME_GRAMMAR_MASK_H

#include "runtime/Grammar/Machine.h"
#include "runtime/Grammar/TokenTable.h"

#include <span>
#include <unordered_set>

namespace tenon::grammar {

/// Masks of one machine over one vocabulary. What a terminal allows by itself
/// is found once for each of its states; where a token ends the terminal, its
/// rest is looked at with what follows.
class MaskMaker {
public:
  MaskMaker(Machine &M, std::shared_ptr<const TokenTable> Tokens,
            const TokenTable &Used)
      : M(M), Keeps(std::move(Tokens)), Tokens(Used) {}

  void fill(ConfigId Id, std::span<uint64_t> Words);
  size_t bytes() const { return Bytes; }

private:
  struct Crossing {
    uint32_t Node;
    StateId State;
  };
  /// What a terminal allows from one of its states on.
  struct Inside {
    std::vector<uint64_t> Bits; ///< Empty where few tokens are allowed.
    std::vector<int32_t> Few;
    /// Where it ends and cannot go on.
    std::vector<Crossing> Ends;
    /// Nodes behind a place where it may end.
    Exits Behind;
    uint32_t Reach = 0; ///< The most bytes of a token that are allowed.
  };
  /// The same of characters of one set, repeated, by how many a token has.
  struct Counted {
    struct Token {
      uint32_t Chars; ///< Half of one is one.
      int32_t Id;
    };
    std::vector<Token> Tokens; ///< By their number.
    std::vector<uint64_t> Bits;
    /// Nodes of quotes, behind so many characters.
    std::vector<Token> Quotes;
    Exits Behind;
    /// Nodes below which all is such characters, behind so many.
    std::vector<Token> Loops;
  };

  /// Of the tokens below a node, of which the text so far has that part.
  const Inside &insideOf(StateId Id, uint32_t Node);
  void visit(StateId Id, uint32_t Node, uint32_t Depth, Inside &Found);
  void visitChild(StateId Id, uint32_t Child, uint32_t Depth, Inside &Found);
  const Counted &countedOf(StateId Id);
  void count(StateId Any, StateId Id, uint32_t Node, uint32_t Whole,
             uint32_t Chars, Counted &Found);
  StateId nearOf(StateId Id, uint32_t Node);
  void addHead(const Machine::Head &H);
  void addPlain(const Machine::Head &H, uint32_t Node);
  void addRun(const Machine::Run &Of, ConfigId After);
  void addExits(ConfigId After, const Exits &From, uint32_t Min, uint32_t Max);
  void addCounted(ConfigId After, const std::bitset<256> &First,
                  const Machine::Run &Of, uint32_t Node, uint32_t Chars);
  void addCrossing(const Machine::Head &H, uint32_t Node, StateId Ended,
                   const std::string &Bytes);
  void addKeyEnd(const Machine::Head &H, uint32_t Node,
                 const std::string &Bytes);
  void dropExcluded(const Machine::Head &H, uint32_t Node);
  void addTokens(uint32_t Node);
  void walk(ConfigId Id, uint32_t Node);
  void step(ConfigId Id, uint32_t Node);
  std::string pathOf(uint32_t Node) const;

  Machine &M;
  std::shared_ptr<const TokenTable> Keeps;
  const TokenTable &Tokens;
  /// By state and node.
  std::unordered_map<uint64_t, Inside> Insides;
  std::unordered_map<StateId, Counted> Counts;
  std::unordered_map<uint64_t, StateId> Nears;
  std::unordered_map<ConfigId, std::vector<uint64_t>> Masks;
  std::span<uint64_t> Out;
  size_t Bytes = 0;

  /// Of the head that is looked at: what is missing to excluded keys, and how
  /// long its key is so far.
  std::unordered_set<std::string> Missing;
  size_t KeyLength = 0;
  /// Its tokens, where some are taken out again.
  std::vector<uint64_t> Own;
  /// Where the last token of a key led.
  StateId LastEnded = 0;
  ConfigId LastAfter = Machine::NoConfig;
  bool HasLast = false;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_MASK_H
