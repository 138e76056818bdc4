//===- CharSet.h - Sets of characters ---------------------------*- C++ -*-===//
//
// Sets of Unicode scalar values as sorted ranges. Surrogates are in none.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_CHARSET_H
#define TENON_RUNTIME_GRAMMAR_CHARSET_H

#include <compare>
#include <vector>

namespace tenon::grammar {

/// Code points First to Last, both included.
struct CharRange {
  char32_t First;
  char32_t Last;
  auto operator<=>(const CharRange &) const = default;
};

class CharSet {
public:
  CharSet() = default;
  /// Ranges in any order, which may overlap.
  explicit CharSet(std::vector<CharRange> Ranges);

  static CharSet any();
  static CharSet of(char32_t Code) { return CharSet({{Code, Code}}); }

  bool empty() const { return Ranges.empty(); }
  bool contains(char32_t Code) const;
  const std::vector<CharRange> &ranges() const { return Ranges; }

  CharSet unite(const CharSet &Other) const;
  CharSet intersect(const CharSet &Other) const;
  CharSet complement() const;

private:
  std::vector<CharRange> Ranges;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_CHARSET_H
