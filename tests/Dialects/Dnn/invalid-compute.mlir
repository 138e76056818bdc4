// What holds of every computation, and what types say.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @compute_c1(%x: tensor<?x8xf32>, %o: memref<?x8xf32>) {
  // expected-error@below {{dnn_compute_c1: expected tensors or buffers, got both}}
  dnn.cast %x outs(%o) : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @compute_c2(%x: tensor<?x8xf32>, %b: !transformer.batch, %o: tensor<?x8xbf16>) {
  // expected-error@below {{dnn_compute_c2: destination 0: expected rows of f32, got 'bf16'}}
  %0 = dnn.pool mean %x, %b outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

// The norm reads the sum back.
func.func @compute_c2_sum(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x8xf32>, %n: tensor<?x8xbf16>) {
  // expected-error@below {{dnn_compute_c2: destination 0: expected rows of f32, got 'bf16'}}
  %0:2 = dnn.add_norm rms %x, %x weight %w eps 1e-06 outs(%n, %o) : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xbf16>, tensor<?x8xf32>) -> (tensor<?x8xbf16>, tensor<?x8xf32>)
  return
}

// -----

// A head of 16 columns is half a group.
func.func @compute_c3(%q: tensor<?x64xf32>, %b: !transformer.batch, %s: tensor<?x2048xf32>, %o: tensor<?x64x!dnn.grouped<8>>) {
  // expected-error@below {{dnn_compute_c3: destination 0: expected rows of f32 or bf16, got '!dnn.grouped<8>'}}
  %0 = dnn.attention causal %q, %b staged %s heads 4 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x64xf32>, !transformer.batch, tensor<?x2048xf32>, tensor<?x64x!dnn.grouped<8>>) -> tensor<?x64x!dnn.grouped<8>>
  return
}

// -----

// The library knows no groups.
func.func @compute_c3_library(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 32x8xbf16>, %o: tensor<?x32x!dnn.grouped<8>>) {
  // expected-error@below {{dnn_compute_c3: destination 0: expected rows of f32 or bf16, got '!dnn.grouped<8>'}}
  %0 = dnn.matmul %x weight %w primitive 0 outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 32x8xbf16>, tensor<?x32x!dnn.grouped<8>>) -> tensor<?x32x!dnn.grouped<8>>
  return
}

// -----

func.func @result_of_buffers(%x: memref<?x8xf32>) {
  // expected-error@below {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %0 = dnn.cast %x outs(%x) : (memref<?x8xf32>, memref<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @result_type(%x: tensor<?x8xf32>, %o: tensor<?x8xbf16>) {
  // expected-error@below {{expected type of operand #1 ('tensor<?x8xbf16>') to match type of corresponding result ('tensor<?x8xf32>')}}
  %0 = dnn.cast %x outs(%o) : (tensor<?x8xf32>, tensor<?x8xbf16>) -> tensor<?x8xf32>
  return
}

// -----

func.func @width(%x: tensor<?x?xf32>) {
  // expected-error@below {{operand #0 must be rows of f32 or bf16, [rows, static width], but got 'tensor<?x?xf32>'}}
  %0 = dnn.cast %x outs(%x) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @strides(%x: memref<?x8xf32, strided<[16, 1]>>) {
  // expected-error@below {{operand #0 must be rows of f32 or bf16, [rows, static width], but got 'memref<?x8xf32, strided<[16, 1]>>'}}
  dnn.cast %x outs(%x) : (memref<?x8xf32, strided<[16, 1]>>, memref<?x8xf32, strided<[16, 1]>>) -> ()
  return
}

// -----

func.func @layout_of_norms(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x1xf32>) {
  // expected-error@below {{operand #1 must be a packed vector, but got '!dnn.packed<panels, 8x1xf32>'}}
  %0 = dnn.rms_norm %x, %w eps 1e-06 outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layout_of_matmuls(%x: tensor<?x8xf32>, %w: !dnn.packed<row_major, 8x8xf32>) {
  // expected-error@below {{operand #1 must be the panels of one matrix, but got '!dnn.packed<row_major, 8x8xf32>'}}
  %0 = dnn.matmul %x weight %w outs(%x) : (tensor<?x8xf32>, !dnn.packed<row_major, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @matrices_of_matmuls(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 2x8x8xf32>) {
  // expected-error@below {{operand #1 must be the panels of one matrix, but got '!dnn.packed<panels, 2x8x8xf32>'}}
  %0 = dnn.matmul %x weight %w outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 2x8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @layout_of_lookups(%b: !transformer.batch, %t: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x1xf32>) {
  // expected-error@below {{operand #1 must be a row-major weight, or the panels of one matrix, but got '!dnn.packed<vector, 8x1xf32>'}}
  %0 = dnn.embedding token %b, %t outs(%o) : (!transformer.batch, !dnn.packed<vector, 8x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @format_of_tables(%x: tensor<?x8xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 128x4xbf16>) {
  // expected-error@below {{operand #2 must be a row-major table of f32, but got '!dnn.packed<row_major, 128x4xbf16>'}}
  %0 = dnn.rope %x, %b heads 2 <half, dim = 4, base = 10000.0> table %t outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 128x4xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
