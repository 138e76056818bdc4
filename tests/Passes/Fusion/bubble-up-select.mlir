// Whatever works row by row is computed for output rows only.
// RUN: %tenon-opt %s --bubble-up-select --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!rows = tensor<?x8xf32>
!vector = tensor<8xf32>

// CHECK-LABEL: @rms
func.func @rms(%x: !rows, %b: !batch, %w: !vector) -> !rows {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_output_rows %x, %batch
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %[[R]], %x_0
  // CHECK-NEXT: return %[[N]]
  %0 = transformer.rms_norm %x, %w eps 1e-05 : (!rows, !vector) -> !rows
  // expected-remark@below {{[Passed] BubbleUpSelect | Category:fusion | Function=rms | Operation="select_output_rows ?x8xf32 -> ?x8xf32", Remark="transformer.rms_norm is computed for output rows only"}}
  %1 = transformer.select_output_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @layer
func.func @layer(%x: !rows, %b: !batch, %w: !vector) -> !rows {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_output_rows %x, %batch
  // CHECK-NEXT: transformer.layer_norm %[[R]], %x_0, %x_0
  %0 = transformer.layer_norm %x, %w, %w eps 1e-05 : (!rows, !vector, !vector) -> !rows
  // expected-remark@below {{transformer.layer_norm is computed for output rows only}}
  %1 = transformer.select_output_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}

// One after another, through all that goes row by row; rows become as wide as
// the first one's input.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<?x6xf32>, %b: !batch, %w: tensor<8x6xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_output_rows %x, %batch : (tensor<?x6xf32>, !transformer.batch) -> tensor<?x6xf32>
  // CHECK-NEXT: %[[M:.*]] = transformer.matmul %[[R]] weights(%x_0) activation relu :
  // CHECK-NEXT: %[[S:.*]] = transformer.scale %[[M]] by 0.5
  // CHECK-NEXT: %[[C:.*]] = transformer.slice %[[S]] from 5
  // CHECK-NEXT: return %[[C]]
  %0 = transformer.matmul %x weights(%w) activation relu : (tensor<?x6xf32>, tensor<8x6xf32>) -> !rows
  %1 = transformer.scale %0 by 0.5 : !rows
  %2 = transformer.slice %1 from 5 : (!rows) -> tensor<?x3xf32>
  // expected-remark@below {{transformer.slice is computed for output rows only}}
  // expected-remark@below {{transformer.scale is computed for output rows only}}
  // expected-remark@below {{transformer.matmul is computed for output rows only}}
  %3 = transformer.select_output_rows %2, %b : (tensor<?x3xf32>, !batch) -> tensor<?x3xf32>
  return %3 : tensor<?x3xf32>
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !rows, %b: !batch, %w: !vector) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.rms_norm
  // CHECK-NEXT: transformer.select_output_rows
  %0 = transformer.rms_norm %x, %w eps 1e-05 : (!rows, !vector) -> !rows
  // expected-remark@below {{[Missed] BubbleUpSelect | Category:fusion | Function=another_use | Operation="select_output_rows ?x8xf32 -> ?x8xf32", Reason="what computes all rows has another use"}}
  %1 = transformer.select_output_rows %0, %b : (!rows, !batch) -> !rows
  return %1, %0 : !rows, !rows
}

// Both operands would have to be selected.
// CHECK-LABEL: @two_operands
func.func @two_operands(%x: !rows, %b: !batch) -> !rows {
  // CHECK-NEXT: transformer.residual
  // CHECK-NEXT: transformer.select_output_rows
  %0 = transformer.residual %x, %x : !rows
  %1 = transformer.select_output_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}

// So would a matmul's input and residual.
// CHECK-LABEL: @matmul_with_residual
func.func @matmul_with_residual(%x: !rows, %b: !batch, %w: tensor<8x8xf32>) -> !rows {
  // CHECK-NEXT: transformer.matmul
  // CHECK-NEXT: transformer.select_output_rows
  %0 = transformer.matmul %x weights(%w) residual %x : (!rows, tensor<8x8xf32>, !rows) -> !rows
  %1 = transformer.select_output_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}

// Positions are those of all tokens.
// CHECK-LABEL: @not_row_wise
func.func @not_row_wise(%x: !rows, %b: !batch) -> !rows {
  // CHECK-NEXT: transformer.rope
  // CHECK-NEXT: transformer.select_output_rows
  %0 = transformer.rope %x, %b heads 2 <half, dim = 4, base = 10000.0> : !rows
  %1 = transformer.select_output_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}
