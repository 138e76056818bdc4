// Mixtures of experts and their stacks.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @parameters(
func.func @parameters(%scope: !transformer.scope) {
  // CHECK-NEXT: %up_proj_weight = transformer.parameter %scope "experts.*.up_proj.weight" of ffn : tensor<8x16x72xbf16>
  %up_proj_weight = transformer.parameter %scope "experts.*.up_proj.weight" of ffn : tensor<8x16x72xbf16>
  return
}

// CHECK-LABEL: @moe(
func.func @moe(%x: tensor<?x72xf32>, %x_0: tensor<?x8xf32>, %x_1: tensor<8x16x72xbf16>, %x_2: tensor<8x72x16xbf16>, %x_3: tensor<8xf32>, %x_4: tensor<8x16xf32>, %x_5: tensor<8x72xf32>) {
  // CHECK-NEXT: %moe = transformer.moe silu %x, %x_0 <softmax, top = 2> gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %moe = transformer.moe silu %x, %x_0 <softmax, top = 2> gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %moe_6 = transformer.moe silu %x, %x_0 <softmax, top = 2, normalize> gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %moe_6 = transformer.moe silu %x, %x_0 <softmax, top = 2, normalize> gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %moe_7 = transformer.moe silu %x, %x_0 <sigmoid, top = 3, normalize, scale = 2.5, groups = 4 keep 2 pairs> correction %x_3 gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %moe_7 = transformer.moe silu %x, %x_0 <sigmoid, top = 3, normalize, scale = 2.5, groups = 4 keep 2 pairs> correction %x_3 gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %moe_8 = transformer.moe silu %x, %x_0 <softmax, top = 1, scale = 16.0, groups = 2 keep 1> gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %moe_8 = transformer.moe silu %x, %x_0 <softmax, top = 1, scale = 16.0, groups = 2 keep 1> gate %x_1 up %x_1 down %x_2 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %moe_9 = transformer.moe quick_gelu %x, %x_0 <softmax, top = 4, normalize> gate %x_1 bias %x_4 up %x_1 bias %x_4 down %x_2 bias %x_5 limit 7.0 up_offset 1.0 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x72xf32>) -> tensor<?x72xf32>
  %moe_9 = transformer.moe quick_gelu %x, %x_0 <softmax, top = 4, normalize> gate %x_1 bias %x_4 up %x_1 bias %x_4 down %x_2 bias %x_5 limit 7.0 up_offset 1.0 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x72xf32>) -> tensor<?x72xf32>
  return
}
