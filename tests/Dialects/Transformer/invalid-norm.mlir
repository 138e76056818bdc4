// Constraints of norms, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @layer_norm_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<9xf32>, %arg2: tensor<8xf32>) {
  // expected-error@+1 {{layer_norm_c2: weight elements: expected 8, got 9}}
  %0 = transformer.layer_norm %arg0, %arg1, %arg2 eps 1.0e-05 : (tensor<?x8xf32>, tensor<9xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<9xf32>) {
  // expected-error@+1 {{layer_norm_c4: bias elements: expected 8, got 9}}
  %0 = transformer.layer_norm %arg0, %arg1, %arg2 eps 1.0e-05 : (tensor<?x8xf32>, tensor<8xf32>, tensor<9xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
  // expected-error@+1 {{layer_norm_c3: eps: expected a number from 0 to 1, got 1}}
  %0 = transformer.layer_norm %arg0, %arg1, %arg2 eps 1.0 : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{rms_norm_c1: groups: expected a divisor of the width 8, got 3}}
  %0 = transformer.rms_norm %arg0, %arg1 eps 1.0e-05 groups 3 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{rms_norm_c2: weight elements: expected 4, got 2}}
  %0 = transformer.rms_norm %arg0, %arg1 eps 1.0e-05 groups 2 : (tensor<?x8xf32>, tensor<2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{rms_norm_c3: eps: expected a number from 0 to 1, got -1.000000e-05}}
  %0 = transformer.rms_norm %arg0, %arg1 eps -1.0e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{rms_norm_c4: offset: expected a finite number, got }}
  %0 = transformer.rms_norm %arg0, %arg1 eps 1e-05 offset 0x7FF0000000000000 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @add_norm_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<9xf32>) {
  // expected-error@+1 {{add_norm_c1: weight elements: expected 8, got 9}}
  %0:2 = transformer.add_norm rms %arg0, %arg0 weight %arg1 eps 1.0e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<9xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
  // expected-error@+1 {{add_norm_c2: bias: expected none for rms}}
  %0:2 = transformer.add_norm rms %arg0, %arg0 weight %arg1 bias %arg2 eps 1.0e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<9xf32>) {
  // expected-error@+1 {{add_norm_c3: bias elements: expected 8, got 9}}
  %0:2 = transformer.add_norm layer %arg0, %arg0 weight %arg1 bias %arg2 eps 1.0e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<9xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{add_norm_c4: eps: expected a number from 0 to 1, got 2.000000e+00}}
  %0:2 = transformer.add_norm rms %arg0, %arg0 weight %arg1 eps 2.0 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c5(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{add_norm_c5: offset: expected none for layer}}
  %0:2 = transformer.add_norm layer %arg0, %arg0 weight %arg1 eps 1e-05 offset 1.0 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c5_finite(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{add_norm_c5: offset: expected a finite number, got }}
  %0:2 = transformer.add_norm rms %arg0, %arg0 weight %arg1 eps 1e-05 offset 0x7FF8000000000000 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @layer_norm_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{layer_norm_c1: groups: expected a divisor of the width 8, got 3}}
  %0 = transformer.layer_norm %arg0, %arg1 eps 1.0e-05 groups 3 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{layer_norm_c1: groups: expected a divisor of the width 8, got 0}}
  %0 = transformer.layer_norm %arg0, %arg1 eps 1.0e-05 groups 0 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<8xf32>) {
  // expected-error@+1 {{layer_norm_c4: bias elements: expected 4, got 8}}
  %0 = transformer.layer_norm %arg0, %arg1, %arg2 eps 1.0e-05 groups 2 : (tensor<?x8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}
