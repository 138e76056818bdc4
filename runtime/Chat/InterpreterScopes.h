//===- InterpreterScopes.h - What lives as long as a block ------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_INTERPRETERSCOPES_H
#define TENON_RUNTIME_CHAT_INTERPRETERSCOPES_H

#include "runtime/Chat/Interpreter.h"
#include "runtime/Chat/Limits.h"

namespace tenon::chat {

/// Counts nesting and steps while it lives.
class Interpreter::Deeper {
public:
  explicit Deeper(Interpreter &Run) : Run(Run) { ++Run.Depth; }
  ~Deeper() { --Run.Depth; }
  Deeper(const Deeper &) = delete;
  Deeper &operator=(const Deeper &) = delete;

  Status check() {
    if (Run.Depth > MaxRunDepth)
      return Error("calls and expressions are nested deeper than " +
                   std::to_string(MaxRunDepth) + " levels");
    return Run.spend(1);
  }

private:
  Interpreter &Run;
};

/// A scope inside of `Around`, current while this lives.
class Interpreter::Inside {
public:
  Inside(Interpreter &Run, Scope *Around)
      : Run(Run), Own(std::make_unique<Scope>()),
        Before(std::exchange(Run.Current, Own.get())) {
    Own->Around = Around;
  }
  ~Inside() {
    Run.Current = Before;
    // A macro that was made here may be called later.
    if (Own->IsKept)
      Run.Kept.push_back(std::move(Own));
  }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;

private:
  Interpreter &Run;
  std::unique_ptr<Scope> Own;
  Scope *Before;
};

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_INTERPRETERSCOPES_H
