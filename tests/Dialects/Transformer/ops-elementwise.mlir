// Norms in parts, and what works element by element.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @norms(
func.func @norms(%x: tensor<?x72xf32>, %x_0: tensor<72xf32>, %x_1: tensor<24xf32>) {
  // CHECK-NEXT: %normed = transformer.layer_norm %x, %x_0 eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed = transformer.layer_norm %x, %x_0 eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_2 = transformer.layer_norm %x, %x_1, %x_1 eps 1e-05 groups 3 : (tensor<?x72xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  %normed_2 = transformer.layer_norm %x, %x_1, %x_1 eps 1e-05 groups 3 : (tensor<?x72xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_3 = transformer.layer_norm %x, %x_0 eps 1e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_3 = transformer.layer_norm %x, %x_0 eps 1e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_4 = transformer.rms_norm %x, %x_0 eps 1e-05 offset 1.0 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_4 = transformer.rms_norm %x, %x_0 eps 1e-05 offset 1.0 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_5 = transformer.rms_norm %x, %x_0 eps 1e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_5 = transformer.rms_norm %x, %x_0 eps 1e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @activations(
func.func @activations(%x: tensor<?x72xf32>) {
  // CHECK-NEXT: %activation = transformer.activation relu %x : tensor<?x72xf32>
  %activation = transformer.activation relu %x : tensor<?x72xf32>
  // CHECK-NEXT: %activation_0 = transformer.activation quick_gelu %x : tensor<?x72xf32>
  %activation_0 = transformer.activation quick_gelu %x : tensor<?x72xf32>
  // CHECK-NEXT: %activation_1 = transformer.activation tanh %x : tensor<?x72xf32>
  %activation_1 = transformer.activation tanh %x : tensor<?x72xf32>
  // CHECK-NEXT: %activation_2 = transformer.activation sigmoid %x : tensor<?x72xf32>
  %activation_2 = transformer.activation sigmoid %x : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @numbers(
func.func @numbers(%x: tensor<?x72xf32>) {
  // CHECK-NEXT: %scaled = transformer.scale %x by 0.0625 : tensor<?x72xf32>
  %scaled = transformer.scale %x by 0.0625 : tensor<?x72xf32>
  // CHECK-NEXT: %scaled_0 = transformer.scale %x by -2.0 : tensor<?x72xf32>
  %scaled_0 = transformer.scale %x by -2.0 : tensor<?x72xf32>
  // CHECK-NEXT: %capped = transformer.soft_cap %x at 30.0 : tensor<?x72xf32>
  %capped = transformer.soft_cap %x at 30.0 : tensor<?x72xf32>
  // CHECK-NEXT: %clamped = transformer.clamp %x at 8.0 : tensor<?x72xf32>
  %clamped = transformer.clamp %x at 8.0 : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @gates(
func.func @gates(%x: tensor<?x72xf32>, %x_0: tensor<?x1xf32>) {
  // CHECK-NEXT: %gated = transformer.sigmoid_gate %x, %x_0 : (tensor<?x72xf32>, tensor<?x1xf32>) -> tensor<?x72xf32>
  %gated = transformer.sigmoid_gate %x, %x_0 : (tensor<?x72xf32>, tensor<?x1xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @columns(
func.func @columns(%x: tensor<?x72xf32>) {
  // CHECK-NEXT: %slice = transformer.slice %x from 0 : (tensor<?x72xf32>) -> tensor<?x8xf32>
  %slice = transformer.slice %x from 0 : (tensor<?x72xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %slice_0 = transformer.slice %x from 8 : (tensor<?x72xf32>) -> tensor<?x64xf32>
  %slice_0 = transformer.slice %x from 8 : (tensor<?x72xf32>) -> tensor<?x64xf32>
  return
}
