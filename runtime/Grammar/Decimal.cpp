//===- Decimal.cpp - Exact decimal numbers --------------------------------===//

#include "runtime/Grammar/Decimal.h"

#include <algorithm>

using namespace tenon::grammar;

std::optional<Decimal> Decimal::parse(std::string_view Text) {
  constexpr int64_t MostDigits = 1000;
  Decimal D;
  size_t At = 0;
  auto IsDigit = [&] {
    return At < Text.size() && Text[At] >= '0' && Text[At] <= '9';
  };
  if (At < Text.size() && Text[At] == '-') {
    D.IsNegative = true;
    ++At;
  }
  std::string Digits;
  while (IsDigit())
    Digits += Text[At++];
  auto Point = int64_t(Digits.size());
  if (At < Text.size() && Text[At] == '.') {
    ++At;
    while (IsDigit())
      Digits += Text[At++];
  }
  if (At < Text.size() && (Text[At] == 'e' || Text[At] == 'E')) {
    ++At;
    bool IsMinus = At < Text.size() && Text[At] == '-';
    if (At < Text.size() && (Text[At] == '-' || Text[At] == '+'))
      ++At;
    int64_t Exponent = 0;
    while (IsDigit())
      Exponent = std::min<int64_t>(Exponent * 10 + (Text[At++] - '0'),
                                   MostDigits * 10);
    Point += IsMinus ? -Exponent : Exponent;
  }
  if (Digits.find_first_not_of('0') == std::string::npos)
    return Decimal();
  if (Digits.size() > size_t(MostDigits) || Point > MostDigits ||
      Point < -MostDigits)
    return std::nullopt;
  if (Point < 0) {
    Digits.insert(0, size_t(-Point), '0');
    Point = 0;
  }
  if (Point > int64_t(Digits.size()))
    Digits.append(size_t(Point) - Digits.size(), '0');
  D.Whole = Digits.substr(0, size_t(Point));
  D.Fraction = Digits.substr(size_t(Point));
  D.Whole.erase(0, std::min(D.Whole.find_first_not_of('0'), D.Whole.size()));
  D.Fraction.erase(D.Fraction.find_last_not_of('0') + 1);
  return D;
}

Decimal Decimal::negated() const {
  Decimal D = *this;
  D.IsNegative = !IsNegative && !isZero();
  return D;
}

std::string Decimal::text() const {
  std::string Text = IsNegative ? "-" : "";
  Text += Whole.empty() ? "0" : Whole;
  return Fraction.empty() ? Text : Text + "." + Fraction;
}

std::strong_ordering Decimal::operator<=>(const Decimal &Other) const {
  if (IsNegative != Other.IsNegative)
    return IsNegative ? std::strong_ordering::less
                      : std::strong_ordering::greater;
  const Decimal &A = IsNegative ? Other : *this;
  const Decimal &B = IsNegative ? *this : Other;
  if (A.Whole.size() != B.Whole.size())
    return A.Whole.size() <=> B.Whole.size();
  if (int Order = A.Whole.compare(B.Whole))
    return Order <=> 0;
  return A.Fraction.compare(B.Fraction) <=> 0;
}
