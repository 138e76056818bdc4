// What came with encoders, decoders, mixtures and images, on tensors and on
// buffers, survives printing and parsing.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @tables(
func.func @tables(%arg0: !transformer.scope) {
  // CHECK-NEXT: %0 = dnn.table #transformer.rope<half, dim = 4, base = 1.0e+04> in %arg0 slot 1 : <rows, 128x4xf32>
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 1.0e+04> in %arg0 slot 1 : <rows, 128x4xf32>
  // CHECK-NEXT: %1 = dnn.table #transformer.sinusoid<interleaved> in %arg0 : <rows, 128x8xf32>
  %1 = dnn.table #transformer.sinusoid<interleaved> in %arg0 : <rows, 128x8xf32>
  // CHECK-NEXT: %2 = dnn.table #transformer.buckets<32, max = 128> in %arg0 of "relative_attention_bias.weight" slot 3 : <rows, 2x257xf32>
  %2 = dnn.table #transformer.buckets<32, max = 128> in %arg0 of "relative_attention_bias.weight" slot 3 : <rows, 2x257xf32>
  // CHECK-NEXT: %3 = dnn.table #transformer.alibi<max = 8.0> in %arg0 : <rows, 2x1xf32>
  %3 = dnn.table #transformer.alibi<max = 8.0> in %arg0 : <rows, 2x1xf32>
  return
}

// The matrices of six experts.
// CHECK-LABEL: @stacks(
func.func @stacks(%arg0: !transformer.scope) {
  // CHECK-NEXT: %0 = dnn.weight %arg0 ["experts.*.up.weight"] of "ffn" slot 4 : <panels, 6x4x8xbf16>
  %0 = dnn.weight %arg0 ["experts.*.up.weight"] of "ffn" slot 4 : <panels, 6x4x8xbf16>
  return
}

