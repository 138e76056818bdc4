// Constraints of what works element by element, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @scale_c1(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{scale_c1: factor: expected a finite number, got }}
  %0 = "transformer.scale"(%arg0) <{factor = 0x7FF0000000000000 : f64}> : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @soft_cap_c1(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{soft_cap_c1: bound: expected a positive number, got 0.000000e+00}}
  %0 = transformer.soft_cap %arg0 at 0.0 : tensor<?x8xf32>
  return
}

// -----

func.func @soft_cap_c1_f32(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{soft_cap_c1: bound: expected a positive number, got 1.000000e+300}}
  %0 = transformer.soft_cap %arg0 at 1e300 : tensor<?x8xf32>
  return
}

// -----

// Kernels multiply by what 1 is divided by the bound.
func.func @soft_cap_c1_reciprocal(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{soft_cap_c1: bound: expected a positive number, got 1.000000e-40}}
  %0 = transformer.soft_cap %arg0 at 1e-40 : tensor<?x8xf32>
  return
}

// -----

func.func @clamp_c1(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{clamp_c1: bound: expected a positive number, got -1.000000e+00}}
  %0 = transformer.clamp %arg0 at -1.0 : tensor<?x8xf32>
  return
}

// -----

func.func @sigmoid_gate_c1(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{sigmoid_gate_c1: width of gate: expected 1, got 8}}
  %0 = transformer.sigmoid_gate %arg0, %arg0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @slice_c1(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{slice_c1: columns: expected 4 of 8, got those from 5}}
  %0 = transformer.slice %arg0 from 5 : (tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @slice_c1(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{slice_c1: columns: expected 4 of 8, got those from -1}}
  %0 = transformer.slice %arg0 from -1 : (tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}
