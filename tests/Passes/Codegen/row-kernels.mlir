// Which arrays of the batch the kernels of rows read, and the constants they
// are written for.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!rows = memref<?x8xf32>
!table = !dnn.packed<rows, 9x8xf32>

module attributes {dnn.cpu_level = "avx2"} {

// CHECK-LABEL: @embedding
// CHECK: dnn.field token_ids %arg0
// CHECK: dnn.barrier
// CHECK: dnn.field positions %arg0
// CHECK: dnn.barrier
// CHECK: dnn.field token_types %arg0
// CHECK-NOT: dnn.field
// CHECK: return
func.func private @embedding(%b: !batch, %t: !table, %o: !rows) {
  dnn.embedding token %b, %t outs(%o) : (!batch, !table, !rows) -> ()
  dnn.embedding position %b, %t outs(%o) : (!batch, !table, !rows) -> ()
  dnn.embedding token_type %b, %t outs(%o) : (!batch, !table, !rows) -> ()
  return
}

// CHECK-LABEL: @select_rows
// CHECK: dnn.field wanted %arg0
// CHECK: return
func.func private @select_rows(%b: !batch, %x: !rows, %o: !rows) {
  dnn.select_rows %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  return
}

// Rows of a sequence lie between two starts; a length is at least 1e-12.
// CHECK-LABEL: @pool
// CHECK: dnn.field starts %arg0
// CHECK: math.sqrt
// CHECK: return
func.func private @pool(%b: !batch, %x: !rows, %o: !rows) {
  dnn.pool mean %x, %b outs(%o) normalize : (!rows, !batch, !rows) -> ()
  return
}

// CHECK-LABEL: @pool_as_it_is
// CHECK-NOT: math.sqrt
// CHECK: return
func.func private @pool_as_it_is(%b: !batch, %x: !rows, %o: !rows) {
  dnn.pool mean %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  return
}

// CHECK-LABEL: @norm
// CHECK: arith.constant 1.250000e-01 : f32
// CHECK: return
func.func private @norm(%b: !batch, %w: !dnn.packed<vector, 8x1xf32>, %x: !rows, %o: !rows) {
  dnn.norm rms %x weight %w outs(%o) eps 0.125 : (!rows, !dnn.packed<vector, 8x1xf32>, !rows) -> ()
  return
}

// The sum is stored beside the norm.
// CHECK-LABEL: @add_norm
// CHECK-DAG: vector.{{.*}}store {{.*}}%arg4[
// CHECK-DAG: vector.{{.*}}store {{.*}}%arg3[
// CHECK: return
func.func private @add_norm(%b: !batch, %w: !dnn.packed<vector, 8x1xf32>, %x: !rows, %o: !rows, %s: !rows) {
  dnn.norm rms %x residual %x weight %w outs(%o, %s) eps 0.125 : (!rows, !rows, !dnn.packed<vector, 8x1xf32>, !rows, !rows) -> ()
  return
}

// To the nearest, ties to even: half of the last place less one bit is added.
// CHECK-LABEL: @cast
// CHECK: arith.constant dense<32767> : vector<16xi32>
// CHECK: arith.bitcast {{.*}} to vector<16xbf16>
// CHECK: return
func.func private @cast(%b: !batch, %x: !rows, %o: memref<?x8xbf16>) {
  dnn.cast %x outs(%o) : (!rows, memref<?x8xbf16>) -> ()
  return
}
}
