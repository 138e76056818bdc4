// Constraints of the head, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @lm_head_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<6x9xf32>) {
  // expected-error@+1 {{lm_head_c1: weight input features: expected 8, got 9}}
  %0 = transformer.lm_head %arg0, %arg1, %arg2 : (tensor<?x8xf32>, !transformer.batch, tensor<6x9xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @lm_head_c2(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<6x8xf32>, %arg3: tensor<8xf32>) {
  // expected-error@+1 {{lm_head_c2: weight bias elements: expected 6, got 8}}
  %0 = transformer.lm_head %arg0, %arg1, %arg2 bias %arg3 : (tensor<?x8xf32>, !transformer.batch, tensor<6x8xf32>, tensor<8xf32>) -> tensor<?x6xf32>
  return
}
