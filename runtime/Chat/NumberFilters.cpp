//===- NumberFilters.cpp - Filters of numbers -----------------------------===//

#include "runtime/Chat/Filters.h"
#include "runtime/Chat/Operators.h"

#include <cmath>

using namespace tenon;
using namespace tenon::chat;

/// A number from all of `Shown` but white space around it; none when it is
/// none. Single underscores may stand between digits.
static std::optional<std::string> numberText(const std::string &Shown) {
  TrimmedRange Kept = trimmed(Shown, nullptr, true, true);
  std::string Out;
  for (size_t I = Kept.Begin; I < Kept.End; ++I) {
    auto IsDigit = [&](size_t At) {
      return At < Kept.End &&
             std::isalnum(static_cast<unsigned char>(Shown[At]));
    };
    if (Shown[I] != '_')
      Out += Shown[I];
    else if (I == Kept.Begin || !IsDigit(I - 1) || !IsDigit(I + 1))
      return std::nullopt;
  }
  return Out;
}

static std::optional<int64_t> parseInteger(const std::string &Shown,
                                           int64_t Base) {
  std::optional<std::string> Plain = numberText(Shown);
  if (!Plain || Plain->empty())
    return std::nullopt;
  bool Negative = Plain->front() == '-';
  if (Negative || Plain->front() == '+')
    Plain->erase(0, 1);
  if (Plain->size() > 2 && Plain->front() == '0') {
    char Mark = static_cast<char>((*Plain)[1] | 0x20);
    int64_t Meant = Mark == 'x' ? 16 : Mark == 'o' ? 8 : Mark == 'b' ? 2 : 0;
    if (Meant != 0 && (Base == 0 || Base == Meant)) {
      Base = Meant;
      Plain->erase(0, 2);
    }
  }
  if (Base == 0)
    Base = 10;
  int64_t Number = 0;
  for (char C : *Plain) {
    int64_t Digit = C >= '0' && C <= '9' ? C - '0'
                    : (C | 0x20) >= 'a' && (C | 0x20) <= 'z'
                        ? (C | 0x20) - 'a' + 10
                        : 99;
    if (Digit >= Base || __builtin_mul_overflow(Number, Base, &Number) ||
        __builtin_add_overflow(Number, Digit, &Number))
      return std::nullopt;
  }
  if (Plain->empty())
    return std::nullopt;
  return Negative ? -Number : Number;
}

static std::optional<double> parseReal(const std::string &Shown) {
  std::optional<std::string> Plain = numberText(Shown);
  if (!Plain || Plain->empty() ||
      Plain->find_first_of("xXpP(") != std::string::npos)
    return std::nullopt;
  char *End = nullptr;
  double Number = std::strtod(Plain->c_str(), &End);
  if (End != Plain->c_str() + Plain->size())
    return std::nullopt;
  return Number;
}

static Result<Value> toInteger(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  Result<Bound> Args = bind(Given, "int", {"default", "base"});
  if (!Args)
    return Args.error();
  Result<int64_t> Base = integerOr((*Args)[1], 10, "base");
  if (!Base)
    return Base.error();
  if (*Base != 0 && (*Base < 2 || *Base > 36))
    return Error("'base' is " + std::to_string(*Base) +
                 ": expected 0 or 2 to 36");
  if (Self.is(Kind::Undefined))
    return Error(Self.whyUndefined() + ": expected a number or a string");
  Value Default = (*Args)[0] ? *(*Args)[0] : Value::integer(0);
  std::optional<double> Real;
  if (Self.is(Kind::Integer) || Self.is(Kind::Boolean))
    return Value::integer(Self.asInteger(), Self.origin());
  if (Self.is(Kind::Float))
    Real = Self.asReal();
  if (Self.is(Kind::String)) {
    if (std::optional<int64_t> Number = parseInteger(Self.str(), *Base))
      return Value::integer(*Number, Self.origin());
    Real = parseReal(Self.str());
  }
  if (!Real || !std::isfinite(*Real))
    return Default;
  if (std::fabs(*Real) >= 9.2e18)
    return Error("'int' of " + floatText(*Real) +
                 ": expected a number of 64 bits");
  return Value::integer(static_cast<int64_t>(*Real), Self.origin());
}

static Result<Value> toReal(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  Result<Bound> Args = bind(Given, "float", {"default"});
  if (!Args)
    return Args.error();
  if (Self.is(Kind::Undefined))
    return Error(Self.whyUndefined() + ": expected a number or a string");
  if (Self.isNumber())
    return Value::real(Self.asReal(), Self.origin());
  if (Self.is(Kind::String))
    if (std::optional<double> Number = parseReal(Self.str()))
      return Value::real(*Number, Self.origin());
  return (*Args)[0] ? *(*Args)[0] : Value::real(0);
}

static Result<Value> absolute(Interpreter &Run, const Value &Self,
                              const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "abs", {}); !None)
    return None.error();
  return withSign(Self, Self.isNumber() && Self.asReal() < 0);
}

static Result<Value> roundTo(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  Result<Bound> Args = bind(Given, "round", {"precision", "method"});
  if (!Args)
    return Args.error();
  Result<int64_t> Digits = integerOr((*Args)[0], 0, "precision");
  if (!Digits)
    return Digits.error();
  Text Common("common", Origin::Template);
  Result<const Text *> Method = stringOr((*Args)[1], &Common, "method");
  if (!Method)
    return Method.error();
  if (!Self.isNumber())
    return Error("'round' of " + describe(Self) + ": expected a number");
  const std::string &How = (*Method)->str();
  if (How != "common" && How != "floor" && How != "ceil")
    return Error("'method' is " + printable(How) +
                 ": expected common, floor or ceil");
  if (*Digits < -30 || *Digits > 30)
    return Error("'precision' is " + std::to_string(*Digits) +
                 ": expected -30 to 30");
  double Number = Self.asReal(), Made = 0;
  if (How == "common") {
    // Python rounds an integer to an integer.
    if (!Self.is(Kind::Float) && *Digits >= 0)
      return Value::integer(Self.asInteger(), Self.origin());
    if (*Digits >= 0) {
      // Through decimal digits, which round the exact value half to even.
      char Buffer[400];
      std::snprintf(Buffer, sizeof(Buffer), "%.*f", static_cast<int>(*Digits),
                    Number);
      Made = std::strtod(Buffer, nullptr);
    } else {
      double Unit = std::pow(10.0, static_cast<double>(-*Digits));
      Made = std::nearbyint(Number / Unit) * Unit;
    }
    return Self.is(Kind::Float)
               ? Value::real(Made, Self.origin())
               : Value::integer(static_cast<int64_t>(Made), Self.origin());
  }
  double Unit = std::pow(10.0, static_cast<double>(*Digits));
  Made = How == "floor" ? std::floor(Number * Unit) : std::ceil(Number * Unit);
  return Value::real(Made / Unit, Self.origin());
}

static constexpr NamedFunction NumberFilters[] = {
    {"abs", absolute},
    {"float", toReal},
    {"int", toInteger},
    {"round", roundTo},
};

std::span<const NamedFunction> chat::numberFilters() { return NumberFilters; }
