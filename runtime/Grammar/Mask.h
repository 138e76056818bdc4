//===- Mask.h - Which tokens may follow -------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_MASK_H
#define TENON_RUNTIME_GRAMMAR_MASK_H

#include "runtime/Grammar/Machine.h"
#include "runtime/Grammar/TokenTable.h"

#include <map>
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
  /// Nodes behind places where a terminal may end and may go on, of the bytes
  /// that were asked for: what follows mostly begins with few.
  struct FreeEnds {
    Exits Behind;
    std::bitset<256> Known;
  };
  /// What a terminal allows from one of its states on.
  struct Inside {
    std::vector<uint64_t> Bits; ///< Empty where few tokens are allowed.
    std::vector<int32_t> Few;
    /// Where it ends and cannot go on, and the nodes behind these.
    std::vector<Crossing> Ends;
    Exits Behind;
    FreeEnds Free;
  };
  /// The same of characters of one set, repeated, by how many come before.
  struct Counted {
    struct Quote {
      uint32_t Node;
      uint32_t Chars;
    };
    std::vector<Quote> Quotes;
    Exits Behind;
    FreeEnds Free;
  };

  /// Of the tokens below a node, of which the text so far has that part.
  Inside &insideOf(StateId Id, uint32_t Node);
  void visit(StateId Id, uint32_t Node, Inside &Found);
  void visitChild(StateId Id, uint32_t Child, Inside &Found);
  void visitRoot(StateId Id, Inside &Found);
  void leaveLoop(StateId Id, uint32_t Node, const Machine::Loop &Loop,
                 Inside &Found);
  bool leaveByBytes(StateId Id, const LeadSet &First, size_t Count,
                    StateId Next, const Machine::Loop &Loop, Inside &Found);
  bool isBehindLoop(StateId Id, const LeadSet &First, StateId Next,
                    const Machine::Loop &Loop, uint32_t Node);
  bool isManyOfLoop(uint32_t Node, const Machine::Loop &Loop) const;
  std::span<const uint64_t> onlyOf(const LeadSet &Leads);
  void addIds(uint32_t Begin, uint32_t End, Inside &Found);
  void addBelow(uint32_t Node, std::span<const uint64_t> Of, Inside &Found);
  void addBeginning(const LeadSet &With, size_t Count,
                    std::span<const uint64_t> Of, Inside &Found);
  Counted &countedOf(const Machine::Run &Of);
  /// Where the terminal of a state may end and go on, before bytes of `First`.
  const Exits &freeEnds(StateId Id, uint32_t Node, bool IsCounted,
                        const std::bitset<256> &First, FreeEnds &Found);
  void findFreeEnds(StateId Id, uint32_t Node, uint32_t Chars, bool IsCounted,
                    const std::bitset<256> &First, Exits &Found);
  void reach(StateId Id, uint32_t Node, uint32_t Depth, uint32_t &Most);
  StateId nearOf(StateId Id, uint32_t Node);
  template <typename Visitor>
  void eachChild(StateId Id, uint32_t Node, Visitor Visit);
  void addHead(const Machine::Head &H);
  void addPlain(const Machine::Head &H, uint32_t Node);
  void addRun(const Machine::Run &Of, ConfigId After);
  void addExits(ConfigId After, const Exits &From, uint32_t Min, uint32_t Max);
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
  /// The tokens of certain characters.
  std::map<LeadSet, std::vector<uint64_t>> Onlys;
  std::unordered_map<uint64_t, StateId> Nears;
  std::unordered_map<uint64_t, uint32_t> Reaches;
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
