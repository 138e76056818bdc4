//===- Evaluate.cpp - Expressions at work ---------------------------------===//

#include "runtime/Chat/InterpreterScopes.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"

using namespace tenon;
using namespace tenon::chat;

Result<Value> Interpreter::evaluate(const Expression &E) {
  Deeper Level(*this);
  if (Status Able = Level.check(); !Able)
    return at(E.At, Able.error());
  Result<Value> V = evaluateHere(E);
  if (V && V->depth() > MaxValueDepth)
    return at(E.At, Error("a value is nested deeper than " +
                          std::to_string(MaxValueDepth) + " levels"));
  return V;
}

Result<Value> Interpreter::evaluateHere(const Expression &E) {
  auto Located = [&](Result<Value> V) -> Result<Value> {
    return V ? std::move(V) : Result<Value>(at(E.At, V.error()));
  };
  switch (E.K) {
  case Expression::Kind::Constant:
    return E.Constant;
  case Expression::Kind::Name:
    return evaluateName(E);
  case Expression::Kind::Content:
    return Content;
  case Expression::Kind::List:
  case Expression::Kind::Tuple: {
    Result<std::vector<Value>> Items = evaluateAll(E);
    if (!Items)
      return Items.error();
    return E.K == Expression::Kind::List ? Value::list(std::move(*Items))
                                         : Value::tuple(std::move(*Items));
  }
  case Expression::Kind::Mapping:
    return evaluateMapping(E);
  case Expression::Kind::Slice:
    return evaluateSlice(E);
  case Expression::Kind::And:
  case Expression::Kind::Or:
    return evaluateLogic(E);
  case Expression::Kind::Binary:
    return evaluateBinary(E);
  case Expression::Kind::Concat:
    return evaluateConcat(E);
  case Expression::Kind::Compare:
    return evaluateCompare(E);
  case Expression::Kind::Conditional: {
    Result<Value> Is = evaluate(*E.Parts[1]);
    if (!Is)
      return Is;
    if (Is->truth())
      return evaluate(*E.Parts[0]);
    if (E.Parts[2])
      return evaluate(*E.Parts[2]);
    return Value::undefined("the condition is false and there is no else");
  }
  default:
    break;
  }

  Result<Value> Of = evaluate(*E.Parts[0]);
  if (!Of)
    return Of;
  switch (E.K) {
  case Expression::Kind::Attribute:
    return Located(attributeOf(*Of, E.Name));
  case Expression::Kind::Subscript: {
    Result<Value> Index = evaluate(*E.Parts[1]);
    if (!Index)
      return Index;
    return Located(itemOf(*Of, *Index));
  }
  case Expression::Kind::Not:
    return Value::boolean(!Of->truth());
  case Expression::Kind::Negate:
  case Expression::Kind::Plus:
    return Located(withSign(*Of, E.K == Expression::Kind::Negate));
  default:
    break;
  }

  Result<Arguments> Given = evaluateArguments(E);
  if (!Given)
    return Given.error();
  if (E.K == Expression::Kind::Call)
    return Located(call(*Of, *Given));
  return Located(call(*E.Known, *Of, *Given));
}

Result<Value> Interpreter::evaluateName(const Expression &E) {
  if (Value *V = Current->find(E.Name))
    return *V;
  if (const NamedFunction *Known = globalOf(E.Name)) {
    auto Made = std::make_shared<Callable>();
    Made->Known = Known;
    return Value::callable(std::move(Made));
  }
  for (const char *Missing : {"lipsum", "cycler", "joiner"})
    if (E.Name == Missing)
      return at(E.At, Error("the function " + printable(E.Name) +
                            " is not supported: expected range, dict, "
                            "namespace, raise_exception or strftime_now"));
  return Value::undefined(printable(E.Name) + " is undefined");
}

Result<std::vector<Value>> Interpreter::evaluateAll(const Expression &E) {
  std::vector<Value> Values;
  Values.reserve(E.Parts.size());
  for (const ExpressionPtr &Part : E.Parts) {
    Result<Value> V = evaluate(*Part);
    if (!V)
      return V.error();
    Values.push_back(std::move(*V));
  }
  return Values;
}

