//===- Callable.cpp - Arguments of functions ------------------------------===//

#include "runtime/Chat/Callable.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

Result<Bound> chat::bind(const Arguments &Given, std::string_view Callee,
                         std::initializer_list<const char *> Parameters,
                         size_t Required) {
  std::string Name = "'" + std::string(Callee) + "'";
  if (Given.Positional.size() > Parameters.size())
    return Error(Name + " gets " + std::to_string(Given.Positional.size()) +
                 " arguments: expected at most " +
                 std::to_string(Parameters.size()));
  Bound Values(Parameters.size());
  for (size_t I = 0; I < Given.Positional.size(); ++I)
    Values[I] = &Given.Positional[I];
  for (const auto &[Key, V] : Given.Keywords) {
    auto Found =
        std::find_if(Parameters.begin(), Parameters.end(),
                     [&](const char *Parameter) { return Parameter == Key; });
    if (Found == Parameters.end())
      return Error(Name + " gets the argument " + printable(Key) +
                   ": expected one that it has");
    const Value *&Place =
        Values[static_cast<size_t>(Found - Parameters.begin())];
    if (Place)
      return Error(Name + " gets the argument " + printable(Key) + " twice");
    Place = &V;
  }
  for (size_t I = 0; I < Required; ++I)
    if (!Values[I])
      return Error(Name + " lacks the argument '" + *(Parameters.begin() + I) +
                   "'");
  return Values;
}

Result<int64_t> chat::integerOr(const Value *V, int64_t Default,
                                std::string_view Parameter) {
  if (!V)
    return Default;
  if (!V->is(Kind::Integer) && !V->is(Kind::Boolean))
    return Error("'" + std::string(Parameter) + "' is " + describe(*V) +
                 ": expected a whole number");
  return V->asInteger();
}

Result<const Text *> chat::stringOr(const Value *V, const Text *Default,
                                    std::string_view Parameter) {
  if (!V)
    return Default;
  if (!V->is(Kind::String))
    return Error("'" + std::string(Parameter) + "' is " + describe(*V) +
                 ": expected a string");
  return &V->text();
}

const NamedFunction *chat::findFunction(std::span<const NamedFunction> Table,
                                        std::string_view Name) {
  for (const NamedFunction &One : Table)
    if (One.Name == Name)
      return &One;
  return nullptr;
}
