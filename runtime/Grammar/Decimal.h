//===- Decimal.h - Exact decimal numbers ------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_DECIMAL_H
#define TENON_RUNTIME_GRAMMAR_DECIMAL_H

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::grammar {

/// A number by its digits, without leading zeros before the point and trailing
/// ones behind it: equal numbers are equal.
struct Decimal {
  bool IsNegative = false; ///< Not of zero.
  std::string Whole;       ///< Empty for zero.
  std::string Fraction;

  /// Of a JSON number; none where it has more than about 1,000 digits.
  static std::optional<Decimal> parse(std::string_view Text);

  bool isZero() const { return Whole.empty() && Fraction.empty(); }
  bool isInteger() const { return Fraction.empty(); }
  Decimal negated() const;
  /// Without exponent.
  std::string text() const;

  bool operator==(const Decimal &) const = default;
  std::strong_ordering operator<=>(const Decimal &Other) const;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_DECIMAL_H
