// What verifiers refuse of buffers.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @buffer_c1(%b: !transformer.batch, %n: index) {
  // expected-error@below {{dnn_buffer_c1: offset: expected a multiple of 64, got 96}}
  %0 = dnn.buffer %b[%n] at 96 : memref<?x8xf32>
  return
}

// -----

func.func @buffer_c1_negative(%b: !transformer.batch, %n: index) {
  // expected-error@below {{dnn_buffer_c1: offset: expected a multiple of 64, got -64}}
  %0 = dnn.buffer %b[%n] at -64 : memref<?x8xf32>
  return
}

// -----

module attributes {dnn.arena_bytes = 1024 : i64} {
func.func @buffer_c2(%b: !transformer.batch, %n: index) {
  // expected-error@below {{dnn_buffer_c2: end: expected at most the 1024 bytes of the arena, got 1088}}
  %0 = dnn.buffer %b[%n] at 512 plan <576 bytes from 0 to 1> : memref<?x8xf32>
  return
}
}

// -----

func.func @scratch_c1(%b: !transformer.batch, %t: index) {
  // expected-error@below {{dnn_scratch_c1: offset: expected a multiple of 64, got 96}}
  %0 = dnn.scratch %b[%t] at 96 : memref<8xf32>
  return
}

// -----

module attributes {dnn.scratch_bytes = 1024 : i64} {
func.func @scratch_c2(%b: !transformer.batch, %t: index) {
  // expected-error@below {{dnn_scratch_c2: end: expected at most the 1024 bytes of a thread's scratch, got 1088}}
  %0 = dnn.scratch %b[%t] at 1024 : memref<4x8xbf16>
  return
}
}

// -----

func.func @scratch_type(%b: !transformer.batch, %t: index) {
  // expected-error@below {{statically shaped memref}}
  %0 = dnn.scratch %b[%t] at 0 : memref<?x8xf32>
  return
}

// -----

func.func @plan(%b: !transformer.batch, %n: index) {
  // expected-error@below {{expected bytes >= 0 and 0 <= first <= last, got 64, 3 and 1}}
  %0 = dnn.buffer %b[%n] at 0 plan <64 bytes from 3 to 1> : memref<?x8xf32>
  return
}

// -----

func.func @buffer_type(%b: !transformer.batch, %n: index) {
  // expected-error@below {{result #0 must be a buffer of rows of f32, bf16, i32 or grouped integers, but got 'memref<?x?xf32>'}}
  %0 = dnn.buffer %b[%n] at 0 : memref<?x?xf32>
  return
}

// -----

func.func @page_c1(%c: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_page_c1: cache: expected one of keys and values}}
  %0:2 = dnn.page %c[%s], %n : <latent 1x6xbf16> -> memref<1x4x6x16xbf16>, memref<1x64x16xbf16>
  return
}

// -----

func.func @page_c2(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_page_c2: keys: expected 'memref<1x4x2x32xbf16>', got 'memref<1x4x4x16xf32>'}}
  %0:2 = dnn.page %c[%s], %n : <1x4xbf16> -> memref<1x4x4x16xf32>, memref<1x32x32xbf16>
  return
}

// -----

func.func @page_c2_values(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_page_c2: values: expected 'memref<1x32x32xbf16>', got 'memref<1x64x4xbf16>'}}
  %0:2 = dnn.page %c[%s], %n : <1x4xbf16> -> memref<1x4x2x32xbf16>, memref<1x64x4xbf16>
  return
}

// -----

func.func @page_c3(%c: !transformer.cache<1x4xi8>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_page_c3: expected scales with integers, and with nothing else}}
  %0:2 = dnn.page %c[%s], %n : <1x4xi8> -> memref<1x4x1x64xi8>, memref<1x16x64xi8>
  return
}

// -----

func.func @page_c3_none(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_page_c3: expected scales with integers, and with nothing else}}
  %0:3 = dnn.page %c[%s], %n : <1x4xbf16> -> memref<1x4x2x32xbf16>, memref<1x32x32xbf16>, memref<2x1x64xf32>
  return
}

// -----

func.func @page_c3_shape(%c: !transformer.cache<1x4xi8>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_page_c3: scales: expected 'memref<2x1x64xf32>', got 'memref<1x64xf32>'}}
  %0:3 = dnn.page %c[%s], %n : <1x4xi8> -> memref<1x4x1x64xi8>, memref<1x16x64xi8>, memref<1x64xf32>
  return
}

// -----

func.func @latent_page_c1(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_latent_page_c1: cache: expected a latent one}}
  %0 = dnn.latent_page %c[%s], %n : <1x4xbf16> -> memref<64x16xbf16>
  return
}

// -----

func.func @latent_page_c2(%c: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %n: index) {
  // expected-error@below {{dnn_latent_page_c2: vectors: expected 'memref<64x16xbf16>', got 'memref<64x6xbf16>'}}
  %0 = dnn.latent_page %c[%s], %n : <latent 1x6xbf16> -> memref<64x6xbf16>
  return
}

// -----

func.func @staged_page_c1(%g: memref<?x1280xf32>, %n: index) {
  // expected-error@below {{dnn_staged_page_c1: values: expected 'memref<1x64x16xf32>', got 'memref<1x64x4xf32>'}}
  %0:2 = dnn.staged_page %g[%n] : memref<?x1280xf32> -> memref<1x4x4x16xf32>, memref<1x64x4xf32>
  return
}

// -----

