//===- Passes.td - Layouts of weights and their tables -----*- tablegen -*-===//

#ifndef TENON_PASSES_PACKING_PASSES_TD
#define TENON_PASSES_PACKING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Choose the layout that each parameter is stored in";
  let description = [{
    Annotates every parameter with `dnn.layout`: `panels` for a matrix that a
    matmul reads, `row_major` for one that is only read row by row, `vector`
    for norms and biases. A parameter is stored once: a table that is also a head
    (tied embeddings) is packed in panels and gathered from there.
  }];
  let dependentDialects = ["::tenon::dnn::DnnDialect"];
}

def AssignWeightIndices : Pass<"assign-weight-indices", "::mlir::ModuleOp"> {
  let summary = "Number the weights of every scope";
  let description = [{
    Gives each `dnn.weight` and `dnn.table` its place in the table of its
    scope. Scopes that the same function is called with have the same places,
    and functions called with the same scope share its table; places follow the
    order of keys, so that every CPU level numbers them alike.
  }];
}

#endif // TENON_PASSES_PACKING_PASSES_TD
