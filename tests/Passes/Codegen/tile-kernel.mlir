// Matmuls of many rows in tiles of 16 rows with 16 columns, 32 features deep.
// RUN: %tenon-opt %s -split-input-file --generate-kernels --cse | FileCheck %s

!rows = memref<?x600xbf16>
!out = memref<?x256xf32>
!four = !dnn.packed<panels, 256x600xq4_k>
!eight = !dnn.packed<panels, 256x600xq8_0>
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = [f32, bf16]>} {
// Of many rows, sums of all columns at once, a piece of the rows, and a piece of
// one panel of the weights, widened; of few, all features, sums of a panel, and
// the tiles of 32 features of it, by turns.
// CHECK-LABEL: @many
// CHECK-DAG: %[[ROWS:.*]] = memref.alloca() {{.*}} : memref<16x8x32x32xbf16>
// CHECK-DAG: %[[PAIRS:.*]] = memref.alloca() {{.*}} : memref<1x128x128xbf16>
// CHECK-DAG: %[[OFPANEL:.*]] = memref.alloca() {{.*}} : memref<32x64xf32>
// CHECK-DAG: %[[TURNS:.*]] = memref.alloca() {{.*}} : memref<2x4x16x32xbf16>
// The sums of many rows and all features of few lie in one place.
// CHECK-DAG: %[[SHARED:.*]] = memref.alloca() {{.*}} : memref<1048576xi8>
// CHECK: %[[SUMS:.*]] = memref.view %[[SHARED]][%c0][] : memref<1048576xi8> to memref<512x256xf32>
// CHECK: %[[FEW:.*]] = memref.view %[[SHARED]][%c0][] : memref<1048576xi8> to memref<1x19x32x32xbf16>
// Up to 32 rows are copied before panels are claimed, as many as are worth it.
// The last 24 features are three quarters of a tile.
// CHECK: %[[ISFEW:.*]] = arith.cmpi slt, %{{.*}}, %c33
// CHECK: scf.if %[[ISFEW]]
// CHECK: vector.store %{{.*}}, %[[FEW]]
// CHECK: vector.create_mask %c24
// CHECK: vector.maskedload %x
// CHECK: %[[GRAIN:.*]] = arith.select %[[ISFEW]], %c2, %c4
// CHECK: dnn.claim %[[GRAIN]] of %c4
// CHECK: scf.if %[[ISFEW]]
// One panel after the other. Sums stay in tiles along 128 features, and tiles
// multiply 32 of them while the next 32 are widened, between one column of tiles
// and the next.
// CHECK-NOT: %[[FEW]]
// CHECK: vector.store %{{.*}}, %[[TURNS]]
// CHECK-COUNT-4: amx.tile_load %[[OFPANEL]]
// CHECK-NOT: amx.tile_load %[[OFPANEL]]
// CHECK: scf.for {{.*}} -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK-COUNT-2: amx.tile_load %[[FEW]]
// Between them, lines of what is widened four steps later and of the rows that
// the next step multiplies are asked for.
// CHECK: memref.prefetch %{{.*}} locality<2>
// CHECK-COUNT-4: memref.prefetch %[[FEW]]{{.*}} locality<3>
// CHECK: vector.store %{{.*}}, %[[TURNS]]
// CHECK: amx.tile_load %[[TURNS]]
// CHECK-COUNT-2: amx.tile_mulf
// CHECK: vector.store %{{.*}}, %[[TURNS]]
// CHECK: amx.tile_load %[[TURNS]]
// CHECK-COUNT-2: amx.tile_mulf
// CHECK: scf.yield {{.*}} : !amx.tile<16x16xf32>
// CHECK-COUNT-4: amx.tile_store %[[OFPANEL]]
// Many rows: their sums are cleared, and a piece of them is copied.
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: vector.load %x[{{.*}}vector<32xbf16>
// CHECK: vector.store %{{.*}}, %[[ROWS]]
// CHECK-NOT: memref.prefetch
// CHECK: dnn.lookup
// Two vectors are rounded to bf16, ties away from zero, and joined.
// CHECK: %[[EVEN:.*]] = arith.addi %{{.*}}, %cst{{.*}} : vector<16xi32>
// CHECK: %[[LOW:.*]] = arith.shrui %[[EVEN]]
// CHECK: %[[HIGH:.*]] = arith.addi %{{.*}}, %cst{{.*}} : vector<16xi32>
// CHECK: arith.select %{{.*}} : vector<32xi1>, vector<32xi16>
// CHECK: vector.store %{{.*}}, %[[PAIRS]]
// Blocks of two tiles by two, each tile of rows and of columns read once per
// step, in which the next piece is asked for.
// CHECK: %[[SHARE:.*]] = arith.divui %c{{[0-9]+}}, %{{.*}}
// CHECK: %[[LINES:.*]] = arith.addi %[[SHARE]], %c1
// CHECK: scf.for %[[ROW:.*]] = %c0 to %{{.*}} step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK-COUNT-4: amx.tile_load %[[SUMS]][{{.*}} into !amx.tile<16x16xf32>
// CHECK-COUNT-2: amx.tile_load %[[ROWS]][{{.*}} into !amx.tile<16x32xbf16>
// CHECK: %[[FROM:.*]] = arith.muli %{{.*}}, %[[LINES]]
// CHECK: %[[TO:.*]] = arith.addi %[[FROM]], %[[LINES]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// CHECK: memref.prefetch %{{.*}} locality<2>
// CHECK: amx.tile_load %[[PAIRS]][{{.*}} into !amx.tile<16x32xbf16>
// CHECK-COUNT-2: amx.tile_mulf
// CHECK: amx.tile_load %[[PAIRS]]
// CHECK-COUNT-30: amx.tile_mulf
// CHECK-NOT: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]
// A last block of at most 16 rows: all columns of a panel.
// CHECK: scf.if
// CHECK-COUNT-4: amx.tile_load %[[SUMS]]
// CHECK: amx.tile_load %[[ROWS]]
// CHECK-COUNT-4: amx.tile_load %[[PAIRS]]
// CHECK: amx.tile_load %[[ROWS]]
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]
// The last 88 features are two tiles and three quarters of one.
// CHECK: vector.create_mask %c24
// CHECK: vector.maskedload %x
// CHECK-COUNT-12: amx.tile_mulf
// CHECK-NOT: amx.tile_mulf
// CHECK: amx.tile_store
func.func private @many(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}

// Without a minimum, pairs of numbers are f16: codes of 8 bits less 1152 from
// 1024 on. They are multiplied with the scale's mantissa, rounded from 11 bits to
// 8, and get the scale's exponent where they are not zero.
// CHECK-LABEL: @pairs
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[FACTOR:.*]] = arith.bitcast %{{.*}} : vector<32xi16> to vector<32xf16>
// CHECK: arith.xori %{{.*}} : vector<32xi16>
// CHECK: %[[NUMBER:.*]] = arith.subf %{{.*}} : vector<32xf16>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[NUMBER]], %[[FACTOR]] : vector<32xf16>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[PRODUCT]] : vector<32xf16> to vector<32xi16>
// CHECK: arith.shrsi %{{.*}} : vector<32xi16>
// CHECK: %[[ROUNDED:.*]] = arith.andi
// CHECK: %[[SCALED:.*]] = arith.addi %[[ROUNDED]], %{{.*}} : vector<32xi16>
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %{{.*}} : vector<32xi16>
// CHECK: arith.select %[[ZERO]], %[[ROUNDED]], %[[SCALED]]
// CHECK-NOT: arith.sitofp
// CHECK: return
func.func private @pairs(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !eight
  dnn.matmul %x weight %w outs(%o) : (!rows, !eight, !out) -> ()
  return
}

