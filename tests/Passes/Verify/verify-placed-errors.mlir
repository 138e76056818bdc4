// What is not placed.
// RUN: %tenon-opt %s --verify-placed -split-input-file -verify-diagnostics

func.func @model_op(%b: !transformer.batch, %x: tensor<?x8xf32>) {
  // expected-error@below {{'transformer.residual' op is not allowed after stage 'placed': expected a dnn operation on tensors}}
  %0 = transformer.residual %x, %x : tensor<?x8xf32>
  return
}

// -----

func.func @weight(%s: !transformer.scope) {
  %0 = dnn.weight %s ["a"] of "norm" slot 0 : <vector, 8x1xf32>
  // expected-error@below {{'dnn.weight' op expected a slot}}
  %1 = dnn.weight %s ["b"] of "norm" : <vector, 8x1xf32>
  return
}

// -----

func.func @table(%s: !transformer.scope) {
  // expected-error@below {{'dnn.table' op expected a slot}}
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %s : <rows, 16x4xf32>
  return
}
