//===- Scopes.h - Which scopes a function is called with --------*- C++ -*-===//

#ifndef TENON_PASSES_SUPPORT_SCOPES_H
#define TENON_PASSES_SUPPORT_SCOPES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <string>
#include <vector>

namespace tenon {

/// Finds, for every scope value of a module, the names it may stand for: of a
/// function's argument those that its calls pass.
class ScopeNames {
public:
  explicit ScopeNames(mlir::ModuleOp Module) {
    Module.walk([&](mlir::Operation *Op) {
      if (auto Scope = llvm::dyn_cast<transformer::ScopeOp>(Op))
        Names[Scope.getResult()].insert(Scope.getNameAttr());
      else if (auto Scope = llvm::dyn_cast<dnn::ScopeOp>(Op))
        Names[Scope.getResult()].insert(Scope.getNameAttr());
    });
    // Callees are only entered from entries, one level deep.
    Module.walk([&](mlir::Operation *Op) {
      if (auto Dispatch = llvm::dyn_cast<transformer::DispatchOp>(Op)) {
        passOn(Module, Dispatch.getFew(), Dispatch.getInputs());
        passOn(Module, Dispatch.getMany(), Dispatch.getInputs());
      } else if (auto Dispatch = llvm::dyn_cast<dnn::DispatchOp>(Op)) {
        passOn(Module, Dispatch.getFew(), Dispatch.getInputs());
        passOn(Module, Dispatch.getMany(), Dispatch.getInputs());
      } else if (auto Call = llvm::dyn_cast<mlir::func::CallOp>(Op)) {
        passOn(Module, Call.getCallee(), Call.getOperands());
      }
    });
  }

  /// Every name of `Scope`; none when nothing calls its function.
  llvm::ArrayRef<mlir::StringAttr> of(mlir::Value Scope) const {
    auto Found = Names.find(Scope);
    if (Found == Names.end())
      return {};
    return Found->second.getArrayRef();
  }

  /// The checkpoint's names of `Key` in every one of them.
  std::vector<std::string> namesOf(mlir::Value Scope,
                                   llvm::StringRef Key) const {
    std::vector<std::string> Result;
    for (mlir::StringAttr Name : of(Scope))
      Result.push_back(fullName(Name, Key));
    return Result;
  }

  /// The checkpoint's name of `Key` in the scope `Name`.
  static std::string fullName(llvm::StringRef Name, llvm::StringRef Key) {
    return Name.empty() ? Key.str() : (Name + "." + Key).str();
  }

private:
  void passOn(mlir::ModuleOp Module, llvm::StringRef Callee,
              mlir::ValueRange Operands) {
    auto Function = Module.lookupSymbol<mlir::func::FuncOp>(Callee);
    if (!Function || Function.isExternal())
      return;
    for (auto [Argument, Operand] :
         llvm::zip(Function.getArguments(), Operands)) {
      if (!llvm::isa<transformer::ScopeType>(Operand.getType()))
        continue;
      // Inserting may move the map's storage: copy before.
      auto Passed = Names[Operand];
      Names[Argument].insert_range(Passed);
    }
  }

  llvm::MapVector<mlir::Value, llvm::SmallSetVector<mlir::StringAttr, 4>> Names;
};

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_SCOPES_H
