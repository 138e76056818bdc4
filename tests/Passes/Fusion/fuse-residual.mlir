// A residual goes into the matmul that makes one of its operands.
// RUN: %tenon-opt %s --fuse-residual --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!rows = tensor<?x8xf32>
!weight = tensor<8x8xf32>

// CHECK-LABEL: @second_operand
func.func @second_operand(%x: !rows, %r: !rows, %w: !weight, %b: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_1) biases(%x_2) activation relu residual %x_0 :
  // CHECK-NEXT: return %[[P]]
  %0 = transformer.matmul %x weights(%w) biases(%b) activation relu : (!rows, !weight, tensor<8xf32>) -> !rows
  // expected-remark@below {{[Passed] FuseResidual | Category:fusion | Function=second_operand | Operation="residual ?x8xf32, ?x8xf32 -> ?x8xf32", Remark="fused into matmul ?x8xf32, ?x8xf32 -> ?x8xf32"}}
  %1 = transformer.residual %r, %0 : !rows
  return %1 : !rows
}

// CHECK-LABEL: @first_operand
func.func @first_operand(%x: !rows, %r: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: transformer.matmul %x weights(%x_1) residual %x_0 :
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{fused into matmul ?x8xf32, ?x8xf32 -> ?x8xf32}}
  %1 = transformer.residual %0, %r : !rows
  return %1 : !rows
}

// The second of two matmuls takes the first as its residual.
// CHECK-LABEL: @two_matmuls
func.func @two_matmuls(%x: !rows, %y: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_1) :
  // CHECK-NEXT: transformer.matmul %x_0 weights(%x_1) residual %[[P]] :
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %y weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{fused into matmul ?x8xf32, ?x8xf32 -> ?x8xf32}}
  %2 = transformer.residual %0, %1 : !rows
  return %2 : !rows
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !rows, %r: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.matmul
  // CHECK-NEXT: transformer.residual
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{[Missed] FuseResidual | Category:fusion | Function=another_use | Operation="residual ?x8xf32, ?x8xf32 -> ?x8xf32", Reason="the matmul has another use"}}
  %1 = transformer.residual %0, %r : !rows
  return %1, %0 : !rows, !rows
}

// The same, the other way round.
// CHECK-LABEL: @another_use_second
func.func @another_use_second(%x: !rows, %r: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.matmul
  // CHECK-NEXT: transformer.residual
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{the matmul has another use}}
  %1 = transformer.residual %r, %0 : !rows
  return %1, %0 : !rows, !rows
}

// CHECK-LABEL: @has_one
func.func @has_one(%x: !rows, %r: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: transformer.matmul %x weights(%x_1) residual %x_0 :
  // CHECK-NEXT: transformer.residual
  %0 = transformer.matmul %x weights(%w) residual %r : (!rows, !weight, !rows) -> !rows
  // expected-remark@below {{the matmul already has a residual}}
  %1 = transformer.residual %0, %r : !rows
  return %1 : !rows
}

// CHECK-LABEL: @no_matmul
func.func @no_matmul(%x: !rows, %r: !rows) -> !rows {
  // CHECK-NEXT: transformer.residual
  // expected-remark@below {{no operand is a matmul}}
  %0 = transformer.residual %x, %r : !rows
  return %0 : !rows
}
