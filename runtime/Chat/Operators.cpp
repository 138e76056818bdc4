//===- Operators.cpp - What signs between values do -----------------------===//

#include "runtime/Chat/Operators.h"

#include "runtime/Chat/Limits.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::chat;

static const char *signOf(Operator Sign) {
  constexpr const char *Signs[] = {"+",  "-",  "*",  "/",  "//",
                                   "%",  "**", "==", "!=", "<",
                                   "<=", ">",  ">=", "in", "not in"};
  return Signs[static_cast<size_t>(Sign)];
}

static Error unfit(Operator Sign, const Value &A, const Value &B) {
  return Error(describe(A) + " " + signOf(Sign) + " " + describe(B) +
               ": expected values that this sign is for");
}

Text chat::escapedHtml(const Text &From) {
  Text Made;
  for (size_t I = 0; I < From.size(); ++I) {
    constexpr std::string_view Signs = "&<>'\"";
    constexpr const char *Spelled[] = {"&amp;", "&lt;", "&gt;", "&#39;",
                                       "&#34;"};
    size_t Found = Signs.find(From.str()[I]);
    if (Found == Signs.npos)
      Made.append(From, I, I + 1);
    else
      Made.append(Spelled[Found], From.originAt(I));
  }
  return Made;
}

static Result<Value> overflow(Operator Sign, const Value &A, const Value &B) {
  return Error(describe(A) + " " + signOf(Sign) + " " + describe(B) +
               " is beyond 64 bits");
}

/// Python's % and // round towards minus infinity.
static double floorModulo(double A, double B) {
  double Rest = std::fmod(A, B);
  if (Rest == 0)
    return std::copysign(0.0, B);
  return (Rest < 0) != (B < 0) ? Rest + B : Rest;
}

static double floorDivide(double A, double B) {
  double Quotient = (A - floorModulo(A, B)) / B;
  double Whole = std::floor(Quotient);
  return Quotient - Whole > 0.5 ? Whole + 1 : Whole;
}

static Result<Value> calculateReal(Operator Sign, const Value &A,
                                   const Value &B, Origin From) {
  double X = A.asReal(), Y = B.asReal(), Z = 0;
  if (Y == 0 && (Sign == Operator::Divide || Sign == Operator::FloorDivide ||
                 Sign == Operator::Modulo))
    return Error("division of " + describe(A) + " by zero");
  switch (Sign) {
  case Operator::Add:
    Z = X + Y;
    break;
  case Operator::Subtract:
    Z = X - Y;
    break;
  case Operator::Multiply:
    Z = X * Y;
    break;
  case Operator::Divide:
    Z = X / Y;
    break;
  case Operator::FloorDivide:
    Z = floorDivide(X, Y);
    break;
  case Operator::Modulo:
    Z = floorModulo(X, Y);
    break;
  default:
    Z = std::pow(X, Y);
    if (!std::isfinite(Z) && std::isfinite(X) && std::isfinite(Y))
      return Error(describe(A) + " ** " + describe(B) + " is no finite number");
    break;
  }
  return Value::real(Z, From);
}

static Result<Value> power(const Value &A, const Value &B, Origin From) {
  int64_t Base = A.asInteger(), Exponent = B.asInteger(), Made = 1;
  while (Exponent > 0) {
    if ((Exponent & 1) && __builtin_mul_overflow(Made, Base, &Made))
      return overflow(Operator::Power, A, B);
    Exponent >>= 1;
    if (Exponent > 0 && __builtin_mul_overflow(Base, Base, &Base))
      return overflow(Operator::Power, A, B);
  }
  return Value::integer(Made, From);
}

static Result<Value> calculateInteger(Operator Sign, const Value &A,
                                      const Value &B, Origin From) {
  int64_t X = A.asInteger(), Y = B.asInteger(), Z = 0;
  bool Beyond = false;
  switch (Sign) {
  case Operator::Add:
    Beyond = __builtin_add_overflow(X, Y, &Z);
    break;
  case Operator::Subtract:
    Beyond = __builtin_sub_overflow(X, Y, &Z);
    break;
  case Operator::Multiply:
    Beyond = __builtin_mul_overflow(X, Y, &Z);
    break;
  case Operator::FloorDivide:
  case Operator::Modulo: {
    if (Y == 0)
      return Error("division of " + describe(A) + " by zero");
    if (Y == -1) {
      Beyond = Sign == Operator::FloorDivide &&
               __builtin_sub_overflow(int64_t{0}, X, &Z);
      break;
    }
    int64_t Rest = X % Y, Quotient = X / Y;
    bool Down = Rest != 0 && (Rest < 0) != (Y < 0);
    Z = Sign == Operator::Modulo ? Rest + (Down ? Y : 0) : Quotient - Down;
    break;
  }
  case Operator::Power:
    if (Y >= 0)
      return power(A, B, From);
    return calculateReal(Sign, A, B, From);
  default:
    return calculateReal(Sign, A, B, From);
  }
  if (Beyond)
    return overflow(Sign, A, B);
  return Value::integer(Z, From);
}

/// `Of` as often as `Times` says.
static Result<Value> repeated(Interpreter &Run, const Value &Of,
                              const Value &Times) {
  auto Count = static_cast<uint64_t>(std::max<int64_t>(Times.asInteger(), 0));
  uint64_t Size = Of.is(Kind::String) ? Of.text().size() : Of.items().size();
  if (Size != 0 && Count > MaxTextBytes / Size)
    return Error(describe(Of) + " * " + std::to_string(Count) +
                 ": expected at most " + std::to_string(MaxTextBytes) +
                 " bytes or elements");
  if (Status Able = Run.spend(Size * Count / (Of.is(Kind::String) ? 64 : 1));
      !Able)
    return Able.error();
  if (Of.is(Kind::String)) {
    Text All;
    for (uint64_t I = 0; Size != 0 && I < Count; ++I)
      All.append(Of.text());
    return Run.made(std::move(All));
  }
  std::vector<Value> Items;
  for (uint64_t I = 0; Size != 0 && I < Count; ++I)
    Items.insert(Items.end(), Of.items().begin(), Of.items().end());
  return Of.is(Kind::List) ? Value::list(std::move(Items), Of.origin())
                           : Value::tuple(std::move(Items), Of.origin());
}