// A decode-sized batch reads weights once: nothing is gained by tiles.
// CHECK-LABEL: @few
// CHECK-NOT: amx.tile
// CHECK: return
func.func private @few(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}
}

// -----

!rows = memref<?x64xbf16>
!odd = memref<?x72xbf16>
!out = memref<?x192xf32>
!plain = !dnn.packed<panels, 192x64xbf16>
!short = !dnn.packed<panels, 192x72xbf16>
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {
// Shares are of single panels, at least as many as are worth a claim; of many
// rows, all three use one copy. Many rows load tiles of plain bf16 from where they
// lie. For up to 32 rows the tiles of 32 features are copied before, all four for
// up to 16; lines are asked for shortly before.
// CHECK-LABEL: @plain
// CHECK: because "tiles multiply bf16"
// CHECK: %[[W:.*]] = dnn.weight_view
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %{{.*}}, %c33
// CHECK: %[[GRAIN:.*]] = arith.select %[[FEW]], %c3, %c3
// CHECK: dnn.claim %[[GRAIN]] of %c3 for %arg0 of %arg1
// CHECK: ^bb0(%[[CLAIMED:.*]]: index, %[[COUNT:.*]]: index):
// CHECK: scf.if %[[FEW]]
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1
// CHECK: %[[TWO:.*]] = arith.cmpi slt, %c16
// CHECK: scf.if %[[TWO]]
// CHECK: vector.load %[[W]]{{.*}}vector<32xbf16>
// CHECK: memref.prefetch %[[W]][{{.*}} locality<2>
// CHECK: vector.store %{{.*}}, %[[TURNS:[^\[]*]]
// CHECK-COUNT-31: vector.store %{{.*}}, %[[TURNS]]
// CHECK-NOT: vector.store %{{.*}}, %[[TURNS]]
// CHECK: amx.tile_load
// CHECK: } else {
// CHECK-COUNT-64: vector.store %{{.*}}, %[[TURNS]]
// CHECK-NOT: vector.store %{{.*}}, %[[TURNS]]
// CHECK: amx.tile_load
// CHECK: } else {
// CHECK: %[[END:.*]] = arith.addi %[[CLAIMED]], %[[COUNT]]
// CHECK-NEXT: scf.for %[[AT:.*]] = %[[CLAIMED]] to %[[END]] step %c3
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[AT]]
// CHECK-NEXT: arith.minsi %[[LEFT]], %c3
// CHECK-NOT: vector.load %[[W]]
// CHECK: memref.prefetch %[[W]][{{.*}} locality<2>
// CHECK: amx.tile_load %[[W]]
// CHECK-NOT: vector.load %[[W]]
// CHECK: return
func.func private @plain(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !plain
  dnn.matmul %x weight %w outs(%o) : (!rows, !plain, !out) -> ()
  return
}

