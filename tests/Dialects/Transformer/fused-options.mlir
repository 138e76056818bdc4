// What fused operations take over from those of the model.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @add_norms(
func.func @add_norms(%arg0: tensor<?x72xf32>, %arg1: tensor<72xf32>) {
  // CHECK-NEXT: %sum, %normed = transformer.add_norm rms %arg0, %arg0 weight %arg1 eps 1.000000e-05 offset 1.000000e+00 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum, %normed = transformer.add_norm rms %arg0, %arg0 weight %arg1 eps 1.000000e-05 offset 1.000000e+00 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  // CHECK-NEXT: %sum_0, %normed_1 = transformer.add_norm layer %arg0, %arg0 weight %arg1 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum_0, %normed_1 = transformer.add_norm layer %arg0, %arg0 weight %arg1 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  return
}

// CHECK-LABEL: @splits(
func.func @splits(%arg0: tensor<?x288xf32>, %arg1: !transformer.cache<3x24xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch, %arg4: tensor<24xf32>) {
  // CHECK-NEXT: %query, %cache = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 6 kv_heads 3 query_norm %arg4 key_norm %arg4 norm_offset 1.000000e+00 rope <half, dim = 24, base = 1.0e+04> {eps = 9.765625E-4 : f64} : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  %query, %cache = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 6 kv_heads 3 query_norm %arg4 key_norm %arg4 norm_offset 1.000000e+00 rope <half, dim = 24, base = 1.0e+04> {eps = 9.765625E-4 : f64} : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  // CHECK-NEXT: %query_0, %staged = transformer.split_stage %arg0 of %arg3 heads 6 kv_heads 3 query_norm %arg4 norm_offset 1.000000e+00 {eps = 9.765625E-4 : f64} : (tensor<?x288xf32>, !transformer.batch, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  %query_0, %staged = transformer.split_stage %arg0 of %arg3 heads 6 kv_heads 3 query_norm %arg4 norm_offset 1.000000e+00 {eps = 9.765625E-4 : f64} : (tensor<?x288xf32>, !transformer.batch, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  return
}

// CHECK-LABEL: @online_attentions(
func.func @online_attentions(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch, %arg2: tensor<?x10752xf32>, %arg3: !transformer.cache<3x24xf32>, %arg4: !transformer.cache<memory 3x24xbf16>, %arg5: !transformer.scope, %arg6: tensor<32x6xf32>, %arg7: tensor<6xf32>) {
  // CHECK-NEXT: %attended = transformer.online_attention bidirectional %arg0, %arg1 staged %arg2 heads 6 kv_heads 3 scale 2.500000e-01 window 16 bias %arg6 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  %attended = transformer.online_attention bidirectional %arg0, %arg1 staged %arg2 heads 6 kv_heads 3 scale 2.500000e-01 window 16 bias %arg6 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_0 = transformer.online_attention causal %arg0, %arg1 cache %arg3[%arg5] heads 6 kv_heads 3 scale 2.500000e-01 window 16 soft_cap 5.000000e+01 alibi <max = 8.0, rounded> sinks %arg7 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<6xf32>) -> tensor<?x144xf32>
  %attended_0 = transformer.online_attention causal %arg0, %arg1 cache %arg3[%arg5] heads 6 kv_heads 3 scale 2.500000e-01 window 16 soft_cap 5.000000e+01 alibi <max = 8.0, rounded> sinks %arg7 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<6xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_1 = transformer.online_attention prefix %arg0, %arg1 cache %arg3[%arg5] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_1 = transformer.online_attention prefix %arg0, %arg1 cache %arg3[%arg5] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_2 = transformer.online_attention bidirectional %arg0, %arg1 cache %arg4[%arg5] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<memory 3x24xbf16>, !transformer.scope) -> tensor<?x144xf32>
  %attended_2 = transformer.online_attention bidirectional %arg0, %arg1 cache %arg4[%arg5] heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<memory 3x24xbf16>, !transformer.scope) -> tensor<?x144xf32>
  return
}
