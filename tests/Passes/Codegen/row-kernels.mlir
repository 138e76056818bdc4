// Kernels that go row by row: which arrays of the batch they read, where they
// load and store, and the mask of the last columns. A row of 19 is one vector of
// 16 and a masked one of 3.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!rows = memref<?x19xf32>
!half = memref<?x19xbf16>
!vector = !dnn.packed<vector, 19x1xf32>
!table = !dnn.packed<row_major, 9x19xf32>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Threads take neighbouring rows: those from rows * thread / threads on.
// CHECK-LABEL: @residual
// CHECK: dnn.parallel %[[T:.*]] of %[[N:.*]] {
// CHECK: %[[ROWS:.*]] = memref.dim %x_1, %c0
// CHECK: %[[MINE:.*]] = arith.muli %[[ROWS]], %[[T]]
// CHECK: %[[FROM:.*]] = arith.divui %[[MINE]], %[[N]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[T]], %c1
// CHECK: %[[THEIRS:.*]] = arith.muli %[[ROWS]], %[[NEXT]]
// CHECK: %[[TO:.*]] = arith.divui %[[THEIRS]], %[[N]]
// CHECK: scf.for %[[ROW:.*]] = %[[FROM]] to %[[TO]] step %c1 {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %[[C16:c16.*]] step %[[C16]] {
// CHECK-DAG: vector.load %x[%[[ROW]], %[[COLUMN]]]
// CHECK-DAG: vector.load %x_0[%[[ROW]], %[[COLUMN]]]
// CHECK: vector.store %{{.*}}, %x_1[%[[ROW]], %[[COLUMN]]]
// CHECK: }
// CHECK: %[[MASK:.*]] = vector.create_mask %c3 : vector<16xi1>
// CHECK-DAG: vector.maskedload %x[%[[ROW]], %[[C16]]], %[[MASK]]
// CHECK-DAG: vector.maskedload %x_0[%[[ROW]], %[[C16]]], %[[MASK]]
// CHECK: vector.maskedstore %x_1[%[[ROW]], %[[C16]]], %[[MASK]]
// CHECK-NOT: vector.{{.*}}{{load|store}}
// CHECK: return
func.func private @residual(%b: !batch, %x: !rows, %y: !rows, %o: !rows) {
  dnn.residual %x, %y outs(%o) : (!rows, !rows, !rows) -> ()
  return
}

// Of 16 columns no vector has a mask, of 3 columns there is no loop.
// CHECK-LABEL: @whole_vectors
// CHECK-NOT: mask
// CHECK: return
func.func private @whole_vectors(%b: !batch, %x: memref<?x32xf32>) {
  dnn.scale %x by 0.5 outs(%x) : (memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}
// CHECK-LABEL: @no_loop
// CHECK-COUNT-1: scf.for
// CHECK-NOT: {{scf.for|vector.load|vector.store}}
// CHECK: vector.maskedload %x[%{{.*}}, %c0]
// CHECK: return
func.func private @no_loop(%b: !batch, %x: memref<?x3xf32>) {
  dnn.scale %x by 0.5 outs(%x) : (memref<?x3xf32>, memref<?x3xf32>) -> ()
  return
}

// To the nearest, ties to even: half of the last place less one bit is added;
// a NaN stays one. What is stored is bf16.
// CHECK-LABEL: @cast
// CHECK: arith.constant dense<32767> : vector<16xi32>
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X:.*]], %[[X]]
// CHECK: %[[QUIET:.*]] = arith.constant dense<2143289344> : vector<16xi32>
// CHECK: arith.select %[[NAN]], %[[QUIET]], %
// CHECK: vector.store %{{.*}}, %x_0[{{.*}} : memref<?x19xbf16>, vector<16xbf16>
// CHECK: vector.maskedstore %x_0[{{.*}} : memref<?x19xbf16>, vector<16xi1>, vector<16xbf16>
// CHECK: return
func.func private @cast(%b: !batch, %x: !rows, %o: !half) {
  dnn.cast %x outs(%o) : (!rows, !half) -> ()
  return
}

// CHECK-LABEL: @embedding
// CHECK: %[[T:.*]] = dnn.weight_view %weight : <row_major, 9x19xf32> -> memref<9x19xf32>
// CHECK: %token_ids = dnn.field token_ids %batch
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[WORD:.*]] = memref.load %token_ids[%[[ROW]]]
// CHECK: %[[ID:.*]] = arith.index_cast %[[WORD]]
// CHECK: vector.load %[[T]][%[[ID]], %[[COLUMN:.*]]] :
// CHECK: vector.store %{{.*}}, %x[%[[ROW]], %[[COLUMN]]] :
// CHECK: vector.maskedload %[[T]][%[[ID]], %
// CHECK: dnn.barrier
// CHECK: dnn.field positions %batch
// CHECK: arith.addi %{{.*}}, %c2
// CHECK: dnn.barrier
// CHECK: dnn.field token_types %batch
// CHECK-NOT: dnn.field
// CHECK: return
func.func private @embedding(%b: !batch, %t: !table, %o: !rows) {
  dnn.embedding token %b, %t outs(%o) : (!batch, !table, !rows) -> ()
  dnn.embedding position %b, %t offset 2 outs(%o) : (!batch, !table, !rows) -> ()
  dnn.embedding token_type %b, %t outs(%o) : (!batch, !table, !rows) -> ()
  return
}

