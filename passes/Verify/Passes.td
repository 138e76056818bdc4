//===- Passes.td - What holds after each stage -------------*- tablegen -*-===//

#ifndef TENON_PASSES_VERIFY_PASSES_TD
#define TENON_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyModel : Pass<"verify-model", "::mlir::ModuleOp"> {
  let summary = "A model is entries, layer functions and model operations";
  let description = [{
    There is an entry, of each role one, without tensor arguments and with one
    tensor result; every function has a body and a batch; only functions, calls
    and operations of the transformer dialect occur; weights are parameters;
    cache handles are linear and are returned in the order they are taken.
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
    Only dnn operations, empty destinations and function operations are left;
    every weight has a slot; inputs of library products have the weight's type.
  }];
}

def VerifyBuffers : Pass<"verify-buffers", "::mlir::ModuleOp"> {
  let summary = "No allocation and no copy outside the memory plan";
  let description = [{
    No tensor, no `memref.alloc`, no `memref.copy`; no
    dnn compute operation is left: each is a call of a site or a kernel.
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
