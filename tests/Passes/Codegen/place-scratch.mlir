// Of a region's scratch, what is beyond 64 KiB becomes memory, largest first.
// RUN: %tenon-opt %s --place-scratch --split-input-file | FileCheck %s

// CHECK: module attributes {dnn.scratch_bytes = 151552 : i64}
// CHECK-LABEL: @layer(
// CHECK: dnn.parallel %[[T:.*]] of
// CHECK-NEXT: %[[SMALL:.*]] = memref.alloca() {{.*}} : memref<16384xf32>
// CHECK-NEXT: %[[LESS:.*]] = dnn.scratch %{{.*}}[%[[T]]] at 81920 : memref<64x544xbf16>
// CHECK-NEXT: %[[MOST:.*]] = dnn.scratch %{{.*}}[%[[T]]] at 0 : memref<81857xi8>
// CHECK: memref.view %[[MOST]]
// CHECK: memref.load %[[LESS]]
// CHECK: memref.load %[[SMALL]]
module {
func.func @layer(%b: !transformer.batch) {
  dnn.parallel %t of %n {
    %small = memref.alloca() {alignment = 64 : i64} : memref<16384xf32>
    %less = memref.alloca() {alignment = 64 : i64} : memref<64x544xbf16>
    %most = memref.alloca() {alignment = 64 : i64} : memref<81857xi8>
    %c0 = arith.constant 0 : index
    %view = memref.view %most[%c0][] : memref<81857xi8> to memref<16x8xf32>
    %0 = memref.load %view[%t, %c0] : memref<16x8xf32>
    %1 = memref.load %less[%t, %c0] : memref<64x544xbf16>
    %2 = memref.load %small[%t] : memref<16384xf32>
  }
  // CHECK: dnn.parallel
  // CHECK-NEXT: memref.alloca
  // CHECK-NEXT: memref.alloca
  dnn.parallel %t of %n {
    %0 = memref.alloca() : memref<8192xf32>
    %1 = memref.alloca() : memref<8192xf32>
    %2 = memref.load %0[%t] : memref<8192xf32>
    %3 = memref.load %1[%t] : memref<8192xf32>
  }
  return
}
}

// -----

// CHECK: module attributes {dnn.scratch_bytes = 0 : i64}
module {
func.func @nothing() {
  return
}
}
