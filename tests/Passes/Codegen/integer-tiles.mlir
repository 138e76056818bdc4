// Matmuls of some rows of integers in tiles: both digits of eight rows times
// the four-byte steps of 16 columns.
// RUN: %tenon-opt %s -split-input-file --generate-kernels --cse | FileCheck %s

!rows = memref<?x96x!dnn.grouped<16>>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x96xq4_0>
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {
// Of 16 rows and three groups the digits and scales; of a group the numbers,
// two times, and products; the sums.
// CHECK-LABEL: @few
// CHECK-DAG: %[[DIGITS:.*]] = memref.alloca() {{.*}} : memref<3x32x32xi8>
// CHECK-DAG: %[[SCALES:.*]] = memref.alloca() {{.*}} : memref<3x16xf32>
// CHECK-DAG: %[[NUMBERS:.*]] = memref.alloca() {{.*}} : memref<2x32x64xi8>
// CHECK-DAG: %[[PRODUCTS:.*]] = memref.alloca() {{.*}} : memref<128x16xi32>
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<16x64xf32>
// Rows are copied once for all panels, if they are 2 to 16.
// CHECK: vector.store %{{.*}}, %[[DIGITS]]
// CHECK: memref.store %{{.*}}, %[[SCALES]]
// CHECK-NOT: amx.tile
// One row: dot products.
// CHECK: dnn.dot
// Up to four rows: one tile of them. While it is multiplied with 16 columns,
// their next numbers are unpacked, and what is unpacked later is asked for between
// the additions of their last products. Products are stored 16 columns later.
// CHECK: scf.index_switch
// CHECK: case 1
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: amx.tile_load %[[NUMBERS]][{{.*}} into !amx.tile<8x64xi8>
// CHECK: amx.tile_load %[[DIGITS]][{{.*}} into !amx.tile<16x32xi8>
// CHECK: %[[FIRST:.*]] = amx.tile_muli
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-8: vector.store %{{.*}}, %[[NUMBERS]]
// CHECK-NOT: vector.store %{{.*}}, %[[NUMBERS]]
// CHECK: memref.prefetch
// CHECK: vector.load %[[SUMS]]
// CHECK: vector.load %[[PRODUCTS]]
// CHECK-COUNT-2: vector.store %{{.*}}, %[[SUMS]]
// CHECK: memref.prefetch
// CHECK-COUNT-2: vector.store %{{.*}}, %[[SUMS]]
// CHECK-NOT: amx.tile_store
// CHECK: amx.tile_muli
// CHECK-COUNT-8: vector.store %{{.*}}, %[[NUMBERS]]
// CHECK-COUNT-4: vector.store %{{.*}}, %[[SUMS]]
// CHECK: amx.tile_store %[[PRODUCTS]]{{.*}}, %[[FIRST]]
// CHECK-COUNT-2: amx.tile_muli
// CHECK-COUNT-2: amx.tile_store %[[PRODUCTS]]
// CHECK-NEXT: }
// CHECK: case 3
// Up to twelve rows: two tiles.
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: amx.tile_load %[[NUMBERS]]
// CHECK: amx.tile_load %[[DIGITS]]
// CHECK: %[[FIRST:.*]] = amx.tile_muli
// CHECK: amx.tile_load %[[DIGITS]]
// CHECK: amx.tile_muli
// CHECK-NOT: amx.tile_
// CHECK-COUNT-8: vector.store %{{.*}}, %[[NUMBERS]]
// CHECK-COUNT-12: vector.store %{{.*}}, %[[SUMS]]
// CHECK-NOT: amx.tile_store
// CHECK-COUNT-2: amx.tile_muli
// CHECK-COUNT-12: vector.store %{{.*}}, %[[SUMS]]
// CHECK: amx.tile_store %[[PRODUCTS]]{{.*}}, %[[FIRST]]
func.func private @few(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}

// -----

!rows = memref<?x96x!dnn.grouped<16>>
!out = memref<?x128xf32>
!halves = !dnn.packed<panels, 128x96xq6_k>
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {
// A scale for 16 values: rows of each half, zeros in the other, so that tiles
// have the same shapes.
// CHECK-LABEL: @halves
// CHECK: %[[DIGITS:.*]] = memref.alloca() {{.*}} : memref<3x64x32xi8>
// CHECK: %[[FIRST:.*]] = arith.andi
// CHECK: vector.store %[[FIRST]], %[[DIGITS]]
// CHECK: %[[SECOND:.*]] = arith.andi
// CHECK: vector.store %[[SECOND]], %[[DIGITS]]
// CHECK: case 1
// CHECK: amx.tile_load %[[DIGITS]][%{{.*}}, %c0, %c0] : {{.*}} into !amx.tile<16x32xi8>
// CHECK: amx.tile_load %[[DIGITS]][%{{.*}}, %c32, %c0] : {{.*}} into !amx.tile<16x32xi8>
func.func private @halves(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !halves
  dnn.matmul %x weight %w outs(%o) : (!rows, !halves, !out) -> ()
  return
}
}

// -----

!rows = memref<?x96x!dnn.grouped<16>>
!out = memref<?x1152xf32>
!four = !dnn.packed<panels, 1152x96xq4_0>
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {
// Of many panels two are read at once: 8 columns of 16, not 4.
// CHECK-LABEL: @pairs
// CHECK-DAG: memref.alloca() {{.*}} : memref<2x64x64xi8>
// CHECK-DAG: memref.alloca() {{.*}} : memref<16x128xf32>
// CHECK: case 1
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK-COUNT-8: amx.tile_muli
// CHECK-NOT: amx.tile_muli
// CHECK: case 2
func.func private @pairs(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}

// -----

!rows = memref<?x96x!dnn.grouped<16>>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x96xq4_0>
module attributes {dnn.target = #dnn.target<avx512_vnni, vector = 512, registers = 32, dot = [int8, int16], library = []>} {
// What is streamed is asked for between the products, 18 lines of a group with
// 32 reads.
// CHECK-LABEL: @no_tiles
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: dnn.dot
// CHECK: memref.prefetch
// CHECK: dnn.dot
// CHECK-NOT: amx.tile
func.func private @no_tiles(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}

// -----

// Rows so wide that 16 of them would fill a thread's stack.
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {
// CHECK-LABEL: @wide
// CHECK-NOT: amx.tile
// CHECK: dnn.dot
// CHECK-NOT: amx.tile
func.func private @wide(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x131072x!dnn.grouped<16>>, %o: memref<?x64xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !dnn.packed<panels, 64x131072xq4_0>
  dnn.matmul %x weight %w outs(%o) : (memref<?x131072x!dnn.grouped<16>>, !dnn.packed<panels, 64x131072xq4_0>, memref<?x64xf32>) -> ()
  return
}
}
