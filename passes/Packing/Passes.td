//===- Passes.td - Layouts of weights and their tables -----*- tablegen -*-===//

#ifndef TENON_PASSES_PACKING_PASSES_TD
#define TENON_PASSES_PACKING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChoosePacking : Pass<"choose-packing", "::mlir::ModuleOp"> {
  let summary = "Choose the layout that each parameter is stored in";
  let description = [{
    Annotates every parameter with `dnn.layout`: `panels` for a matrix that a
    product reads, `rows` for a table that is only gathered from, `vector` for
    norms and biases. A parameter is stored once: a table that is also a head
    (tied embeddings) is packed in panels and gathered from there.
  }];
  let statistics = [
    Statistic<"NumPanels", "panels", "Number of parameters packed in panels">,
    Statistic<"NumRows", "rows", "Number of parameters stored row by row">,
    Statistic<"NumVectors", "vectors", "Number of vectors">
  ];
}

def AssignSlots : Pass<"assign-slots", "::mlir::ModuleOp"> {
  let summary = "Number the weights of every scope";
  let description = [{
    Gives each `dnn.weight` and `dnn.rope_table` its place in the table of its
    scope. Scopes that the same function is called with have the same places,
    and functions called with the same scope share its table; places follow the
    order of keys, so that every CPU level numbers them alike.
  }];
  let statistics = [
    Statistic<"NumSlots", "slots", "Number of slots over all kinds of scope">
  ];
}

#endif // TENON_PASSES_PACKING_PASSES_TD
