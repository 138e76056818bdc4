//===- Machine.h - Which bytes may follow -----------------------*- C++ -*-===//
//
// The recogniser of all grammars. A terminal is an automaton over bytes, built
// as far as texts go; rules are expanded when they are met. Where a text is, is
// a configuration: heads, each a state of a terminal and what may follow it, a
// set of (rest of a rule, what may follow that). Equal ones are the same
// number, so that their next bytes and masks are found once.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_MACHINE_H
#define TENON_RUNTIME_GRAMMAR_MACHINE_H

#include "runtime/Grammar/JsonRules.h"
#include "runtime/Grammar/LeadSet.h"

#include <array>
#include <bitset>
#include <deque>
#include <memory>
#include <set>

namespace tenon::grammar {

using StateId = uint32_t;  ///< Of a terminal.
using SymbolId = uint32_t; ///< A terminal or a rule.
using SeqId = uint32_t;    ///< Symbols one after another; 0: none.
using TailId = uint32_t;   ///< What may follow; 0: the end of the text.
using ConfigId = uint32_t;

/// What a text is written in: rules, or where there are none JSON of a schema.
struct Source {
  RegexPool Pool;
  std::shared_ptr<const JsonRules> Json;
  struct Part {
    enum Kind : uint8_t {
      Rule,  ///< Index: of a rule.
      Text,  ///< A node of the pool.
      Bytes, ///< One of Literals.
      Value  ///< A value of Json.
    } K;
    uint32_t Index;

    bool isRule() const { return K == Rule; }
  };
  /// Alternatives of each rule, each a row of parts; rule 0 is the start.
  std::vector<std::vector<std::vector<Part>>> Rules;
  std::vector<std::string> Literals;
};

class Machine {
public:
  static constexpr StateId Dead = 0;
  static constexpr ConfigId NoConfig = 0; ///< Nothing can follow.
  static constexpr ConfigId Unknown = UINT32_MAX;

  explicit Machine(Source From);

  ConfigId start() const { return Start; }
  ConfigId step(ConfigId From, unsigned char Byte);
  bool canEnd(ConfigId Id) const { return Configs[Id].Ends; }
  /// Only white space may still follow.
  bool isComplete(ConfigId Id) const;
  /// The bytes that may follow, and perhaps others.
  const std::bitset<256> &nextBytes(ConfigId Id);

  struct Head {
    StateId State;
    uint32_t Captured; ///< What a key has been so far; 0: nothing is kept.
    TailId Tail;
    auto operator<=>(const Head &) const = default;
  };
  const std::vector<Head> &heads(ConfigId Id) const {
    return Configs[Id].Heads;
  }
  /// Of one head alone.
  ConfigId configOf(const Head &H);
  /// Of what follows a terminal that ends in this state.
  ConfigId after(const Head &H);
  /// The same of a key, whatever it is, for a text that cannot get so far as to
  /// write it again.
  ConfigId afterSomeKey(const Head &H);

  StateId stepState(StateId From, unsigned char Byte);
  /// Inside of a string of any characters, and behind any string.
  StateId anyString() { return state(Mode::Chars, RegexPool::AnyText); }
  StateId done() { return state(Mode::Done); }
  bool accepts(StateId Id) const { return States[Id].Accepts; }
  /// Whether the terminal itself may go on.
  bool goesOn(StateId Id);
  /// Inside of a string of bounded length, its bounds.
  std::optional<std::pair<uint32_t, uint32_t>> lengths(StateId Id) const;

  /// What is missing from a key that is being written to each excluded one that
  /// begins so; how long it is so far is `Length`.
  std::vector<std::string> missingOf(const Head &H, size_t &Length) const;
  bool isEndless(StateId Id) const;
  /// A state that allows the same next `Near` bytes, and is one for many; with
  /// 0 one that allows more.
  StateId withoutFarBounds(StateId Id, uint32_t Near);
  /// Inside of a text or string of characters of one set: how many must and
  /// may still come, and the state from which any number may.
  struct Run {
    StateId Any;
    uint32_t Min, Max;
    bool IsString;
  };
  std::optional<Run> run(StateId Id);
  struct Loop {
    /// The characters behind which a text or string is in the same state.
    LeadSet Stay;
    /// Bytes that may lead to others, as the end of a string.
    LeadSet Leave;
  };
  const Loop &loopOf(StateId Id);
  /// The state behind every character that begins with a byte; Dead where they
  /// lead to different ones.
  StateId behindCharacter(StateId Id, uint8_t Byte);
  /// The bytes that may follow, and perhaps others.
  std::bitset<256> firstBytes(StateId Id);
  /// Whether what follows depends on how the terminal ended.
  bool isKey(StateId Id) const { return States[Id].M == Mode::Key; }
  /// Whether a key that adds `Bytes`, quote included, is not one that must not
  /// be.
  bool mayEndKey(const Head &H, std::string_view Bytes) const;
  /// One byte of a key; false where every key that begins so is excluded.
  bool stepKey(Head &H, unsigned char Byte);

