// Linear layers, feed-forwards and heads become products.
// RUN: %tenon-opt %s --form-products | FileCheck %s

!batch = !transformer.batch
!rows = tensor<?x8xf32>

// CHECK-LABEL: @linears
func.func @linears(%x: !rows, %w: tensor<6x8xbf16>, %b: tensor<6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  // CHECK-NEXT: %[[P:.*]] = transformer.product %arg0 weights(%arg1) :
  // CHECK-NEXT: %[[Q:.*]] = transformer.product %arg0 weights(%arg1) biases(%arg2) :
  // CHECK-NEXT: return %[[P]], %[[Q]]
  %0 = transformer.linear %x, %w : (!rows, tensor<6x8xbf16>) -> tensor<?x6xf32>
  %1 = transformer.linear %x, %w bias %b : (!rows, tensor<6x8xbf16>, tensor<6xf32>) -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// The activation goes with the first product, each bias with its own.
// CHECK-LABEL: @feed_forward
func.func @feed_forward(%x: !rows, %u: tensor<6x8xf32>, %d: tensor<8x6xf32>, %a: tensor<6xf32>, %b: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[H:.*]] = transformer.product %arg0 weights(%arg1) biases(%arg3) activation gelu :
  // CHECK-NEXT: %[[Y:.*]] = transformer.product %[[H]] weights(%arg2) biases(%arg4) : {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.feed_forward gelu %x up %u bias %a down %d bias %b : (!rows, tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8xf32>) -> !rows
  return %0 : !rows
}

// CHECK-LABEL: @gated_feed_forward
func.func @gated_feed_forward(%x: !rows, %g: tensor<6x8xf32>, %u: tensor<6x8xf32>, %d: tensor<8x6xf32>, %a: tensor<6xf32>, %b: tensor<6xf32>, %c: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[H:.*]] = transformer.gated_product silu %arg0 gate %arg1 bias %arg4 up %arg2 bias %arg5 :
  // CHECK-NEXT: %[[Y:.*]] = transformer.product %[[H]] weights(%arg3) biases(%arg6) :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.gated_feed_forward silu %x gate %g bias %a up %u bias %b down %d bias %c : (!rows, tensor<6x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8xf32>) -> !rows
  return %0 : !rows
}

// Only wanted rows are multiplied with a head.
// CHECK-LABEL: @lm_head
func.func @lm_head(%x: !rows, %b: !batch, %w: tensor<97x8xf32>, %c: tensor<97xf32>) -> tensor<?x97xf32> {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_rows %arg0, %arg1
  // CHECK-NEXT: %[[Y:.*]] = transformer.product %[[R]] weights(%arg2) biases(%arg3) :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.lm_head %x, %b, %w bias %c : (!rows, !batch, tensor<97x8xf32>, tensor<97xf32>) -> tensor<?x97xf32>
  return %0 : tensor<?x97xf32>
}

// What is no product stays.
// CHECK-LABEL: @others
func.func @others(%x: !rows, %w: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: transformer.rms_norm
  // CHECK-NEXT: transformer.residual
  %0 = transformer.rms_norm %x, %w eps 1.0e-05 : (!rows, tensor<8xf32>) -> !rows
  %1 = transformer.residual %x, %0 : !rows
  return %1 : !rows
}

// An activation goes with the product that nothing else reads.
// CHECK-LABEL: @activation
func.func @activation(%x: !rows, %w: tensor<8x8xf32>) -> !rows {
  // CHECK-NEXT: %[[Y:.*]] = transformer.product %arg0 weights(%arg1) activation tanh :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.linear %x, %w : (!rows, tensor<8x8xf32>) -> !rows
  %1 = transformer.activation tanh %0 : !rows
  return %1 : !rows
}

// One activation fits a product, the second stays.
// CHECK-LABEL: @two_activations
func.func @two_activations(%x: !rows, %w: tensor<8x8xf32>) -> !rows {
  // CHECK-NEXT: %[[P:.*]] = transformer.product %arg0 weights(%arg1) activation relu :
  // CHECK-NEXT: transformer.activation sigmoid %[[P]]
  %0 = transformer.linear %x, %w : (!rows, tensor<8x8xf32>) -> !rows
  %1 = transformer.activation relu %0 : !rows
  %2 = transformer.activation sigmoid %1 : !rows
  return %2 : !rows
}

// CHECK-LABEL: @activations_that_stay
func.func @activations_that_stay(%x: !rows, %w: tensor<8x8xf32>) -> (!rows, !rows, !rows) {
  // CHECK-NEXT: %[[P:.*]] = transformer.product %arg0 weights(%arg1) :
  // CHECK-NEXT: transformer.activation relu %[[P]]
  // CHECK-NEXT: transformer.activation relu %arg0
  %0 = transformer.linear %x, %w : (!rows, tensor<8x8xf32>) -> !rows
  %1 = transformer.activation relu %0 : !rows
  %2 = transformer.activation relu %x : !rows
  return %0, %1, %2 : !rows, !rows, !rows
}

// What a product adds or multiplies comes after its own activation.
// CHECK-LABEL: @activation_of_a_sum
func.func @activation_of_a_sum(%x: !rows, %w: tensor<8x8xf32>) -> (!rows, !rows) {
  // CHECK-NEXT: %[[P:.*]] = transformer.product %arg0 weights(%arg1) residual %arg0 :
  // CHECK-NEXT: %[[Q:.*]] = transformer.activation relu %[[P]]
  // CHECK-NEXT: %[[R:.*]] = transformer.product %arg0 weights(%arg1) multiplier %arg0 :
  // CHECK-NEXT: transformer.activation relu %[[R]]
  %0 = transformer.product %x weights(%w) residual %x : (!rows, tensor<8x8xf32>, !rows) -> !rows
  %1 = transformer.activation relu %0 : !rows
  %2 = transformer.product %x weights(%w) multiplier %x : (!rows, tensor<8x8xf32>, !rows) -> !rows
  %3 = transformer.activation relu %2 : !rows
  return %1, %3 : !rows, !rows
}
