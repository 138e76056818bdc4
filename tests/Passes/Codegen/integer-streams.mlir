// Matmuls of a few rows of integers of 16 bits: codes are multiplied as they
// are unpacked, and groups further on are asked for.
// RUN: %tenon-opt %s -split-input-file --generate-kernels --cse | FileCheck %s

!rows = memref<?x96x!dnn.grouped<16>>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x96xq4_0>
!eight = !dnn.packed<panels, 128x96xq8_0>
module attributes {dnn.target = #dnn.target<avx512_vnni, vector = 512, registers = 32, dot = [int8, int16], library = []>} {
// Of one row the fourth group from here, into the first level; of more the one
// 16 KiB from here, into the second.
// CHECK-LABEL: @four
// CHECK: case 1
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3
// CHECK: %[[NEAR:.*]] = arith.addi %[[GROUP]], %c4
// CHECK-NOT: locality<2>
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %[[NEAR]], %{{.*}}], read, locality<3>
// CHECK: dnn.dot
// CHECK: case 2
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3
// CHECK: %[[FAR:.*]] = arith.addi %[[GROUP]], %c15
// CHECK-NOT: locality<3>
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %[[FAR]], %{{.*}}], read, locality<2>
// CHECK: dnn.dot
func.func private @four(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
// All columns of codes of 8 bits are read in order, and nothing is asked for;
// sums of three rows are for half of the columns.
// CHECK-LABEL: @eight
// CHECK: case 1
// CHECK-NOT: memref.prefetch
// CHECK: case 3
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3
// CHECK: %[[FAR:.*]] = arith.addi %[[GROUP]], %c8
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %[[FAR]], %{{.*}}], read, locality<2>
// CHECK: dnn.dot
func.func private @eight(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !eight
  dnn.matmul %x weight %w outs(%o) : (!rows, !eight, !out) -> ()
  return
}
}

// -----

// With 16 registers, octets of a group are a loop: each asks for lines of the
// fourth group from here, column by column between the products of one row.
// Of three rows all lines are asked for before the columns.
!rows = memref<?x96x!dnn.grouped<16, int16>>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x96xq4_0>
module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [int16], library = []>} {
// CHECK-LABEL: @few_registers
// CHECK: case 1
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3
// CHECK-NOT: memref.prefetch
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0 to %c16
// CHECK: memref.prefetch {{.*}}, read, locality<3>
// CHECK-COUNT-4: dnn.dot
// CHECK: memref.prefetch {{.*}}, read, locality<3>
// CHECK-COUNT-4: dnn.dot
// CHECK: case 3
// CHECK: scf.for %{{.*}} = %c0 to %c3
// CHECK: memref.prefetch
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: dnn.dot
func.func private @few_registers(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}
