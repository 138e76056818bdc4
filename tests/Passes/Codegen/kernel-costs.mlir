// What kernels say that they move and compute: bytes of weights read whole, of
// each row, of each key, and FLOPs of each row and of each pair of row and key.
// RUN: %tenon-opt %s --generate-kernels | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = memref<?x8xf32>

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {

// Of a table a row is read for each row: 16 bytes, or a whole block of 34.
// CHECK-LABEL: @embedding
// CHECK: cost <row_bytes = 48, numbers = f32>
// CHECK: cost <row_bytes = 66, numbers = f32>
func.func private @embedding(%b: !batch, %t: !dnn.packed<row_major, 9x8xbf16>, %q: !dnn.packed<panels, 9x8xq8_0>, %o: !rows) {
  dnn.embedding token %b, %t outs(%o) : (!batch, !dnn.packed<row_major, 9x8xbf16>, !rows) -> ()
  dnn.embedding token %b, %q outs(%o) : (!batch, !dnn.packed<panels, 9x8xq8_0>, !rows) -> ()
  return
}

// Rows that are read go with the rows that are written; of the result of pooling
// there is one per sequence only.
// CHECK-LABEL: @rows
// CHECK: %[[OUT:.*]] = memref.dim %x_0, %
// CHECK-NEXT: dnn.kernel "select_output_rows {{.*}} rows %[[OUT]] {{.*}} cost <row_bytes = 64, numbers = f32>
// CHECK: %[[IN:.*]] = memref.dim %x, %
// CHECK-NEXT: dnn.kernel "pool {{.*}} rows %[[IN]] {{.*}} cost <row_bytes = 32, numbers = f32>
func.func private @rows(%b: !batch, %x: !rows, %o: !rows) {
  dnn.select_output_rows %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  dnn.pool mean %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  return
}

// Angles of a position: 4 floats. Keys and values of a token: 2 x 4 and, padded,
// 2 x 16 numbers of 2 bytes.
// CHECK-LABEL: @split
// CHECK: "split_append {{.*}} cost <row_bytes = 224, numbers = f32>
// CHECK: "rope {{.*}} cost <row_bytes = 80, numbers = f32>
// CHECK: "cache_append {{.*}} cost <row_bytes = 144, numbers = f32>
func.func private @split(%s: !scope, %b: !batch, %c: !transformer.cache<2x4xbf16>, %x: memref<?x24xf32>, %t: !dnn.packed<row_major, 128x4xf32>, %k: !rows, %o: !rows) {
  dnn.split_append %x to %c[%s], %b heads 2 kv_heads 2 rope <half, dim = 4, base = 10000.0> table %t outs(%o) : (memref<?x24xf32>, !transformer.cache<2x4xbf16>, !scope, !batch, !dnn.packed<row_major, 128x4xf32>, !rows) -> ()
  dnn.rope %k, %b heads 2 <half, dim = 4, base = 10000.0> table %t outs(%o) : (!rows, !batch, !dnn.packed<row_major, 128x4xf32>, !rows) -> ()
  dnn.cache_append %c[%s], %b keys %k values %k : !transformer.cache<2x4xbf16>, !scope, !batch, !rows, !rows
  return
}

// 4 operations per element of a query and key. Staged keys and values are of f32.
// CHECK-LABEL: @attention
// CHECK: "attention causal {{.*}} cost <row_bytes = 64, key_bytes = 80, key_flops = 32, keys = causal, numbers = f32>
// CHECK: "attention causal {{.*}} cost <row_bytes = 64, key_bytes = 80, key_flops = 32, window = 7, keys = causal, numbers = f32>
// CHECK: "attention bidirectional {{.*}} cost <row_bytes = 64, key_bytes = 80, key_flops = 32, keys = source, numbers = f32>
// CHECK: "attention bidirectional {{.*}} cost <row_bytes = 64, key_bytes = 160, key_flops = 32, keys = sequence, numbers = f32>
func.func private @attention(%s: !scope, %b: !batch, %c: !transformer.cache<2x4xbf16>, %x: !transformer.cache<cross 2x4xbf16>, %t: memref<?x2560xf32>, %q: !rows, %o: !rows) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 2 scale 0.5 outs(%o) : (!rows, !batch, !transformer.cache<2x4xbf16>, !scope, !rows) -> ()
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 2 scale 0.5 window 7 outs(%o) : (!rows, !batch, !transformer.cache<2x4xbf16>, !scope, !rows) -> ()
  dnn.attention bidirectional %q, %b cache %x[%s] heads 2 kv_heads 2 scale 0.5 outs(%o) : (!rows, !batch, !transformer.cache<cross 2x4xbf16>, !scope, !rows) -> ()
  dnn.attention bidirectional %q, %b staged %t heads 2 kv_heads 2 scale 0.5 outs(%o) : (!rows, !batch, memref<?x2560xf32>, !rows) -> ()
  return
}

