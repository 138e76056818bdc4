//===- Passes.td - Operations onto a CPU level -------------*- tablegen -*-===//

#ifndef TENON_PASSES_PLACEMENT_PASSES_TD
#define TENON_PASSES_PLACEMENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTransformerToDnn
    : Pass<"convert-transformer-to-dnn", "::mlir::ModuleOp"> {
  let summary = "Write fused operations as destination-passing dnn operations";
  let description = [{
    Every fused operation becomes its `dnn` twin with a fresh destination;
    parameters become packed weights, merged ones a single weight; rotations
    get the table of their angles. Inputs of matmuls are cast to the type that
    the CPU level multiplies in: bf16 weights with bf16 activations where the
    level has bf16 dot products, f32 activations elsewhere (weights are widened
    as they are read). Quantised weights are multiplied with rows of integers
    (`!dnn.grouped`) of 16 bits in a decode-sized batch and of 8 bits
    otherwise, unless the module's `transformer.activations` is `exact`; of 16
    bits too where the level has dot products in 16 bits alone and these do not
    hold sums of the format's products; with rows of bf16 in a prefill-sized
    batch that computes in bf16 where the level has tiles. A gated matmul of a
    prefill-sized batch is two library matmuls where the library has fast ones
    for its format, the second of which multiplies with the first.

    Appends to the cache become effects, and cache results of functions go. The
    module gets the attribute `dnn.target`.
  }];
  let options = [
    Option<"Level", "level", "std::string", "\"avx2\"",
           "CPU level to compile for">
  ];
  let dependentDialects = ["::tenon::dnn::DnnDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FoldCasts : Pass<"fold-casts", "::mlir::ModuleOp"> {
  let summary = "Let producers write what matmuls read";
  let description = [{
    Casts of one value to one type are merged. A result that is only ever cast
    is written in the cast's type at once, if its producer converts what it
    stores: rounds it, or quantises it group by group. The values stay the same.
  }];
}

def SelectLibraryMatmuls
    : Pass<"select-library-matmuls", "::mlir::ModuleOp"> {
  let summary = "Decide which matmuls the library computes, and number them";
  let description = [{
    Matmuls of functions that run for prefill-sized batches are the library's
    where it has fast ones for the formats (see `dnn.target`); all others are
    generated. Equal library matmuls share a primitive. A remark on each matmul
    says which, and why.
  }];
}

#endif // TENON_PASSES_PLACEMENT_PASSES_TD
