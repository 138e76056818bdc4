// What is computed of single elements, and where they come from.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!rows = memref<?x8xf32>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// CHECK-LABEL: @input_features
// CHECK: %features = dnn.features %batch[%{{.*}}] : memref<?x8xf32>
// CHECK: vector.maskedload %features[%[[ROW:.*]], %[[AT:.*]]],
// CHECK: vector.maskedstore %x[%[[ROW]], %[[AT]]],
// CHECK: return
func.func private @input_features(%b: !batch, %o: !rows) {
  dnn.input_features %b outs(%o) : (!batch, !rows) -> ()
  return
}

// The token where the position is 0.
// CHECK-LABEL: @class_token
// CHECK: %[[T:.*]] = dnn.weight_view %weight
// CHECK: %positions = dnn.field positions %batch
// CHECK: %[[WORD:.*]] = memref.load %positions[%[[ROW:.*]]]
// CHECK: %[[POSITION:.*]] = arith.index_cast %[[WORD]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[POSITION]], %c0
// CHECK-DAG: %[[TOKEN:.*]] = vector.load %[[T]][%c0]
// CHECK-DAG: %[[X:.*]] = vector.maskedload %x[%[[ROW]], %c0]
// CHECK: arith.select %[[FIRST]], %[[TOKEN]], %[[X]]
// CHECK: return
func.func private @class_token(%b: !batch, %x: !rows, %t: !dnn.packed<vector, 8x1xf32>, %o: !rows) {
  dnn.class_token %x, %b, %t outs(%o) : (!rows, !batch, !dnn.packed<vector, 8x1xf32>, !rows) -> ()
  return
}

// The caller's row is read where the token is the one, and nowhere else.
// CHECK-LABEL: @merge_features
// CHECK: %features = dnn.features %batch[%{{.*}}] : memref<?x8xf32>
// CHECK: %token_ids = dnn.field token_ids %batch
// CHECK: %[[WORD:.*]] = memref.load %token_ids[%[[ROW:.*]]]
// CHECK: %[[ID:.*]] = arith.index_cast %[[WORD]]
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[ID]], %c3
// CHECK: scf.if %[[IS]]
// CHECK: vector.maskedload %features[%[[ROW]], %c0]
// CHECK: vector.maskedstore %x_0[%[[ROW]], %c0]
// CHECK: else
// CHECK: vector.maskedload %x[%[[ROW]], %c0]
// CHECK: vector.maskedstore %x_0[%[[ROW]], %c0]
// CHECK: return
func.func private @merge_features(%b: !batch, %x: !rows, %o: !rows) {
  dnn.merge_features %x, %b token 3 outs(%o) : (!rows, !batch, !rows) -> ()
  return
}

// A cap at 4 is 4 tanh(x / 4).
// CHECK-LABEL: @soft_cap
// CHECK-DAG: %[[X:.*]] = vector.maskedload
// CHECK-DAG: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01>
// CHECK-DAG: %[[INNER:.*]] = arith.mulf %[[X]], %[[QUARTER]]
// CHECK-DAG: %[[T:.*]] = math.tanh %[[INNER]]
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<4.000000e+00>
// CHECK: arith.mulf %[[T]], %[[FOUR]]
// CHECK: return
func.func private @soft_cap(%b: !batch, %x: !rows) {
  dnn.soft_cap %x at 4.0 outs(%x) : (!rows, !rows) -> ()
  return
}

// CHECK-LABEL: @clamp
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<3.000000e+00>
// CHECK-DAG: %[[X:.*]] = arith.minnumf %{{.*}}, %[[HIGH]]
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-3.000000e+00>
// CHECK: arith.maxnumf %[[X]], %[[LOW]]
// CHECK: return
func.func private @clamp(%b: !batch, %x: !rows) {
  dnn.clamp %x at 3.0 outs(%x) : (!rows, !rows) -> ()
  return
}

// CHECK-LABEL: @scale
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK: arith.mulf %{{.*}}, %[[HALF]]
// CHECK: return
func.func private @scale(%b: !batch, %x: !rows) {
  dnn.scale %x by 0.5 outs(%x) : (!rows, !rows) -> ()
  return
}

