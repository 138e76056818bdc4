// Handles, and every computation on tensors and on buffers, survive printing and parsing.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @handles(
func.func @handles(%arg0: !transformer.batch, %arg1: !transformer.scope) {
  // CHECK-NEXT: %0 = dnn.count tokens %arg0
  %0 = dnn.count tokens %arg0
  // CHECK-NEXT: %1 = dnn.count wanted %arg0
  %1 = dnn.count wanted %arg0
  // CHECK-NEXT: %2 = dnn.count sequences %arg0
  %2 = dnn.count sequences %arg0
  // CHECK-NEXT: %3 = dnn.count chunks %arg0
  %3 = dnn.count chunks %arg0
  // CHECK-NEXT: %4 = dnn.scope %arg0 "model" number 0
  %4 = dnn.scope %arg0 "model" number 0
  // CHECK-NEXT: %5 = dnn.scope %arg0 "model.layers.3" number 4 layer 3
  %5 = dnn.scope %arg0 "model.layers.3" number 4 layer 3
  // CHECK-NEXT: %6 = dnn.weight %arg1 ["q.weight", "k.weight"] of "attention" : <panels, 12x8xbf16>
  %6 = dnn.weight %arg1 ["q.weight", "k.weight"] of "attention" : <panels, 12x8xbf16>
  // CHECK-NEXT: %7 = dnn.weight %arg1 ["norm.weight"] of "norm" slot 2 : <vector, 8x1xf32>
  %7 = dnn.weight %arg1 ["norm.weight"] of "norm" slot 2 : <vector, 8x1xf32>
  // CHECK-NEXT: %8 = dnn.table #transformer.rope<half, dim = 4, base = 1.0e+04> in %arg1 slot 1 : <rows, 128x4xf32>
  %8 = dnn.table #transformer.rope<half, dim = 4, base = 1.0e+04> in %arg1 slot 1 : <rows, 128x4xf32>
  return
}

// CHECK-LABEL: @embedding_on_tensors(
func.func @embedding_on_tensors(%arg0: !transformer.batch, %arg1: !dnn.packed<rows, 9x8xbf16>, %arg2: tensor<?x8xf32>) {
  // CHECK-NEXT: %0 = dnn.embedding token %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.embedding token %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.embedding position %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.embedding position %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %2 = dnn.embedding token_type %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = dnn.embedding token_type %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @norm_on_tensors(
func.func @norm_on_tensors(%arg0: tensor<?x8xf32>, %arg1: tensor<?x8xf32>, %arg2: !dnn.packed<vector, 8x1xf32>, %arg3: tensor<?x8xf32>, %arg4: tensor<?x8xbf16>, %arg5: !dnn.packed<vector, 4x1xf32>) {
  // CHECK-NEXT: %0 = dnn.norm rms %arg0 weight %arg2 outs(%arg4) eps 1.000000e-05 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %0 = dnn.norm rms %arg0 weight %arg2 outs(%arg4) eps 1.000000e-05 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK-NEXT: %1 = dnn.norm rms %arg0 weight %arg5 outs(%arg3) eps 1.000000e-05 groups 2 : (tensor<?x8xf32>, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.norm rms %arg0 weight %arg5 outs(%arg3) eps 1.000000e-05 groups 2 : (tensor<?x8xf32>, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %2:2 = dnn.norm layer %arg0 residual %arg1 weight %arg2 bias %arg2 outs(%arg4, %arg3) eps 1.000000e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xbf16>, tensor<?x8xf32>) -> (tensor<?x8xbf16>, tensor<?x8xf32>)
  %2:2 = dnn.norm layer %arg0 residual %arg1 weight %arg2 bias %arg2 outs(%arg4, %arg3) eps 1.000000e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xbf16>, tensor<?x8xf32>) -> (tensor<?x8xbf16>, tensor<?x8xf32>)
  return
}

