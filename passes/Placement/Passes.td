//===- Passes.td - Operations onto a CPU level -------------*- tablegen -*-===//

#ifndef TENON_PASSES_PLACEMENT_PASSES_TD
#define TENON_PASSES_PLACEMENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceOperations : Pass<"place-operations", "::mlir::ModuleOp"> {
  let summary = "Write fused operations as destination-passing dnn operations";
  let description = [{
    Every fused operation becomes its `dnn` twin with a fresh destination;
    parameters become packed weights, merged ones a single weight; rotations
    get the table of their angles. Inputs of products are cast to the type that
    the CPU level multiplies in: bf16 weights with bf16 rows where the level
    has bf16 products, f32 rows elsewhere (weights are widened as they are
    read). A gated product of `.many` is two library products, the second of
    which multiplies with the first.

    Appends to the cache become effects, and cache results of functions go.
  }];
  let options = [
    Option<"Level", "level", "std::string", "\"avx2\"",
           "CPU level to compile for">
  ];
  let dependentDialects = ["::tenon::dnn::DnnDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowResults : Pass<"narrow-results", "::mlir::ModuleOp"> {
  let summary = "Let producers write what products read";
  let description = [{
    A result that is only ever cast is written in the cast's type at once;
    equal casts of one value are merged.
  }];
  let statistics = [
    Statistic<"NumNarrowed", "narrowed", "Number of results narrowed">,
    Statistic<"NumMerged", "merged", "Number of casts merged away">
  ];
}

def AssignSites : Pass<"assign-sites", "::mlir::ModuleOp"> {
  let summary = "Decide which products the library computes, and number them";
  let description = [{
    Products of `.many` functions are library products where the CPU level has
    fast ones for the type: f32 from AVX-512 on, bf16 where there are bf16
    products. All others are generated. Equal library products share a site.
    A remark on each product says which, and why.
  }];
  let statistics = [
    Statistic<"NumLibrary", "library", "Number of library products">,
    Statistic<"NumGenerated", "generated", "Number of generated products">
  ];
}

#endif // TENON_PASSES_PLACEMENT_PASSES_TD
