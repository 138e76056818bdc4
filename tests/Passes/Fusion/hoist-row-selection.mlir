// Rows are selected before they are normalised.
// RUN: %tenon-opt %s --hoist-row-selection --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!rows = tensor<?x8xf32>
!vector = tensor<8xf32>

// CHECK-LABEL: @rms
func.func @rms(%x: !rows, %b: !batch, %w: !vector) -> !rows {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_rows %arg0, %arg1
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %[[R]], %arg2
  // CHECK-NEXT: return %[[N]]
  %0 = transformer.rms_norm %x, %w eps 1.0e-05 : (!rows, !vector) -> !rows
  // expected-remark@below {{[Passed] HoistRowSelection | Category:fusion | Function=rms | Remark="only wanted rows are normalised"}}
  %1 = transformer.select_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @layer
func.func @layer(%x: !rows, %b: !batch, %w: !vector) -> !rows {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_rows %arg0, %arg1
  // CHECK-NEXT: transformer.layer_norm %[[R]], %arg2, %arg2
  %0 = transformer.layer_norm %x, %w, %w eps 1.0e-05 : (!rows, !vector, !vector) -> !rows
  // expected-remark@below {{only wanted rows are normalised}}
  %1 = transformer.select_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !rows, %b: !batch, %w: !vector) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.rms_norm
  // CHECK-NEXT: transformer.select_rows
  %0 = transformer.rms_norm %x, %w eps 1.0e-05 : (!rows, !vector) -> !rows
  // expected-remark@below {{[Missed] HoistRowSelection | Category:fusion | Function=another_use | Reason="the norm of all rows has another use"}}
  %1 = transformer.select_rows %0, %b : (!rows, !batch) -> !rows
  return %1, %0 : !rows, !rows
}

// What is no norm stays before the selection.
// CHECK-LABEL: @no_norm
func.func @no_norm(%x: !rows, %b: !batch) -> !rows {
  // CHECK-NEXT: transformer.residual
  // CHECK-NEXT: transformer.select_rows
  %0 = transformer.residual %x, %x : !rows
  %1 = transformer.select_rows %0, %b : (!rows, !batch) -> !rows
  return %1 : !rows
}
