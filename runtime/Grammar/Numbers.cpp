//===- Numbers.cpp - Which spellings of numbers are accepted --------------===//

#include "runtime/Grammar/Numbers.h"

#include <algorithm>

using namespace tenon::grammar;

void NumberSpec::addLow(NumberBound Bound) {
  if (!Low || Bound.Value > Low->Value ||
      (Bound.Value == Low->Value && Bound.IsOpen))
    Low = std::move(Bound);
}

void NumberSpec::addHigh(NumberBound Bound) {
  if (!High || Bound.Value < High->Value ||
      (Bound.Value == High->Value && Bound.IsOpen))
    High = std::move(Bound);
}

/// The whole number that `D` is when its digits are taken without the point,
/// and how many are behind it.
static std::optional<std::pair<uint64_t, uint32_t>> scaled(const Decimal &D) {
  uint64_t Value = 0;
  for (char C : D.Whole + D.Fraction) {
    if (Value > UINT64_MAX / 20)
      return std::nullopt;
    Value = Value * 10 + uint64_t(C - '0');
  }
  return std::pair(Value, uint32_t(D.Fraction.size()));
}

static bool isMultiple(const Decimal &D, const Decimal &Of) {
  auto Divisor = scaled(Of);
  if (!Divisor || D.Fraction.size() > Divisor->second)
    return false;
  uint64_t Rest = 0;
  std::string Digits = D.Whole + D.Fraction;
  Digits.append(Divisor->second - D.Fraction.size(), '0');
  for (char C : Digits)
    Rest = (Rest * 10 + uint64_t(C - '0')) % Divisor->first;
  return Rest == 0;
}

bool NumberSpec::holds(const Decimal &D) const {
  if (Low && (D < Low->Value || (D == Low->Value && Low->IsOpen)))
    return false;
  if (High && (D > High->Value || (D == High->Value && High->IsOpen)))
    return false;
  for (const Multiple &M : Multiples)
    if (isMultiple(D, M.Of) == M.IsNot)
      return false;
  return !Values ||
         std::find(Values->begin(), Values->end(), D) != Values->end();
}

void NumberSpec::intersect(const NumberSpec &Other) {
  if (Other.Low)
    addLow(*Other.Low);
  if (Other.High)
    addHigh(*Other.High);
  for (const Multiple &M : Other.Multiples)
    if (std::find(Multiples.begin(), Multiples.end(), M) == Multiples.end())
      Multiples.push_back(M);
  if (!Values && !Other.Values)
    return;
  if (!Values) {
    Values = Other.Values;
  } else if (Other.Values) {
    std::vector<Decimal> Known = *Other.Values;
    std::sort(Known.begin(), Known.end());
    std::erase_if(*Values, [&](const Decimal &D) {
      return !std::binary_search(Known.begin(), Known.end(), D);
    });
  }
  NumberSpec Rest = *this;
  Rest.Values.reset();
  std::erase_if(*Values, [&](const Decimal &D) { return !Rest.holds(D); });
  Rest = NumberSpec();
  Rest.Values = std::move(Values);
  *this = std::move(Rest);
}

std::optional<NumberAutomaton> NumberAutomaton::create(NumberSpec Spec) {
  NumberAutomaton Made;
  for (const NumberSpec::Multiple &M : Spec.Multiples) {
    auto Value = scaled(M.Of);
    if (!Value || Value->first > MaxDivisor)
      return std::nullopt;
    Made.Divisors.push_back({Value->first, Value->second, M.IsNot});
  }
  // Without signs: -5 <= x means that a negative number is at most 5.
  auto &[Positive, Negative] = Made.Sides;
  auto SideOf = [](Side &S, std::optional<NumberBound> Low,
                   std::optional<NumberBound> High) {
    if (High &&
        (High->Value.IsNegative || (High->Value.isZero() && High->IsOpen)))
      S.IsEmpty = true;
    // An open bound of zero excludes zero.
    if (Low && !Low->Value.IsNegative && !(Low->Value.isZero() && !Low->IsOpen))
      S.Low = Low;
    S.High = High;
  };
  auto Negated = [](const std::optional<NumberBound> &B) {
    return B ? std::optional(NumberBound{B->Value.negated(), B->IsOpen})
             : std::nullopt;
  };
  SideOf(Positive, Spec.Low, Spec.High);
  SideOf(Negative, Negated(Spec.High), Negated(Spec.Low));
  Made.Spec = std::move(Spec);
  Made.intern({Start});
  return Made;
}

