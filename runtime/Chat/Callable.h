//===- Callable.h - What templates can call ---------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_CALLABLE_H
#define TENON_RUNTIME_CHAT_CALLABLE_H

#include "runtime/Chat/Value.h"

#include <initializer_list>
#include <span>

namespace tenon::chat {

class Interpreter;
struct Scope;
struct Statement;

/// What stands between the parentheses of a call.
struct Arguments {
  std::vector<Value> Positional;
  std::vector<std::pair<std::string, Value>> Keywords;

  bool empty() const { return Positional.empty() && Keywords.empty(); }
};

/// The arguments of one call by parameter, null where one is not given.
using Bound = std::vector<const Value *>;

/// Assigns `Given` to `Parameters`; an error that names `Callee` for too many,
/// for unknown names and when one of the first `Required` is missing. The
/// result points into `Given`.
Result<Bound> bind(const Arguments &Given, std::string_view Callee,
                   std::initializer_list<const char *> Parameters,
                   size_t Required = 0);

/// The integer that `V` holds; `Default` for null. An error that names
/// `Parameter` for another kind.
Result<int64_t> integerOr(const Value *V, int64_t Default,
                          std::string_view Parameter);
/// Also none for none.
Result<const Text *> stringOr(const Value *V, const Text *Default,
                              std::string_view Parameter);
inline bool truthOr(const Value *V, bool Default) {
  return V ? V->truth() : Default;
}

/// A method, filter or global function: `Self` is the value before the dot or
/// the bar.
using Function = Result<Value> (*)(Interpreter &Run, const Value &Self,
                                   const Arguments &Given);

/// A name in a table of functions.
struct NamedFunction {
  const char *Name;
  Function Code;
};

/// The function called `Name`, or null.
const NamedFunction *findFunction(std::span<const NamedFunction> Table,
                                  std::string_view Name);

/// A macro with the scope it was made in, or a function with its object.
struct Callable {
  const Statement *Macro = nullptr;
  Scope *Around = nullptr;
  const NamedFunction *Known = nullptr;
  Value Self;
};

/// The method `Name` of values like `Self`, or null.
const NamedFunction *methodOf(const Value &Self, std::string_view Name);
/// Whether `Name` is a method that changes a list or mapping in place, which
/// the sandbox forbids.
bool isChangingMethod(const Value &Self, std::string_view Name);

/// Methods of strings; those that take a string apart are in a table of their
/// own.
std::span<const NamedFunction> stringMethods();
std::span<const NamedFunction> splitMethods();

/// Filters by name; tests by name, which answer booleans.
const NamedFunction *filterOf(std::string_view Name);
const NamedFunction *testOf(std::string_view Name);
/// Global functions of a template: range, dict, namespace, ...
const NamedFunction *globalOf(std::string_view Name);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_CALLABLE_H
