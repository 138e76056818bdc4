//===- RowCounts.h - Which count of the batch rows are ----------*- C++ -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_ROWCOUNTS_H
#define TENON_DIALECTS_TRANSFORMER_ROWCOUNTS_H

#include "dialects/Transformer/Transformer.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace tenon::transformer {

/// The activations among the operands of `Op`.
llvm::SmallVector<mlir::OpOperand *> rowOperandsOf(mlir::Operation *Op);

/// The functions that `Op` may call; none when it is no call.
llvm::SmallVector<mlir::FunctionOpInterface> calleesOf(mlir::Operation *Op);

/// Which count of the batch the rows of every activation of a module are:
/// through operations as RowsOpInterface says, from calls to the arguments of
/// functions and from their returns to results of calls.
class RowCounts {
public:
  /// Emits an error at the first operation whose operands disagree (module_c13)
  /// or call that passes other counts than an earlier one (module_c14).
  static llvm::FailureOr<RowCounts> compute(mlir::ModuleOp Module);

  /// Of activations of the module; tokens for arguments of functions that
  /// nothing calls.
  CountKind of(mlir::Value Activations) const;

private:
  llvm::LogicalResult visit(mlir::Operation *Op);
  llvm::LogicalResult visitCall(mlir::Operation *Call, mlir::Operation *Callee);

  llvm::DenseMap<mlir::Value, CountKind> Counts;
};

} // namespace tenon::transformer

#endif // TENON_DIALECTS_TRANSFORMER_ROWCOUNTS_H