// One number per row, in every lane.
// CHECK-LABEL: @sigmoid_gate
// CHECK: %[[G:.*]] = memref.load %x_0[%[[ROW:.*]], %c0]
// CHECK: vector.broadcast %[[G]] : f32 to vector<16xf32>
// CHECK: math.exp
// CHECK: vector.maskedstore %x[%[[ROW]], %c0]
// CHECK: return
func.func private @sigmoid_gate(%b: !batch, %x: !rows, %g: memref<?x1xf32>) {
  dnn.sigmoid_gate %x, %g outs(%x) : (!rows, memref<?x1xf32>, !rows) -> ()
  return
}

// CHECK-LABEL: @slice
// CHECK-DAG: %[[MASK:.*]] = vector.create_mask %c3
// CHECK-DAG: %[[FROM:.*]] = arith.addi %c0, %c5
// CHECK: vector.maskedload %x[%[[ROW:.*]], %[[FROM]]], %[[MASK]]
// CHECK: vector.maskedstore %x_0[%[[ROW]], %c0], %[[MASK]]
// CHECK: return
func.func private @slice(%b: !batch, %x: !rows, %o: memref<?x3xf32>) {
  dnn.slice %x from 5 outs(%o) : (!rows, memref<?x3xf32>) -> ()
  return
}

// Heads of 6, of which elements 2 to 5 are rotated by two angles of the token's
// position: elements 2 and 4 by the first.
// CHECK-LABEL: @rope_half
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<6xf32>
// CHECK: %[[T:.*]] = dnn.weight_view %weight : <row_major, 16x4xf32> -> memref<16x4xf32>
// CHECK: %positions = dnn.field positions %batch
// CHECK: scf.for %[[ITEM:.*]] =
// CHECK: %[[ROW:.*]] = arith.divui %[[ITEM]], %[[C2:c2.*]] : index
// CHECK: %[[HEAD:.*]] = arith.remui %[[ITEM]], %[[C2]]
// CHECK: arith.muli %[[HEAD]], %c6
// CHECK: memref.load %positions[%[[ROW]]]
// CHECK: %[[POSITION:.*]] = arith.index_cast
// CHECK-DAG: vector.maskedload %[[T]][%[[POSITION]], %c0], %[[MASK:.*]], %
// CHECK-DAG: vector.maskedload %[[T]][%[[POSITION]], %{{.*}}], %[[MASK]], %
// CHECK-COUNT-2: vector.maskedstore %{{.*}} : memref<6xf32>
// CHECK: vector.maskedstore %x_0[%[[ROW]], %
// CHECK: return
func.func private @rope_half(%b: !batch, %x: memref<?x12xf32>, %t: !dnn.packed<row_major, 16x4xf32>, %o: memref<?x12xf32>) {
  dnn.rope %x, %b heads 2 from 2 <half, dim = 4, base = 10000.0> table %t outs(%o) : (memref<?x12xf32>, !batch, !dnn.packed<row_major, 16x4xf32>, memref<?x12xf32>) -> ()
  return
}

// Neighbours: pair p is elements 2p + 2 and 2p + 3.
// CHECK-LABEL: @rope_interleaved
// CHECK: scf.for %[[PAIR:.*]] = %c0 to %[[C2:c2.*]] step %c1
// CHECK: %[[DOUBLE:.*]] = arith.muli %[[PAIR]], %[[C2]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[DOUBLE]], %[[C2]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: memref.load %{{.*}}[%[[FIRST]]] : memref<6xf32>
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[SECOND]]] : memref<6xf32>
// CHECK: return
func.func private @rope_interleaved(%b: !batch, %x: memref<?x12xf32>, %t: !dnn.packed<row_major, 16x4xf32>, %o: memref<?x12xf32>) {
  dnn.rope %x, %b heads 2 from 2 <interleaved, dim = 4, base = 10000.0> table %t outs(%o) : (memref<?x12xf32>, !batch, !dnn.packed<row_major, 16x4xf32>, memref<?x12xf32>) -> ()
  return
}
}
