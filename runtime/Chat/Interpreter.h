//===- Interpreter.h - Rendering a parsed template --------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_INTERPRETER_H
#define TENON_RUNTIME_CHAT_INTERPRETER_H

#include "runtime/Chat/Ast.h"

#include <ctime>
#include <memory>
#include <vector>

namespace tenon::chat {

/// The variables of one block that has its own. Names that it lacks are looked
/// for in the scope around it.
struct Scope {
  Scope *Around = nullptr;
  std::vector<std::pair<std::string, Value>> Variables;
  /// A macro was made in it or in a scope inside of it and may outlive it.
  bool IsKept = false;

  Value *find(std::string_view Name);
  void set(const std::string &Name, Value V);
};

/// Renders one template once.
class Interpreter {
public:
  /// `Variables` are those of the outermost scope; `Now` is what strftime_now
  /// tells.
  Interpreter(std::vector<std::pair<std::string, Value>> Variables,
              const std::tm &Now);

  /// What `Program` prints.
  Result<Text> run(const Block &Program);

  // What functions use; errors get their place from the call.

  /// Takes `Steps` from what rendering may take.
  Status spend(uint64_t Steps);
  /// A string that was made, if it is not too long.
  Result<Value> made(Text Content);
  /// Python's str() and repr(), counted.
  Result<Text> print(const Value &V);
  Result<Text> printRepr(const Value &V);
  /// elementsOf(), counted.
  Result<std::vector<Value>> elements(const Value &V);
  /// A list, counted.
  Result<Value> madeList(std::vector<Value> Items,
                         Origin From = Origin::Template);
  /// Whether two values are equal, counted.
  Result<bool> areEqual(const Value &A, const Value &B);
  Result<Value> call(const Value &Callee, const Arguments &Given);
  Result<Value> call(const NamedFunction &Known, const Value &Self,
                     const Arguments &Given);
  Value newNamespace(std::vector<std::pair<std::string, Value>> Attributes);
  const std::tm &now() const { return Now; }

private:
  enum class Flow { Next, Break, Continue };
  class Deeper;
  class Inside;

  Result<Value> evaluate(const Expression &E);
  Result<Value> evaluateHere(const Expression &E);
  Result<Value> evaluateName(const Expression &E);
  Result<Value> evaluateSlice(const Expression &E);
  Result<Value> evaluateBinary(const Expression &E);
  Result<Value> evaluateConcat(const Expression &E);
  Result<Value> evaluateCompare(const Expression &E);
  Result<Value> evaluateLogic(const Expression &E);
  Result<Value> evaluateMapping(const Expression &E);
  Result<std::vector<Value>> evaluateAll(const Expression &E);
  /// The arguments of a call, filter or test.
  Result<Arguments> evaluateArguments(const Expression &E);
  Result<Value> callMacro(const Callable &Macro, const Arguments &Given);

  Result<Flow> execute(const Block &Statements);
  Result<Flow> execute(const Statement &S);
  Result<Flow> executeFor(const Statement &S);
  /// The elements that a loop goes through.
  Result<std::vector<Value>> loopItems(const Statement &S);
  Status assign(const Target &Into, Value V);
  /// What a block prints, in a scope of its own.
  Result<Value> captured(const Block &Body, const Expression *Filters);
  Status write(const Text &Content);

  /// The error with the place, unless it has one already.
  Error at(Place Where, const Error &E);

  Scope *Current;
  Text *Out = nullptr;
  /// What Expression::Kind::Content stands for.
  Value Content;
  std::tm Now;
  uint64_t Steps = 0;
  unsigned Depth = 0;
  bool IsLocated = false;
  std::vector<std::unique_ptr<Scope>> Kept;
  std::vector<std::unique_ptr<Namespace>> Namespaces;
};

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_INTERPRETER_H
