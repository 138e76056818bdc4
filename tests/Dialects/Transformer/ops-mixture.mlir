// Mixtures of experts and their stacks.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @parameters(
func.func @parameters(%arg0: !transformer.scope) {
  // CHECK-NEXT: %up_proj_weight = transformer.parameter %arg0 "experts.*.up_proj.weight" of ffn : tensor<8x16x72xbf16>
  %up_proj_weight = transformer.parameter %arg0 "experts.*.up_proj.weight" of ffn : tensor<8x16x72xbf16>
  return
}

// CHECK-LABEL: @mixtures(
func.func @mixtures(%arg0: tensor<?x72xf32>, %arg1: tensor<?x8xf32>, %arg2: tensor<8x16x72xbf16>, %arg3: tensor<8x72x16xbf16>, %arg4: tensor<8xf32>, %arg5: tensor<8x16xf32>, %arg6: tensor<8x72xf32>) {
  // CHECK-NEXT: %mixture = transformer.mixture silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %mixture = transformer.mixture silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %mixture_0 = transformer.mixture silu %arg0, %arg1 <softmax, top = 2, normalize> gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %mixture_0 = transformer.mixture silu %arg0, %arg1 <softmax, top = 2, normalize> gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %mixture_1 = transformer.mixture silu %arg0, %arg1 <sigmoid, top = 3, normalize, scale = 2.5, groups = 4 keep 2 pairs> correction %arg4 gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %mixture_1 = transformer.mixture silu %arg0, %arg1 <sigmoid, top = 3, normalize, scale = 2.5, groups = 4 keep 2 pairs> correction %arg4 gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %mixture_2 = transformer.mixture silu %arg0, %arg1 <softmax, top = 1, scale = 16.0, groups = 2 keep 1> gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  %mixture_2 = transformer.mixture silu %arg0, %arg1 <softmax, top = 1, scale = 16.0, groups = 2 keep 1> gate %arg2 up %arg2 down %arg3 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %mixture_3 = transformer.mixture quick_gelu %arg0, %arg1 <softmax, top = 4, normalize> gate %arg2 bias %arg5 up %arg2 bias %arg5 down %arg3 bias %arg6 limit 7.000000e+00 up_offset 1.000000e+00 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x72xf32>) -> tensor<?x72xf32>
  %mixture_3 = transformer.mixture quick_gelu %arg0, %arg1 <softmax, top = 4, normalize> gate %arg2 bias %arg5 up %arg2 bias %arg5 down %arg3 bias %arg6 limit 7.000000e+00 up_offset 1.000000e+00 : (tensor<?x72xf32>, tensor<?x8xf32>, tensor<8x16x72xbf16>, tensor<8x16x72xbf16>, tensor<8x72x16xbf16>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x72xf32>) -> tensor<?x72xf32>
  return
}
