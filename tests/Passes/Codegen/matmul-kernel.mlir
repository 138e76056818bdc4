// Blocks of rows and columns whose sums fit into registers, what of the weights a
// step reads, and masks where features end. bf16 pairs are multiplied only where
// the level has them; elsewhere weights are widened and multiplied in f32.
// RUN: %tenon-opt %s --generate-kernels --cse --split-input-file | FileCheck %s

// 70 features are two panels, 9 inputs four pairs and a half.
module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {
// CHECK-LABEL: @dot
// CHECK: %[[W:.*]] = dnn.weight_view %weight : <panels, 70x9xbf16> -> memref<2x16x128xbf16>
// Threads claim panels until none is left.
// CHECK: scf.while
// CHECK-NEXT: %[[CLAIMED:.*]], %[[COUNT:.*]] = dnn.claim %{{.*}} of %c2 for %[[THREAD:.*]] of %[[THREADS:.*]] on %batch
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi ne, %[[COUNT]], %c0
// CHECK-NEXT: scf.condition(%[[ANY]]) %[[CLAIMED]], %[[COUNT]]
// CHECK: ^bb0(%[[CLAIMED:.*]]: index, %[[COUNT:.*]]: index):
// CHECK-NEXT: %[[END:.*]] = arith.addi %[[CLAIMED]], %[[COUNT]]
// CHECK: scf.for %[[PANEL:.*]] = %[[CLAIMED]] to %[[END]] step %c1 {
// CHECK: %[[FIRST:.*]] = arith.muli %[[PANEL]], %[[C64:c64.*]] : index
// Four rows at a time with all of a panel: 16 sums.
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %{{.*}}, %c5
// CHECK: scf.if %[[FEW]] {
// CHECK: scf.for %[[ROW:.*]] = %c0 to %{{.*}} step %[[C4:c4.*]] {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %[[C64]] step %[[C64]] {
// CHECK: %[[SUMS:.*]]:16 = scf.for %[[STEP:.*]] = %c0 to %[[C4]] step %[[C4]] iter_args(
// CHECK: vector.load %x[%[[ROW]], %{{.*}}] : memref<?x9xbf16>, vector<2xbf16>
// CHECK: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: vector.load %[[W]][%[[PANEL]], %[[STEP]], %{{.*}}] : memref<2x16x128xbf16>, vector<32xbf16>
// CHECK: x86vector.avx512.dot
// CHECK: scf.yield
// What lies behind the last half pair is zero.
// CHECK: memref.load %x[%[[ROW]], %{{.*}}] : memref<?x9xbf16>
// CHECK: vector.insert %{{.*}}, %{{.*}} [0] : bf16 into vector<2xbf16>
// CHECK: vector.load %[[W]][%[[PANEL]], %[[C4]], %
// CHECK: x86vector.avx512.dot %[[SUMS]]#0,
// Features of the panel that there are.
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[COLUMN]]
// CHECK: %[[LEFT:.*]] = arith.subi %c70, %[[AT]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[LEFT]]
// CHECK: vector.maskedstore %x_0[%[[ROW]], %[[AT]]], %[[MASK]], %
// CHECK: scf.index_switch
// CHECK: case 1 {
// CHECK: :4 = scf.for
// CHECK: case 2 {
// CHECK: :8 = scf.for
// CHECK: case 3 {
// CHECK: :12 = scf.for
// CHECK-NOT: {{case 4|prefetch}}
// More rows are blocks that each take their sums on. As the first is multiplied
// with a piece, half of the next, 64 steps later, is asked for, as others are,
// the other half.
// CHECK: } else {
// CHECK: scf.for %[[BLOCK:.*]] = %[[PART:.*]] to %{{.*}} step %c4 {
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[BLOCK]], %[[PART]]
// CHECK: %[[HALF:.*]] = arith.select %[[IS_FIRST]], %c0, %c32
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %[[C64]] step %[[C64]] {
// CHECK: %[[SUM:.*]] = vector.load %{{.*}} : memref<128x64xf32>, vector<16xf32>
// CHECK: %[[SUMS:.*]]:16 = scf.for %[[STEP:.*]] = %c0 to %[[C4]] step %[[C4]] iter_args(%{{.*}} = %[[SUM]],
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[STEP]]
// CHECK: %[[AHEAD:.*]] = arith.addi %[[AT]], %c64
// CHECK: %[[LINE:.*]] = arith.muli %[[HALF]], %c2
// CHECK: memref.prefetch %[[W]][%[[PANEL]], %[[AHEAD]], %[[LINE]]], read, locality<2>
// CHECK: x86vector.avx512.dot
// CHECK: memref.prefetch %[[W]][%[[PANEL]], %[[AHEAD]], %{{.*}}], read, locality<2>
// CHECK: scf.yield
// CHECK: vector.store %{{.*}} : memref<128x64xf32>, vector<16xf32>
// CHECK: case 3 {
// CHECK-NOT: {{case 4|math.fma}}
// CHECK: return
func.func private @dot(%b: !transformer.batch, %x: memref<?x9xbf16>, %w: !dnn.packed<panels, 70x9xbf16>, %o: memref<?x70xf32>) {
  dnn.matmul %x weight %w outs(%o) : (memref<?x9xbf16>, !dnn.packed<panels, 70x9xbf16>, memref<?x70xf32>) -> ()
  return
}
}

// -----

