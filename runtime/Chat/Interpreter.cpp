//===- Interpreter.cpp - Statements at work -------------------------------===//

#include "runtime/Chat/Interpreter.h"

#include "runtime/Chat/InterpreterScopes.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"

using namespace tenon;
using namespace tenon::chat;

Value *Scope::find(std::string_view Name) {
  for (Scope *S = this; S; S = S->Around)
    for (auto &[Known, V] : S->Variables)
      if (Known == Name)
        return &V;
  return nullptr;
}

void Scope::set(const std::string &Name, Value V) {
  for (auto &[Known, Old] : Variables)
    if (Known == Name) {
      Old = std::move(V);
      return;
    }
  Variables.emplace_back(Name, std::move(V));
}

Interpreter::Interpreter(std::vector<std::pair<std::string, Value>> Variables,
                         const std::tm &Now)
    : Now(Now) {
  Kept.push_back(std::make_unique<Scope>());
  Current = Kept.back().get();
  Current->Variables = std::move(Variables);
}

Result<Text> Interpreter::run(const Block &Program) {
  Text Printed;
  Out = &Printed;
  Result<Flow> Done = execute(Program);
  Out = nullptr;
  if (!Done)
    return Done.error();
  return Printed;
}

Error Interpreter::at(Place Where, const Error &E) {
  if (std::exchange(IsLocated, true))
    return E;
  return errorAt(Where, E);
}

Status Interpreter::spend(uint64_t Count) {
  Steps += std::min(Count, MaxSteps + 1);
  if (Steps > MaxSteps)
    return Error("rendering takes more than " + std::to_string(MaxSteps) +
                 " steps");
  return {};
}

Result<Value> Interpreter::made(Text Content) {
  if (Content.size() > MaxTextBytes)
    return Error("a string of " + std::to_string(Content.size()) +
                 " bytes: expected at most " + std::to_string(MaxTextBytes));
  if (Status Able = spend(Content.size() / 64); !Able)
    return Able.error();
  return Value::string(std::move(Content));
}

Result<Text> Interpreter::print(const Value &V) {
  if (Status Able = spend(V.weight()); !Able)
    return Able.error();
  return toText(V);
}

Result<Text> Interpreter::printRepr(const Value &V) {
  if (Status Able = spend(V.weight()); !Able)
    return Able.error();
  return toRepr(V);
}

Result<std::vector<Value>> Interpreter::elements(const Value &V) {
  if (Status Able = spend(lengthOf(V).value_or(0)); !Able)
    return Able.error();
  return elementsOf(V);
}

Result<Value> Interpreter::madeList(std::vector<Value> Items, Origin From) {
  if (Status Able = spend(Items.size()); !Able)
    return Able.error();
  return Value::list(std::move(Items), From);
}

Result<bool> Interpreter::areEqual(const Value &A, const Value &B) {
  if (Status Able = spend(std::min(A.weight(), B.weight())); !Able)
    return Able.error();
  return equal(A, B);
}

Value Interpreter::newNamespace(
    std::vector<std::pair<std::string, Value>> Attributes) {
  Namespaces.push_back(
      std::make_unique<Namespace>(Namespace{std::move(Attributes)}));
  return Value::space(Namespaces.back().get());
}

Status Interpreter::write(const Text &Content) {
  if (Out->size() + Content.size() > MaxTextBytes)
    return Error("the template prints more than " +
                 std::to_string(MaxTextBytes) + " bytes");
  Out->append(Content);
  return {};
}

