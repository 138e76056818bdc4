//===- Passes.td - Tensors to planned buffers --------------*- tablegen -*-===//

#ifndef TENON_PASSES_BUFFERIZATION_PASSES_TD
#define TENON_PASSES_BUFFERIZATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def BufferizeFunctions : Pass<"bufferize-functions", "::mlir::ModuleOp"> {
  let summary = "Bufferize every function by itself, results as destinations";
  let description = [{
    Tensor arguments become buffers, results buffers that the caller passes
    behind the arguments; an entry writes to the step's output. Then empty
    tensors are eliminated and One-Shot Bufferize runs on each function alone,
    so that what happens in one layer function never depends on another.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def FoldSelfCopies : Pass<"fold-self-copies", "::mlir::ModuleOp"> {
  let summary = "Drop copies of a buffer onto itself";
  let description = [{
    A result that was computed in its destination is still copied there by
    bufferization; this removes it.
  }];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer a place in one arena";
  let description = [{
    Replaces allocations by buffers at constant offsets of an arena that is
    sized for the most tokens of a step. Buffers that are never alive at the
    same time share bytes; offsets are multiples of 64. Frames of entries come
    first, those of layer functions, which entries call one at a time, behind
    the largest of them.

    Row counts are rounded up as the matmul library needs it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // TENON_PASSES_BUFFERIZATION_PASSES_TD