// CHECK-LABEL: @embedding_offsets_on_tensors(
func.func @embedding_offsets_on_tensors(%arg0: !transformer.batch, %arg1: !dnn.packed<rows, 9x8xf32>, %arg2: tensor<?x8xf32>) {
  // CHECK-NEXT: %0 = dnn.embedding position %arg0, %arg1 offset 2 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.embedding position %arg0, %arg1 offset 2 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @norm_offsets_on_tensors(
func.func @norm_offsets_on_tensors(%arg0: tensor<?x8xf32>, %arg1: !dnn.packed<vector, 8x1xf32>, %arg2: tensor<?x8xf32>) {
  // CHECK-NEXT: %0 = dnn.norm rms %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 offset 1.000000e+00 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.norm rms %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 offset 1.000000e+00 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.norm layer %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 groups 2 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.norm layer %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 groups 2 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @splits_on_tensors(
func.func @splits_on_tensors(%arg0: tensor<?x16xf32>, %arg1: tensor<?x8xf32>, %arg2: tensor<?x1280xf32>, %arg3: !transformer.cache<1x4xbf16>, %arg4: !transformer.scope, %arg5: !transformer.batch, %arg6: !dnn.packed<vector, 4x1xf32>) {
  // CHECK-NEXT: %0 = dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 norm_offset 1.000000e+00 outs(%arg1) {eps = 9.765625E-4 : f64} : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 norm_offset 1.000000e+00 outs(%arg1) {eps = 9.765625E-4 : f64} : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1:2 = dnn.split_stage %arg0 of %arg5 heads 2 kv_heads 1 key_norm %arg6 norm_offset 1.000000e+00 outs(%arg1, %arg2) {eps = 9.765625E-4 : f64} : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  %1:2 = dnn.split_stage %arg0 of %arg5 heads 2 kv_heads 1 key_norm %arg6 norm_offset 1.000000e+00 outs(%arg1, %arg2) {eps = 9.765625E-4 : f64} : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// Keys and values, or the two parts of a latent vector.
// CHECK-LABEL: @appends_on_tensors(
func.func @appends_on_tensors(%arg0: tensor<?x4xf32>, %arg1: tensor<?x2xf32>, %arg2: !transformer.cache<1x4xbf16>, %arg3: !transformer.cache<memory 1x4xbf16>, %arg4: !transformer.cache<latent 1x6xbf16>, %arg5: !transformer.scope, %arg6: !transformer.batch) {
  // CHECK-NEXT: dnn.append %arg0, %arg0 to %arg2[%arg5], %arg6 : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>
  dnn.append %arg0, %arg0 to %arg2[%arg5], %arg6 : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK-NEXT: dnn.append %arg0, %arg0 to %arg3[%arg5], %arg6 : !transformer.cache<memory 1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>
  dnn.append %arg0, %arg0 to %arg3[%arg5], %arg6 : !transformer.cache<memory 1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK-NEXT: dnn.append %arg0, %arg1 to %arg4[%arg5], %arg6 : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>
  dnn.append %arg0, %arg1 to %arg4[%arg5], %arg6 : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>
  return
}

// CHECK-LABEL: @ropes_on_tensors(
func.func @ropes_on_tensors(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !dnn.packed<rows, 128x2xf32>, %arg3: tensor<?x8xf32>) {
  // CHECK-NEXT: %0 = dnn.rope %arg0, %arg1 heads 2 <half, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.rope %arg0, %arg1 heads 2 <half, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.rope %arg0, %arg1 heads 2 from 2 <interleaved, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.rope %arg0, %arg1 heads 2 from 2 <interleaved, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @attentions_on_tensors(
func.func @attentions_on_tensors(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xbf16>, %arg3: !transformer.cache<memory 1x4xbf16>, %arg4: !transformer.scope, %arg5: !dnn.packed<rows, 2x1xf32>, %arg6: !dnn.packed<vector, 2x1xf32>, %arg7: !dnn.packed<rows, 2x257xf32>, %arg8: tensor<?x8xf32>) {
  // CHECK-NEXT: %0 = dnn.attention prefix %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.attention prefix %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 soft_cap 5.000000e+01 bias %arg5 content #transformer.alibi<max = 8.0> sinks %arg6 outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x1xf32>, !dnn.packed<vector, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 soft_cap 5.000000e+01 bias %arg5 content #transformer.alibi<max = 8.0> sinks %arg6 outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x1xf32>, !dnn.packed<vector, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %2 = dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 bias %arg7 content #transformer.buckets<32, max = 128> outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x257xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 bias %arg7 content #transformer.buckets<32, max = 128> outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x257xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %3 = dnn.attention bidirectional %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<memory 1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = dnn.attention bidirectional %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<memory 1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @latent_attentions_on_tensors(
func.func @latent_attentions_on_tensors(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xbf16>, %arg3: !transformer.scope, %arg4: !dnn.packed<rows, 16x4xbf16>, %arg5: tensor<?x10xf32>, %arg6: tensor<?x14xf32>) {
  // CHECK-NEXT: %0:2 = dnn.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.000000e-01 outs(%arg5, %arg6) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<rows, 16x4xbf16>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  %0:2 = dnn.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.000000e-01 outs(%arg5, %arg6) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<rows, 16x4xbf16>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// CHECK-LABEL: @images_on_tensors(
func.func @images_on_tensors(%arg0: !transformer.batch, %arg1: !dnn.packed<vector, 8x1xf32>, %arg2: tensor<?x8xf32>) {
  // CHECK-NEXT: %0 = dnn.input_rows %arg0 outs(%arg2) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.input_rows %arg0 outs(%arg2) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.class_token %arg2, %arg0, %arg1 outs(%arg2) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.class_token %arg2, %arg0, %arg1 outs(%arg2) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @elements_on_tensors(
func.func @elements_on_tensors(%arg0: tensor<?x8xf32>, %arg1: tensor<?x1xf32>, %arg2: tensor<?x8xf32>, %arg3: tensor<?x3xf32>) {
  // CHECK-NEXT: %0 = dnn.elementwise relu %arg0 input_factor 1.000000e+00 factor 1.000000e+00 outs(%arg2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.elementwise relu %arg0 input_factor 1.000000e+00 factor 1.000000e+00 outs(%arg2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.elementwise tanh %arg0 input_factor 5.000000e-01 factor 2.000000e+00 bound 8.000000e+00 outs(%arg2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.elementwise tanh %arg0 input_factor 5.000000e-01 factor 2.000000e+00 bound 8.000000e+00 outs(%arg2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %2 = dnn.sigmoid_gate %arg0, %arg1 outs(%arg2) : (tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = dnn.sigmoid_gate %arg0, %arg1 outs(%arg2) : (tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %3 = dnn.columns %arg0 from 5 outs(%arg3) : (tensor<?x8xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %3 = dnn.columns %arg0 from 5 outs(%arg3) : (tensor<?x8xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// Two of six experts; rows of choices side by side.
// CHECK-LABEL: @experts_on_tensors(
func.func @experts_on_tensors(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: !dnn.packed<vector, 6x1xf32>, %arg3: tensor<?x2xi32>, %arg4: tensor<?x2xf32>, %arg5: tensor<1x7xi32>, %arg6: !dnn.packed<panels, 6x4x8xbf16>, %arg7: !dnn.packed<panels, 6x8x4xbf16>, %arg8: !dnn.packed<rows, 6x4xf32>, %arg9: !dnn.packed<rows, 6x8xf32>, %arg10: tensor<?x8xf32>, %arg11: tensor<?x16xf32>) {
  // CHECK-NEXT: %0:2 = dnn.route %arg1 <softmax, top = 2> outs(%arg3, %arg4) : (tensor<?x6xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  %0:2 = dnn.route %arg1 <softmax, top = 2> outs(%arg3, %arg4) : (tensor<?x6xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  // CHECK-NEXT: %1:2 = dnn.route %arg1 correction %arg2 <sigmoid, top = 2, normalize, scale = 2.5, groups = 3 keep 2 pairs> outs(%arg3, %arg4) : (tensor<?x6xf32>, !dnn.packed<vector, 6x1xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  %1:2 = dnn.route %arg1 correction %arg2 <sigmoid, top = 2, normalize, scale = 2.5, groups = 3 keep 2 pairs> outs(%arg3, %arg4) : (tensor<?x6xf32>, !dnn.packed<vector, 6x1xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  // CHECK-NEXT: %2:2 = dnn.group %arg3 outs(%arg3, %arg5) : (tensor<?x2xi32>, tensor<?x2xi32>, tensor<1x7xi32>) -> (tensor<?x2xi32>, tensor<1x7xi32>)
  %2:2 = dnn.group %arg3 outs(%arg3, %arg5) : (tensor<?x2xi32>, tensor<?x2xi32>, tensor<1x7xi32>) -> (tensor<?x2xi32>, tensor<1x7xi32>)
  // CHECK-NEXT: %3 = dnn.expert_gated silu %arg0 by %arg3, %arg5 gate %arg6 up %arg6 outs(%arg10) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = dnn.expert_gated silu %arg0 by %arg3, %arg5 gate %arg6 up %arg6 outs(%arg10) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %4 = dnn.expert_gated quick_gelu %arg0 by %arg3, %arg5 gate %arg6 bias %arg8 up %arg6 bias %arg8 limit 7.000000e+00 up_offset 1.000000e+00 outs(%arg10) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<rows, 6x4xf32>, !dnn.packed<rows, 6x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %4 = dnn.expert_gated quick_gelu %arg0 by %arg3, %arg5 gate %arg6 bias %arg8 up %arg6 bias %arg8 limit 7.000000e+00 up_offset 1.000000e+00 outs(%arg10) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<rows, 6x4xf32>, !dnn.packed<rows, 6x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %5 = dnn.expert_down %arg10 by %arg3, %arg5 down %arg7 bias %arg9 outs(%arg11) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x4xbf16>, !dnn.packed<rows, 6x8xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %5 = dnn.expert_down %arg10 by %arg3, %arg5 down %arg7 bias %arg9 outs(%arg11) : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x8x4xbf16>, !dnn.packed<rows, 6x8xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  // CHECK-NEXT: %6 = dnn.combine %arg11 by %arg4 outs(%arg0) : (tensor<?x16xf32>, tensor<?x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %6 = dnn.combine %arg11 by %arg4 outs(%arg0) : (tensor<?x16xf32>, tensor<?x2xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @embedding_offsets_on_buffers(
func.func @embedding_offsets_on_buffers(%arg0: !transformer.batch, %arg1: !dnn.packed<rows, 9x8xf32>, %arg2: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.embedding position %arg0, %arg1 offset 2 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xf32>, memref<?x8xf32>) -> ()
  dnn.embedding position %arg0, %arg1 offset 2 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @norm_offsets_on_buffers(
func.func @norm_offsets_on_buffers(%arg0: memref<?x8xf32>, %arg1: !dnn.packed<vector, 8x1xf32>, %arg2: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.norm rms %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 offset 1.000000e+00 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  dnn.norm rms %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 offset 1.000000e+00 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.norm layer %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 groups 2 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  dnn.norm layer %arg0 weight %arg1 outs(%arg2) eps 1.000000e-05 groups 2 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @splits_on_buffers(
func.func @splits_on_buffers(%arg0: memref<?x16xf32>, %arg1: memref<?x8xf32>, %arg2: memref<?x1280xf32>, %arg3: !transformer.cache<1x4xbf16>, %arg4: !transformer.scope, %arg5: !transformer.batch, %arg6: !dnn.packed<vector, 4x1xf32>) {
  // CHECK-NEXT: dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 norm_offset 1.000000e+00 outs(%arg1) {eps = 9.765625E-4 : f64} : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>) -> ()
  dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 norm_offset 1.000000e+00 outs(%arg1) {eps = 9.765625E-4 : f64} : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.split_stage %arg0 of %arg5 heads 2 kv_heads 1 key_norm %arg6 norm_offset 1.000000e+00 outs(%arg1, %arg2) {eps = 9.765625E-4 : f64} : (memref<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  dnn.split_stage %arg0 of %arg5 heads 2 kv_heads 1 key_norm %arg6 norm_offset 1.000000e+00 outs(%arg1, %arg2) {eps = 9.765625E-4 : f64} : (memref<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  return
}

// CHECK-LABEL: @appends_on_buffers(
func.func @appends_on_buffers(%arg0: memref<?x4xf32>, %arg1: memref<?x2xf32>, %arg2: !transformer.cache<1x4xbf16>, %arg3: !transformer.cache<memory 1x4xbf16>, %arg4: !transformer.cache<latent 1x6xbf16>, %arg5: !transformer.scope, %arg6: !transformer.batch) {
  // CHECK-NEXT: dnn.append %arg0, %arg0 to %arg2[%arg5], %arg6 : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  dnn.append %arg0, %arg0 to %arg2[%arg5], %arg6 : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  // CHECK-NEXT: dnn.append %arg0, %arg0 to %arg3[%arg5], %arg6 : !transformer.cache<memory 1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  dnn.append %arg0, %arg0 to %arg3[%arg5], %arg6 : !transformer.cache<memory 1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  // CHECK-NEXT: dnn.append %arg0, %arg1 to %arg4[%arg5], %arg6 : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x2xf32>
  dnn.append %arg0, %arg1 to %arg4[%arg5], %arg6 : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x2xf32>
  return
}

// CHECK-LABEL: @ropes_on_buffers(
func.func @ropes_on_buffers(%arg0: memref<?x8xf32>, %arg1: !transformer.batch, %arg2: !dnn.packed<rows, 128x2xf32>, %arg3: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.rope %arg0, %arg1 heads 2 <half, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, memref<?x8xf32>) -> ()
  dnn.rope %arg0, %arg1 heads 2 <half, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.rope %arg0, %arg1 heads 2 from 2 <interleaved, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, memref<?x8xf32>) -> ()
  dnn.rope %arg0, %arg1 heads 2 from 2 <interleaved, dim = 2, base = 1.0e+04> table %arg2 outs(%arg3) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<rows, 128x2xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @attentions_on_buffers(
func.func @attentions_on_buffers(%arg0: memref<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xbf16>, %arg3: !transformer.cache<memory 1x4xbf16>, %arg4: !transformer.scope, %arg5: !dnn.packed<rows, 2x1xf32>, %arg6: !dnn.packed<vector, 2x1xf32>, %arg7: !dnn.packed<rows, 2x257xf32>, %arg8: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.attention prefix %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  dnn.attention prefix %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 soft_cap 5.000000e+01 bias %arg5 content #transformer.alibi<max = 8.0> sinks %arg6 outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x1xf32>, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 soft_cap 5.000000e+01 bias %arg5 content #transformer.alibi<max = 8.0> sinks %arg6 outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x1xf32>, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 bias %arg7 content #transformer.buckets<32, max = 128> outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x257xf32>, memref<?x8xf32>) -> ()
  dnn.attention causal %arg0, %arg1 cache %arg2[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 bias %arg7 content #transformer.buckets<32, max = 128> outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<rows, 2x257xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention bidirectional %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<memory 1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  dnn.attention bidirectional %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg8) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<memory 1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @latent_attentions_on_buffers(
func.func @latent_attentions_on_buffers(%arg0: memref<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xbf16>, %arg3: !transformer.scope, %arg4: !dnn.packed<rows, 16x4xbf16>, %arg5: memref<?x10xf32>, %arg6: memref<?x14xf32>) {
  // CHECK-NEXT: dnn.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.000000e-01 outs(%arg5, %arg6) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<rows, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  dnn.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.000000e-01 outs(%arg5, %arg6) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<rows, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  return
}

// CHECK-LABEL: @images_on_buffers(
func.func @images_on_buffers(%arg0: !transformer.batch, %arg1: !dnn.packed<vector, 8x1xf32>, %arg2: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.input_rows %arg0 outs(%arg2) : (!transformer.batch, memref<?x8xf32>) -> ()
  dnn.input_rows %arg0 outs(%arg2) : (!transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.class_token %arg2, %arg0, %arg1 outs(%arg2) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  dnn.class_token %arg2, %arg0, %arg1 outs(%arg2) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @elements_on_buffers(
func.func @elements_on_buffers(%arg0: memref<?x8xf32>, %arg1: memref<?x1xf32>, %arg2: memref<?x8xf32>, %arg3: memref<?x3xf32>) {
  // CHECK-NEXT: dnn.elementwise relu %arg0 input_factor 1.000000e+00 factor 1.000000e+00 outs(%arg2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.elementwise relu %arg0 input_factor 1.000000e+00 factor 1.000000e+00 outs(%arg2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.elementwise tanh %arg0 input_factor 5.000000e-01 factor 2.000000e+00 bound 8.000000e+00 outs(%arg2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.elementwise tanh %arg0 input_factor 5.000000e-01 factor 2.000000e+00 bound 8.000000e+00 outs(%arg2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.sigmoid_gate %arg0, %arg1 outs(%arg2) : (memref<?x8xf32>, memref<?x1xf32>, memref<?x8xf32>) -> ()
  dnn.sigmoid_gate %arg0, %arg1 outs(%arg2) : (memref<?x8xf32>, memref<?x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.columns %arg0 from 5 outs(%arg3) : (memref<?x8xf32>, memref<?x3xf32>) -> ()
  dnn.columns %arg0 from 5 outs(%arg3) : (memref<?x8xf32>, memref<?x3xf32>) -> ()
  return
}

// CHECK-LABEL: @experts_on_buffers(
func.func @experts_on_buffers(%arg0: memref<?x8xf32>, %arg1: memref<?x6xf32>, %arg2: !dnn.packed<vector, 6x1xf32>, %arg3: memref<?x2xi32>, %arg4: memref<?x2xf32>, %arg5: memref<1x7xi32>, %arg6: !dnn.packed<panels, 6x4x8xbf16>, %arg7: !dnn.packed<panels, 6x8x4xbf16>, %arg8: !dnn.packed<rows, 6x4xf32>, %arg9: !dnn.packed<rows, 6x8xf32>, %arg10: memref<?x8xf32>, %arg11: memref<?x16xf32>) {
  // CHECK-NEXT: dnn.route %arg1 <softmax, top = 2> outs(%arg3, %arg4) : (memref<?x6xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  dnn.route %arg1 <softmax, top = 2> outs(%arg3, %arg4) : (memref<?x6xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  // CHECK-NEXT: dnn.route %arg1 correction %arg2 <sigmoid, top = 2, normalize, scale = 2.5, groups = 3 keep 2 pairs> outs(%arg3, %arg4) : (memref<?x6xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  dnn.route %arg1 correction %arg2 <sigmoid, top = 2, normalize, scale = 2.5, groups = 3 keep 2 pairs> outs(%arg3, %arg4) : (memref<?x6xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  // CHECK-NEXT: dnn.group %arg3 outs(%arg3, %arg5) : (memref<?x2xi32>, memref<?x2xi32>, memref<1x7xi32>) -> ()
  dnn.group %arg3 outs(%arg3, %arg5) : (memref<?x2xi32>, memref<?x2xi32>, memref<1x7xi32>) -> ()
  // CHECK-NEXT: dnn.expert_gated silu %arg0 by %arg3, %arg5 gate %arg6 up %arg6 outs(%arg10) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, memref<?x8xf32>) -> ()
  dnn.expert_gated silu %arg0 by %arg3, %arg5 gate %arg6 up %arg6 outs(%arg10) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.expert_gated quick_gelu %arg0 by %arg3, %arg5 gate %arg6 bias %arg8 up %arg6 bias %arg8 limit 7.000000e+00 up_offset 1.000000e+00 outs(%arg10) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<rows, 6x4xf32>, !dnn.packed<rows, 6x4xf32>, memref<?x8xf32>) -> ()
  dnn.expert_gated quick_gelu %arg0 by %arg3, %arg5 gate %arg6 bias %arg8 up %arg6 bias %arg8 limit 7.000000e+00 up_offset 1.000000e+00 outs(%arg10) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<panels, 6x4x8xbf16>, !dnn.packed<rows, 6x4xf32>, !dnn.packed<rows, 6x4xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.expert_down %arg10 by %arg3, %arg5 down %arg7 bias %arg9 outs(%arg11) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x8x4xbf16>, !dnn.packed<rows, 6x8xf32>, memref<?x16xf32>) -> ()
  dnn.expert_down %arg10 by %arg3, %arg5 down %arg7 bias %arg9 outs(%arg11) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x8x4xbf16>, !dnn.packed<rows, 6x8xf32>, memref<?x16xf32>) -> ()
  // CHECK-NEXT: dnn.combine %arg11 by %arg4 outs(%arg0) : (memref<?x16xf32>, memref<?x2xf32>, memref<?x8xf32>) -> ()
  dnn.combine %arg11 by %arg4 outs(%arg0) : (memref<?x16xf32>, memref<?x2xf32>, memref<?x8xf32>) -> ()
  return
}