// CHECK-LABEL: @product_on_tensors(
func.func @product_on_tensors(%arg0: tensor<?x8xbf16>, %arg1: !dnn.packed<panels, 6x8xbf16>, %arg2: !dnn.packed<vector, 6x1xf32>, %arg3: tensor<?x6xbf16>, %arg4: tensor<?x6xf32>) {
  // CHECK-NEXT: %0 = dnn.product %arg0 weight %arg1 outs(%arg4) : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %0 = dnn.product %arg0 weight %arg1 outs(%arg4) : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK-NEXT: %1 = dnn.product %arg0 weight %arg1 bias %arg2 activation silu multiplier %arg3 residual %arg4 outs(%arg4) site 3 : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, tensor<?x6xbf16>, tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %1 = dnn.product %arg0 weight %arg1 bias %arg2 activation silu multiplier %arg3 residual %arg4 outs(%arg4) site 3 : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, tensor<?x6xbf16>, tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// CHECK-LABEL: @gated_product_on_tensors(
func.func @gated_product_on_tensors(%arg0: tensor<?x8xbf16>, %arg1: !dnn.packed<panels, 6x8xbf16>, %arg2: !dnn.packed<vector, 6x1xf32>, %arg3: tensor<?x6xf32>) {
  // CHECK-NEXT: %0 = dnn.gated_product silu %arg0 gate %arg1 up %arg1 outs(%arg3) : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %0 = dnn.gated_product silu %arg0 gate %arg1 up %arg1 outs(%arg3) : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK-NEXT: %1 = dnn.gated_product gelu %arg0 gate %arg1 bias %arg2 up %arg1 bias %arg2 outs(%arg3) : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %1 = dnn.gated_product gelu %arg0 gate %arg1 bias %arg2 up %arg1 bias %arg2 outs(%arg3) : (tensor<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// CHECK-LABEL: @split_append_on_tensors(
func.func @split_append_on_tensors(%arg0: tensor<?x16xf32>, %arg1: tensor<?x8xf32>, %arg2: tensor<?x4xf32>, %arg3: !transformer.cache<1x4xbf16>, %arg4: !transformer.scope, %arg5: !transformer.batch, %arg6: !dnn.packed<vector, 4x1xf32>, %arg7: !dnn.packed<rows, 128x4xf32>) {
  // CHECK-NEXT: %0 = dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 outs(%arg1) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 outs(%arg1) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.split_append %arg1, %arg2, %arg2 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 key_norm %arg6 rope <half, dim = 4, base = 1.0e+04> table %arg7 outs(%arg1) {eps = 9.765625E-4 : f64} : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<rows, 128x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.split_append %arg1, %arg2, %arg2 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 key_norm %arg6 rope <half, dim = 4, base = 1.0e+04> table %arg7 outs(%arg1) {eps = 9.765625E-4 : f64} : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<rows, 128x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @attention_on_tensors(
func.func @attention_on_tensors(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1280xf32>, %arg3: !transformer.cache<1x4xbf16>, %arg4: !transformer.scope) {
  // CHECK-NEXT: %0 = dnn.attention bidirectional %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.attention bidirectional %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @rows_on_tensors(
func.func @rows_on_tensors(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x8xbf16>) {
  // CHECK-NEXT: %0 = dnn.select_rows %arg0, %arg1 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.select_rows %arg0, %arg1 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %1 = dnn.pool mean %arg0, %arg1 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = dnn.pool mean %arg0, %arg1 outs(%arg0) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %2 = dnn.pool cls %arg0, %arg1 outs(%arg0) normalize : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = dnn.pool cls %arg0, %arg1 outs(%arg0) normalize : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %3 = dnn.add %arg0, %arg0 outs(%arg0) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = dnn.add %arg0, %arg0 outs(%arg0) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %4 = dnn.cast %arg0 outs(%arg2) : (tensor<?x8xf32>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %4 = dnn.cast %arg0 outs(%arg2) : (tensor<?x8xf32>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @embedding_on_buffers(
func.func @embedding_on_buffers(%arg0: !transformer.batch, %arg1: !dnn.packed<rows, 9x8xbf16>, %arg2: memref<?x8xf32>) {
  // CHECK-NEXT: dnn.embedding token %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, memref<?x8xf32>) -> ()
  dnn.embedding token %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.embedding position %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, memref<?x8xf32>) -> ()
  dnn.embedding position %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.embedding token_type %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, memref<?x8xf32>) -> ()
  dnn.embedding token_type %arg0, %arg1 outs(%arg2) : (!transformer.batch, !dnn.packed<rows, 9x8xbf16>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @norm_on_buffers(
func.func @norm_on_buffers(%arg0: memref<?x8xf32>, %arg1: memref<?x8xf32>, %arg2: !dnn.packed<vector, 8x1xf32>, %arg3: memref<?x8xf32>, %arg4: memref<?x8xbf16>, %arg5: !dnn.packed<vector, 4x1xf32>) {
  // CHECK-NEXT: dnn.norm rms %arg0 weight %arg2 outs(%arg4) eps 1.000000e-05 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xbf16>) -> ()
  dnn.norm rms %arg0 weight %arg2 outs(%arg4) eps 1.000000e-05 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xbf16>) -> ()
  // CHECK-NEXT: dnn.norm rms %arg0 weight %arg5 outs(%arg3) eps 1.000000e-05 groups 2 : (memref<?x8xf32>, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>) -> ()
  dnn.norm rms %arg0 weight %arg5 outs(%arg3) eps 1.000000e-05 groups 2 : (memref<?x8xf32>, !dnn.packed<vector, 4x1xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.norm layer %arg0 residual %arg1 weight %arg2 bias %arg2 outs(%arg4, %arg3) eps 1.000000e-05 : (memref<?x8xf32>, memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xbf16>, memref<?x8xf32>) -> ()
  dnn.norm layer %arg0 residual %arg1 weight %arg2 bias %arg2 outs(%arg4, %arg3) eps 1.000000e-05 : (memref<?x8xf32>, memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xbf16>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @product_on_buffers(
func.func @product_on_buffers(%arg0: memref<?x8xbf16>, %arg1: !dnn.packed<panels, 6x8xbf16>, %arg2: !dnn.packed<vector, 6x1xf32>, %arg3: memref<?x6xbf16>, %arg4: memref<?x6xf32>) {
  // CHECK-NEXT: dnn.product %arg0 weight %arg1 outs(%arg4) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  dnn.product %arg0 weight %arg1 outs(%arg4) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  // CHECK-NEXT: dnn.product %arg0 weight %arg1 bias %arg2 activation silu multiplier %arg3 residual %arg4 outs(%arg4) site 3 : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xbf16>, memref<?x6xf32>, memref<?x6xf32>) -> ()
  dnn.product %arg0 weight %arg1 bias %arg2 activation silu multiplier %arg3 residual %arg4 outs(%arg4) site 3 : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xbf16>, memref<?x6xf32>, memref<?x6xf32>) -> ()
  return
}

// CHECK-LABEL: @gated_product_on_buffers(
func.func @gated_product_on_buffers(%arg0: memref<?x8xbf16>, %arg1: !dnn.packed<panels, 6x8xbf16>, %arg2: !dnn.packed<vector, 6x1xf32>, %arg3: memref<?x6xf32>) {
  // CHECK-NEXT: dnn.gated_product silu %arg0 gate %arg1 up %arg1 outs(%arg3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  dnn.gated_product silu %arg0 gate %arg1 up %arg1 outs(%arg3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>) -> ()
  // CHECK-NEXT: dnn.gated_product gelu %arg0 gate %arg1 bias %arg2 up %arg1 bias %arg2 outs(%arg3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x6xf32>) -> ()
  dnn.gated_product gelu %arg0 gate %arg1 bias %arg2 up %arg1 bias %arg2 outs(%arg3) : (memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x6xf32>) -> ()
  return
}

// CHECK-LABEL: @split_append_on_buffers(
func.func @split_append_on_buffers(%arg0: memref<?x16xf32>, %arg1: memref<?x8xf32>, %arg2: memref<?x4xf32>, %arg3: !transformer.cache<1x4xbf16>, %arg4: !transformer.scope, %arg5: !transformer.batch, %arg6: !dnn.packed<vector, 4x1xf32>, %arg7: !dnn.packed<rows, 128x4xf32>) {
  // CHECK-NEXT: dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 outs(%arg1) : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.split_append %arg0 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 outs(%arg1) : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.split_append %arg1, %arg2, %arg2 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 key_norm %arg6 rope <half, dim = 4, base = 1.0e+04> table %arg7 outs(%arg1) {eps = 9.765625E-4 : f64} : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<rows, 128x4xf32>, memref<?x8xf32>) -> ()
  dnn.split_append %arg1, %arg2, %arg2 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 query_norm %arg6 key_norm %arg6 rope <half, dim = 4, base = 1.0e+04> table %arg7 outs(%arg1) {eps = 9.765625E-4 : f64} : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<rows, 128x4xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @attention_on_buffers(
func.func @attention_on_buffers(%arg0: memref<?x8xf32>, %arg1: !transformer.batch, %arg2: memref<?x1280xf32>, %arg3: !transformer.cache<1x4xbf16>, %arg4: !transformer.scope) {
  // CHECK-NEXT: dnn.attention bidirectional %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, memref<?x1280xf32>, memref<?x8xf32>) -> ()
  dnn.attention bidirectional %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.000000e-01 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, memref<?x1280xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  dnn.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.000000e-01 window 16 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @rows_on_buffers(
func.func @rows_on_buffers(%arg0: memref<?x8xf32>, %arg1: !transformer.batch, %arg2: memref<?x8xbf16>) {
  // CHECK-NEXT: dnn.select_rows %arg0, %arg1 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.select_rows %arg0, %arg1 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.pool mean %arg0, %arg1 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.pool mean %arg0, %arg1 outs(%arg0) : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.pool cls %arg0, %arg1 outs(%arg0) normalize : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.pool cls %arg0, %arg1 outs(%arg0) normalize : (memref<?x8xf32>, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.add %arg0, %arg0 outs(%arg0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.add %arg0, %arg0 outs(%arg0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK-NEXT: dnn.cast %arg0 outs(%arg2) : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  dnn.cast %arg0 outs(%arg2) : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  return
}
