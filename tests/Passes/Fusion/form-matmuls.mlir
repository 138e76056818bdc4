// Linear layers, feed-forwards and heads become matmuls.
// RUN: %tenon-opt %s --form-matmuls | FileCheck %s

!batch = !transformer.batch
!rows = tensor<?x8xf32>

// CHECK-LABEL: @linears
func.func @linears(%x: !rows, %w: tensor<6x8xbf16>, %b: tensor<6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_0) :
  // CHECK-NEXT: %[[Q:.*]] = transformer.matmul %x weights(%x_0) biases(%x_1) :
  // CHECK-NEXT: return %[[P]], %[[Q]]
  %0 = transformer.linear %x, %w : (!rows, tensor<6x8xbf16>) -> tensor<?x6xf32>
  %1 = transformer.linear %x, %w bias %b : (!rows, tensor<6x8xbf16>, tensor<6xf32>) -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// The activation goes with the first matmul, each bias with its own.
// CHECK-LABEL: @feed_forward
func.func @feed_forward(%x: !rows, %u: tensor<6x8xf32>, %d: tensor<8x6xf32>, %a: tensor<6xf32>, %b: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[H:.*]] = transformer.matmul %x weights(%x_0) biases(%x_2) activation gelu :
  // CHECK-NEXT: %[[Y:.*]] = transformer.matmul %[[H]] weights(%x_1) biases(%x_3) : {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.feed_forward gelu %x up %u bias %a down %d bias %b : (!rows, tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8xf32>) -> !rows
  return %0 : !rows
}

// CHECK-LABEL: @gated_feed_forward
func.func @gated_feed_forward(%x: !rows, %g: tensor<6x8xf32>, %u: tensor<6x8xf32>, %d: tensor<8x6xf32>, %a: tensor<6xf32>, %b: tensor<6xf32>, %c: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: %[[H:.*]] = transformer.gated_matmul silu %x gate %x_0 bias %x_3 up %x_1 bias %x_4 :
  // CHECK-NEXT: %[[Y:.*]] = transformer.matmul %[[H]] weights(%x_2) biases(%x_5) :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.gated_feed_forward silu %x gate %g bias %a up %u bias %b down %d bias %c : (!rows, tensor<6x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8xf32>) -> !rows
  return %0 : !rows
}

// Weights that are stored in different types are not read side by side.
// CHECK-LABEL: @gated_feed_forward_mixed
func.func @gated_feed_forward_mixed(%x: !rows, %g: tensor<6x8xf32>, %u: tensor<6x8xbf16>, %d: tensor<8x6xf32>, %a: tensor<6xf32>, %b: tensor<6xf32>) -> !rows {
  // CHECK-NEXT: %[[G:.*]] = transformer.matmul %x weights(%x_0) biases(%x_3) activation silu :
  // CHECK-NEXT: %[[H:.*]] = transformer.matmul %x weights(%x_1) biases(%x_4) multiplier %[[G]] :
  // CHECK-NEXT: %[[Y:.*]] = transformer.matmul %[[H]] weights(%x_2) :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.gated_feed_forward silu %x gate %g bias %a up %u bias %b down %d : (!rows, tensor<6x8xf32>, tensor<6x8xbf16>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> !rows
  return %0 : !rows
}

// Only output rows are multiplied with a head.
// CHECK-LABEL: @lm_head
func.func @lm_head(%x: !rows, %b: !batch, %w: tensor<97x8xf32>, %c: tensor<97xf32>) -> tensor<?x97xf32> {
  // CHECK-NEXT: %[[R:.*]] = transformer.select_output_rows %x, %batch
  // CHECK-NEXT: %[[Y:.*]] = transformer.matmul %[[R]] weights(%x_0) biases(%x_1) :
  // CHECK-NEXT: return %[[Y]]
  %0 = transformer.lm_head %x, %b, %w bias %c : (!rows, !batch, tensor<97x8xf32>, tensor<97xf32>) -> tensor<?x97xf32>
  return %0 : tensor<?x97xf32>
}

// What is no matmul stays.
// CHECK-LABEL: @others
func.func @others(%x: !rows, %w: tensor<8xf32>) -> !rows {
  // CHECK-NEXT: transformer.rms_norm
  // CHECK-NEXT: transformer.residual
  // CHECK-NEXT: transformer.activation relu
  %0 = transformer.rms_norm %x, %w eps 1e-05 : (!rows, tensor<8xf32>) -> !rows
  %1 = transformer.residual %x, %0 : !rows
  %2 = transformer.activation relu %1 : !rows
  return %2 : !rows
}