// One token multiplies cached integers with two digits of its bf16 queries; of
// many they are widened to pairs of bf16.
// CHECK-LABEL: @attention.few
// CHECK: "attention causal {{.*}} key_flops = 64, keys = causal, numbers = int8>
// CHECK-LABEL: @attention.many
// CHECK: "attention causal {{.*}} key_flops = 32, keys = causal, numbers = bf16>
func.func private @attention.few(%s: !scope, %b: !batch, %c: !transformer.cache<2x4xi8>, %q: memref<?x8xbf16>, %o: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 2 scale 0.5 outs(%o) : (memref<?x8xbf16>, !batch, !transformer.cache<2x4xi8>, !scope, !rows) -> ()
  return
}
func.func private @attention.many(%s: !scope, %b: !batch, %c: !transformer.cache<2x4xi8>, %q: memref<?x8xbf16>, %o: !rows) attributes {transformer.variant = #transformer.variant<many>} {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 2 scale 0.5 outs(%o) : (memref<?x8xbf16>, !batch, !transformer.cache<2x4xi8>, !scope, !rows) -> ()
  return
}

// Two heads, vectors of 4 + 2 and 5 + 2 elements: with many queries
// 2 * 2 * (3 + 2 + 5) per key, with few 2 * 2 * (2 * 5 + 2). Each row meets
// the 16 x 4 numbers, too.
// CHECK-LABEL: @latent.many
// CHECK: "latent_attention {{.*}} cost <weight_bytes = 128, row_bytes = 136, row_flops = 128, key_bytes = 32, key_flops = 40, keys = causal, numbers = f32>
// CHECK-LABEL: @latent.few
// CHECK: "latent_attention {{.*}} key_flops = 48,
func.func private @latent.many(%s: !scope, %b: !batch, %c: !transformer.cache<latent 1x6xbf16>, %q: memref<?x10xf32>, %e: !dnn.packed<row_major, 16x4xbf16>, %o: memref<?x10xf32>, %t: memref<?x14xf32>) attributes {transformer.variant = #transformer.variant<many>} {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %t) : (memref<?x10xf32>, !batch, !transformer.cache<latent 1x6xbf16>, !scope, !dnn.packed<row_major, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  return
}
func.func private @latent.few(%s: !scope, %b: !batch, %c: !transformer.cache<latent 1x7xbf16>, %q: memref<?x10xf32>, %e: !dnn.packed<row_major, 16x5xbf16>, %o: memref<?x10xf32>, %t: memref<?x14xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %t) : (memref<?x10xf32>, !batch, !transformer.cache<latent 1x7xbf16>, !scope, !dnn.packed<row_major, 16x5xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  return
}

// Numbers are those of the input: f32 although the weights are bf16, integers in
// records of 32. Numbers of 16 bits are two of 8.
// CHECK-LABEL: @matmuls
// CHECK: "matmul {{.*}} cost <weight_bytes = 4096, row_bytes = 56, row_flops = 96, numbers = f32>
// CHECK: "matmul {{.*}} cost <weight_bytes = 2176, row_bytes = 68, row_flops = 96, numbers = int8>
// CHECK: "matmul {{.*}} row_flops = 192, numbers = int8>
// CHECK: "gated_matmul {{.*}} cost <weight_bytes = 8192, row_bytes = 40, row_flops = 192, numbers = bf16>
func.func private @matmuls(%b: !batch, %x: !rows, %g: memref<?x8x!dnn.grouped<8>>, %d: memref<?x8x!dnn.grouped<16>>, %h: memref<?x8xbf16>, %w: !dnn.packed<panels, 6x8xbf16>, %q: !dnn.packed<panels, 6x8xq8_0>, %o: memref<?x6xf32>) {
  dnn.matmul %x weight %w outs(%o) : (!rows, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  dnn.matmul %g weight %q outs(%o) : (memref<?x8x!dnn.grouped<8>>, !dnn.packed<panels, 6x8xq8_0>, memref<?x6xf32>) -> ()
  dnn.matmul %d weight %q outs(%o) : (memref<?x8x!dnn.grouped<16>>, !dnn.packed<panels, 6x8xq8_0>, memref<?x6xf32>) -> ()
  dnn.gated_matmul silu %h gate %w up %w outs(%o) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  return
}

// A token goes through 2 of 3 experts.
// CHECK-LABEL: @experts
// CHECK: "moe_gate_up {{.*}} cost <weight_bytes = 24576, row_bytes = {{[0-9]+}}, row_flops = 384, used_parts = 2, parts = 3, numbers = f32> because "which rows an expert takes is data"
// CHECK: "moe_down {{.*}} cost <weight_bytes = 12288, row_bytes = {{[0-9]+}}, row_flops = 192, used_parts = 2, parts = 3, numbers = f32> because
func.func private @experts(%b: !batch, %x: !rows, %i: memref<?x2xi32>, %f: memref<?x4xi32>, %u: !dnn.packed<panels, 3x6x8xf32>, %d: !dnn.packed<panels, 3x8x6xf32>, %h: memref<?x12xf32>, %o: memref<?x16xf32>) {
  dnn.moe_gate_up silu %x by %i, %f gate %u up %u outs(%h) : (!rows, memref<?x2xi32>, memref<?x4xi32>, !dnn.packed<panels, 3x6x8xf32>, !dnn.packed<panels, 3x6x8xf32>, memref<?x12xf32>) -> ()
  dnn.moe_down %h by %i, %f down %d outs(%o) : (memref<?x12xf32>, memref<?x2xi32>, memref<?x4xi32>, !dnn.packed<panels, 3x8x6xf32>, memref<?x16xf32>) -> ()
  return
}
}
