//===- Passes.td - What holds after each stage -------------*- tablegen -*-===//

#ifndef TENON_PASSES_VERIFY_PASSES_TD
#define TENON_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyTransformer : Pass<"verify-transformer", "::mlir::ModuleOp"> {
  let summary = "The module is a valid model";
  let description = [{
    Checks the constraints of the section "Modules" of the dialect's SPEC.md
    (module_c1 and on) and that cache handles are linear. What passes compiles
    and runs.
  }];
}

def VerifyFused : Pass<"verify-fused", "::mlir::ModuleOp"> {
  let summary = "Every operation is one that placement knows";
  let description = [{
    Names the first operation that fusion was to rewrite and did not. Cache
    handles are still linear.
  }];
}

def VerifyPlaced : Pass<"verify-placed", "::mlir::ModuleOp"> {
  let summary = "Every operation is placed";
  let description = [{
    Only dnn operations, empty destinations and function operations are left.
    Scopes, indices of weights, layers of caches, tables, primitives, bounds of
    functions and rows of operands fit together: the section "Placed modules" of
    the dialect's SPEC.md (dnn_module_c1 and on).
  }];
}

def VerifyBuffers : Pass<"verify-buffers", "::mlir::ModuleOp"> {
  let summary = "No allocation and no copy outside the memory plan";
  let description = [{
    What is left is an allow list: handles, buffers, calls and parallel regions
    of dnn; scratch, its views, sizes, loads, stores and prefetches of memref;
    arith, math, scf, vector, x86vector and amx. No tensor, no allocation, no
    copy, no compute operation: each is a call of the library or a kernel, which
    have numbers (dnn_module_c10). Outputs have the rows of their entry
    (dnn_module_c9).
  }];
}

def VerifyLlvm : Pass<"verify-llvm", "::mlir::ModuleOp"> {
  let summary = "Only LLVM is left, and nothing is undefined";
  let description = [{
    Every operation is one of the llvm dialect and every function has a body:
    generated code reaches the runtime through the step alone.
  }];
}

#endif // TENON_PASSES_VERIFY_PASSES_TD