// Half the registers, each of half a vector: six rows with 16 columns. Panels
// that are full need no mask, and the fifth step is one of its own.
module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
// CHECK-LABEL: @few_registers
// CHECK: %[[W:.*]] = dnn.weight_view %weight : <panels, 128x5xf32> -> memref<2x16x64xf32>
// CHECK: scf.for %[[ROW:.*]] = %c0 to %{{.*}} step %c6
// CHECK: scf.for %{{.*}} = %c0 to %[[C64:c64.*]] step %[[C16:c16.*]] {
// CHECK: :6 = scf.for %[[STEP:.*]] = %c0 to %c4 step %c4
// CHECK: memref.load %x[%[[ROW]], %
// CHECK: vector.load %[[W]][%{{.*}}, %[[STEP]], %{{.*}}] : memref<2x16x64xf32>, vector<16xf32>
// CHECK: math.fma
// CHECK: scf.yield
// CHECK: vector.load %[[W]][%{{.*}}, %c4, %
// CHECK-NOT: mask
// CHECK: vector.store %{{.*}}, %x_0[%[[ROW]], %
// CHECK: case 5 {
// CHECK-NOT: {{case 6|mask|x86vector}}
// CHECK: return
func.func private @few_registers(%b: !transformer.batch, %x: memref<?x5xf32>, %w: !dnn.packed<panels, 128x5xf32>, %o: memref<?x128xf32>) {
  dnn.matmul %x weight %w outs(%o) : (memref<?x5xf32>, !dnn.packed<panels, 128x5xf32>, memref<?x128xf32>) -> ()
  return
}
// CHECK-LABEL: @widened_avx2
// CHECK: vector.load %{{.*}} : memref<1x16x128xbf16>, vector<32xbf16>
// CHECK: arith.shli
// CHECK: math.fma
// CHECK-NOT: x86vector
// CHECK: return
func.func private @widened_avx2(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 8x8xbf16>, %o: memref<?x8xf32>) {
  dnn.matmul %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  return
}
}

// -----

// Weights of f32 and rows of f32: no pairs, though the level has dot products.
module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {
// CHECK-LABEL: @single
// CHECK-NOT: x86vector
// CHECK: math.fma
// CHECK-NOT: x86vector
// CHECK: return
func.func private @single(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>, %o: memref<?x8xf32>) {
  dnn.matmul %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}
// Of 16 panels on, units are two, the second at most the last.
// CHECK-LABEL: @two_panels
// CHECK: dnn.claim %{{.*}} of %c9
// CHECK: scf.for %[[UNIT:.*]] =
// CHECK: %[[FIRST:.*]] = arith.muli %[[UNIT]], %c2
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: arith.minsi %[[NEXT]], %c16
// CHECK: return
func.func private @two_panels(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 1088x8xf32>, %o: memref<?x1088xf32>) {
  dnn.matmul %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 1088x8xf32>, memref<?x1088xf32>) -> ()
  return
}
// At least 32 KiB are claimed. Up to three rows read less in the time that a
// claim takes: a thread claims its share at once.
// CHECK-LABEL: @small_panels.few
// CHECK: %[[ROWS:.*]] = arith.subi
// CHECK: %[[ISFEW:.*]] = arith.cmpi slt, %[[ROWS]], %c4
// CHECK: %[[GRAIN:.*]] = arith.select %[[ISFEW]], %c3, %c2
// CHECK: dnn.claim %[[GRAIN]] of %c3
// CHECK-LABEL: @larger_panels.few
// CHECK: dnn.claim %c1 of
func.func private @small_panels.few(%b: !transformer.batch, %x: memref<?x64xf32>, %w: !dnn.packed<panels, 192x64xf32>, %o: memref<?x192xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.matmul %x weight %w outs(%o) : (memref<?x64xf32>, !dnn.packed<panels, 192x64xf32>, memref<?x192xf32>) -> ()
  return
}
func.func private @larger_panels.few(%b: !transformer.batch, %x: memref<?x128xf32>, %w: !dnn.packed<panels, 64x128xf32>, %o: memref<?x64xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.matmul %x weight %w outs(%o) : (memref<?x128xf32>, !dnn.packed<panels, 64x128xf32>, memref<?x64xf32>) -> ()
  return
}
}

// -----

// The even feature of a pair is its low half, the odd one its high half; the
// inputs that go with them lie side by side.
module attributes {dnn.target = #dnn.target<avx512, vector = 512, registers = 32, dot = [], library = [f32]>} {
// CHECK-LABEL: @widened
// CHECK-NOT: x86vector
// CHECK: %[[PAIR:.*]] = vector.bitcast %{{.*}} : vector<32xbf16> to vector<16xi32>
// CHECK: %[[C16:.*]] = arith.constant dense<16> : vector<16xi32>
// CHECK: %[[EVEN:.*]] = arith.shli %[[PAIR]], %[[C16]]
// CHECK: %[[HIGH:.*]] = arith.constant dense<-65536> : vector<16xi32>
// CHECK: %[[ODD:.*]] = arith.andi %[[PAIR]], %[[HIGH]]
// CHECK-DAG: arith.bitcast %[[EVEN]]
// CHECK-DAG: arith.bitcast %[[ODD]]
// CHECK-COUNT-2: math.fma
// CHECK-NOT: x86vector
// CHECK: return
func.func private @widened(%b: !transformer.batch, %x: memref<?x8xf32>, %w: !dnn.packed<panels, 8x8xbf16>, %o: memref<?x8xf32>) {
  dnn.matmul %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  return
}
}