// A key: phase, is negative, digits before the point, order to the low bound,
// to the high bound (0 less, 1 equal, 2 greater), digits behind the point, then
// the remainders. Digits are counted as far as they matter.
enum { KeyPhase, KeyNegative, KeyWhole, KeyLow, KeyHigh, KeyPlaces, KeyRests };

uint32_t NumberAutomaton::intern(std::vector<uint32_t> Key) {
  auto [Id, IsNew] = Ids.add(Key, uint32_t(States.size()));
  if (IsNew) {
    Accepting.push_back(isAccepting(Key));
    Live.push_back(-1);
    States.push_back(std::move(Key));
  }
  return Id;
}

/// The order of what is read to a bound: decided by the number of digits before
/// the point, then by the first digit that differs. What has been read of the
/// bound's fraction is `Places`.
static uint32_t orderTo(const std::vector<uint32_t> &Key, uint32_t Order,
                        const Decimal &Bound) {
  // Behind the point it is known which is longer, and zero has no digits.
  if (Key[KeyWhole] != UINT32_MAX && Key[KeyWhole] != Bound.Whole.size())
    return Key[KeyWhole] < Bound.Whole.size() ? 0 : 2;
  if (Order != 1)
    return Order;
  return Key[KeyPlaces] < Bound.Fraction.size() ? 0 : 1;
}

bool NumberAutomaton::isAccepting(const std::vector<uint32_t> &Key) const {
  Phase P = Phase(Key[KeyPhase]);
  if (P != Zero && P != Whole && P != Fraction)
    return false;
  const Side &S = Sides[Key[KeyNegative]];
  if (S.Low) {
    uint32_t Order = orderTo(Key, Key[KeyLow], S.Low->Value);
    if (Order == 0 || (Order == 1 && S.Low->IsOpen))
      return false;
  }
  if (S.High) {
    uint32_t Order = orderTo(Key, Key[KeyHigh], S.High->Value);
    if (Order == 2 || (Order == 1 && S.High->IsOpen))
      return false;
  }
  for (size_t I = 0; I < Divisors.size(); ++I) {
    const Divisor &D = Divisors[I];
    uint64_t Rest = Key[KeyRests + I];
    bool IsMultiple = Rest != NoMultiple;
    if (IsMultiple) {
      for (uint32_t K = std::min(Key[KeyPlaces], D.Places); K < D.Places; ++K)
        Rest = Rest * 10 % D.Value;
      IsMultiple = Rest == 0;
    }
    if (IsMultiple == D.IsNot)
      return false;
  }
  return true;
}

uint32_t NumberAutomaton::rawNext(uint32_t State, unsigned char Byte) {
  std::vector<uint32_t> Key = States[State];
  Phase P = Phase(Key[KeyPhase]);
  if (P == Start && Byte == '-')
    return intern({Minus});
  if (Byte == '.') {
    if (P != Zero && P != Whole)
      return Dead;
    // From here on the digits before the point are known.
    const Side &S = Sides[Key[KeyNegative]];
    for (auto [At, Bound] : {std::pair(KeyLow, &S.Low), {KeyHigh, &S.High}})
      if (*Bound) {
        size_t Length = P == Zero ? 0 : Key[KeyWhole];
        size_t Wanted = (*Bound)->Value.Whole.size();
        if (Length != Wanted)
          Key[At] = Length < Wanted ? 0 : 2;
      }
    // Orders are final but for the digits that follow: no more lengths.
    Key[KeyWhole] = UINT32_MAX;
    Key[KeyPhase] = Point;
    return intern(std::move(Key));
  }
  if (Byte < '0' || Byte > '9')
    return Dead;
  uint32_t Digit = Byte - '0';
  bool IsFirst = P == Start || P == Minus;
  if (P == Zero)
    return Dead;
  if (IsFirst) {
    Key = {Digit == 0 ? Zero : Whole, P == Minus, 0, 1, 1, 0};
    Key.resize(KeyRests + Divisors.size());
  }
  const Side &S = Sides[Key[KeyNegative]];
  bool IsWhole = IsFirst || P == Whole;
  for (auto [At, Bound] : {std::pair(KeyLow, &S.Low), {KeyHigh, &S.High}}) {
    if (!*Bound)
      continue;
    const std::string &Digits =
        IsWhole ? (*Bound)->Value.Whole : (*Bound)->Value.Fraction;
    size_t Place = IsWhole ? Key[KeyWhole] : Key[KeyPlaces];
    if (Key[At] != 1 || (IsFirst && Digit == 0))
      continue;
    uint32_t Wanted = Place < Digits.size() ? uint32_t(Digits[Place] - '0') : 0;
    if (IsWhole && Place >= Digits.size())
      continue; // Longer than the bound, whatever the digits.
    if (Digit != Wanted)
      Key[At] = Digit < Wanted ? 0 : 2;
  }
  for (size_t I = 0; I < Divisors.size(); ++I) {
    uint32_t &Rest = Key[KeyRests + I];
    const Divisor &D = Divisors[I];
    if (Rest == NoMultiple)
      continue;
    if (!IsWhole && Key[KeyPlaces] >= D.Places)
      Rest = Digit == 0 ? Rest : NoMultiple;
    else
      Rest = uint32_t((uint64_t(Rest) * 10 + Digit) % D.Value);
  }
  uint32_t Most = 0;
  for (const auto &Bound : {S.Low, S.High})
    if (Bound)
      Most = std::max(Most, uint32_t(IsWhole ? Bound->Value.Whole.size() + 1
                                             : Bound->Value.Fraction.size()));
  if (!IsWhole) {
    for (const Divisor &D : Divisors)
      Most = std::max(Most, D.Places);
    Key[KeyPhase] = Fraction;
    Key[KeyPlaces] = std::min(Key[KeyPlaces] + 1, Most);
  } else if (!(IsFirst && Digit == 0)) {
    Key[KeyWhole] = std::min(Key[KeyWhole] + 1, std::max(Most, 1u));
  }
  return cannotRecover(Key) ? Dead : intern(std::move(Key));
}

