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
  struct Inside {
    std::vector<uint64_t> Bits; ///< Empty where few tokens are allowed.
    std::vector<int32_t> Few;
    std::vector<Crossing> Crossings;
  };

  const Inside &insideOf(StateId Id);
  void visit(StateId Id, uint32_t Node, Inside &Found);
  void addHead(const Machine::Head &H);
  void addCrossing(const Machine::Head &H, uint32_t Node, StateId Ended);
  void addKeyEnd(const Machine::Head &H, uint32_t Node,
                 const std::string &Bytes);
  void dropExcluded(const Machine::Head &H, uint32_t Node);
  void addTokens(uint32_t Node);
  void walk(ConfigId Id, uint32_t Node);
  std::string pathOf(uint32_t Node) const;

  Machine &M;
  std::shared_ptr<const TokenTable> Keeps;
  const TokenTable &Tokens;
  std::unordered_map<StateId, Inside> Insides;
  std::unordered_map<ConfigId, std::vector<uint64_t>> Masks;
  std::span<uint64_t> Out;
  size_t Bytes = 0;

  /// Of the head that is looked at: what is missing to excluded keys, and how
  /// long its key is so far.
  std::unordered_set<std::string> Missing;
  size_t KeyLength = 0;
  /// Its tokens, where some are taken out again.
  std::vector<uint64_t> Own;
  StateId LastEnded = 0;
  ConfigId LastAfter = Machine::NoConfig;
  bool HasLast = false;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_MASK_H
