// A copy of a buffer onto itself goes, any other stays.
// RUN: %tenon-opt %s --fold-self-copies | FileCheck %s

// CHECK-LABEL: @copies
func.func @copies(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  // CHECK-NEXT: memref.copy %arg0, %arg1
  // CHECK-NEXT: return
  memref.copy %x, %x : memref<?x8xf32> to memref<?x8xf32>
  memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32>
  memref.copy %y, %y : memref<?x8xf32> to memref<?x8xf32>
  return
}
