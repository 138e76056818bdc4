//===- Numbers.h - Which spellings of numbers are accepted ------*- C++ -*-===//
//
// JSON numbers within bounds, and multiples of others, exactly: an automaton
// over the spelling that compares digits with those of the bounds, and keeps
// remainders. Such numbers are spelled without exponent.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_NUMBERS_H
#define TENON_RUNTIME_GRAMMAR_NUMBERS_H

#include "runtime/Grammar/Decimal.h"
#include "runtime/Grammar/RegexPool.h"

#include <vector>

namespace tenon::grammar {

struct NumberBound {
  Decimal Value;
  bool IsOpen = false; ///< The value itself is outside.
  bool operator==(const NumberBound &) const = default;
};

/// What a number must be.
struct NumberSpec {
  std::optional<NumberBound> Low, High;
  struct Multiple {
    Decimal Of;
    bool IsNot = false;
    bool operator==(const Multiple &) const = default;
  };
  /// A whole number is a multiple of 1.
  std::vector<Multiple> Multiples;
  /// If there are, one of these.
  std::optional<std::vector<Decimal>> Values;

  bool operator==(const NumberSpec &) const = default;
  bool isAny() const { return !Low && !High && Multiples.empty() && !Values; }
  /// Both.
  void intersect(const NumberSpec &Other);
  bool holds(const Decimal &D) const;
  void addLow(NumberBound Bound);
  void addHigh(NumberBound Bound);
};

/// The automaton of one specification. States are numbers from 0, the start.
class NumberAutomaton {
public:
  /// Numbers that a multiple is taken of, without zeros: more digits would make
  /// too many states.
  static constexpr uint64_t MaxDivisor = 1'000'000;

  /// None where a multiple has more digits than that allows.
  static std::optional<NumberAutomaton> create(NumberSpec Spec);

  static constexpr uint32_t Dead = UINT32_MAX;
  /// The state behind `Byte`, or Dead where no number goes on so.
  uint32_t next(uint32_t State, unsigned char Byte);
  bool accepts(uint32_t State) const { return Accepting[State]; }
  bool live(uint32_t State);
  bool exhausted() const { return Exhausted; }

private:
  enum Phase : uint32_t { Start, Minus, Zero, Whole, Point, Fraction };
  struct Divisor {
    uint64_t Value;
    uint32_t Places; ///< Value / 10^Places.
    bool IsNot;
  };
  struct Side {
    bool IsEmpty = false;
    std::optional<NumberBound> Low, High; ///< Of the number without its sign.
  };
  static constexpr uint32_t NoMultiple = UINT32_MAX;

  uint32_t intern(std::vector<uint32_t> Key);
  bool isAccepting(const std::vector<uint32_t> &Key) const;
  bool cannotRecover(const std::vector<uint32_t> &Key) const;
  uint32_t rawNext(uint32_t State, unsigned char Byte);
  bool canGrow(const std::vector<uint32_t> &Key) const;

  NumberSpec Spec;
  Side Sides[2]; ///< Of numbers that are not negative, and of others.
  std::vector<Divisor> Divisors;
  std::vector<std::vector<uint32_t>> States;
  std::vector<bool> Accepting;
  std::vector<int8_t> Live;
  WordsTable Ids;
  bool Exhausted = false;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_NUMBERS_H