Result<Value> Interpreter::evaluateMapping(const Expression &E) {
  Result<std::vector<Value>> Parts = evaluateAll(E);
  if (!Parts)
    return Parts.error();
  std::vector<std::pair<Value, Value>> Members;
  for (size_t I = 0; I < Parts->size(); I += 2) {
    const Value &Key = (*Parts)[I];
    if (Key.is(Kind::List) || Key.is(Kind::Mapping))
      return at(E.Parts[I]->At, Error("a key is " + describe(Key) +
                                      ": expected a string or a number"));
    Members.emplace_back(Key, std::move((*Parts)[I + 1]));
  }
  if (Status Able = spend(Members.size() * Members.size() / 8); !Able)
    return at(E.At, Able.error());
  return Value::mapping(std::move(Members));
}

Result<Value> Interpreter::evaluateSlice(const Expression &E) {
  Value Values[4];
  const Value *Given[4] = {};
  for (size_t I = 0; I < 4; ++I) {
    if (!E.Parts[I])
      continue;
    Result<Value> V = evaluate(*E.Parts[I]);
    if (!V)
      return V;
    Values[I] = std::move(*V);
    Given[I] = &Values[I];
  }
  Result<Value> Part = sliceOf(*this, Values[0], Given[1], Given[2], Given[3]);
  if (!Part)
    return at(E.At, Part.error());
  return Part;
}

Result<Value> Interpreter::evaluateBinary(const Expression &E) {
  Result<Value> Left = evaluate(*E.Parts[0]);
  for (size_t I = 0; Left && I < E.Operators.size(); ++I) {
    Result<Value> Right = evaluate(*E.Parts[I + 1]);
    if (!Right)
      return Right;
    Left = calculate(*this, E.Operators[I], *Left, *Right);
    if (!Left)
      return at(E.Parts[I + 1]->At, Left.error());
  }
  return Left;
}

Result<Value> Interpreter::evaluateConcat(const Expression &E) {
  Result<std::vector<Value>> Parts = evaluateAll(E);
  if (!Parts)
    return Parts.error();
  Text All;
  for (const Value &V : *Parts) {
    Result<Text> Printed = print(V);
    if (!Printed)
      return at(E.At, Printed.error());
    All.append(*Printed);
  }
  Result<Value> V = made(std::move(All));
  if (!V)
    return at(E.At, V.error());
  return V;
}

Result<Value> Interpreter::evaluateCompare(const Expression &E) {
  Result<Value> Left = evaluate(*E.Parts[0]);
  if (!Left)
    return Left;
  for (size_t I = 0; I < E.Operators.size(); ++I) {
    Result<Value> Right = evaluate(*E.Parts[I + 1]);
    if (!Right)
      return Right;
    Result<bool> Is = compareBy(*this, E.Operators[I], *Left, *Right);
    if (!Is)
      return at(E.Parts[I + 1]->At, Is.error());
    if (!*Is)
      return Value::boolean(false);
    Left = std::move(Right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::evaluateLogic(const Expression &E) {
  bool Decides = E.K == Expression::Kind::Or;
  for (size_t I = 0;; ++I) {
    Result<Value> V = evaluate(*E.Parts[I]);
    if (!V || I + 1 == E.Parts.size() || V->truth() == Decides)
      return V;
  }
}

Result<Arguments> Interpreter::evaluateArguments(const Expression &E) {
  Arguments Given;
  for (size_t I = 1; I < E.Parts.size(); ++I) {
    Result<Value> V = evaluate(*E.Parts[I]);
    if (!V)
      return V.error();
    Given.Positional.push_back(std::move(*V));
  }
  for (const auto &[Name, Part] : E.Keywords) {
    Result<Value> V = evaluate(*Part);
    if (!V)
      return V.error();
    Given.Keywords.emplace_back(Name, std::move(*V));
  }
  return Given;
}

Result<Value> Interpreter::call(const NamedFunction &Known, const Value &Self,
                                const Arguments &Given) {
  // Text is looked at as a whole, as a rule; of containers what is inside
  // counts where it is looked at.
  uint64_t Cost = 1;
  auto Count = [&](const Value &V) {
    Cost += V.is(Kind::String) ? V.weight() : lengthOf(V).value_or(1);
  };
  Count(Self);
  for (const Value &V : Given.Positional)
    Count(V);
  if (Status Able = spend(Cost); !Able)
    return Able.error();
  return Known.Code(*this, Self, Given);
}

Result<Value> Interpreter::call(const Value &Callee, const Arguments &Given) {
  if (Callee.is(Kind::Undefined))
    return Error(Callee.whyUndefined() + ": expected a function to call");
  if (!Callee.is(Kind::Callable))
    return Error(describe(Callee) + " is called: expected a function");
  const Callable &Code = Callee.asCallable();
  if (Code.Macro)
    return callMacro(Code, Given);
  return call(*Code.Known, Code.Self, Given);
}
