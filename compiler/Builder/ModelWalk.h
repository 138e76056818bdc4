//===- ModelWalk.h - Visiting a model with its calls expanded ---*- C++ -*-===//

#ifndef TENON_COMPILER_BUILDER_MODELWALK_H
#define TENON_COMPILER_BUILDER_MODELWALK_H

#include "compiler/Builder/ModelBuilder.h"

namespace tenon {

/// Where an op is met: the names of the scopes that its function got.
class CallFrame {
public:
  /// The name of the scope `Value`.
  llvm::StringRef scopeName(mlir::Value Value) const;
  /// The full name of a parameter.
  std::string nameOf(transformer::ParameterOp Parameter) const;

private:
  friend class ModelWalk;
  llvm::DenseMap<mlir::Value, llvm::StringRef> Scopes;
};

/// More calls than this are refused, as are recursive ones.
inline constexpr int64_t MaxCalls = 1 << 20;

/// Visits every op of `Entry` and of the functions it calls in program order,
/// callees once per call. Fails when a scope's name cannot be found, for
/// recursion, for more than MaxCalls calls, and when `Visit` does.
Status walkModel(
    mlir::func::FuncOp Entry,
    llvm::function_ref<Status(mlir::Operation *, const CallFrame &)> Visit);

/// The functions with a role.
llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::ModuleOp Module);

} // namespace tenon

#endif // TENON_COMPILER_BUILDER_MODELWALK_H
