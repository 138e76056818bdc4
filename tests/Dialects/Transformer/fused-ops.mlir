// Every operation that fusion forms, in every form, survives printing and parsing.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @products(
func.func @products(%arg0: tensor<?x72xf32>, %arg1: tensor<16x72xf32>, %arg2: tensor<8x72xbf16>, %arg3: tensor<16xf32>, %arg4: tensor<8xf32>, %arg5: tensor<?x16xf32>) {
  // CHECK-NEXT: %product = transformer.product %arg0 weights(%arg1) : (tensor<?x72xf32>, tensor<16x72xf32>) -> tensor<?x16xf32>
  %product = transformer.product %arg0 weights(%arg1) : (tensor<?x72xf32>, tensor<16x72xf32>) -> tensor<?x16xf32>
  // CHECK-NEXT: %product_0 = transformer.product %arg0 weights(%arg1, %arg2) biases(%arg3, %arg4) : (tensor<?x72xf32>, tensor<16x72xf32>, tensor<8x72xbf16>, tensor<16xf32>, tensor<8xf32>) -> tensor<?x24xf32>
  %product_0 = transformer.product %arg0 weights(%arg1, %arg2) biases(%arg3, %arg4) : (tensor<?x72xf32>, tensor<16x72xf32>, tensor<8x72xbf16>, tensor<16xf32>, tensor<8xf32>) -> tensor<?x24xf32>
  // CHECK-NEXT: %product_1 = transformer.product %arg0 weights(%arg1) activation silu multiplier %arg5 residual %arg5 : (tensor<?x72xf32>, tensor<16x72xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %product_1 = transformer.product %arg0 weights(%arg1) activation silu multiplier %arg5 residual %arg5 : (tensor<?x72xf32>, tensor<16x72xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// CHECK-LABEL: @gated_products(
func.func @gated_products(%arg0: tensor<?x72xf32>, %arg1: tensor<264x72xf32>, %arg2: tensor<264xf32>) {
  // CHECK-NEXT: %gated_product = transformer.gated_product silu %arg0 gate %arg1 up %arg1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>) -> tensor<?x264xf32>
  %gated_product = transformer.gated_product silu %arg0 gate %arg1 up %arg1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>) -> tensor<?x264xf32>
  // CHECK-NEXT: %gated_product_0 = transformer.gated_product gelu_tanh %arg0 gate %arg1 bias %arg2 up %arg1 bias %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<264xf32>, tensor<264xf32>) -> tensor<?x264xf32>
  %gated_product_0 = transformer.gated_product gelu_tanh %arg0 gate %arg1 bias %arg2 up %arg1 bias %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<264xf32>, tensor<264xf32>) -> tensor<?x264xf32>
  return
}

// CHECK-LABEL: @add_norms(
func.func @add_norms(%arg0: tensor<?x72xf32>, %arg1: tensor<?x72xf32>, %arg2: tensor<72xf32>) {
  // CHECK-NEXT: %sum, %normed = transformer.add_norm rms %arg0, %arg1 weight %arg2 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum, %normed = transformer.add_norm rms %arg0, %arg1 weight %arg2 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  // CHECK-NEXT: %sum_0, %normed_1 = transformer.add_norm layer %arg0, %arg1 weight %arg2 bias %arg2 eps 0.000000e+00 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum_0, %normed_1 = transformer.add_norm layer %arg0, %arg1 weight %arg2 bias %arg2 eps 0.000000e+00 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  return
}

// One merged tensor, or three.
// CHECK-LABEL: @split_appends(
func.func @split_appends(%arg0: tensor<?x288xf32>, %arg1: tensor<?x144xf32>, %arg2: tensor<?x72xf32>, %arg3: !transformer.cache<3x24xf32>, %arg4: !transformer.scope, %arg5: !transformer.batch, %arg6: tensor<24xf32>) {
  // CHECK-NEXT: %query, %cache = transformer.split_append %arg0 to %arg3[%arg4], %arg5 heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  %query, %cache = transformer.split_append %arg0 to %arg3[%arg4], %arg5 heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  // CHECK-NEXT: %query_0, %cache_1 = transformer.split_append %arg1, %arg2, %arg2 to %arg3[%arg4], %arg5 heads 6 kv_heads 3 query_norm %arg6 key_norm %arg6 rope <half, dim = 24, base = 1.0e+04> {eps = 9.765625E-4 : f64} : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  %query_0, %cache_1 = transformer.split_append %arg1, %arg2, %arg2 to %arg3[%arg4], %arg5 heads 6 kv_heads 3 query_norm %arg6 key_norm %arg6 rope <half, dim = 24, base = 1.0e+04> {eps = 9.765625E-4 : f64} : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  return
}

// CHECK-LABEL: @online_attentions(
func.func @online_attentions(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch, %arg2: tensor<?x10752xf32>, %arg3: !transformer.cache<3x24xf32>, %arg4: !transformer.scope) {
  // CHECK-NEXT: %attended = transformer.online_attention bidirectional %arg0, %arg1 staged %arg2 heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>) -> tensor<?x144xf32>
  %attended = transformer.online_attention bidirectional %arg0, %arg1 staged %arg2 heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_0 = transformer.online_attention causal %arg0, %arg1 cache %arg3[%arg4] heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_0 = transformer.online_attention causal %arg0, %arg1 cache %arg3[%arg4] heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  return
}

// CHECK-LABEL: @dispatches(
func.func @dispatches(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x72xf32> {
  // CHECK-NEXT: %0 = transformer.dispatch @f.few or @f.many by tokens(%arg0, %arg1) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  %0 = transformer.dispatch @f.few or @f.many by tokens(%arg0, %arg1) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %1 = transformer.dispatch @f.few or @f.many by wanted(%arg0, %arg1)
  %1 = transformer.dispatch @f.few or @f.many by wanted(%arg0, %arg1) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  return %1 : tensor<?x72xf32>
}
func.func private @f.few(!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
func.func private @f.many(!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
