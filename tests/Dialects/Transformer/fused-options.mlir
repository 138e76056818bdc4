// What fused operations take over from those of the model.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @add_norms(
func.func @add_norms(%x: tensor<?x72xf32>, %x_0: tensor<72xf32>) {
  // CHECK-NEXT: %sum, %normed = transformer.add_norm rms %x, %x weight %x_0 eps 1e-05 offset 1.0 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum, %normed = transformer.add_norm rms %x, %x weight %x_0 eps 1e-05 offset 1.0 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  // CHECK-NEXT: %sum_1, %normed_2 = transformer.add_norm layer %x, %x weight %x_0 eps 1e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum_1, %normed_2 = transformer.add_norm layer %x, %x weight %x_0 eps 1e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  return
}

// CHECK-LABEL: @splits(
func.func @splits(%x: tensor<?x288xf32>, %cache: !transformer.cache<3x24xf32>, %scope: !transformer.scope, %batch: !transformer.batch, %x_0: tensor<24xf32>) {
  // CHECK-NEXT: %query, %cache_1 = transformer.split_append %x to %cache[%scope], %batch heads 6 kv_heads 3 query_norm %x_0 key_norm %x_0 eps 0.0009765625 norm_offset 1.0 rope <half, dim = 24, base = 10000.0> : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  %query, %cache_1 = transformer.split_append %x to %cache[%scope], %batch heads 6 kv_heads 3 query_norm %x_0 key_norm %x_0 eps 0.0009765625 norm_offset 1.0 rope <half, dim = 24, base = 10000.0> : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  // CHECK-NEXT: %query_2, %staged = transformer.split_stage %x of %batch heads 6 kv_heads 3 query_norm %x_0 eps 0.0009765625 norm_offset 1.0 : (tensor<?x288xf32>, !transformer.batch, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  %query_2, %staged = transformer.split_stage %x of %batch heads 6 kv_heads 3 query_norm %x_0 eps 0.0009765625 norm_offset 1.0 : (tensor<?x288xf32>, !transformer.batch, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  return
}

// CHECK-LABEL: @online_attentions(
func.func @online_attentions(%x: tensor<?x144xf32>, %batch: !transformer.batch, %x_0: tensor<?x10752xf32>, %cache: !transformer.cache<3x24xf32>, %cache_1: !transformer.cache<cross 3x24xbf16>, %scope: !transformer.scope, %x_2: tensor<32x6xf32>, %x_3: tensor<6xf32>) {
  // CHECK-NEXT: %attended = transformer.online_attention bidirectional %x, %batch staged %x_0 heads 6 kv_heads 3 scale 0.25 window 16 bias %x_2 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  %attended = transformer.online_attention bidirectional %x, %batch staged %x_0 heads 6 kv_heads 3 scale 0.25 window 16 bias %x_2 buckets <32, max = 128, bidirectional> : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>, tensor<32x6xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_4 = transformer.online_attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 soft_cap 50.0 alibi <max = 8.0, rounded> sinks %x_3 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<6xf32>) -> tensor<?x144xf32>
  %attended_4 = transformer.online_attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 soft_cap 50.0 alibi <max = 8.0, rounded> sinks %x_3 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope, tensor<6xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_5 = transformer.online_attention prefix %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_5 = transformer.online_attention prefix %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_6 = transformer.online_attention bidirectional %x, %batch cache %cache_1[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<cross 3x24xbf16>, !transformer.scope) -> tensor<?x144xf32>
  %attended_6 = transformer.online_attention bidirectional %x, %batch cache %cache_1[%scope] heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<cross 3x24xbf16>, !transformer.scope) -> tensor<?x144xf32>
  return
}