  size_t bytes() const { return Pool.bytes() + Bytes; }
  /// Allows so many steps from here on (Limits::Steps).
  void allowSteps(size_t Count);
  /// Those that were taken since.
  size_t stepsTaken() const { return Steps + Pool.stepsTaken(); }
  /// There were too few steps, or regular expressions have too many states:
  /// what was answered since is wrong, and so is what is kept of it.
  bool exhausted() const { return IsSpent || Pool.exhausted(); }

private:
  enum class Mode : uint8_t {
    Dead,
    Text,      ///< A: node. In UTF-8.
    TextTail,  ///< A: node, B: bits so far, C: bytes missing.
    TextAny,   ///< A: next node, C: bytes missing, whatever they are.
    Open,      ///< A: node. A string's first quote.
    Chars,     ///< A: node.
    CharsTail, ///< As of text.
    CharsAny,
    Escape,   ///< A: node.
    Hex,      ///< A: node, B: value, C: digits.
    LowSlash, ///< A: node, B: high surrogate.
    LowU,
    LowHex, ///< A: node, B: surrogates so far, C: digits.
    Done,
    Key,    ///< A: object state, B: trie node, C: 1 behind the quote.
    Number, ///< A: automaton, B: state.
    Bytes,  ///< A: text, B: place.
    Space   ///< A: what a run may still cost.
  };
  struct State {
    Mode M;
    bool Accepts = false;
    int8_t GoesOn = -1;
    uint32_t A = 0, B = 0, C = 0;
    int32_t Table = -1;
    uint32_t Asked = 0; ///< Steps before there was a table.
    int32_t Loop = -1;
  };
  struct Config {
    std::vector<Head> Heads;
    bool Ends = false;
    int32_t Next = -1; ///< Of bytes that may follow.
  };
  using Edge = std::pair<SeqId, TailId>;
  enum class Kind : uint8_t {
    Terminal,   ///< A: state, B: 1 if it is kept what it reads.
    Value,      ///< A: value.
    ArrayFirst, ///< A: array state.
    ArrayMore,
    ArrayNext,
    ObjectFirst, ///< A: object state.
    ObjectMore,
    ObjectNext,
    TakeKey,    ///< A: object state; of the key that was read.
    TakeOther,  ///< A: object state, B: which of others.
    AfterKey,   ///< A: object state, B: key.
    AfterOther, ///< A: object state, B: which of others, C: text.
    Rule        ///< A: rule.
  };
  struct Symbol {
    Kind K;
    uint32_t A = 0, B = 0, C = 0;
    bool IsExpanded = false;
    uint32_t Call = 0; ///< Of the last place that calls it.
    std::vector<SeqId> Ways = {};
  };
  /// Who goes on behind a sequence: a tail, or with CallBit a call of the
  /// place.
  using Return = uint32_t;
  static constexpr Return CallBit = 1u << 31;
  /// A place in a text while its heads are found. A rule that may begin there
  /// is called once, however many sequences it begins: all of them go on behind
  /// it (the graph-structured stack of GLL parsing, Scott and Johnstone 2010),
  /// so that the ways to a place don't multiply.
  struct Place {
    struct Caller {
      SeqId Rest;
      Return Behind;
      uint32_t Next; ///< Of the same call; UINT32_MAX: none.
    };
    struct Call {
      SymbolId Callee;
      uint32_t Callers = UINT32_MAX; ///< The first one.
      bool MayBeNothing = false;
      std::optional<TailId> Tail = {};
    };
    struct Begun {
      StateId State;
      uint32_t Captured;
      SeqId Rest;
      Return Behind;
    };
    std::vector<Head> Heads;
    std::vector<Begun> Beginnings; ///< Heads whose tails are not known yet.
    std::vector<Call> Calls;
    std::vector<Caller> Callers;
    std::vector<std::pair<SeqId, Return>> Left; ///< Still to be looked at.
    std::vector<std::pair<SeqId, Return>> Seen; ///< The first ones.
    std::set<std::pair<SeqId, Return>> SeenLater;
    bool Ends = false;

    bool see(SeqId From, Return Behind);
    void clear();
  };

  // Machine.cpp
  bool takeStep();
  SymbolId symbol(Kind K, uint32_t A = 0, uint32_t B = 0, uint32_t C = 0);
  SymbolId terminal(StateId Id, bool IsKept = false);
  SymbolId bytesTerminal(std::string Text);
  SeqId seq(std::initializer_list<SymbolId> Symbols);
  SeqId cons(SymbolId First, SeqId Rest);
  TailId tail(std::span<const Edge> Edges);
  TailId tailOfAll(std::vector<Edge> &Edges);
  void close(Place &To, SeqId From, TailId Behind);
  void call(Place &To, SymbolId Callee, SeqId Rest, Return Behind);
  TailId tailOf(Place &At, Return Behind);
  TailId tailBehind(Place &At, SeqId Rest, Return Behind);
  void end(Place &To, const Head &H, bool IsAnyKey = false);
  ConfigId intern(Place &From);
  bool isKeyLive(const Head &H, StateId State, uint32_t Captured);

