// What verifiers refuse of mixtures of experts.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @moe_route_c1(%l: tensor<?x6xf32>, %c: !dnn.packed<vector, 5x1xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // expected-error@below {{dnn_moe_route_c1: correction elements: expected 6, got 5}}
  %0:2 = dnn.moe_route %l correction %c <softmax, top = 2> outs(%i, %w) : (tensor<?x6xf32>, !dnn.packed<vector, 5x1xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @moe_route_c2(%l: tensor<?x6xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) {
  // expected-error@below {{dnn_moe_route_c2: groups: expected a divisor of 6 experts, got 4}}
  %0:2 = dnn.moe_route %l <softmax, top = 2, groups = 4 keep 2> outs(%i, %w) : (tensor<?x6xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @moe_route_c3(%l: tensor<?x6xf32>, %i: tensor<?x3xi32>, %w: tensor<?x3xf32>) {
  // expected-error@below {{dnn_moe_route_c3: top: expected at most the 2 experts to choose from, got 3}}
  %0:2 = dnn.moe_route %l <softmax, top = 3, groups = 3 keep 1> outs(%i, %w) : (tensor<?x6xf32>, tensor<?x3xi32>, tensor<?x3xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>)
  return
}

// -----

func.func @moe_route_c4(%l: tensor<?x6xf32>, %i: tensor<?x2xi32>, %w: tensor<?x3xf32>) {
  // expected-error@below {{dnn_moe_route_c4: width of weights: expected 2, got 3}}
  %0:2 = dnn.moe_route %l <softmax, top = 2> outs(%i, %w) : (tensor<?x6xf32>, tensor<?x2xi32>, tensor<?x3xf32>) -> (tensor<?x2xi32>, tensor<?x3xf32>)
  return
}

// -----

func.func @moe_group_c1(%i: tensor<?x2xi32>, %o: tensor<?x3xi32>, %f: tensor<1x7xi32>) {
  // expected-error@below {{dnn_moe_group_c1: width of order: expected 2, got 3}}
  %0:2 = dnn.moe_group %i outs(%o, %f) : (tensor<?x2xi32>, tensor<?x3xi32>, tensor<1x7xi32>) -> (tensor<?x3xi32>, tensor<1x7xi32>)
  return
}

// -----

func.func @moe_group_c2(%i: tensor<?x2xi32>, %f: tensor<1x1xi32>) {
  // expected-error@below {{dnn_moe_group_c2: width of offsets: expected at least 2, got 1}}
  %0:2 = dnn.moe_group %i outs(%i, %f) : (tensor<?x2xi32>, tensor<?x2xi32>, tensor<1x1xi32>) -> (tensor<?x2xi32>, tensor<1x1xi32>)
  return
}

// -----

func.func @moe_gate_up_c1(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x9xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c1: gate input features: expected 8, got 9}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x9xf32>, !dnn.packed<panels, 6x4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c2(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 5x4x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c2: up experts: expected 6, got 5}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 5x4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c2_features(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x3x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c2: up output features: expected 4, got 3}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x3x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c3(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %a: !dnn.packed<row_major, 5x4xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c3: rows of gate bias: expected 6, got 5}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g bias %a up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<row_major, 5x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c3_columns(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %a: !dnn.packed<row_major, 6x5xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c3: columns of up bias: expected 4, got 5}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u bias %a outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<row_major, 6x5xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c4(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x6xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c4: width of offsets: expected 7, got 6}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x6xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c5(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %h: tensor<?x4xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c5: width of the destination: expected 8, got 4}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @moe_gate_up_c6(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c6: limit: expected a positive number}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u limit 0.0 outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c6_offset(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %u: !dnn.packed<panels, 6x4x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c6: up_offset: expected a finite number, got }}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u limit 7.0 up_offset 0x7FF0000000000000 outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_gate_up_c7(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xbf16>, %u: !dnn.packed<panels, 6x4x8xf32>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c7: format of up: expected 'bf16', got 'f32'}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %u outs(%h) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_down_c1(%h: tensor<?x6xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %d: !dnn.packed<panels, 6x8x4xf32>, %p: tensor<?x16xf32>) {
  // expected-error@below {{dnn_moe_down_c1: width of the input: expected 8, got 6}}
  %0 = dnn.moe_down %h by %i, %f down %d outs(%p) : (tensor<?x6xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x4xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @moe_down_c2(%h: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x6xi32>, %d: !dnn.packed<panels, 6x8x4xf32>, %p: tensor<?x16xf32>) {
  // expected-error@below {{dnn_moe_down_c2: width of offsets: expected 7, got 6}}
  %0 = dnn.moe_down %h by %i, %f down %d outs(%p) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x6xi32>, !dnn.packed<panels, 6x8x4xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @moe_down_c3(%h: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %d: !dnn.packed<panels, 6x8x4xf32>, %a: !dnn.packed<row_major, 5x8xf32>, %p: tensor<?x16xf32>) {
  // expected-error@below {{dnn_moe_down_c3: rows of down bias: expected 6, got 5}}
  %0 = dnn.moe_down %h by %i, %f down %d bias %a outs(%p) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x4xf32>, !dnn.packed<row_major, 5x8xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @moe_down_c4(%h: tensor<?x8xf32>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %d: !dnn.packed<panels, 6x8x4xf32>, %p: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_down_c4: width of the destination: expected 16, got 8}}
  %0 = dnn.moe_down %h by %i, %f down %d outs(%p) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_combine_c1(%p: tensor<?x16xf32>, %w: tensor<?x2xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_moe_combine_c1: width of the input: expected 12, got 16}}
  %0 = dnn.moe_combine %p by %w outs(%o) : (tensor<?x16xf32>, tensor<?x2xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @moe_gate_up_c8(%x: tensor<?x32x!dnn.grouped<8>>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x4x32xbf16>, %h: tensor<?x8xf32>) {
  // expected-error@below {{dnn_moe_gate_up_c8: input of grouped integers: expected quantised weights, got bf16}}
  %0 = dnn.moe_gate_up silu %x by %i, %f gate %g up %g outs(%h) : (tensor<?x32x!dnn.grouped<8>>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x32xbf16>, !dnn.packed<panels, 6x4x32xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_down_c5(%h: tensor<?x64x!dnn.grouped<8>>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %d: !dnn.packed<panels, 6x8x32xf32>, %p: tensor<?x16xf32>) {
  // expected-error@below {{dnn_moe_down_c5: input of grouped integers: expected quantised weights, got f32}}
  %0 = dnn.moe_down %h by %i, %f down %d outs(%p) : (tensor<?x64x!dnn.grouped<8>>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x32xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @moe_down_c6(%h: tensor<?x80x!dnn.grouped<8>>, %i: tensor<?x2xi32>, %f: tensor<1x7xi32>, %d: !dnn.packed<panels, 6x8x40xq8_0>, %p: tensor<?x16xf32>) {
  // expected-error@below {{dnn_moe_down_c6: input of grouped integers: expected a multiple of 32 input features, got 40}}
  %0 = dnn.moe_down %h by %i, %f down %d outs(%p) : (tensor<?x80x!dnn.grouped<8>>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x40xq8_0>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}
