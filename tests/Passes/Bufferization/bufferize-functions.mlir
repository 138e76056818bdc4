// Every function by itself: tensors become buffers, results come behind the
// arguments. What a function returns is computed where it goes: only what lies
// between is allocated.
// RUN: %tenon-opt %s --bufferize-functions | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

// CHECK: func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: memref<?x8xf32>, %arg3: memref<?x8xf32>) {
func.func private @layer(%s: !scope, %b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[N:.*]] = dnn.count tokens %arg1
  // CHECK: %[[A:.*]] = memref.alloc(%[[N]]) {{.*}} : memref<?x8xf32>
  // CHECK-NOT: memref.alloc
  // CHECK: dnn.norm rms %arg2 weight %{{.*}} outs(%[[A]])
  // CHECK-NEXT: dnn.add %arg2, %[[A]] outs(%arg3)
  // CHECK-NEXT: memref.copy %arg3, %arg3
  // CHECK-NEXT: return
  %n = dnn.count tokens %b
  %w = dnn.weight %s ["a"] of "norm" slot 0 : <vector, 8x1xf32>
  %0 = tensor.empty(%n) : !rows
  %1 = dnn.norm rms %x weight %w outs(%0) eps 1.0e-05 : (!rows, !dnn.packed<vector, 8x1xf32>, !rows) -> !rows
  %2 = tensor.empty(%n) : !rows
  %3 = dnn.add %x, %1 outs(%2) : (!rows, !rows, !rows) -> !rows
  return %3 : !rows
}

// Each of two results has its own place.
// CHECK: func.func private @two(%arg0: !transformer.batch, %arg1: memref<?x8xf32>, %arg2: memref<?x8xf32>, %arg3: memref<?x8xbf16>) {
func.func private @two(%b: !batch, %x: !rows) -> (!rows, tensor<?x8xbf16>) {
  // CHECK-NOT: memref.alloc
  // CHECK: dnn.add %arg1, %arg1 outs(%arg2)
  // CHECK-NEXT: dnn.cast %arg2 outs(%arg3)
  %n = dnn.count tokens %b
  %0 = tensor.empty(%n) : !rows
  %1 = dnn.add %x, %x outs(%0) : (!rows, !rows, !rows) -> !rows
  %2 = tensor.empty(%n) : tensor<?x8xbf16>
  %3 = dnn.cast %1 outs(%2) : (!rows, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return %1, %3 : !rows, tensor<?x8xbf16>
}

// An entry writes to the step's output, with the rows of its result.
// CHECK: func.func @encode(%arg0: !transformer.batch)
func.func @encode(%b: !batch) -> !rows attributes {transformer.role = "encode"} {
  // CHECK: %[[R:.*]] = dnn.count sequences %arg0
  // CHECK: %[[X:.*]] = memref.alloc
  // CHECK-NOT: memref.alloc
  // CHECK: dnn.embedding {{.*}} outs(%[[X]])
  // CHECK: %[[O:.*]] = dnn.output %arg0[%[[R]]] : memref<?x8xf32>
  // CHECK: dnn.dispatch @layer or @layer by tokens of %arg0({{.*}}, %[[X]]) outs(%[[O]]) : {{.*}} -> ()
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %r = dnn.count sequences %b
  %n = dnn.count tokens %b
  %s = dnn.scope %b "s" number 0
  %t = dnn.weight %s ["t"] of "embedding" slot 1 : <rows, 9x8xf32>
  %0 = tensor.empty(%n) : !rows
  %1 = dnn.embedding token %b, %t outs(%0) : (!batch, !dnn.packed<rows, 9x8xf32>, !rows) -> !rows
  %2 = tensor.empty(%r) : !rows
  %3 = dnn.dispatch @layer or @layer by tokens of %b(%s, %b, %1) outs(%2) : (!batch, !scope, !batch, !rows, !rows) -> !rows
  return %3 : !rows
}