// A panel has whole tiles; what a row lacks of the last is zero.
// CHECK-LABEL: @short
// CHECK: %[[W:.*]] = dnn.weight_view {{.*}} -> memref<3x48x128xbf16>
// CHECK: vector.create_mask %c8
// CHECK: vector.maskedload %x
// CHECK-COUNT-12: amx.tile_load %[[W]]
// CHECK: return
func.func private @short(%s: !transformer.scope, %b: !transformer.batch, %x: !odd, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !short
  dnn.matmul %x weight %w outs(%o) : (!odd, !short, !out) -> ()
  return
}

// A kernel uses the scratch of those before it in its region.
// CHECK-LABEL: @both
// CHECK-COUNT-4: memref.alloca
// CHECK-NOT: memref.alloca
// CHECK: amx.tile_store
// CHECK: dnn.barrier
// CHECK: amx.tile_store
// CHECK: return
func.func private @both(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out, %p: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !plain
  dnn.matmul %x weight %w outs(%o) : (!rows, !plain, !out) -> ()
  dnn.matmul %x weight %w outs(%p) : (!rows, !plain, !out) -> ()
  return
}
}

// -----

!rows = memref<?x64xbf16>
!plain = !dnn.packed<panels, 6x64x64xbf16>
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {
// An expert's rows are copied when a thread comes to it, to what is there for
// all its panels.
// CHECK-LABEL: @experts
// CHECK: %[[FEW:.*]] = memref.view {{.*}} to memref<1x2x32x32xbf16>
// CHECK: scf.for %{{.*}} iter_args(%[[LAST:.*]] = %c6)
// CHECK: %[[NEW:.*]] = arith.cmpi ne, %{{.*}}, %[[LAST]]
// CHECK: scf.if %[[NEW]]
// CHECK: vector.store %{{.*}}, %[[FEW]]
// CHECK: amx.tile_load %[[FEW]]
func.func private @experts(%b: !transformer.batch, %x: !rows, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %g: !plain, %h: memref<?x128xf32>) {
  dnn.moe_gate_up silu %x by %i, %f gate %g up %g outs(%h) : (!rows, memref<?x2xi32>, memref<1x7xi32>, !plain, !plain, memref<?x128xf32>) -> ()
  return
}
}

// -----

// Rows so wide that 32 of them would fill a thread's stack are copied piece by
// piece, however few there are.
module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = [f32, bf16]>} {
// CHECK-LABEL: @wide
// CHECK-DAG: memref.alloca() {{.*}} : memref<1048576xi8>
// CHECK-DAG: memref.alloca() {{.*}} : memref<16x8x32x32xbf16>
// CHECK-NOT: x4096x32x32xbf16>
// CHECK: amx.tile_mulf
// CHECK-NOT: x4096x32x32xbf16>
func.func private @wide(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x131072xbf16>, %o: memref<?x64xf32>) {
  %w = dnn.weight %s ["w"] of ffn index 0 : !dnn.packed<panels, 64x131072xq8_0>
  dnn.matmul %x weight %w outs(%o) : (memref<?x131072xbf16>, !dnn.packed<panels, 64x131072xq8_0>, memref<?x64xf32>) -> ()
  return
}
}
