//===- Functions.h - What passes ask of functions ---------------*- C++ -*-===//

#ifndef TENON_PASSES_SUPPORT_FUNCTIONS_H
#define TENON_PASSES_SUPPORT_FUNCTIONS_H

#include "dialects/Transformer/Transformer.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tenon {

/// The batch of the function that `Op` is or is in; an error at `Op`, which
/// needs it, where there is none.
inline mlir::FailureOr<mlir::Value> batchOf(mlir::Operation *Op) {
  auto Function = llvm::dyn_cast<mlir::FunctionOpInterface>(Op);
  if (!Function)
    Function = Op->getParentOfType<mlir::FunctionOpInterface>();
  if (Function)
    for (mlir::BlockArgument Argument : Function.getArguments())
      if (llvm::isa<transformer::BatchType>(Argument.getType()))
        return mlir::Value(Argument);
  return Op->emitOpError()
         << "expected a function with an argument of type !transformer.batch";
}

/// Whether `Op` runs for decode-sized batches only. What is compiled once, as
/// an entry is, runs for every batch and is written for many tokens.
inline bool isDecodeSized(mlir::Operation *Op) {
  auto Function = llvm::dyn_cast<mlir::FunctionOpInterface>(Op);
  if (!Function)
    Function = Op->getParentOfType<mlir::FunctionOpInterface>();
  return transformer::variantOf(Function) == transformer::Variant::Few;
}

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_FUNCTIONS_H
