// Every function by itself: tensors become buffers, results come behind the
// arguments. What a function returns is computed where it goes: only what lies
// between is allocated.
// RUN: %tenon-opt %s --bufferize-functions | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

// CHECK-LABEL: func.func private @layer.few(
// CHECK-SAME: %scope: !transformer.scope, %batch: !transformer.batch, %x: memref<?x8xf32>, %x_0: memref<?x8xf32>) attributes
func.func private @layer.few(%s: !scope, %b: !batch, %x: !rows) -> !rows attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK: %[[A:.*]] = memref.alloc(%tokens) {{.*}} : memref<?x8xf32>
  // CHECK-NOT: memref.alloc
  // CHECK: dnn.rms_norm %x, %{{.*}} eps 1e-05 outs(%[[A]])
  // CHECK-NEXT: dnn.residual %x, %[[A]] outs(%x_0)
  // CHECK-NEXT: memref.copy %x_0, %x_0
  // CHECK-NEXT: return
  %n = dnn.count tokens %b
  %w = dnn.weight %s ["a"] of norm index 0 : <vector, 8x1xf32>
  %0 = tensor.empty(%n) : !rows
  %1 = dnn.rms_norm %x, %w eps 1e-05 outs(%0) : (!rows, !dnn.packed<vector, 8x1xf32>, !rows) -> !rows
  %2 = tensor.empty(%n) : !rows
  %3 = dnn.residual %x, %1 outs(%2) : (!rows, !rows, !rows) -> !rows
  return %3 : !rows
}
// What a function returns as it got it is copied.
// CHECK-LABEL: func.func private @layer.many(
func.func private @layer.many(%s: !scope, %b: !batch, %x: !rows) -> !rows attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: memref.copy %x, %x_0
  // CHECK-NEXT: return
  return %x : !rows
}

// Each of two results has its own place.
// CHECK-LABEL: func.func private @two(
// CHECK-SAME: %batch: !transformer.batch, %x: memref<?x8xf32>, %x_0: memref<?x8xf32>, %x_1: memref<?x8xbf16>) {
func.func private @two(%b: !batch, %x: !rows) -> (!rows, tensor<?x8xbf16>) {
  // CHECK-NOT: memref.alloc
  // CHECK: dnn.residual %x, %x outs(%x_0)
  // CHECK-NEXT: dnn.cast %x_0 outs(%x_1)
  %n = dnn.count tokens %b
  %0 = tensor.empty(%n) : !rows
  %1 = dnn.residual %x, %x outs(%0) : (!rows, !rows, !rows) -> !rows
  %2 = tensor.empty(%n) : tensor<?x8xbf16>
  %3 = dnn.cast %1 outs(%2) : (!rows, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return %1, %3 : !rows, tensor<?x8xbf16>
}

// An entry writes to the step's output, with the rows of its result.
// CHECK-LABEL: func.func @encode(
// CHECK-SAME: %batch: !transformer.batch)
func.func @encode(%b: !batch) -> !rows attributes {transformer.role = "encode"} {
  // CHECK: %[[R:.*]] = dnn.count sequences %batch
  // CHECK: %[[X:.*]] = memref.alloc
  // CHECK-NOT: memref.alloc
  // CHECK: dnn.embedding {{.*}} outs(%[[X]])
  // CHECK: %[[O:.*]] = dnn.output %batch[%[[R]]] : memref<?x8xf32>
  // CHECK: dnn.dispatch @layer.few or @layer.many by tokens of %batch({{.*}}, %[[X]]) outs(%[[O]]) : {{.*}} -> ()
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %r = dnn.count sequences %b
  %n = dnn.count tokens %b
  %s = dnn.scope %b "s" number 0
  %t = dnn.weight %s ["t"] of embedding index 1 : <row_major, 9x8xf32>
  %0 = tensor.empty(%n) : !rows
  %1 = dnn.embedding token %b, %t outs(%0) : (!batch, !dnn.packed<row_major, 9x8xf32>, !rows) -> !rows
  %2 = tensor.empty(%r) : !rows
  %3 = dnn.dispatch @layer.few or @layer.many by tokens of %b(%s, %b, %1) outs(%2) : (!batch, !scope, !batch, !rows, !rows) -> !rows
  return %3 : !rows
}
