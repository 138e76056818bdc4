// What verifiers refuse of computations row by row.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @embedding_c1(%b: !transformer.batch, %t: !dnn.packed<row_major, 9x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_embedding_c1: offset: expected a row of the table of 9, got 9}}
  %0 = dnn.embedding position %b, %t offset 9 outs(%o) : (!transformer.batch, !dnn.packed<row_major, 9x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @embedding_c2(%b: !transformer.batch, %t: !dnn.packed<row_major, 9x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_embedding_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.embedding token %b, %t outs(%o) : (!transformer.batch, !dnn.packed<row_major, 9x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @class_token_c1(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<vector, 6x1xf32>) {
  // expected-error@below {{dnn_class_token_c1: elements of the token: expected 8, got 6}}
  %0 = dnn.class_token %x, %b, %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<vector, 6x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @class_token_c2(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_class_token_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.class_token %x, %b, %t outs(%o) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @merge_features_c1(%x: tensor<?x8xf32>, %b: !transformer.batch) {
  // expected-error@below {{dnn_merge_features_c1: token: expected 0 to 2147483647, got -1}}
  %0 = dnn.merge_features %x, %b token -1 outs(%x) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @merge_features_c2(%x: tensor<?x8xf32>, %b: !transformer.batch, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_merge_features_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.merge_features %x, %b token 3 outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @rope_c1(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x2xf32>) {
  // expected-error@below {{dnn_rope_c1: heads: expected a divisor of the width 8, got 3}}
  %0 = dnn.rope %x, %b heads 3 <half, dim = 2, base = 10000.0> table %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 9x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_c1_none(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x2xf32>) {
  // expected-error@below {{dnn_rope_c1: heads: expected a divisor of the width 8, got 0}}
  %0 = dnn.rope %x, %b heads 0 <half, dim = 2, base = 10000.0> table %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 9x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_c2(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x4xf32>) {
  // expected-error@below {{dnn_rope_c2: rope dim: expected at most head_dim 2, got 4}}
  %0 = dnn.rope %x, %b heads 2 from 2 <half, dim = 4, base = 10000.0> table %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 9x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_c3(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x2xf32>) {
  // expected-error@below {{dnn_rope_c3: from: expected an element of a head of 4, got 4}}
  %0 = dnn.rope %x, %b heads 2 from 4 <half, dim = 2, base = 10000.0> table %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 9x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_c4(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x4xf32>) {
  // expected-error@below {{dnn_rope_c4: columns of the table: expected 2, got 4}}
  %0 = dnn.rope %x, %b heads 2 <half, dim = 2, base = 10000.0> table %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 9x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_c5(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x2xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_rope_c5: width of the destination: expected 8, got 6}}
  %0 = dnn.rope %x, %b heads 2 <half, dim = 2, base = 10000.0> table %t outs(%o) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 9x2xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_layer_norm_c1: groups: expected a divisor of the width 8, got 3}}
  %0 = dnn.layer_norm %x, %w eps 1e-05 groups 3 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 6x1xf32>) {
  // expected-error@below {{dnn_layer_norm_c2: weight elements: expected 8, got 6}}
  %0 = dnn.layer_norm %x, %w eps 1e-05 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 6x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_layer_norm_c3: eps: expected a number from 0 to 1, got 1.0}}
  %0 = dnn.layer_norm %x, %w eps 1.0 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c4(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>, %v: !dnn.packed<vector, 4x1xf32>) {
  // expected-error@below {{dnn_layer_norm_c4: bias elements: expected 8, got 4}}
  %0 = dnn.layer_norm %x, %w, %v eps 1e-05 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c5(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_layer_norm_c5: width of the destination: expected 8, got 6}}
  %0 = dnn.layer_norm %x, %w eps 1e-05 outs(%o) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @rms_norm_c1(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_rms_norm_c1: groups: expected a divisor of the width 8, got 0}}
  %0 = dnn.rms_norm %x, %w eps 1e-05 groups 0 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 2x1xf32>) {
  // expected-error@below {{dnn_rms_norm_c2: weight elements: expected 4, got 2}}
  %0 = dnn.rms_norm %x, %w eps 1e-05 groups 2 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_rms_norm_c3: eps: expected a number from 0 to 1, got -5.0}}
  %0 = dnn.rms_norm %x, %w eps -0.5 outs(%x) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_c4(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_rms_norm_c4: width of the destination: expected 8, got 6}}
  %0 = dnn.rms_norm %x, %w eps 1e-05 outs(%o) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @rms_norm_c5(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_rms_norm_c5: offset: expected a finite number, got }}
  %0 = dnn.rms_norm %x, %w eps 1e-05 offset 0x7FF0000000000000 outs(%o) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @add_norm_c1(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 4x1xf32>) {
  // expected-error@below {{dnn_add_norm_c1: weight elements: expected 8, got 4}}
  %0:2 = dnn.add_norm rms %x, %x weight %w eps 1e-05 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c2(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_add_norm_c2: bias: expected none for rms}}
  %0:2 = dnn.add_norm rms %x, %x weight %w bias %w eps 1e-05 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c3(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>, %v: !dnn.packed<vector, 4x1xf32>) {
  // expected-error@below {{dnn_add_norm_c3: bias elements: expected 8, got 4}}
  %0:2 = dnn.add_norm layer %x, %x weight %w bias %v eps 1e-05 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c4(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_add_norm_c4: eps: expected a number from 0 to 1, got 2.0}}
  %0:2 = dnn.add_norm layer %x, %x weight %w eps 2.0 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c5(%x: tensor<?x8xf32>, %y: tensor<?x6xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_add_norm_c5: width of rhs: expected 8, got 6}}
  %0:2 = dnn.add_norm layer %x, %y weight %w eps 1e-05 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x6xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c5_sum(%x: tensor<?x8xf32>, %y: tensor<?x6xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_add_norm_c5: width of the sum: expected 8, got 6}}
  %0:2 = dnn.add_norm layer %x, %x weight %w eps 1e-05 outs(%y, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x6xf32>, tensor<?x8xf32>) -> (tensor<?x6xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c6(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_add_norm_c6: offset: expected none for layer}}
  %0:2 = dnn.add_norm layer %x, %x weight %w eps 1e-05 offset 1.0 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @add_norm_c6_finite(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@below {{dnn_add_norm_c6: offset: expected a finite number, got }}
  %0:2 = dnn.add_norm rms %x, %x weight %w eps 1e-05 offset 0x7FF8000000000000 outs(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @residual_c1(%x: tensor<?x8xf32>, %y: tensor<?x6xf32>) {
  // expected-error@below {{dnn_residual_c1: width of rhs: expected 8, got 6}}
  %0 = dnn.residual %x, %y outs(%x) : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @activation_c1(%x: tensor<?x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_activation_c1: width of the destination: expected 8, got 6}}
  %0 = dnn.activation relu %x outs(%o) : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @scale_c1(%x: tensor<?x8xf32>) {
  // expected-error@below {{dnn_scale_c1: factor: expected a finite number}}
  %0 = dnn.scale %x by 0x7FF0000000000000 outs(%x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @scale_c2(%x: tensor<?x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_scale_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.scale %x by 0.5 outs(%o) : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @soft_cap_c1(%x: tensor<?x8xf32>) {
  // expected-error@below {{dnn_soft_cap_c1: bound: expected a positive number}}
  %0 = dnn.soft_cap %x at 0.0 outs(%x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @soft_cap_c2(%x: tensor<?x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_soft_cap_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.soft_cap %x at 30.0 outs(%o) : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @clamp_c1(%x: tensor<?x8xf32>) {
  // expected-error@below {{dnn_clamp_c1: bound: expected a positive number}}
  %0 = dnn.clamp %x at -1.0 outs(%x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @clamp_c2(%x: tensor<?x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_clamp_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.clamp %x at 8.0 outs(%o) : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @sigmoid_gate_c1(%x: tensor<?x8xf32>) {
  // expected-error@below {{dnn_sigmoid_gate_c1: width of gate: expected 1, got 8}}
  %0 = dnn.sigmoid_gate %x, %x outs(%x) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @sigmoid_gate_c2(%x: tensor<?x8xf32>, %g: tensor<?x1xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_sigmoid_gate_c2: width of the destination: expected 8, got 6}}
  %0 = dnn.sigmoid_gate %x, %g outs(%o) : (tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<?x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_slice_c1: columns: expected 6 of 8, got those from 3}}
  %0 = dnn.slice %x from 3 outs(%o) : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @cast_c1(%x: tensor<?x8xf32>, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_cast_c1: width of the destination: expected 8, got 6}}
  %0 = dnn.cast %x outs(%o) : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @select_output_rows_c1(%x: tensor<?x8xf32>, %b: !transformer.batch, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_select_output_rows_c1: width of the destination: expected 8, got 6}}
  %0 = dnn.select_output_rows %x, %b outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @pool_c1(%x: tensor<?x8xf32>, %b: !transformer.batch, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_pool_c1: width of the destination: expected 8, got 6}}
  %0 = dnn.pool mean %x, %b outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}