Result<Interpreter::Flow> Interpreter::execute(const Block &Statements) {
  for (const Statement &S : Statements) {
    Result<Flow> Done = execute(S);
    if (!Done || *Done != Flow::Next)
      return Done;
  }
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::execute(const Statement &S) {
  Deeper Level(*this);
  if (Status Able = Level.check(); !Able)
    return at(S.At, Able.error());
  switch (S.K) {
  case Statement::Kind::Data:
    if (Status Done = write(Text(S.Name, Origin::Template)); !Done)
      return at(S.At, Done.error());
    return Flow::Next;
  case Statement::Kind::Print: {
    Result<Value> V = evaluate(*S.E);
    if (!V)
      return V.error();
    Result<Text> Printed = print(*V);
    if (!Printed)
      return at(S.E->At, Printed.error());
    if (Status Done = write(*Printed); !Done)
      return at(S.At, Done.error());
    return Flow::Next;
  }
  case Statement::Kind::If:
    for (const Branch &One : S.Branches) {
      if (One.Condition) {
        Result<Value> V = evaluate(*One.Condition);
        if (!V)
          return V.error();
        if (!V->truth())
          continue;
      }
      return execute(One.Body);
    }
    return Flow::Next;
  case Statement::Kind::For:
    return executeFor(S);
  case Statement::Kind::Set: {
    Result<Value> V = evaluate(*S.E);
    if (!V)
      return V.error();
    if (Status Done = assign(S.Into, std::move(*V)); !Done)
      return Done.error();
    return Flow::Next;
  }
  case Statement::Kind::SetBlock: {
    Result<Value> V = captured(S.Body, S.E.get());
    if (!V)
      return V.error();
    if (Status Done = assign(S.Into, std::move(*V)); !Done)
      return Done.error();
    return Flow::Next;
  }
  case Statement::Kind::Macro: {
    auto Made = std::make_shared<Callable>();
    Made->Macro = &S;
    Made->Around = Current;
    for (Scope *Around = Current; Around; Around = Around->Around)
      Around->IsKept = true;
    Current->set(S.Name, Value::callable(std::move(Made)));
    return Flow::Next;
  }
  case Statement::Kind::Filter: {
    Result<Value> V = captured(S.Body, S.E.get());
    if (!V)
      return V.error();
    Result<Text> Printed = print(*V);
    if (!Printed)
      return at(S.At, Printed.error());
    if (Status Done = write(*Printed); !Done)
      return at(S.At, Done.error());
    return Flow::Next;
  }
  case Statement::Kind::With: {
    // All values are computed before the first is assigned.
    std::vector<Value> Values;
    for (const auto &[Into, E] : S.Assignments) {
      Result<Value> V = evaluate(*E);
      if (!V)
        return V.error();
      Values.push_back(std::move(*V));
    }
    Inside Own(*this, Current);
    for (size_t I = 0; I < Values.size(); ++I)
      if (Status Done = assign(S.Assignments[I].first, std::move(Values[I]));
          !Done)
        return Done.error();
    return execute(S.Body);
  }
  case Statement::Kind::Generation: {
    Inside Own(*this, Current);
    return execute(S.Body);
  }
  case Statement::Kind::Break:
    return Flow::Break;
  case Statement::Kind::Continue:
    return Flow::Continue;
  }
  return Flow::Next;
}

Result<std::vector<Value>> Interpreter::loopItems(const Statement &S) {
  Result<Value> Of = evaluate(*S.E);
  if (!Of)
    return Of.error();
  Result<std::vector<Value>> Items = elements(*Of);
  if (!Items)
    return at(S.E->At, Items.error());
  if (!S.Condition)
    return Items;
  std::vector<Value> Chosen;
  for (Value &Item : *Items) {
    Inside Own(*this, Current);
    if (Status Done = assign(S.Into, Item); !Done)
      return Done.error();
    Result<Value> Is = evaluate(*S.Condition);
    if (!Is)
      return Is.error();
    if (Is->truth())
      Chosen.push_back(std::move(Item));
  }
  return Chosen;
}

Result<Interpreter::Flow> Interpreter::executeFor(const Statement &S) {
  Result<std::vector<Value>> Items = loopItems(S);
  if (!Items)
    return Items.error();
  auto State = std::make_shared<LoopState>();
  State->Items = std::move(*Items);
  // As in Jinja, else also follows a loop of which no round came to its end.
  bool IsElse = true;
  for (; State->Index < State->Items.size(); ++State->Index) {
    if (Status Able = spend(1); !Able)
      return at(S.At, Able.error());
    Inside Own(*this, Current);
    Current->set("loop", Value::loop(State));
    if (Status Done = assign(S.Into, State->Items[State->Index]); !Done)
      return Done.error();
    Result<Flow> Done = execute(S.Body);
    if (!Done)
      return Done;
    if (*Done == Flow::Break)
      break;
    IsElse &= *Done != Flow::Next;
  }
  if (!IsElse)
    return Flow::Next;
  Inside Own(*this, Current);
  return execute(S.Else);
}

Status Interpreter::assign(const Target &Into, Value V) {
  if (Into.IsTuple) {
    Result<std::vector<Value>> Items = elements(V);
    if (!Items)
      return at(Into.At, Items.error());
    if (Items->size() != Into.Parts.size())
      return at(Into.At,
                Error("found " + std::to_string(Items->size()) +
                      " values: expected " + std::to_string(Into.Parts.size()) +
                      ", one for each name"));
    for (size_t I = 0; I < Items->size(); ++I)
      if (Status Done = assign(Into.Parts[I], std::move((*Items)[I])); !Done)
        return Done;
    return {};
  }
  if (Into.Attribute.empty()) {
    Current->set(Into.Name, std::move(V));
    return {};
  }
  Value *Space = Current->find(Into.Name);
  if (!Space || !Space->is(Kind::Namespace))
    return at(Into.At, Error(printable(Into.Name) + " is " +
                             (Space ? describe(*Space) : "undefined") +
                             ": expected a namespace to set an attribute of"));
  Space->asNamespace().set(Into.Attribute, std::move(V));
  return {};
}

Result<Value> Interpreter::captured(const Block &Body,
                                    const Expression *Filters) {
  Text Printed;
  {
    Inside Own(*this, Current);
    Text *Around = std::exchange(Out, &Printed);
    Result<Flow> Done = execute(Body);
    Out = Around;
    if (!Done)
      return Done.error();
  }
  Result<Value> V = made(std::move(Printed));
  if (!V || !Filters)
    return V;
  Value Outer = std::exchange(Content, std::move(*V));
  V = evaluate(*Filters);
  Content = std::move(Outer);
  return V;
}

Result<Value> Interpreter::callMacro(const Callable &Made,
                                     const Arguments &Given) {
  const Statement &S = *Made.Macro;
  std::string Name = "the macro " + printable(S.Name);
  if (Given.Positional.size() > S.Parameters.size())
    return Error(Name + " gets " + std::to_string(Given.Positional.size()) +
                 " arguments: expected at most " +
                 std::to_string(S.Parameters.size()));
  std::vector<const Value *> Values(S.Parameters.size());
  for (size_t I = 0; I < Given.Positional.size(); ++I)
    Values[I] = &Given.Positional[I];
  for (const auto &[Key, V] : Given.Keywords) {
    size_t I = 0;
    while (I < Values.size() && S.Parameters[I].first != Key)
      ++I;
    if (I == Values.size())
      return Error(Name + " gets the argument " + printable(Key) +
                   ": expected a parameter's name");
    if (Values[I])
      return Error(Name + " gets the argument " + printable(Key) + " twice");
    Values[I] = &V;
  }

  Inside Own(*this, Made.Around);
  Text Printed;
  Text *Around = std::exchange(Out, &Printed);
  Result<Flow> Done = Flow::Next;
  for (size_t I = 0; I < Values.size() && Done; ++I) {
    const auto &[Parameter, Default] = S.Parameters[I];
    if (Values[I]) {
      Current->set(Parameter, *Values[I]);
      continue;
    }
    if (!Default) {
      Current->set(Parameter,
                   Value::undefined("the parameter " + printable(Parameter) +
                                    " was not provided"));
      continue;
    }
    Result<Value> V = evaluate(*Default);
    if (V)
      Current->set(Parameter, std::move(*V));
    else
      Done = V.error();
  }
  if (Done)
    Done = execute(S.Body);
  Out = Around;
  if (!Done)
    return Done.error();
  return made(std::move(Printed));
}
