// A residual and the norm of it are one op with two results.
// RUN: %tenon-opt %s --fuse-add-norm --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!rows = tensor<?x8xf32>
!vector = tensor<8xf32>

// Later users of the sum take the first result.
// CHECK-LABEL: @rms
func.func @rms(%x: !rows, %y: !rows, %w: !vector) -> (!rows, !rows) {
  // CHECK-NEXT: %[[S:.*]], %[[N:.*]] = transformer.add_norm rms %x, %x_0 weight %x_1 eps 1e-05 :
  // CHECK-NEXT: return %[[N]], %[[S]]
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{[Passed] FuseAddNorm | Category:fusion | Function=rms | Operation="rms_norm ?x8xf32 -> ?x8xf32", Remark="residual and norm are one pass over the rows"}}
  %1 = transformer.rms_norm %0, %w eps 1e-05 : (!rows, !vector) -> !rows
  return %1, %0 : !rows, !rows
}

// CHECK-LABEL: @layer
func.func @layer(%x: !rows, %y: !rows, %w: !vector, %b: !vector) -> !rows {
  // CHECK-NEXT: %{{.*}}, %[[N:.*]] = transformer.add_norm layer %x, %x_0 weight %x_1 bias %x_2 eps 0.125 :
  // CHECK-NEXT: return %[[N]]
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{residual and norm are one pass over the rows}}
  %1 = transformer.layer_norm %0, %w, %b eps 0.125 : (!rows, !vector, !vector) -> !rows
  return %1 : !rows
}

// Only one norm can have the sum; the other reads it.
// CHECK-LABEL: @two_norms
func.func @two_norms(%x: !rows, %y: !rows, %w: !vector) -> (!rows, !rows) {
  // CHECK-NEXT: %[[S:.*]], %[[N:.*]] = transformer.add_norm rms %x, %x_0 weight %x_1 eps 1e-05 :
  // CHECK-NEXT: %[[M:.*]] = transformer.rms_norm %[[S]], %x_1 eps 0.125 :
  // CHECK-NEXT: return %[[N]], %[[M]]
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{residual and norm are one pass over the rows}}
  %1 = transformer.rms_norm %0, %w eps 1e-05 : (!rows, !vector) -> !rows
  %2 = transformer.rms_norm %0, %w eps 0.125 : (!rows, !vector) -> !rows
  return %1, %2 : !rows, !rows
}

// CHECK-LABEL: @used_before
func.func @used_before(%x: !rows, %y: !rows, %w: !vector) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.residual %x, %x_0
  // CHECK-NEXT: transformer.residual
  // CHECK-NEXT: transformer.rms_norm
  %0 = transformer.residual %x, %y : !rows
  %1 = transformer.residual %0, %y : !rows
  // expected-remark@below {{[Missed] FuseAddNorm | Category:fusion | Function=used_before | Operation="rms_norm ?x8xf32 -> ?x8xf32", Reason="the sum is used before the norm"}}
  %2 = transformer.rms_norm %0, %w eps 1e-05 : (!rows, !vector) -> !rows
  return %1, %2 : !rows, !rows
}

// CHECK-LABEL: @groups
func.func @groups(%x: !rows, %y: !rows, %w: tensor<4xf32>) -> !rows {
  // CHECK-NEXT: transformer.residual
  // CHECK-NEXT: transformer.rms_norm
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{the norm is one of parts of the row}}
  %1 = transformer.rms_norm %0, %w eps 1e-05 groups 2 : (!rows, tensor<4xf32>) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @no_residual
func.func @no_residual(%x: !rows, %w: !vector) -> !rows {
  // CHECK-NEXT: transformer.rms_norm
  %0 = transformer.rms_norm %x, %w eps 1e-05 : (!rows, !vector) -> !rows
  return %0 : !rows
}

// An offset of the weight and a missing bias stay what they are.
// CHECK-LABEL: @offset
func.func @offset(%x: !rows, %y: !rows, %w: !vector) -> !rows {
  // CHECK-NEXT: transformer.add_norm rms %x, %x_0 weight %x_1 eps 1e-05 offset 1.0 :
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{residual and norm are one pass over the rows}}
  %1 = transformer.rms_norm %0, %w eps 1e-05 offset 1.0 : (!rows, !vector) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @no_bias
func.func @no_bias(%x: !rows, %y: !rows, %w: !vector) -> !rows {
  // CHECK-NEXT: transformer.add_norm layer %x, %x_0 weight %x_1 eps 1e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>)
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{residual and norm are one pass over the rows}}
  %1 = transformer.layer_norm %0, %w eps 1e-05 : (!rows, !vector) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @layer_groups
func.func @layer_groups(%x: !rows, %y: !rows, %w: !vector) -> !rows {
  // CHECK-NEXT: transformer.residual
  // CHECK-NEXT: transformer.layer_norm
  %0 = transformer.residual %x, %y : !rows
  // expected-remark@below {{the norm is one of parts of the row}}
  %1 = transformer.layer_norm %0, %w eps 1e-05 groups 2 : (!rows, !vector) -> !rows
  return %1 : !rows
}
