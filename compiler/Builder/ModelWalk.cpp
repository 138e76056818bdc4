//===- ModelWalk.cpp - Visiting a model with its calls expanded -----------===//

#include "compiler/Builder/ModelWalk.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

StringRef CallFrame::scopeName(Value Value) const {
  return Scopes.lookup(Value);
}

std::string CallFrame::nameOf(ParameterOp Parameter) const {
  return parameterName(scopeName(Parameter.getScope()), Parameter.getKey());
}

namespace tenon {
/// Keeps the stack of functions, and counts calls.
class ModelWalk {
public:
  using Visitor = function_ref<Status(Operation *, const CallFrame &)>;
  ModelWalk(ModuleOp Module, Visitor Visit) : Symbols(Module), Visit(Visit) {}

  Status visit(func::FuncOp Function, CallFrame Frame) {
    if (!Active.insert(Function))
      return Error("function '" + Function.getName().str() +
                   "' calls itself: expected no recursion");
    for (Block &Block : Function.getBody())
      for (Operation &Op : Block)
        if (Status S = visit(&Op, Frame); !S)
          return S;
    Active.remove(Function);
    return {};
  }

private:
  Status visit(Operation *Op, CallFrame &Frame) {
    if (auto Scope = dyn_cast<ScopeOp>(Op))
      Frame.Scopes[Scope.getResult()] = Scope.getName();
    if (auto Parameter = dyn_cast<ParameterOp>(Op))
      if (!Frame.Scopes.contains(Parameter.getScope()))
        return Error("parameter '" + Parameter.getKey().str() +
                     "': expected a scope that its function is called with");
    if (Status S = Visit(Op, Frame); !S)
      return S;
    auto Call = dyn_cast<func::CallOp>(Op);
    if (!Call)
      return {};
    if (++Calls > MaxCalls)
      return Error("more than " + std::to_string(MaxCalls) +
                   " calls: expected fewer");
    auto Callee = Symbols.lookup<func::FuncOp>(Call.getCallee());
    if (!Callee || Callee.isExternal())
      return Error("function '" + Call.getCallee().str() +
                   "' has no body: expected one");
    CallFrame Inner;
    for (auto [Argument, Passed] :
         llvm::zip(Callee.getArguments(), Call.getOperands()))
      if (auto Found = Frame.Scopes.find(Passed); Found != Frame.Scopes.end())
        Inner.Scopes[Argument] = Found->second;
    return visit(Callee, std::move(Inner));
  }

  SymbolTable Symbols;
  Visitor Visit;
  llvm::SetVector<func::FuncOp> Active;
  int64_t Calls = 0;
};
} // namespace tenon

Status
tenon::walkModel(func::FuncOp Entry,
                 function_ref<Status(Operation *, const CallFrame &)> Visit) {
  return ModelWalk(Entry->getParentOfType<ModuleOp>(), Visit)
      .visit(Entry, CallFrame());
}

SmallVector<func::FuncOp> tenon::entriesOf(ModuleOp Module) {
  SmallVector<func::FuncOp> Entries;
  for (auto Function : Module.getOps<func::FuncOp>())
    if (Function->hasAttr(attr::Role))
      Entries.push_back(Function);
  return Entries;
}
