// Everything that changes what attention sees and scores.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// A window of this step's keys on both sides.
// CHECK-LABEL: @this_step(
func.func @this_step(%x: tensor<?x144xf32>, %batch: !transformer.batch, %x_0: tensor<?x72xf32>, %x_1: tensor<32x6xf32>, %x_2: tensor<6xf32>) {
  // CHECK-NEXT: %attended = transformer.attention bidirectional %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended = transformer.attention bidirectional %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_3 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 soft_cap 50.0 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended_3 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 soft_cap 50.0 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_4 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 alibi <max = 8.0> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended_4 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 alibi <max = 8.0> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_5 = transformer.attention bidirectional %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 1.0 bias %x_1 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  %attended_5 = transformer.attention bidirectional %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 1.0 bias %x_1 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_6 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 sinks %x_2 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  %attended_6 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 sinks %x_2 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  return
}

// CHECK-LABEL: @cached(
func.func @cached(%x: tensor<?x144xf32>, %batch: !transformer.batch, %cache: !transformer.cache<3x24xf32>, %scope: !transformer.scope, %x_0: tensor<32x6xf32>, %x_1: tensor<6xf32>) {
  // CHECK-NEXT: %attended = transformer.attention prefix %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended = transformer.attention prefix %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_2 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 soft_cap 50.0 alibi <max = 8.0, rounded> : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_2 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 soft_cap 50.0 alibi <max = 8.0, rounded> : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_3 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 soft_cap 50.0 bias %x_0 buckets <32, max = 128> sinks %x_1 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<32x6xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  %attended_3 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 soft_cap 50.0 bias %x_0 buckets <32, max = 128> sinks %x_1 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<32x6xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  return
}

// The source text of an encoder-decoder.
// CHECK-LABEL: @memories(
func.func @memories(%x: tensor<?x144xf32>, %batch: !transformer.batch, %cache: !transformer.cache<cross 3x24xf32>, %scope: !transformer.scope, %x_0: tensor<?x72xf32>) {
  // CHECK-NEXT: %cache_1 = transformer.cache_append %cache[%scope], %batch keys %x_0 values %x_0 : (!transformer.cache<cross 3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<cross 3x24xf32>
  %cache_1 = transformer.cache_append %cache[%scope], %batch keys %x_0 values %x_0 : (!transformer.cache<cross 3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<cross 3x24xf32>
  // CHECK-NEXT: %attended = transformer.attention bidirectional %x, %batch cache %cache_1[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<cross 3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended = transformer.attention bidirectional %x, %batch cache %cache_1[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<cross 3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  return
}
