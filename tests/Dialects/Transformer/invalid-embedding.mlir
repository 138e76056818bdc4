// Constraints of embeddings and positions, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @rope_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{rope_c1: heads: expected a divisor of the width 8, got 3}}
  %0 = transformer.rope %arg0, %arg1 heads 3 <half, dim = 2, base = 1.0e+04> : tensor<?x8xf32>
  return
}

// -----

func.func @rope_c2(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{rope_c2: rope dim: expected at most head_dim 4, got 6}}
  %0 = transformer.rope %arg0, %arg1 heads 2 <half, dim = 6, base = 1.0e+04> : tensor<?x8xf32>
  return
}

// -----

func.func @rope_c3(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{rope_c3: from: expected an element of a head of 4, got 4}}
  %0 = transformer.rope %arg0, %arg1 heads 2 from 4 <half, dim = 2, base = 1.0e+04> : tensor<?x8xf32>
  return
}

// -----

func.func @rope_c3(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{rope_c3: from: expected an element of a head of 4, got -1}}
  %0 = transformer.rope %arg0, %arg1 heads 2 from -1 <half, dim = 2, base = 1.0e+04> : tensor<?x8xf32>
  return
}

// -----

func.func @rope_c2(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{rope_c2: rope dim: expected at most head_dim 1, got 2}}
  %0 = transformer.rope %arg0, %arg1 heads 2 from 3 <half, dim = 2, base = 1.0e+04> : tensor<?x8xf32>
  return
}

// -----

func.func @embedding_c1(%arg0: !transformer.batch, %arg1: tensor<9x8xf32>) {
  // expected-error@+1 {{embedding_c1: offset: expected a row of the table of 9, got 9}}
  %0 = transformer.embedding position %arg0, %arg1 offset 9 : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @embedding_c1(%arg0: !transformer.batch, %arg1: tensor<9x8xf32>) {
  // expected-error@+1 {{embedding_c1: offset: expected a row of the table of 9, got -2}}
  %0 = transformer.embedding position %arg0, %arg1 offset -2 : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @sinusoid_c1(%arg0: !transformer.batch) {
  // expected-error@+1 {{sinusoid_c1: width: expected at least 2, got 1}}
  %0 = transformer.sinusoid half %arg0 : tensor<?x1xf32>
  return
}

// -----

func.func @class_token_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<7xf32>) {
  // expected-error@+1 {{class_token_c1: elements of the token: expected 8, got 7}}
  %0 = transformer.class_token %arg0, %arg1, %arg2 : (tensor<?x8xf32>, !transformer.batch, tensor<7xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @merge_features_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{merge_features_c1: token: expected 0 to 2147483647, got -1}}
  %0 = transformer.merge_features %arg0, %arg1 token -1 : tensor<?x8xf32>
  return
}

// -----

func.func @merge_features_c1_large(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{merge_features_c1: token: expected 0 to 2147483647, got 2147483648}}
  %0 = transformer.merge_features %arg0, %arg1 token 2147483648 : tensor<?x8xf32>
  return
}

// -----

func.func @rope_c2_angles(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{rope_c2: rope: expected finite angles, got #transformer.rope<half, dim = 4, base = 10000.0, linear(factor = 1e-37)>}}
  %0 = transformer.rope %arg0, %arg1 heads 2 <half, dim = 4, base = 10000.0, linear(factor = 1e-37)> : tensor<?x8xf32>
  return
}
