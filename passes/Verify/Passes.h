//===- Passes.h - What holds after each stage -------------------*- C++ -*-===//

#ifndef TENON_PASSES_VERIFY_PASSES_H
#define TENON_PASSES_VERIFY_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Verify/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Verify/Passes.h.inc"

/// Checks the section "Placed modules" of the dnn dialect's SPEC.md. Emits an
/// error at the operation that breaks the first constraint.
llvm::LogicalResult verifyPlacedModule(mlir::ModuleOp Module);
/// The part of it that says which rows there are: dnn_module_c8 and c9.
llvm::LogicalResult verifyPlacedRows(mlir::ModuleOp Module);
/// The same of what holds after stage `buffers`, too: scopes, weights and
/// layers of caches (dnn_module_c1 to c3).
llvm::LogicalResult verifyHandles(mlir::ModuleOp Module);
/// What holds of buffers alone: dnn_module_c9 of `dnn.output`, and c10.
llvm::LogicalResult verifyOutputRows(mlir::ModuleOp Module);
llvm::LogicalResult verifyKernelNumbers(mlir::ModuleOp Module);

} // namespace tenon

#endif // TENON_PASSES_VERIFY_PASSES_H