  // JsonExpansion.cpp
  const std::vector<SeqId> &ways(SymbolId Id);
  SymbolId symbolOf(const Source::Part &P);
  std::vector<SeqId> expand(const Symbol &S);
  SeqId afterKey(uint32_t Object, ValueId Value, uint32_t Next);
  std::vector<SeqId> expandValue(ValueId Id);
  std::vector<SeqId> expandArray(Kind K, uint32_t State);
  std::vector<SeqId> expandObject(Kind K, uint32_t State);
  uint32_t arrayState(uint32_t Rules, uint64_t Items, uint64_t Count);
  bool canFinish(const ArrayRules &A, uint64_t Items, uint64_t Count) const;
  uint32_t objectState(std::vector<uint32_t> Key);
  uint32_t withKey(uint32_t Object, uint32_t Key);
  uint32_t withOther(uint32_t Object, uint32_t Text);
  bool isSeen(uint32_t Object, uint32_t Key) const;
  bool mayAddKey(uint32_t Object, uint32_t Key) const;
  bool mayAddOther(uint32_t Object) const;
  bool mayClose(uint32_t Object) const;
  size_t neededKeys(uint32_t Object, uint32_t Adding) const;
  bool isExcluded(uint32_t Object, const std::string &Name) const;
  const ObjectRules &rulesOf(uint32_t Object) const {
    return Json->Objects[Objects[Object][0]];
  }
  std::string rawOfCapture(uint32_t Captured) const;
  bool isNearExcluded(const Head &H) const;
  uint32_t capture(uint32_t Captured, unsigned char Byte);
  uint32_t text(const std::string &Text);

  // Terminals.cpp
  StateId state(Mode M, uint32_t A = 0, uint32_t B = 0, uint32_t C = 0);
  StateId compute(StateId From, unsigned char Byte);
  StateId character(const State &From, unsigned char Byte, Mode Whole,
                    Mode Tail, Mode Any);
  StateId restOfCharacter(const State &From, unsigned char Byte, Mode Whole,
                          Mode Tail);
  bool anyLive(NodeId N, char32_t First, char32_t Last);
  StateId partly(NodeId N, uint32_t Bits, uint32_t Missing, Mode Whole,
                 Mode Tail, Mode Any);
  StateId hex(const State &From, unsigned Digit);

  RegexPool Pool;
  std::shared_ptr<const JsonRules> Json;
  std::vector<std::vector<std::vector<Source::Part>>> Rules;
  std::vector<std::string> Literals;
  std::vector<NumberAutomaton> Numbers;

  std::vector<State> States;
  WordsTable StateIds;
  /// These do not move: a copy of all of them would be a pause.
  std::deque<std::array<StateId, 256>> Tables;
  std::vector<Loop> Loops;
  std::vector<Symbol> Symbols;
  WordsTable SymbolIds;
  std::vector<std::pair<SymbolId, SeqId>> Seqs;
  WordsTable SeqIds;
  std::vector<std::vector<Edge>> Tails;
  WordsTable TailIds;
  std::vector<Config> Configs;
  Place Stepping; ///< Of the last step, for its memory.
  std::vector<uint32_t> Row;
  /// By tail; Unknown where it was not asked for.
  std::vector<ConfigId> Afters;
  WordsTable ConfigIds;
  WordsTable Following; ///< Of configurations and bytes.
  std::vector<std::bitset<256>> NextBytes;
  std::vector<std::string> Texts; ///< Of terminals, and of keys.
  std::unordered_map<std::string, uint32_t> TextIds;
  std::vector<std::pair<uint32_t, unsigned char>> Captures;
  std::unordered_map<uint64_t, uint32_t> CaptureIds;
  /// Rules, keys in all, id of the others seen, then bits of named ones.
  std::vector<std::vector<uint32_t>> Objects;
  WordsTable ObjectIds;
  std::vector<std::vector<uint32_t>> TextSets;
  WordsTable TextSetIds;
  struct ArrayState {
    uint32_t Rules;
    uint64_t Items, Count;
  };
  std::vector<ArrayState> Arrays;
  WordsTable ArrayIds;
  SymbolId SpaceSymbol = 0;
  ConfigId Start = NoConfig;
  size_t Bytes = 0;
  size_t Steps = 0, MostSteps = SIZE_MAX;
  bool IsSpent = false;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_MACHINE_H