func.func @staged_page_c1_dimensions(%g: memref<?x1280xf32>, %n: index) {
  // expected-error@below {{dnn_staged_page_c1: keys: expected four dimensions, got 3}}
  %0:2 = dnn.staged_page %g[%n] : memref<?x1280xf32> -> memref<4x4x16xf32>, memref<1x64x16xf32>
  return
}

// -----

func.func @staged_page_c2(%g: memref<?x640xf32>, %n: index) {
  // expected-error@below {{dnn_staged_page_c2: width of staged: expected 1280, got 640}}
  %0:2 = dnn.staged_page %g[%n] : memref<?x640xf32> -> memref<1x4x4x16xf32>, memref<1x64x16xf32>
  return
}

// -----

func.func @weight_view_c1(%w: !dnn.packed<panels, 6x8xbf16>) {
  // expected-error@below {{dnn_weight_view_c1: buffer: expected 'memref<1x16x128xbf16>', got 'memref<1x8x128xbf16>'}}
  %0 = dnn.weight_view %w : <panels, 6x8xbf16> -> memref<1x8x128xbf16>
  return
}

// -----

func.func @call_matmul_c1(%b: !transformer.batch, %x: memref<?x6xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: memref<?x6xf32>) {
  // expected-error@below {{dnn_call_matmul_c1: weight input features: expected 6, got 8}}
  dnn.call_matmul 0 of %b(%x) weight %w output %o : !transformer.batch, memref<?x6xf32>, !dnn.packed<panels, 6x8xf32>, memref<?x6xf32>
  return
}

// -----

func.func @call_matmul_c2(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %v: !dnn.packed<vector, 8x1xf32>, %o: memref<?x6xf32>) {
  // expected-error@below {{dnn_call_matmul_c2: weight bias elements: expected 6, got 8}}
  dnn.call_matmul 0 of %b(%x) weight %w bias %v output %o : !transformer.batch, memref<?x8xf32>, !dnn.packed<panels, 6x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x6xf32>
  return
}

// -----

func.func @call_matmul_c3(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: memref<?x8xf32>) {
  // expected-error@below {{dnn_call_matmul_c3: width of the destination: expected 6, got 8}}
  dnn.call_matmul 0 of %b(%x) weight %w output %o : !transformer.batch, memref<?x8xf32>, !dnn.packed<panels, 6x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @call_matmul_c3_residual(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: memref<?x6xf32>) {
  // expected-error@below {{dnn_call_matmul_c3: width of residual: expected 6, got 8}}
  dnn.call_matmul 0 of %b(%x) weight %w residual %x output %o : !transformer.batch, memref<?x8xf32>, !dnn.packed<panels, 6x8xf32>, memref<?x8xf32>, memref<?x6xf32>
  return
}

// -----

func.func @call_matmul_c4(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 6x8xf32>, %o: memref<?x6xf32>) {
  // expected-error@below {{dnn_call_matmul_c4: primitive: expected at least 0, got -1}}
  dnn.call_matmul -1 of %b(%x) weight %w output %o : !transformer.batch, memref<?x8xf32>, !dnn.packed<panels, 6x8xf32>, memref<?x6xf32>
  return
}

// -----

func.func @call_matmul_c5(%b: !transformer.batch, %x: memref<?x8xbf16>, %w: !dnn.packed<panels, 6x8xf32>, %o: memref<?x6xf32>) {
  // expected-error@below {{dnn_call_matmul_c5: a library matmul with a weight of f32: expected an input of that type, got bf16}}
  dnn.call_matmul 0 of %b(%x) weight %w output %o : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xf32>, memref<?x6xf32>
  return
}

// -----

func.func @lookup_c1(%c: vector<32xi16>, %t: vector<8xbf16>) {
  // expected-error@below {{dnn_lookup_c1: table: expected 16 elements, got 8}}
  %0 = dnn.lookup %c in %t : vector<32xi16>, vector<8xbf16> -> vector<32xbf16>
  return
}

// -----

func.func @lookup_c2(%c: vector<32xi8>, %t: vector<16xbf16>) {
  // expected-error@below {{dnn_lookup_c2: expected codes of 16 bits, as the table's elements are, got 8}}
  %0 = dnn.lookup %c in %t : vector<32xi8>, vector<16xbf16> -> vector<32xbf16>
  return
}

// -----

func.func @lookup_c3(%c: vector<32xi16>, %t: vector<16xbf16>) {
  // expected-error@below {{dnn_lookup_c3: result: expected an element of the table for each code, got 'vector<16xbf16>'}}
  %0 = dnn.lookup %c in %t : vector<32xi16>, vector<16xbf16> -> vector<16xbf16>
  return
}

// -----

func.func @row_bytes_c1(%x: memref<?x40x!dnn.grouped<8>>) {
  // expected-error@below {{dnn_row_bytes_c1: buffer: expected 'memref<?x88xi8>', got 'memref<?x80xi8>'}}
  %0 = dnn.row_bytes %x : memref<?x40x!dnn.grouped<8>> -> memref<?x80xi8>
  return
}

// -----

func.func @dot_c1(%s: vector<16xi32>, %c: vector<32xi8>) {
  // expected-error@below {{dnn_dot_c1: codes: expected 64, got 32}}
  %0 = dnn.dot %s, %c by %c : vector<16xi32>, vector<32xi8>
  return
}

// -----

func.func @dot_c2(%s: vector<16xi16>) {
  // expected-error@below {{dnn_dot_c2: codes: expected fewer bits than the sums have, got 'i16'}}
  %0 = dnn.dot %s, %s by %s : vector<16xi16>, vector<16xi16>
  return
}
