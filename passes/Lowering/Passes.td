//===- Passes.td - Buffers and kernels to LLVM -------------*- tablegen -*-===//

#ifndef TENON_PASSES_LOWERING_PASSES_TD
#define TENON_PASSES_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandDispatch : Pass<"expand-dispatch", "::mlir::ModuleOp"> {
  let summary = "Write dispatches as a comparison and two calls";
  let description = [{
    A `dnn.dispatch` compares its count with `dnn.few_tokens`, which the runtime
    sets for each step, and calls the `few` or the `many` variant. Callees are not inlined: the code of a
    layer exists once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ExportEntries : Pass<"export-entries", "::mlir::ModuleOp"> {
  let summary = "Give entries the names that the runtime calls";
  let description = [{
    An entry becomes `tenon_entry_ROLE`, whose only argument is the batch;
    caches become their numbers. Everything else is internal. Attributes that
    described the model go.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def ExpandMath : Pass<"expand-math", "::mlir::ModuleOp"> {
  let summary = "Write functions of mathematics as polynomials on vectors";
  let description = [{
    Exponentials (but those of attention, which has its own polynomials),
    hyperbolic tangents and error functions become MLIR's polynomial
    approximations, masks of a run-time length comparisons.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertDnnToLlvm : Pass<"convert-dnn-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Write the module in the LLVM dialect, on the runtime's ABI";
  let description = [{
    The batch becomes a pointer to `tenon_rt_step`, a scope one to
    `tenon_rt_scope`, a cache the number of its kind, a packed weight a
    pointer. Library matmuls, barriers and launches go through the step's
    function table, so that the code has no undefined symbols. What a kernel
    computes becomes a comment of the assembly and a call that says that it
    begins.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def PropagateErrors : Pass<"propagate-errors", "::mlir::ModuleOp"> {
  let summary = "Return at once what the runtime answers but 0";
  let description = [{
    Library matmuls and parallel regions answer 0, or a number after which
    every function up to the entry returns it at once. Bodies of parallel
    regions cannot fail.
  }];
}

#endif // TENON_PASSES_LOWERING_PASSES_TD
