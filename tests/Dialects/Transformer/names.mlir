// Arguments of functions and results print under names that say what they are.
// RUN: %tenon-opt %s | FileCheck %s

// CHECK-LABEL: func.func @arguments(
// CHECK-SAME: %batch: !transformer.batch, %scope: !transformer.scope, %scope_0: !transformer.scope, %cache: !transformer.cache<1x4xf32>, %x: tensor<?x8xf32>, %x_1: memref<?x8xf32>, %arg0: index)
func.func @arguments(%0: !transformer.batch, %1: !transformer.scope, %2: !transformer.scope, %3: !transformer.cache<1x4xf32>, %4: tensor<?x8xf32>, %5: memref<?x8xf32>, %6: index) {
  return
}

// What is made with a weight is called after it, and a weight after its key.
// CHECK-LABEL: func.func @matmuls(
func.func @matmuls(%0: !transformer.scope, %x: tensor<?x8xf32>) {
  // CHECK: %q_proj_weight = transformer.parameter
  %1 = transformer.parameter %0 "self_attn.q_proj.weight" of attention : tensor<8x8xf32>
  // CHECK: %k_proj_weight = transformer.parameter
  %2 = transformer.parameter %0 "self_attn.k_proj.weight" of attention : tensor<8x8xf32>
  // CHECK: %q_proj = transformer.linear
  %3 = transformer.linear %x, %1 : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  // CHECK: %q_k_proj = transformer.matmul
  %4 = transformer.matmul %x weights(%1, %2) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x16xf32>
  // A slice of a tensor says too little, a number is no name, nor is a star.
  // CHECK: %c_attn_weight = transformer.parameter
  %5 = transformer.parameter %0 "c_attn.weight^T[0:8]" of attention : tensor<8x8xf32>
  // CHECK: %linear = transformer.linear
  %6 = transformer.linear %x, %5 : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  // CHECK: %n0_weight = transformer.parameter
  %7 = transformer.parameter %0 "blocks.0.weight" of ffn : tensor<8x8xf32>
  // CHECK: %up_weight = transformer.parameter
  %8 = transformer.parameter %0 "experts.*.up.weight" of ffn : tensor<2x8x8xf32>
  return
}

// CHECK-LABEL: func.func @scopes(
func.func @scopes() {
  // CHECK-NEXT: %root = transformer.scope ""
  %0 = transformer.scope ""
  // CHECK-NEXT: %encoder = transformer.scope "model.encoder"
  %1 = transformer.scope "model.encoder"
  // CHECK-NEXT: %l12 = transformer.scope "model.layers.12" layer 12
  %2 = transformer.scope "model.layers.12" layer 12
  // CHECK-NEXT: %n0 = transformer.scope "h.0"
  %3 = transformer.scope "h.0"
  return
}
