//===- Passes.td - Buffers and kernels to LLVM -------------*- tablegen -*-===//

#ifndef TENON_PASSES_LOWERING_PASSES_TD
#define TENON_PASSES_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLlvm : Pass<"lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Write the module in the LLVM dialect, on the runtime's ABI";
  let description = [{
    The batch becomes a pointer to `tenon_rt_step`, a scope one to
    `tenon_rt_scope`, a cache the number of its kind, a packed weight a
    pointer. Library products, barriers and launches go through the step's
    function table, so that the code has no undefined symbols. An entry becomes
    `tenon_entry_ROLE(const tenon_rt_step *)`; everything else is internal.
    Functions of mathematics become polynomials on vectors.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TENON_PASSES_LOWERING_PASSES_TD
