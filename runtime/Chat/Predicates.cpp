//===- Predicates.cpp - What may stand behind `is` ------------------------===//

#include "runtime/Chat/Interpreter.h"
#include "runtime/Chat/Operators.h"

using namespace tenon;
using namespace tenon::chat;

using Given = const Arguments &;

/// A test of one value without arguments.
template <bool (*Is)(const Value &)>
static Result<Value> test(Interpreter &, const Value &Self, Given Args) {
  if (Result<Bound> None = bind(Args, "the test", {}); !None)
    return None.error();
  return Value::boolean(Is(Self));
}

static bool isUndefined(const Value &V) { return V.is(Kind::Undefined); }
static bool isDefined(const Value &V) { return !isUndefined(V); }
static bool isNone(const Value &V) { return V.is(Kind::None); }
static bool isBoolean(const Value &V) { return V.is(Kind::Boolean); }
static bool isTrue(const Value &V) { return isBoolean(V) && V.asBoolean(); }
static bool isFalse(const Value &V) { return isBoolean(V) && !V.asBoolean(); }
static bool isInteger(const Value &V) { return V.is(Kind::Integer); }
static bool isFloat(const Value &V) { return V.is(Kind::Float); }
static bool isNumber(const Value &V) { return V.isNumber(); }
static bool isString(const Value &V) { return V.is(Kind::String); }
static bool isMapping(const Value &V) { return V.is(Kind::Mapping); }
static bool isEscaped(const Value &V) { return V.isSafe(); }
static bool isCallable(const Value &V) {
  // Undefined values can be called as far as Python knows.
  return V.is(Kind::Callable) || V.is(Kind::Undefined);
}
static bool isSequence(const Value &V) {
  switch (V.kind()) {
  case Kind::Undefined:
  case Kind::String:
  case Kind::List:
  case Kind::Tuple:
  case Kind::Mapping:
  case Kind::Range:
    return true;
  default:
    return false;
  }
}
static bool isIterable(const Value &V) {
  return isSequence(V) || V.is(Kind::View) || V.is(Kind::Iterator) ||
         V.is(Kind::Loop);
}

template <bool Upper>
static Result<Value> isPrintedCase(Interpreter &Run, const Value &Self,
                                   Given Args) {
  Result<Text> Printed = Run.print(Self);
  if (!Printed)
    return Printed.error();
  return Run.call(*findFunction(stringMethods(), Upper ? "isupper" : "islower"),
                  Value::string(std::move(*Printed)), Args);
}

/// Self modulo a number, to see what is left.
static Result<Value> modulo(Interpreter &Run, const Value &Self,
                            const Value &By) {
  if (!Self.isNumber() || !By.isNumber())
    return Error("a test of " + describe(Self) + ": expected a number");
  return calculate(Run, Operator::Modulo, Self, By);
}

template <int Rest>
static Result<Value> isParity(Interpreter &Run, const Value &Self, Given Args) {
  if (Result<Bound> None = bind(Args, "the test", {}); !None)
    return None.error();
  Result<Value> Left = modulo(Run, Self, Value::integer(2));
  if (!Left)
    return Left;
  return Value::boolean(Left->asReal() == Rest);
}

static Result<Value> isDivisible(Interpreter &Run, const Value &Self,
                                 Given Args) {
  Result<Bound> Bound = bind(Args, "divisibleby", {"num"}, 1);
  if (!Bound)
    return Bound.error();
  Result<Value> Left = modulo(Run, Self, *(*Bound)[0]);
  if (!Left)
    return Left;
  return Value::boolean(Left->asReal() == 0);
}

static Result<Value> isSame(Interpreter &, const Value &Self, Given Args) {
  Result<Bound> Bound = bind(Args, "sameas", {"other"}, 1);
  if (!Bound)
    return Bound.error();
  return Value::boolean(Self.sameAs(*(*Bound)[0]));
}

template <Operator Sign>
static Result<Value> compares(Interpreter &Run, const Value &Self, Given Args) {
  Result<Bound> Bound = bind(Args, "the test", {"other"}, 1);
  if (!Bound)
    return Bound.error();
  Result<bool> Is = compareBy(Run, Sign, Self, *(*Bound)[0]);
  if (!Is)
    return Is.error();
  return Value::boolean(*Is);
}

template <const NamedFunction *(*Find)(std::string_view)>
static Result<Value> exists(Interpreter &, const Value &Self, Given Args) {
  if (Result<Bound> None = bind(Args, "the test", {}); !None)
    return None.error();
  return Value::boolean(Self.is(Kind::String) && Find(Self.str()));
}

static constexpr NamedFunction Predicates[] = {
    {"!=", compares<Operator::NotEqual>},
    {"<", compares<Operator::Less>},
    {"<=", compares<Operator::LessEqual>},
    {"==", compares<Operator::Equal>},
    {">", compares<Operator::Greater>},
    {">=", compares<Operator::GreaterEqual>},
    {"boolean", test<isBoolean>},
    {"callable", test<isCallable>},
    {"defined", test<isDefined>},
    {"divisibleby", isDivisible},
    {"eq", compares<Operator::Equal>},
    {"equalto", compares<Operator::Equal>},
    {"escaped", test<isEscaped>},
    {"even", isParity<0>},
    {"false", test<isFalse>},
    {"filter", exists<filterOf>},
    {"float", test<isFloat>},
    {"ge", compares<Operator::GreaterEqual>},
    {"greaterthan", compares<Operator::Greater>},
    {"gt", compares<Operator::Greater>},
    {"in", compares<Operator::In>},
    {"integer", test<isInteger>},
    {"iterable", test<isIterable>},
    {"le", compares<Operator::LessEqual>},
    {"lessthan", compares<Operator::Less>},
    {"lower", isPrintedCase<false>},
    {"lt", compares<Operator::Less>},
    {"mapping", test<isMapping>},
    {"ne", compares<Operator::NotEqual>},
    {"none", test<isNone>},
    {"number", test<isNumber>},
    {"odd", isParity<1>},
    {"sameas", isSame},
    {"sequence", test<isSequence>},
    {"string", test<isString>},
    {"test", exists<testOf>},
    {"true", test<isTrue>},
    {"undefined", test<isUndefined>},
    {"upper", isPrintedCase<true>},
};

const NamedFunction *chat::testOf(std::string_view Name) {
  return findFunction(Predicates, Name);
}