/// What no further digit mends; keeps the search for accepted numbers short.
bool NumberAutomaton::cannotRecover(const std::vector<uint32_t> &Key) const {
  const Side &S = Sides[Key[KeyNegative]];
  if (S.IsEmpty)
    return true;
  bool IsWhole = Key[KeyPhase] == Whole;
  if (S.High) {
    size_t Most = S.High->Value.Whole.size();
    if (IsWhole &&
        (Key[KeyWhole] > Most || (Key[KeyWhole] == Most && Key[KeyHigh] == 2)))
      return true;
    if (Key[KeyPhase] == Fraction && Key[KeyHigh] == 2)
      return true;
  }
  if (S.Low && Key[KeyPhase] == Fraction && Key[KeyLow] == 0)
    return true;
  for (size_t I = 0; I < Divisors.size(); ++I)
    if (Key[KeyRests + I] == NoMultiple && !Divisors[I].IsNot)
      return true;
  return false;
}

/// Whether more digits before the point reach every remainder: so many are
/// allowed that nothing has to be searched.
bool NumberAutomaton::canGrow(const std::vector<uint32_t> &Key) const {
  if (Key[KeyPhase] != Whole || Divisors.size() > 1)
    return false;
  for (const Divisor &D : Divisors)
    if (D.IsNot)
      return false;
  const Side &S = Sides[Key[KeyNegative]];
  return !S.High || Key[KeyWhole] + (Divisors.empty() ? 1 : 8) <
                        S.High->Value.Whole.size();
}

bool NumberAutomaton::live(uint32_t State) {
  if (Accepting[State] || canGrow(States[State]))
    return true;
  if (Live[State] >= 0)
    return Live[State] == 1;
  struct Visit {
    uint32_t State;
    unsigned Byte;
  };
  constexpr std::string_view Bytes = "0123456789.-";
  std::vector<Visit> Path{{State, 0}};
  std::vector<uint32_t> Seen{State};
  std::unordered_map<uint32_t, bool> IsSeen{{State, true}};
  while (!Path.empty()) {
    if (Path.back().Byte == Bytes.size()) {
      Path.pop_back();
      continue;
    }
    uint32_t From = Path.back().State;
    uint32_t Next =
        rawNext(From, static_cast<unsigned char>(Bytes[Path.back().Byte++]));
    if (Next == Dead || Live[Next] == 0)
      continue;
    constexpr size_t MostSeen = 200'000;
    if (Seen.size() > MostSeen)
      Exhausted = true;
    if (Accepting[Next] || Live[Next] == 1 || canGrow(States[Next]) ||
        Exhausted) {
      for (const Visit &V : Path)
        Live[V.State] = 1;
      return true;
    }
    if (IsSeen.emplace(Next, true).second) {
      Seen.push_back(Next);
      Path.push_back({Next, 0});
    }
  }
  for (uint32_t Dead : Seen)
    Live[Dead] = 0;
  return false;
}

uint32_t NumberAutomaton::next(uint32_t State, unsigned char Byte) {
  uint32_t Next = rawNext(State, Byte);
  return Next == Dead || live(Next) ? Next : Dead;
}
