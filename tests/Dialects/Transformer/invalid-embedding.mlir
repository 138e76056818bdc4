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
