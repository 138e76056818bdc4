// What is not placed.
// RUN: %tenon-opt %s --verify-placed -split-input-file -verify-diagnostics

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @model_op(%b: !transformer.batch, %x: tensor<?x8xf32>) {
  // expected-error@below {{'transformer.residual' op is not allowed after stage 'placed': expected a dnn operation on tensors}}
  %0 = transformer.residual %x, %x : tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @weight(%s: !transformer.scope) {
  %0 = dnn.weight %s ["a"] of norm index 0 : <vector, 8x1xf32>
  // expected-error@below {{'dnn.weight' op expected an index}}
  %1 = dnn.weight %s ["b"] of norm : <vector, 8x1xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @table(%s: !transformer.scope) {
  // expected-error@below {{'dnn.table' op expected an index}}
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %s : <row_major, 16x4xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @buffer() {
  // expected-error@below {{'memref.alloc' op is not allowed after stage 'placed'}}
  %0 = memref.alloc() : memref<4x8xf32>
  return
}
}

// -----

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}
