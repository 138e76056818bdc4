// Everything that changes what attention sees and scores.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// A window of this step's keys on both sides.
// CHECK-LABEL: @this_step(
func.func @this_step(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch, %arg2: tensor<?x72xf32>, %arg3: tensor<32x6xf32>, %arg4: tensor<6xf32>) {
  // CHECK-NEXT: %attended = transformer.attention bidirectional %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended = transformer.attention bidirectional %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 soft_cap 5.000000e+01 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended_0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 soft_cap 5.000000e+01 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_1 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 alibi <max = 8.0> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended_1 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 alibi <max = 8.0> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_2 = transformer.attention bidirectional %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 1.000000e+00 bias %arg3 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  %attended_2 = transformer.attention bidirectional %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 1.000000e+00 bias %arg3 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_3 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 sinks %arg4 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  %attended_3 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 sinks %arg4 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  return
}

// CHECK-LABEL: @cached(
func.func @cached(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<3x24xf32>, %arg3: !transformer.scope, %arg4: tensor<32x6xf32>, %arg5: tensor<6xf32>) {
  // CHECK-NEXT: %attended = transformer.attention prefix %arg0, %arg1 cache %arg2[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended = transformer.attention prefix %arg0, %arg1 cache %arg2[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_0 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 window 16 soft_cap 5.000000e+01 alibi <max = 8.0, rounded> : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_0 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 window 16 soft_cap 5.000000e+01 alibi <max = 8.0, rounded> : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_1 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 soft_cap 5.000000e+01 bias %arg4 buckets <32, max = 128> sinks %arg5 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<32x6xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  %attended_1 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 soft_cap 5.000000e+01 bias %arg4 buckets <32, max = 128> sinks %arg5 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<32x6xf32>, tensor<6xf32>) -> tensor<?x144xf32>
  return
}

// The source text of an encoder-decoder.
// CHECK-LABEL: @memories(
func.func @memories(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<memory 3x24xf32>, %arg3: !transformer.scope, %arg4: tensor<?x72xf32>) {
  // CHECK-NEXT: %cache = transformer.cache_append %arg2[%arg3], %arg1 keys %arg4 values %arg4 : (!transformer.cache<memory 3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<memory 3x24xf32>
  %cache = transformer.cache_append %arg2[%arg3], %arg1 keys %arg4 values %arg4 : (!transformer.cache<memory 3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<memory 3x24xf32>
  // CHECK-NEXT: %attended = transformer.attention bidirectional %arg0, %arg1 cache %cache[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<memory 3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended = transformer.attention bidirectional %arg0, %arg1 cache %cache[%arg3] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<memory 3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  return
}
