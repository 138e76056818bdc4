// A residual goes into the product that makes one of its operands.
// RUN: %tenon-opt %s --fuse-residual --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!rows = tensor<?x8xf32>
!weight = tensor<8x8xf32>

// CHECK-LABEL: @second_operand
func.func @second_operand(%x: !rows, %r: !rows, %w: !weight, %b: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[P:.*]] = transformer.product %arg0 weights(%arg2) biases(%arg3) activation relu residual %arg1 :
  // CHECK-NEXT: return %[[P]]
  %0 = transformer.product %x weights(%w) biases(%b) activation relu : (!rows, !weight, tensor<8xf32>) -> !rows
  // expected-remark@below {{[Passed] FuseResidual | Category:fusion | Function=second_operand | Remark="added while the product is written"}}
  %1 = transformer.residual %r, %0 : !rows
  return %1 : !rows
}

// CHECK-LABEL: @first_operand
func.func @first_operand(%x: !rows, %r: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: transformer.product %arg0 weights(%arg2) residual %arg1 :
  %0 = transformer.product %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{added while the product is written}}
  %1 = transformer.residual %0, %r : !rows
  return %1 : !rows
}

// The second of two products takes the first as its residual.
// CHECK-LABEL: @two_products
func.func @two_products(%x: !rows, %y: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: %[[P:.*]] = transformer.product %arg0 weights(%arg2) :
  // CHECK-NEXT: transformer.product %arg1 weights(%arg2) residual %[[P]] :
  %0 = transformer.product %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.product %y weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{added while the product is written}}
  %2 = transformer.residual %0, %1 : !rows
  return %2 : !rows
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !rows, %r: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.product
  // CHECK-NEXT: transformer.residual
  %0 = transformer.product %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{[Missed] FuseResidual | Category:fusion | Function=another_use | Reason="the product has another use"}}
  %1 = transformer.residual %0, %r : !rows
  return %1, %0 : !rows, !rows
}

// The same, the other way round.
// CHECK-LABEL: @another_use_second
func.func @another_use_second(%x: !rows, %r: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK-NEXT: transformer.product
  // CHECK-NEXT: transformer.residual
  %0 = transformer.product %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{the product has another use}}
  %1 = transformer.residual %r, %0 : !rows
  return %1, %0 : !rows, !rows
}

// CHECK-LABEL: @has_one
func.func @has_one(%x: !rows, %r: !rows, %w: !weight) -> !rows {
  // CHECK-NEXT: transformer.product %arg0 weights(%arg2) residual %arg1 :
  // CHECK-NEXT: transformer.residual
  %0 = transformer.product %x weights(%w) residual %r : (!rows, !weight, !rows) -> !rows
  // expected-remark@below {{the product already has a residual}}
  %1 = transformer.residual %0, %r : !rows
  return %1 : !rows
}

// CHECK-LABEL: @no_product
func.func @no_product(%x: !rows, %r: !rows) -> !rows {
  // CHECK-NEXT: transformer.residual
  // expected-remark@below {{no operand is a product}}
  %0 = transformer.residual %x, %r : !rows
  return %0 : !rows
}
