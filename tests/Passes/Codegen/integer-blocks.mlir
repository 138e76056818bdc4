// Matmuls of some rows of integers of 8 bits: blocks of rows as the panel is
// read.
// RUN: %tenon-opt %s -split-input-file --generate-kernels --cse | FileCheck %s

!rows = memref<?x96x!dnn.grouped<8>>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x96xq4_0>
module attributes {dnn.target = #dnn.target<avx512_vnni, vector = 512, registers = 32, dot = [int8, int16], library = []>} {
// Of 64 rows, three groups, group by group, and sums.
// CHECK-LABEL: @many
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<64x64xf32>
// CHECK-DAG: %[[ROWS:.*]] = memref.alloca() {{.*}} : memref<3x2816xi8>
// Rows are copied once for all panels, if they are no more than that.
// CHECK: %[[COUNT:.*]] = arith.subi
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[COUNT]], %c65
// CHECK: scf.if %[[FEW]]
// CHECK: scf.for %[[ROW:.*]] = %c0 to %
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3
// CHECK: vector.load %bytes[%[[ROW]], %
// CHECK: vector.store %{{.*}}, %[[ROWS]][%[[GROUP]], %
// CHECK: dnn.claim
// CHECK: scf.if %[[FEW]]
// All blocks of rows are multiplied with 32 columns of a group before the next
// 32: 4, 6 or 8 rows, two of 6 if 9 to 12 are left.
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3 step %c1
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c64 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c8 iter_args(%[[FIRST:.*]] = %c0)
// CHECK: %[[LEFT:.*]] = arith.subi %[[COUNT]], %[[FIRST]]
// CHECK: %[[C12:.*]] = arith.cmpi slt, %[[LEFT]], %c13
// CHECK: %[[TO12:.*]] = arith.select %[[C12]], %c2, %c3
// CHECK: %[[C8:.*]] = arith.cmpi slt, %[[LEFT]], %c9
// CHECK: %[[TO8:.*]] = arith.select %[[C8]], %c3, %[[TO12]]
// CHECK: %[[C6:.*]] = arith.cmpi slt, %[[LEFT]], %c7
// CHECK: %[[TO6:.*]] = arith.select %[[C6]], %c2, %[[TO8]]
// CHECK: %[[C4:.*]] = arith.cmpi slt, %[[LEFT]], %c5
// CHECK: %[[CASE:.*]] = arith.select %[[C4]], %c1, %[[TO6]]
// CHECK: scf.index_switch %[[CASE]]
// Products of four rows and two columns of 16. Lines are asked for between
// them; sums are read when products are there.
// CHECK: case 1
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK: dnn.dot
// CHECK: memref.prefetch
// CHECK-NOT: vector.load %[[SUMS]]
// CHECK: dnn.dot
// CHECK: vector.load %[[SUMS]][%[[FIRST]], %[[COLUMN]]]
// CHECK-NOT: dnn.dot
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK-NOT: dnn.dot
// Six rows: eight steps of each column.
// CHECK: case 2
// CHECK-COUNT-96: dnn.dot
// CHECK-NOT: dnn.dot
// CHECK: case 3
// CHECK-COUNT-128: dnn.dot
// CHECK-NOT: dnn.dot
// CHECK: default
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %
// CHECK-NEXT: scf.yield %[[NEXT]]
// More rows: pieces of the panel are unpacked.
// CHECK: } else {
// CHECK: vector.store {{.*}} : memref<64x256xi8>
// CHECK: dnn.dot
func.func private @many(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}

// -----

!rows = memref<?x64x!dnn.grouped<8>>
!four = !dnn.packed<panels, 6x128x64xq4_0>
module attributes {dnn.target = #dnn.target<avx512_vnni, vector = 512, registers = 32, dot = [int8, int16], library = []>} {
// An expert's rows are copied when a thread comes to it, not for each of its
// panels.
// CHECK-LABEL: @experts
// CHECK: dnn.claim
// CHECK: scf.for %[[UNIT:[^ ]+]] = %{{.*}} iter_args(%[[LAST:.*]] = %c6)
// CHECK: %[[EXPERT:.*]] = arith.index_cast
// CHECK: %[[NEW:.*]] = arith.cmpi ne, %[[EXPERT]], %[[LAST]]
// CHECK: scf.if %[[NEW]]
// CHECK: vector.store %{{.*}} : memref<2x2816xi8>
// CHECK: scf.index_switch
// CHECK: dnn.dot
// CHECK: scf.yield %[[EXPERT]] : index
func.func private @experts(%b: !transformer.batch, %x: !rows, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %g: !four, %h: memref<?x256xf32>) {
  dnn.moe_gate_up silu %x by %i, %f gate %g up %g outs(%h) : (!rows, memref<?x2xi32>, memref<1x7xi32>, !four, !four, memref<?x256xf32>) -> ()
  return
}
}

// -----

!rows = memref<?x96x!dnn.grouped<8>>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x96xq4_0>
module attributes {dnn.target = #dnn.target<avx2_vnni, vector = 256, registers = 16, dot = [int8, int16], library = []>} {
// With few registers, pieces are unpacked for all numbers of rows.
// CHECK-LABEL: @narrow
// CHECK-NOT: memref<3x2816xi8>
// CHECK: vector.store {{.*}} : memref<64x256xi8>
// CHECK-NOT: memref<3x2816xi8>
// CHECK: return
func.func private @narrow(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}

// -----

!rows = memref<?x28672x!dnn.grouped<8>>
!out = memref<?x64xf32>
!four = !dnn.packed<panels, 64x28672xq4_0>
module attributes {dnn.target = #dnn.target<avx512_vnni, vector = 512, registers = 32, dot = [int8, int16], library = []>} {
// No more rows than 1 MiB holds: 24 of 39,424 bytes.
// CHECK-LABEL: @wide
// CHECK-DAG: memref.alloca() {{.*}} : memref<24x64xf32>
// CHECK-DAG: memref.alloca() {{.*}} : memref<896x1056xi8>
// CHECK: arith.cmpi slt, %{{.*}}, %c25
func.func private @wide(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}
