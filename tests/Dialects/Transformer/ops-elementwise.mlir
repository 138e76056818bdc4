// Norms in parts, and what works element by element.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @norms(
func.func @norms(%arg0: tensor<?x72xf32>, %arg1: tensor<72xf32>, %arg2: tensor<24xf32>) {
  // CHECK-NEXT: %normed = transformer.layer_norm %arg0, %arg1 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed = transformer.layer_norm %arg0, %arg1 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_0 = transformer.layer_norm %arg0, %arg2, %arg2 eps 1.000000e-05 groups 3 : (tensor<?x72xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  %normed_0 = transformer.layer_norm %arg0, %arg2, %arg2 eps 1.000000e-05 groups 3 : (tensor<?x72xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_1 = transformer.layer_norm %arg0, %arg1 eps 1.000000e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_1 = transformer.layer_norm %arg0, %arg1 eps 1.000000e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_2 = transformer.rms_norm %arg0, %arg1 eps 1.000000e-05 offset 1.000000e+00 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_2 = transformer.rms_norm %arg0, %arg1 eps 1.000000e-05 offset 1.000000e+00 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_3 = transformer.rms_norm %arg0, %arg1 eps 1.000000e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_3 = transformer.rms_norm %arg0, %arg1 eps 1.000000e-05 groups 3 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @activations(
func.func @activations(%arg0: tensor<?x72xf32>) {
  // CHECK-NEXT: %activation = transformer.activation relu %arg0 : tensor<?x72xf32>
  %activation = transformer.activation relu %arg0 : tensor<?x72xf32>
  // CHECK-NEXT: %activation_0 = transformer.activation quick_gelu %arg0 : tensor<?x72xf32>
  %activation_0 = transformer.activation quick_gelu %arg0 : tensor<?x72xf32>
  // CHECK-NEXT: %activation_1 = transformer.activation tanh %arg0 : tensor<?x72xf32>
  %activation_1 = transformer.activation tanh %arg0 : tensor<?x72xf32>
  // CHECK-NEXT: %activation_2 = transformer.activation sigmoid %arg0 : tensor<?x72xf32>
  %activation_2 = transformer.activation sigmoid %arg0 : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @numbers(
func.func @numbers(%arg0: tensor<?x72xf32>) {
  // CHECK-NEXT: %scaled = transformer.scale %arg0 by 6.250000e-02 : tensor<?x72xf32>
  %scaled = transformer.scale %arg0 by 6.250000e-02 : tensor<?x72xf32>
  // CHECK-NEXT: %scaled_0 = transformer.scale %arg0 by -2.000000e+00 : tensor<?x72xf32>
  %scaled_0 = transformer.scale %arg0 by -2.000000e+00 : tensor<?x72xf32>
  // CHECK-NEXT: %capped = transformer.soft_cap %arg0 at 3.000000e+01 : tensor<?x72xf32>
  %capped = transformer.soft_cap %arg0 at 3.000000e+01 : tensor<?x72xf32>
  // CHECK-NEXT: %capped_1 = transformer.clamp %arg0 at 8.000000e+00 : tensor<?x72xf32>
  %capped_1 = transformer.clamp %arg0 at 8.000000e+00 : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @gates(
func.func @gates(%arg0: tensor<?x72xf32>, %arg1: tensor<?x1xf32>) {
  // CHECK-NEXT: %gated = transformer.sigmoid_gate %arg0, %arg1 : (tensor<?x72xf32>, tensor<?x1xf32>) -> tensor<?x72xf32>
  %gated = transformer.sigmoid_gate %arg0, %arg1 : (tensor<?x72xf32>, tensor<?x1xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @columns(
func.func @columns(%arg0: tensor<?x72xf32>) {
  // CHECK-NEXT: %columns = transformer.columns %arg0 from 0 : (tensor<?x72xf32>) -> tensor<?x8xf32>
  %columns = transformer.columns %arg0 from 0 : (tensor<?x72xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: %columns_0 = transformer.columns %arg0 from 8 : (tensor<?x72xf32>) -> tensor<?x64xf32>
  %columns_0 = transformer.columns %arg0 from 8 : (tensor<?x72xf32>) -> tensor<?x64xf32>
  return
}