Result<Value> chat::calculate(Interpreter &Run, Operator Sign, const Value &A,
                              const Value &B) {
  Origin From = mixed(A.origin(), B.origin());
  for (const Value *V : {&A, &B})
    if (V->is(Kind::Undefined))
      return Error(V->whyUndefined() + ": expected a value before and behind " +
                   signOf(Sign));
  if (A.isNumber() && B.isNumber())
    return A.is(Kind::Float) || B.is(Kind::Float)
               ? calculateReal(Sign, A, B, From)
               : calculateInteger(Sign, A, B, From);
  bool AreBoth = A.kind() == B.kind();
  bool IsString = A.is(Kind::String),
       IsRow = A.is(Kind::List) || A.is(Kind::Tuple);
  if (Sign == Operator::Add && AreBoth && IsString) {
    bool IsSafe = A.isSafe() || B.isSafe();
    Text All = IsSafe && !A.isSafe() ? escapedHtml(A.text()) : A.text();
    All.append(IsSafe && !B.isSafe() ? escapedHtml(B.text()) : B.text());
    Result<Value> V = Run.made(std::move(All));
    return V ? V->markedSafe(IsSafe) : V;
  }
  if (Sign == Operator::Add && AreBoth && IsRow) {
    if (Status Able = Run.spend(A.items().size() + B.items().size()); !Able)
      return Able.error();
    std::vector<Value> Items = A.items();
    Items.insert(Items.end(), B.items().begin(), B.items().end());
    return A.is(Kind::List) ? Value::list(std::move(Items), From)
                            : Value::tuple(std::move(Items), From);
  }
  auto IsCount = [](const Value &V) {
    return V.is(Kind::Integer) || V.is(Kind::Boolean);
  };
  if (Sign == Operator::Multiply) {
    if ((IsString || IsRow) && IsCount(B))
      return repeated(Run, A, B);
    if ((B.is(Kind::String) || B.is(Kind::List) || B.is(Kind::Tuple)) &&
        IsCount(A))
      return repeated(Run, B, A);
  }
  if (Sign == Operator::Modulo && IsString && !A.isSafe()) {
    Result<Text> Made = formatPercent(Run, A.text(), B);
    if (!Made)
      return Made.error();
    return Run.made(std::move(*Made));
  }
  return unfit(Sign, A, B);
}

Result<Value> chat::withSign(const Value &V, bool Negative) {
  if (V.is(Kind::Undefined))
    return Error(V.whyUndefined() + ": expected a number behind the sign");
  if (!V.isNumber())
    return Error(describe(V) + " with a sign: expected a number");
  if (V.is(Kind::Float))
    return Value::real(Negative ? -V.asReal() : V.asReal(), V.origin());
  if (Negative && V.asInteger() == INT64_MIN)
    return Error("the number is beyond 64 bits");
  return Value::integer(Negative ? -V.asInteger() : V.asInteger(), V.origin());
}

static Result<bool> contains(Interpreter &Run, const Value &All,
                             const Value &One) {
  switch (All.kind()) {
  case Kind::Undefined:
    return false;
  case Kind::String:
    if (!One.is(Kind::String))
      return Error(describe(One) + " in a string: expected a string");
    if (Status Able = Run.spend(All.weight() + One.weight()); !Able)
      return Able.error();
    return findText(All.str(), One.str(), 0) != std::string::npos;
  case Kind::Mapping:
    if (One.is(Kind::List) || One.is(Kind::Mapping))
      return Error(describe(One) + " in a mapping: expected a key");
    if (Status Able =
            Run.spend(One.is(Kind::String) ? 1 : All.members().Members.size());
        !Able)
      return Able.error();
    return All.members().find(One) != nullptr;
  default:
    break;
  }
  Result<std::vector<Value>> Items = Run.elements(All);
  if (!Items)
    return Items.error();
  for (const Value &Item : *Items) {
    Result<bool> Is = Run.areEqual(Item, One);
    if (!Is || *Is)
      return Is;
  }
  return false;
}

Result<bool> chat::compareBy(Interpreter &Run, Operator Sign, const Value &A,
                             const Value &B) {
  switch (Sign) {
  case Operator::Equal:
  case Operator::NotEqual: {
    Result<bool> Is = Run.areEqual(A, B);
    if (!Is)
      return Is;
    return *Is == (Sign == Operator::Equal);
  }
  case Operator::In:
  case Operator::NotIn: {
    Result<bool> Is = contains(Run, B, A);
    if (!Is)
      return Is;
    return *Is == (Sign == Operator::In);
  }
  default:
    break;
  }
  if (Status Able = Run.spend(std::min(A.weight(), B.weight())); !Able)
    return Able.error();
  std::optional<int> Order = compare(A, B);
  if (!Order)
    return unfit(Sign, A, B);
  if ((A.is(Kind::Float) && std::isnan(A.asReal())) ||
      (B.is(Kind::Float) && std::isnan(B.asReal())))
    return false;
  switch (Sign) {
  case Operator::Less:
    return *Order < 0;
  case Operator::LessEqual:
    return *Order <= 0;
  case Operator::Greater:
    return *Order > 0;
  default:
    return *Order >= 0;
  }
}
