// What verifiers refuse of matmuls.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @matmul_c1(%x: tensor<?x6xf32>, %w: !dnn.packed<panels, 6x8xf32>) {
  // expected-error@below {{dnn_matmul_c1: weight input features: expected 6, got 8}}
  %0 = dnn.matmul %x weight %w outs(%x) : (tensor<?x6xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %v: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c2: weight bias elements: expected 6, got 8}}
  %0 = dnn.matmul %x weight %w bias %v outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c3_multiplier(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c3: width of multiplier: expected 6, got 8}}
  %0 = dnn.matmul %x weight %w multiplier %x outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c3_residual(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c3: width of residual: expected 6, got 8}}
  %0 = dnn.matmul %x weight %w residual %x outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>) {
  // expected-error@below {{dnn_matmul_c3: width of the destination: expected 6, got 8}}
  %0 = dnn.matmul %x weight %w outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @matmul_c4(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c4: primitive: expected at least 0, got -1}}
  %0 = dnn.matmul %x weight %w primitive -1 outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c5(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xbf16>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c5: a library matmul with a weight of bf16: expected an input of that type, got f32}}
  %0 = dnn.matmul %x weight %w primitive 0 outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c5(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: tensor<?x6xbf16>) {
  // expected-error@below {{dnn_matmul_c5: a library matmul with a weight of f32: expected an input of that type and an output of f32, got bf16}}
  %0 = dnn.matmul %x weight %w primitive 0 outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @gated_matmul_c1(%x: tensor<?x8xf32>, %g: !dnn.packed<panels, 6x9xf32>, %u: !dnn.packed<panels, 6x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_gated_matmul_c1: gate input features: expected 8, got 9}}
  %0 = dnn.gated_matmul silu %x gate %g up %u outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x9xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c2(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %v: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_gated_matmul_c2: up bias elements: expected 6, got 8}}
  %0 = dnn.gated_matmul silu %x gate %w up %w bias %v outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, !dnn.packed<panels, 6x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c3(%x: tensor<?x8xf32>, %g: !dnn.packed<panels, 7x8xf32>, %u: !dnn.packed<panels, 6x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_gated_matmul_c3: up output features: expected 7, got 6}}
  %0 = dnn.gated_matmul silu %x gate %g up %u outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 7x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c4(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>) {
  // expected-error@below {{dnn_gated_matmul_c4: width of the destination: expected 6, got 8}}
  %0 = dnn.gated_matmul silu %x gate %w up %w outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, !dnn.packed<panels, 6x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_matmul_c5(%x: tensor<?x8xf32>, %g: !dnn.packed<panels, 6x8xf32>, %u: !dnn.packed<panels, 6x8xbf16>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_gated_matmul_c5: format of up: expected 'f32', got 'bf16'}}
  %0 = dnn.gated_matmul silu %x gate %g up %u outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 6x8xf32>, !dnn.packed<panels, 6x8xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c6(%x: tensor<?x64x!dnn.grouped<8>>, %w: !dnn.packed<panels, 6x64xbf16>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c6: input of grouped integers: expected quantised weights, got bf16}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x64x!dnn.grouped<8>>, !dnn.packed<panels, 6x64xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c5_grouped(%x: tensor<?x64x!dnn.grouped<8>>, %w: !dnn.packed<panels, 6x64xq8_0>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_matmul_c5: a library matmul: expected an input of f32 or bf16, got grouped integers}}
  %0 = dnn.matmul %x weight %w primitive 0 outs(%o) : (tensor<?x64x!dnn.grouped<8>>, !dnn.packed<panels, 6x64xq8_0>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c6(%x: tensor<?x64x!dnn.grouped<16>>, %w: !dnn.packed<panels, 6x64xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_gated_matmul_c6: input of grouped integers: expected quantised weights, got f32}}
  %0 = dnn.gated_matmul silu %x gate %w up %w outs(%o) : (tensor<?x64x!dnn.grouped<16>>, !dnn.packed<panels, 6x64xf32>, !dnn.packed<panels, 6x64xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}