// A row of panels of bf16 pairs: panel id / 64, pair column / 2, lane
// id % 64 * 2 + column % 2.
// CHECK-LABEL: @embedding_of_panels
// CHECK: %[[T:.*]] = dnn.weight_view %weight : <panels, 97x6xbf16> -> memref<2x16x128xbf16>
// CHECK: %[[ID:.*]] = arith.index_cast
// CHECK: %[[PANEL:.*]] = arith.divui %[[ID]], %[[C64:c64.*]] : index
// CHECK: %[[IN:.*]] = arith.remui %[[ID]], %[[C64]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[IN]], %[[C2:c2.*]] : index
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c6 step %c1 {
// CHECK: %[[PAIR:.*]] = arith.divui %[[COLUMN]], %[[C2]]
// CHECK: %[[ODD:.*]] = arith.remui %[[COLUMN]], %[[C2]]
// CHECK: %[[LANE:.*]] = arith.addi %[[FIRST]], %[[ODD]]
// CHECK: memref.load %[[T]][%[[PANEL]], %[[PAIR]], %[[LANE]]]
// CHECK: return
func.func private @embedding_of_panels(%b: !batch, %t: !dnn.packed<panels, 97x6xbf16>, %o: memref<?x6xf32>) {
  dnn.embedding token %b, %t outs(%o) : (!batch, !dnn.packed<panels, 97x6xbf16>, memref<?x6xf32>) -> ()
  return
}

// Row i of the result is row output_rows[i].
// CHECK-LABEL: @select_output_rows
// CHECK: memref.dim %x_0
// CHECK: %output_rows = dnn.field output_rows %batch
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[WORD:.*]] = memref.load %output_rows[%[[ROW]]]
// CHECK: %[[FROM:.*]] = arith.index_cast %[[WORD]]
// CHECK: vector.load %x[%[[FROM]], %
// CHECK: vector.store %{{.*}}, %x_0[%[[ROW]], %
// CHECK: return
func.func private @select_output_rows(%b: !batch, %x: !rows, %o: !rows) {
  dnn.select_output_rows %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  return
}

// Rows of a sequence lie between two starts; a length is at least 1e-12.
// CHECK-LABEL: @pool
// CHECK: %starts = dnn.field starts %batch
// CHECK: memref.dim %x_0
// CHECK: scf.for %[[SEQUENCE:.*]] =
// CHECK: memref.load %starts[%[[SEQUENCE]]]
// CHECK: %[[FROM:.*]] = arith.index_cast
// CHECK: %[[NEXT:.*]] = arith.addi %[[SEQUENCE]], %c1
// CHECK: memref.load %starts[%[[NEXT]]]
// CHECK: %[[TO:.*]] = arith.index_cast
// CHECK: scf.for %[[ROW:.*]] = %[[FROM]] to %[[TO]] step %c1
// CHECK: vector.load %x[%[[ROW]], %
// CHECK: vector.store %{{.*}}, %x_0[%[[SEQUENCE]], %
// CHECK: vector.maskedload %x[
// CHECK: math.sqrt
// CHECK: arith.constant 9.99999996E-13 : f32
// CHECK: vector.store %{{.*}}, %x_0[%[[SEQUENCE]], %
// CHECK: return
func.func private @pool(%b: !batch, %x: !rows, %o: !rows) {
  dnn.pool mean %x, %b normalize outs(%o) : (!rows, !batch, !rows) -> ()
  return
}

// Only the first row, only the last one; not normalised.
// CHECK-LABEL: @pool_one_row
// CHECK: %[[FROM:.*]] = arith.index_cast
// CHECK: %[[TO:.*]] = arith.addi %[[FROM]], %c1
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// CHECK: dnn.barrier
// CHECK: arith.addi %{{.*}}, %c1
// CHECK: %[[END:.*]] = arith.index_cast
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c1
// CHECK: scf.for %{{.*}} = %[[LAST]] to %[[END]] step %c1
// CHECK-NOT: math.sqrt
// CHECK: return
func.func private @pool_one_row(%b: !batch, %x: !rows, %o: !rows) {
  dnn.pool cls %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  dnn.pool last %x, %b outs(%o) : (!rows, !batch, !rows) -> ()
  return
}
}
