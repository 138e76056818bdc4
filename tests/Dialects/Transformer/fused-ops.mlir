// Every operation that fusion forms, in every form, survives printing and parsing.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @matmuls(
func.func @matmuls(%x: tensor<?x72xf32>, %x_0: tensor<16x72xf32>, %x_1: tensor<8x72xbf16>, %x_2: tensor<16xf32>, %x_3: tensor<8xf32>, %x_4: tensor<?x16xf32>) {
  // CHECK-NEXT: %matmul = transformer.matmul %x weights(%x_0) : (tensor<?x72xf32>, tensor<16x72xf32>) -> tensor<?x16xf32>
  %matmul = transformer.matmul %x weights(%x_0) : (tensor<?x72xf32>, tensor<16x72xf32>) -> tensor<?x16xf32>
  // CHECK-NEXT: %matmul_5 = transformer.matmul %x weights(%x_1, %x_1) biases(%x_3, %x_3) : (tensor<?x72xf32>, tensor<8x72xbf16>, tensor<8x72xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x16xf32>
  %matmul_5 = transformer.matmul %x weights(%x_1, %x_1) biases(%x_3, %x_3) : (tensor<?x72xf32>, tensor<8x72xbf16>, tensor<8x72xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x16xf32>
  // CHECK-NEXT: %matmul_6 = transformer.matmul %x weights(%x_0) activation silu multiplier %x_4 residual %x_4 : (tensor<?x72xf32>, tensor<16x72xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %matmul_6 = transformer.matmul %x weights(%x_0) activation silu multiplier %x_4 residual %x_4 : (tensor<?x72xf32>, tensor<16x72xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// CHECK-LABEL: @gated_matmuls(
func.func @gated_matmuls(%x: tensor<?x72xf32>, %x_0: tensor<264x72xf32>, %x_1: tensor<264xf32>) {
  // CHECK-NEXT: %hidden = transformer.gated_matmul silu %x gate %x_0 up %x_0 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>) -> tensor<?x264xf32>
  %hidden = transformer.gated_matmul silu %x gate %x_0 up %x_0 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>) -> tensor<?x264xf32>
  // CHECK-NEXT: %hidden_2 = transformer.gated_matmul gelu_tanh %x gate %x_0 bias %x_1 up %x_0 bias %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<264xf32>, tensor<264xf32>) -> tensor<?x264xf32>
  %hidden_2 = transformer.gated_matmul gelu_tanh %x gate %x_0 bias %x_1 up %x_0 bias %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<264xf32>, tensor<264xf32>) -> tensor<?x264xf32>
  return
}

// CHECK-LABEL: @add_norms(
func.func @add_norms(%x: tensor<?x72xf32>, %x_0: tensor<?x72xf32>, %x_1: tensor<72xf32>) {
  // CHECK-NEXT: %sum, %normed = transformer.add_norm rms %x, %x_0 weight %x_1 eps 1e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum, %normed = transformer.add_norm rms %x, %x_0 weight %x_1 eps 1e-05 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  // CHECK-NEXT: %sum_2, %normed_3 = transformer.add_norm layer %x, %x_0 weight %x_1 bias %x_1 eps 0.0 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  %sum_2, %normed_3 = transformer.add_norm layer %x, %x_0 weight %x_1 bias %x_1 eps 0.0 : (tensor<?x72xf32>, tensor<?x72xf32>, tensor<72xf32>, tensor<72xf32>) -> (tensor<?x72xf32>, tensor<?x72xf32>)
  return
}

// One merged tensor, or three.
// CHECK-LABEL: @split_appends(
func.func @split_appends(%x: tensor<?x288xf32>, %x_0: tensor<?x144xf32>, %x_1: tensor<?x72xf32>, %cache: !transformer.cache<3x24xf32>, %scope: !transformer.scope, %batch: !transformer.batch, %x_2: tensor<24xf32>) {
  // CHECK-NEXT: %query, %cache_3 = transformer.split_append %x to %cache[%scope], %batch heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  %query, %cache_3 = transformer.split_append %x to %cache[%scope], %batch heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  // CHECK-NEXT: %query_4, %cache_5 = transformer.split_append %x_0, %x_1, %x_1 to %cache[%scope], %batch heads 6 kv_heads 3 query_norm %x_2 key_norm %x_2 eps 0.0009765625 rope <half, dim = 24, base = 10000.0> : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  %query_4, %cache_5 = transformer.split_append %x_0, %x_1, %x_1 to %cache[%scope], %batch heads 6 kv_heads 3 query_norm %x_2 key_norm %x_2 eps 0.0009765625 rope <half, dim = 24, base = 10000.0> : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, !transformer.cache<3x24xf32>)
  return
}

// CHECK-LABEL: @online_attentions(
func.func @online_attentions(%x: tensor<?x144xf32>, %batch: !transformer.batch, %x_0: tensor<?x10752xf32>, %cache: !transformer.cache<3x24xf32>, %scope: !transformer.scope) {
  // CHECK-NEXT: %attended = transformer.online_attention bidirectional %x, %batch staged %x_0 heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>) -> tensor<?x144xf32>
  %attended = transformer.online_attention bidirectional %x, %batch staged %x_0 heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, tensor<?x10752xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_1 = transformer.online_attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_1 = transformer.online_attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  return
}

// CHECK-LABEL: @dispatches(
func.func @dispatches(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x72xf32> {
  // CHECK-NEXT: %x = transformer.dispatch @f.few or @f.many by tokens(%scope, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  %x = transformer.dispatch @f.few or @f.many by tokens(%scope, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %x_0 = transformer.dispatch @f.few or @f.many by output_rows(%scope, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  %x_0 = transformer.dispatch @f.few or @f.many by output_rows(%scope, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
  return %x_0 : tensor<?x72xf32>
}
func.func private @f.few(!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
func.func private @f.many(!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
