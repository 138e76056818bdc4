// An activation is applied by the matmul that makes its input, if that applies
// nothing yet and nothing else reads it.
// RUN: %tenon-opt %s --fuse-activation --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!rows = tensor<?x8xf32>
!weight = tensor<8x8xf32>

// The bias goes first anyway.
// CHECK-LABEL: @fused
func.func @fused(%x: !rows, %w: !weight, %b: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[Y:.*]] = transformer.matmul %x weights(%x_0) biases(%x_1) activation tanh :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.matmul %x weights(%w) biases(%b) : (!rows, !weight, tensor<8xf32>) -> !rows
  // expected-remark@below {{[Passed] FuseActivation | Category:fusion | Function=fused | Operation="activation ?x8xf32 -> ?x8xf32", Remark="applied while the matmul is written"}}
  %1 = transformer.activation tanh %0 : !rows
  return %1 : !rows
}

// One activation fits a matmul, the second stays.
// CHECK-LABEL: @two_activations
func.func @two_activations(%x: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_0) activation relu :
  // CHECK-NEXT: transformer.activation sigmoid %[[P]]
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{applied while the matmul is written}}
  %1 = transformer.activation relu %0 : !rows
  // expected-remark@below {{[Missed] FuseActivation | Category:fusion | Function=two_activations | Operation="activation ?x8xf32 -> ?x8xf32", Reason="the matmul already applies something"}}
  %2 = transformer.activation sigmoid %1 : !rows
  return %2 : !rows
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_0) :
  // CHECK-NEXT: %[[A:.*]] = transformer.activation relu %[[P]]
  // CHECK-NEXT: return %[[P]], %[[A]]
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{the matmul has another use}}
  %1 = transformer.activation relu %0 : !rows
  return %0, %1 : !rows, !rows
}

// CHECK-LABEL: @no_matmul
func.func @no_matmul(%x: !rows) -> !rows {
  // CHECK-NEXT: transformer.activation relu %x
  // expected-remark@below {{the input is no matmul}}
  %0 = transformer.activation relu %x : !rows
  return %0 : !rows
}

// What a matmul adds or multiplies comes after its own activation.
// CHECK-LABEL: @activation_of_a_sum
func.func @activation_of_a_sum(%x: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_0) residual %x :
  // CHECK-NEXT: transformer.activation relu %[[P]]
  // CHECK-NEXT: %[[R:.*]] = transformer.matmul %x weights(%x_0) multiplier %x :
  // CHECK-NEXT: transformer.activation relu %[[R]]
  %0 = transformer.matmul %x weights(%w) residual %x : (!rows, !weight, !rows) -> !rows
  // expected-remark@below {{the matmul already applies something}}
  %1 = transformer.activation relu %0 : !rows
  %2 = transformer.matmul %x weights(%w) multiplier %x : (!rows, !weight, !rows) -> !rows
  // expected-remark@below {{the matmul already applies something}}
  %3 = transformer.activation relu %2 : !rows
  return %1, %3 : !rows, !rows
}
