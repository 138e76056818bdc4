// Kernels depend on the CPU level, and are told of the batch.
// RUN: %tenon-opt %s --generate-kernels -split-input-file -verify-diagnostics

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @no_batch(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  // expected-error@below {{expected a function with an argument of type !transformer.batch}}
  dnn.clamp %x at 8.0 outs(%y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
}
