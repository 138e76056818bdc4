// Every computation on buffers survives printing and parsing.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// A tied head is looked up in its panels.
// CHECK-LABEL: @embeddings(
func.func @embeddings(%batch: !transformer.batch, %weight: !dnn.packed<row_major, 9x8xbf16>, %weight_0: !dnn.packed<panels, 9x8xbf16>, %x: memref<?x8xf32>, %x_1: memref<?x8xbf16>) {
  // CHECK-NEXT: dnn.embedding token %batch, %weight outs(%x) : (!transformer.batch, !dnn.packed<row_major, 9x8xbf16>, memref<?x8xf32>) -> ()
  dnn.embedding token %batch, %weight outs(%x) : (!transformer.batch, !dnn.packed<row_major, 9x8xbf16>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.embedding position %batch, %weight offset 2 outs(%x) : (!transformer.batch, !dnn.packed<row_major, 9x8xbf16>, memref<?x8xf32>) -> ()
  dnn.embedding position %batch, %weight offset 2 outs(%x) : (!transformer.batch, !dnn.packed<row_major, 9x8xbf16>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.embedding token_type %batch, %weight_0 outs(%x_1) : (!transformer.batch, !dnn.packed<panels, 9x8xbf16>, memref<?x8xbf16>) -> ()
  dnn.embedding token_type %batch, %weight_0 outs(%x_1) : (!transformer.batch, !dnn.packed<panels, 9x8xbf16>, memref<?x8xbf16>) -> ()
  return
}

// CHECK-LABEL: @images(
func.func @images(%batch: !transformer.batch, %x: memref<?x8xf32>, %weight: !dnn.packed<vector, 8x1xf32>, %x_0: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.input_features %batch outs(%x_0) : (!transformer.batch, memref<?x8xf32>) -> ()
  dnn.input_features %batch outs(%x_0) : (!transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.class_token %x, %batch, %weight outs(%x_0) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  dnn.class_token %x, %batch, %weight outs(%x_0) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.merge_features %x, %batch token 3 outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.merge_features %x, %batch token 3 outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @ropes(
func.func @ropes(%x: memref<?x8xf32>, %batch: !transformer.batch, %weight: !dnn.packed<row_major, 128x2xf32>, %x_0: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.rope %x, %batch heads 2 <half, dim = 2, base = 10000.0> table %weight outs(%x_0) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 128x2xf32>, memref<?x8xf32>) -> ()
  dnn.rope %x, %batch heads 2 <half, dim = 2, base = 10000.0> table %weight outs(%x_0) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 128x2xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.rope %x, %batch heads 2 from 2 <interleaved, dim = 2, base = 500000.0> table %weight outs(%x_0) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 128x2xf32>, memref<?x8xf32>) -> ()
  dnn.rope %x, %batch heads 2 from 2 <interleaved, dim = 2, base = 500000.0> table %weight outs(%x_0) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 128x2xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @norms(
func.func @norms(%x: memref<?x8xf32>, %x_0: memref<?x8xf32>, %weight: !dnn.packed<vector, 8x1xf32>, %weight_1: !dnn.packed<vector, 4x1xf32>, %x_2: memref<?x8xf32>, %x_3: memref<?x8xbf16>) {
  // CHECK-NEXT: dnn.layer_norm %x, %weight eps 1e-05 outs(%x_2) : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  dnn.layer_norm %x, %weight eps 1e-05 outs(%x_2) : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.layer_norm %x, %weight_1, %weight_1 eps 1e-12 groups 2 outs(%x_3) : (memref<?x8xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, memref<?x8xbf16>) -> ()
  dnn.layer_norm %x, %weight_1, %weight_1 eps 1e-12 groups 2 outs(%x_3) : (memref<?x8xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, memref<?x8xbf16>) -> ()
  // CHECK-NEXT: dnn.rms_norm %x, %weight eps 1e-06 outs(%x_3) : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xbf16>) -> ()
  dnn.rms_norm %x, %weight eps 1e-06 outs(%x_3) : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xbf16>) -> ()
  // CHECK-NEXT: dnn.rms_norm %x, %weight_1 eps 1e-06 groups 2 offset 1.0 outs(%x_2) : (memref<?x8xf32>, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>) -> ()
  dnn.rms_norm %x, %weight_1 eps 1e-06 groups 2 offset 1.0 outs(%x_2) : (memref<?x8xf32>, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.add_norm layer %x, %x_0 weight %weight bias %weight eps 1e-05 outs(%x_2, %x_3) : (memref<?x8xf32>, memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>, memref<?x8xbf16>) -> ()
  dnn.add_norm layer %x, %x_0 weight %weight bias %weight eps 1e-05 outs(%x_2, %x_3) : (memref<?x8xf32>, memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>, memref<?x8xbf16>) -> ()
  // CHECK-NEXT: dnn.add_norm rms %x, %x_0 weight %weight eps 1e-06 offset 1.0 outs(%x_2, %x_2) : (memref<?x8xf32>, memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.add_norm rms %x, %x_0 weight %weight eps 1e-06 offset 1.0 outs(%x_2, %x_2) : (memref<?x8xf32>, memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @elements(
func.func @elements(%x: memref<?x8xf32>, %x_0: memref<?x8xf32>, %x_1: memref<?x1xf32>, %x_2: memref<?x8xf32>, %x_3: memref<?x8xbf16>, %x_4: memref<?x3xf32>) {
  // CHECK-NEXT: dnn.residual %x, %x_0 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.residual %x, %x_0 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.activation relu %x outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.activation relu %x outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.scale %x by 0.125 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.scale %x by 0.125 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.soft_cap %x at 30.0 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.soft_cap %x at 30.0 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.clamp %x at 8.0 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.clamp %x at 8.0 outs(%x_2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.sigmoid_gate %x, %x_1 outs(%x_2) : (memref<?x8xf32>, memref<?x1xf32>, memref<?x8xf32>) -> ()
  dnn.sigmoid_gate %x, %x_1 outs(%x_2) : (memref<?x8xf32>, memref<?x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.slice %x from 5 outs(%x_4) : (memref<?x8xf32>, memref<?x3xf32>) -> ()
  dnn.slice %x from 5 outs(%x_4) : (memref<?x8xf32>, memref<?x3xf32>) -> ()
  // CHECK-NEXT: dnn.cast %x outs(%x_3) : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  dnn.cast %x outs(%x_3) : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  return
}

// CHECK-LABEL: @rows(
func.func @rows(%x: memref<?x8xf32>, %batch: !transformer.batch, %x_0: memref<?x8xf32>, %x_1: memref<?x8xbf16>) {
  // CHECK-NEXT: dnn.select_output_rows %x, %batch outs(%x_1) : (memref<?x8xf32>, !transformer.batch, memref<?x8xbf16>) -> ()
  dnn.select_output_rows %x, %batch outs(%x_1) : (memref<?x8xf32>, !transformer.batch, memref<?x8xbf16>) -> ()
  // CHECK-NEXT: dnn.pool mean %x, %batch outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.pool mean %x, %batch outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.pool cls %x, %batch normalize outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.pool cls %x, %batch normalize outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.pool last %x, %batch outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.pool last %x, %batch outs(%x_0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  return
}

// With a primitive the library does it.
// CHECK-LABEL: @matmuls(
func.func @matmuls(%x: memref<?x8xbf16>, %weight: !dnn.packed<panels, 6x8xbf16>, %weight_0: !dnn.packed<vector, 6x1xf32>, %x_1: memref<?x6xbf16>, %x_2: memref<?x6xf32>, %x_3: memref<?x6xf32>) {
  // CHECK-NEXT: dnn.matmul %x weight %weight outs(%x_3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  dnn.matmul %x weight %weight outs(%x_3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  // CHECK-NEXT: dnn.matmul %x weight %weight bias %weight_0 activation silu multiplier %x_1 residual %x_2 primitive 3 outs(%x_3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xbf16>, memref<?x6xf32>, memref<?x6xf32>) -> ()
  dnn.matmul %x weight %weight bias %weight_0 activation silu multiplier %x_1 residual %x_2 primitive 3 outs(%x_3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xbf16>, memref<?x6xf32>, memref<?x6xf32>) -> ()
  // CHECK-NEXT: dnn.gated_matmul silu %x gate %weight up %weight outs(%x_3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  dnn.gated_matmul silu %x gate %weight up %weight outs(%x_3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  // CHECK-NEXT: dnn.gated_matmul gelu %x gate %weight bias %weight_0 up %weight bias %weight_0 outs(%x_1) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x6xbf16>) -> ()
  dnn.gated_matmul gelu %x gate %weight bias %weight_0 up %weight bias %weight_0 outs(%x_1) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x6xbf16>) -> ()
  return
}

// CHECK-LABEL: @splits(
func.func @splits(%x: memref<?x16xf32>, %x_0: memref<?x8xf32>, %x_1: memref<?x4xf32>, %cache: !transformer.cache<1x4xbf16>, %scope: !transformer.scope, %batch: !transformer.batch, %weight: !dnn.packed<vector, 4x1xf32>, %weight_2: !dnn.packed<row_major, 128x4xf32>, %x_3: memref<?x8xf32>, %x_4: memref<?x1280xf32>) {
  // CHECK-NEXT: dnn.split_append %x to %cache[%scope], %batch heads 2 kv_heads 1 outs(%x_3) : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.split_append %x to %cache[%scope], %batch heads 2 kv_heads 1 outs(%x_3) : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.split_append %x_0, %x_1, %x_1 to %cache[%scope], %batch heads 2 kv_heads 1 query_norm %weight key_norm %weight eps 1e-06 norm_offset 1.0 rope <half, dim = 4, base = 10000.0> table %weight_2 outs(%x_3) : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<row_major, 128x4xf32>, memref<?x8xf32>) -> ()
  dnn.split_append %x_0, %x_1, %x_1 to %cache[%scope], %batch heads 2 kv_heads 1 query_norm %weight key_norm %weight eps 1e-06 norm_offset 1.0 rope <half, dim = 4, base = 10000.0> table %weight_2 outs(%x_3) : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<row_major, 128x4xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.split_stage %x of %batch heads 2 kv_heads 1 outs(%x_3, %x_4) : (memref<?x16xf32>, !transformer.batch, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  dnn.split_stage %x of %batch heads 2 kv_heads 1 outs(%x_3, %x_4) : (memref<?x16xf32>, !transformer.batch, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  // CHECK-NEXT: dnn.split_stage %x_0, %x_1, %x_1 of %batch heads 2 kv_heads 1 query_norm %weight key_norm %weight eps 1e-06 norm_offset 1.0 rope <half, dim = 4, base = 10000.0> table %weight_2 outs(%x_3, %x_4) : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<row_major, 128x4xf32>, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  dnn.split_stage %x_0, %x_1, %x_1 of %batch heads 2 kv_heads 1 query_norm %weight key_norm %weight eps 1e-06 norm_offset 1.0 rope <half, dim = 4, base = 10000.0> table %weight_2 outs(%x_3, %x_4) : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<row_major, 128x4xf32>, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  return
}

// CHECK-LABEL: @appends(
func.func @appends(%x: memref<?x4xf32>, %x_0: memref<?x2xf32>, %cache: !transformer.cache<1x4xbf16>, %cache_1: !transformer.cache<cross 1x4xbf16>, %cache_2: !transformer.cache<latent 1x6xbf16>, %scope: !transformer.scope, %batch: !transformer.batch) {
  // CHECK-NEXT: dnn.cache_append %cache[%scope], %batch keys %x values %x : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  dnn.cache_append %cache[%scope], %batch keys %x values %x : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  // CHECK-NEXT: dnn.cache_append %cache_1[%scope], %batch keys %x values %x : !transformer.cache<cross 1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  dnn.cache_append %cache_1[%scope], %batch keys %x values %x : !transformer.cache<cross 1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  // CHECK-NEXT: dnn.latent_append %cache_2[%scope], %batch latent %x rotated %x_0 : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x2xf32>
  dnn.latent_append %cache_2[%scope], %batch latent %x rotated %x_0 : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x2xf32>
  return
}

// CHECK-LABEL: @attentions(
func.func @attentions(%x: memref<?x8xf32>, %batch: !transformer.batch, %x_0: memref<?x1280xf32>, %cache: !transformer.cache<1x4xbf16>, %cache_1: !transformer.cache<cross 1x4xbf16>, %scope: !transformer.scope, %weight: !dnn.packed<row_major, 2x1xf32>, %weight_2: !dnn.packed<row_major, 2x257xf32>, %weight_3: !dnn.packed<vector, 2x1xf32>, %x_4: memref<?x8xf32>, %x_5: memref<?x8xbf16>) {
  // CHECK-NEXT: dnn.attention bidirectional %x, %batch staged %x_0 heads 2 kv_heads 1 scale 0.5 outs(%x_4) : (memref<?x8xf32>, !transformer.batch, memref<?x1280xf32>, memref<?x8xf32>) -> ()
  dnn.attention bidirectional %x, %batch staged %x_0 heads 2 kv_heads 1 scale 0.5 outs(%x_4) : (memref<?x8xf32>, !transformer.batch, memref<?x1280xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention bidirectional %x, %batch cache %cache_1[%scope] heads 2 kv_heads 1 scale 0.5 outs(%x_4) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<cross 1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  dnn.attention bidirectional %x, %batch cache %cache_1[%scope] heads 2 kv_heads 1 scale 0.5 outs(%x_4) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<cross 1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention prefix %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 outs(%x_5) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xbf16>) -> ()
  dnn.attention prefix %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 outs(%x_5) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xbf16>) -> ()
  // CHECK-NEXT: dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 window 16 soft_cap 50.0 bias %weight content #transformer.alibi<max = 8.0> sinks %weight_3 outs(%x_4) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 window 16 soft_cap 50.0 bias %weight content #transformer.alibi<max = 8.0> sinks %weight_3 outs(%x_4) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 bias %weight_2 content #transformer.buckets<32, max = 128> outs(%x_4) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x257xf32>, memref<?x8xf32>) -> ()
  dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 bias %weight_2 content #transformer.buckets<32, max = 128> outs(%x_4) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x257xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @partitions(
func.func @partitions(%x: memref<?x8xf32>, %batch: !transformer.batch, %cache: !transformer.cache<1x4xbf16>, %scope: !transformer.scope, %x_0: memref<?x8xf32>, %x_1: memref<?x36xf32>) {
  // CHECK-NEXT: dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 partition_pages 8 outs(%x_0, %x_1) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xf32>, memref<?x36xf32>) -> ()
  dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 partition_pages 8 outs(%x_0, %x_1) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xf32>, memref<?x36xf32>) -> ()
  return
}

// CHECK-LABEL: @latent_partitions(
func.func @latent_partitions(%x: memref<?x10xf32>, %batch: !transformer.batch, %cache: !transformer.cache<latent 1x6xbf16>, %scope: !transformer.scope, %weight: !dnn.packed<row_major, 16x4xbf16>, %x_0: memref<?x10xf32>, %x_1: memref<?x14xf32>, %x_2: memref<?x36xf32>) {
  // CHECK-NEXT: dnn.latent_attention %x, %batch cache %cache[%scope] expand %weight heads 2 key_dim 3 value_dim 5 scale 0.5 partition_pages 4 outs(%x_0, %x_1, %x_2) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>, memref<?x36xf32>) -> ()
  dnn.latent_attention %x, %batch cache %cache[%scope] expand %weight heads 2 key_dim 3 value_dim 5 scale 0.5 partition_pages 4 outs(%x_0, %x_1, %x_2) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>, memref<?x36xf32>) -> ()
  return
}

// CHECK-LABEL: @latent_attentions(
func.func @latent_attentions(%x: memref<?x10xf32>, %batch: !transformer.batch, %cache: !transformer.cache<latent 1x6xbf16>, %scope: !transformer.scope, %weight: !dnn.packed<row_major, 16x4xbf16>, %x_0: memref<?x10xf32>, %x_1: memref<?x14xf32>) {
  // CHECK-NEXT: dnn.latent_attention %x, %batch cache %cache[%scope] expand %weight heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%x_0, %x_1) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  dnn.latent_attention %x, %batch cache %cache[%scope] expand %weight heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%x_0, %x_1) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  return
}

// Two of six experts; rows of choices side by side.
// CHECK-LABEL: @experts(
func.func @experts(%x: memref<?x8xf32>, %x_0: memref<?x6xf32>, %weight: !dnn.packed<vector, 6x1xf32>, %x_1: memref<?x2xi32>, %x_2: memref<?x2xf32>, %x_3: memref<1x7xi32>, %weight_4: !dnn.packed<panels, 6x4x8xbf16>, %weight_5: !dnn.packed<panels, 6x8x4xbf16>, %weight_6: !dnn.packed<row_major, 6x4xf32>, %weight_7: !dnn.packed<row_major, 6x8xf32>, %x_8: memref<?x8xf32>, %x_9: memref<?x16xf32>, %x_10: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.moe_route %x_0 <softmax, top = 2> outs(%x_1, %x_2) : (memref<?x6xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  dnn.moe_route %x_0 <softmax, top = 2> outs(%x_1, %x_2) : (memref<?x6xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  // CHECK-NEXT: dnn.moe_route %x_0 correction %weight <sigmoid, top = 2, normalize, scale = 2.5, groups = 3 keep 2 pairs> outs(%x_1, %x_2) : (memref<?x6xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  dnn.moe_route %x_0 correction %weight <sigmoid, top = 2, normalize, scale = 2.5, groups = 3 keep 2 pairs> outs(%x_1, %x_2) : (memref<?x6xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  // CHECK-NEXT: dnn.moe_group %x_1 outs(%x_1, %x_3) : (memref<?x2xi32>, memref<?x2xi32>, memref<1x7xi32>) -> ()
  dnn.moe_group %x_1 outs(%x_1, %x_3) : (memref<?x2xi32>, memref<?x2xi32>, memref<1x7xi32>) -> ()
  // CHECK-NEXT: dnn.moe_gate_up silu %x by %x_1, %x_3 gate %weight_4 up %weight_4 outs(%x_8) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, memref<?x8xf32>) -> ()
  dnn.moe_gate_up silu %x by %x_1, %x_3 gate %weight_4 up %weight_4 outs(%x_8) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.moe_gate_up quick_gelu %x by %x_1, %x_3 gate %weight_4 bias %weight_6 up %weight_4 bias %weight_6 limit 7.0 up_offset 1.0 outs(%x_8) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<row_major, 6x4xf32>, !dnn.packed<row_major, 6x4xf32>, memref<?x8xf32>) -> ()
  dnn.moe_gate_up quick_gelu %x by %x_1, %x_3 gate %weight_4 bias %weight_6 up %weight_4 bias %weight_6 limit 7.0 up_offset 1.0 outs(%x_8) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<row_major, 6x4xf32>, !dnn.packed<row_major, 6x4xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.moe_down %x_8 by %x_1, %x_3 down %weight_5 bias %weight_7 outs(%x_9) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x8x4xbf16>, !dnn.packed<row_major, 6x8xf32>, memref<?x16xf32>) -> ()
  dnn.moe_down %x_8 by %x_1, %x_3 down %weight_5 bias %weight_7 outs(%x_9) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x8x4xbf16>, !dnn.packed<row_major, 6x8xf32>, memref<?x16xf32>) -> ()
  // CHECK-NEXT: dnn.moe_combine %x_9 by %x_2 outs(%x_10) : (memref<?x16xf32>, memref<?x2xf32>, memref<?x8xf32>) -> ()
  dnn.moe_combine %x_9 by %x_2 outs(%x_10) : (memref<?x16xf32>, memref<?x2xf32>, memref<?x8xf32>) -> ()
  return
}

// Rows of grouped integers, of 40 columns in two groups.
// CHECK-LABEL: @grouped(
func.func @grouped(%x: memref<?x40xf32>, %x_0: memref<?x40x!dnn.grouped<16>>, %weight: !dnn.packed<panels, 6x40xq4_0>, %x_1: memref<?x6xf32>, %sums: vector<16xi32>, %codes: vector<64xi8>, %words: vector<32xi16>) {
  // CHECK-NEXT: dnn.cast %x outs(%x_0) : (memref<?x40xf32>, memref<?x40x!dnn.grouped<16>>) -> ()
  dnn.cast %x outs(%x_0) : (memref<?x40xf32>, memref<?x40x!dnn.grouped<16>>) -> ()
  // CHECK-NEXT: dnn.activation relu %x outs(%x_0) : (memref<?x40xf32>, memref<?x40x!dnn.grouped<16>>) -> ()
  dnn.activation relu %x outs(%x_0) : (memref<?x40xf32>, memref<?x40x!dnn.grouped<16>>) -> ()
  // CHECK-NEXT: dnn.matmul %x_0 weight %weight outs(%x_1) : (memref<?x40x!dnn.grouped<16>>, !dnn.packed<panels, 6x40xq4_0>, memref<?x6xf32>) -> ()
  dnn.matmul %x_0 weight %weight outs(%x_1) : (memref<?x40x!dnn.grouped<16>>, !dnn.packed<panels, 6x40xq4_0>, memref<?x6xf32>) -> ()
  // CHECK-NEXT: dnn.row_bytes %x_0 : memref<?x40x!dnn.grouped<16>> -> memref<?x152xi8>
  %bytes = dnn.row_bytes %x_0 : memref<?x40x!dnn.grouped<16>> -> memref<?x152xi8>
  // CHECK-NEXT: dnn.dot %{{.*}}, %{{.*}} by %{{.*}} : vector<16xi32>, vector<64xi8>
  %dots = dnn.dot %sums, %codes by %codes : vector<16xi32>, vector<64xi8>
  // CHECK-NEXT: dnn.dot %{{.*}}, %{{.*}} by %{{.*}} : vector<16xi32>, vector<32xi16>
  %pairs = dnn.dot %sums, %words by %words : vector<16xi32>, vector<32xi16>
  // CHECK-NEXT: dnn.dot %{{.*}}, %{{.*}} by %{{.*}} : vector<32xi16>, vector<64xi8>
  %narrow = dnn.dot %words, %codes by %codes : vector<32xi16>, vector<64xi8>
  return
}
