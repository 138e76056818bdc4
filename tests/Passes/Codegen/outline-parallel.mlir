// Regions become functions of the thread and of what they use.
// RUN: %tenon-opt %s --outline-parallel | FileCheck %s

// Constants are made again inside; values from outside are passed.
// CHECK: func.func private @layer.region0(%arg0: index, %arg1: index, %x: memref<?x8xf32>) {
// CHECK-NEXT: %[[C:.*]] = arith.constant 7 : index
// CHECK-NEXT: %[[I:.*]] = arith.addi %arg0, %[[C]]
// CHECK-NEXT: memref.load %x[%[[I]], %arg1]
// CHECK-NEXT: return
// CHECK: func.func private @layer.region1(%arg0: index, %arg1: index, %batch: !transformer.batch) {
// CHECK-NEXT: dnn.barrier %batch
// CHECK-NEXT: return
// CHECK-LABEL: func.func @layer(
// CHECK-NOT: dnn.parallel
// CHECK: dnn.launch @layer.region0 on %batch(%x) :
// CHECK: dnn.launch @layer.region1 on %batch(%batch) :
// CHECK-NEXT: return
func.func @layer(%b: !transformer.batch, %x: memref<?x8xf32>) {
  %c = arith.constant 7 : index
  dnn.parallel %t of %n {
    %0 = arith.addi %t, %c : index
    %1 = memref.load %x[%0, %n] : memref<?x8xf32>
  }
  dnn.parallel %t of %n {
    dnn.barrier %b
  }
  return
}
