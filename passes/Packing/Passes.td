//===- Passes.td - Layouts of weights and their tables -----*- tablegen -*-===//

#ifndef TENON_PASSES_PACKING_PASSES_TD
#define TENON_PASSES_PACKING_PASSES_TD

include "mlir/Pass/PassBase.td"

def QuantizeWeights : Pass<"quantize-weights", "::mlir::ModuleOp"> {
  let summary = "Give matrices the quantised format that the user asks for";
  let description = [{
    Changes the element type of parameters: `int8` is ggml's Q8_0, codes of 8
    bits in groups of 32; `int4` is IQ4_NL, 16 unevenly spaced numbers in groups
    of 32, with heads, token embeddings and projections to the values of
    attention in Q6_0, codes of 6 bits in groups of 32. Stay as they are:
    vectors, routers, what is not read in panels, matrices of fewer than 64
    output features, and what `exclude` names, for which layers that share a
    function get one each. Codes are searched when weights are packed.
  }];
  let options = [
    Option<"Format", "format", "std::string", "\"none\"",
           "none, int8 or int4">,
    ListOption<"Exclude", "exclude", "std::string",
               "Patterns of full names, with '*', of matrices to leave">
  ];
}

def SetCacheFormat : Pass<"set-cache-format", "::mlir::ModuleOp"> {
  let summary = "Store caches in the format that the user asks for";
  let description = [{
    Changes the type of every cache. `int8` is i8: integers with an f32 scale per
    token and head. Caches of latent vectors are not stored in it.
  }];
  let options = [
    Option<"Format", "format", "std::string", "\"auto\"",
           "auto (what the model says), f32, bf16 or int8">
  ];
}

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Choose the layout that each parameter is stored in";
  let description = [{
    Annotates every parameter with `dnn.layout`: `panels` for a matrix that a
    matmul reads or that is quantised, `row_major` for one that is only read row by row, `vector`
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
