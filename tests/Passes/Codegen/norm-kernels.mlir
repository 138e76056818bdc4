// Norms: sums over 19 columns of which the last 3 are masked, the mean over 19.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!rows = memref<?x19xf32>
!vector = !dnn.packed<vector, 19x1xf32>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Lanes beyond the row are zero to begin with: squares need no second mask.
// CHECK-LABEL: @rms
// CHECK: %[[W:.*]] = dnn.weight_view %weight : <vector, 19x1xf32> -> memref<64xf32>
// CHECK: %[[PART:.*]] = scf.for %{{.*}} = %c0 to %[[C16:c16.*]] step %[[C16]] iter_args
// CHECK: %[[MASK:.*]] = vector.create_mask %c3
// CHECK: %[[TAIL:.*]] = vector.maskedload %x[%{{.*}}, %{{.*}}], %[[MASK]]
// CHECK: %[[ALL:.*]] = math.fma %[[TAIL]], %[[TAIL]], %[[PART]]
// CHECK: %[[SUM:.*]] = vector.reduction <add>, %[[ALL]]
// CHECK-DAG: %[[MEAN:.*]] = arith.divf %[[SUM]], %{{.*}} : f32
// CHECK-DAG: %[[EPS:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: %[[SQUARE:.*]] = arith.addf %[[MEAN]], %[[EPS]]
// CHECK: math.sqrt %[[SQUARE]]
// CHECK-NOT: arith.select
// Weights are padded: no mask.
// CHECK: vector.load %[[W]][%{{.*}}] : memref<64xf32>
// CHECK: vector.store
// CHECK: vector.load %[[W]][%[[C16]]] : memref<64xf32>
// CHECK: vector.maskedstore %x_0[%{{.*}}, %{{.*}}], %[[MASK]]
// CHECK: return
func.func private @rms(%b: !batch, %w: !vector, %x: !rows, %o: !rows) {
  dnn.rms_norm %x, %w eps 0.125 outs(%o) : (!rows, !vector, !rows) -> ()
  return
}

// Less the mean those lanes are not zero any more.
// CHECK-LABEL: @layer
// CHECK-DAG: %[[SUM:.*]] = vector.reduction <add>
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 1.900000e+01 : f32
// CHECK: %[[SHARE:.*]] = arith.divf %[[SUM]], %[[WIDTH]]
// CHECK: %[[MEAN:.*]] = vector.broadcast %[[SHARE]]
// CHECK: %[[LESS:.*]] = arith.subf %{{.*}}, %[[MEAN]]
// CHECK: math.fma %[[LESS]], %[[LESS]],
// CHECK: %[[TAIL:.*]] = arith.subf %{{.*}}, %[[MEAN]]
// CHECK: %[[ZERO:.*]] = arith.select %{{.*}}, %[[TAIL]], %
// CHECK: math.fma %[[ZERO]], %[[ZERO]],
// CHECK: math.sqrt
// CHECK: return
func.func private @layer(%b: !batch, %w: !vector, %x: !rows, %o: !rows) {
  dnn.layer_norm %x, %w, %w eps 0.125 outs(%o) : (!rows, !vector, !vector, !rows) -> ()
  return
}

// The sum is stored, and the norm reads it back.
// CHECK-LABEL: @add_norm
// CHECK: vector.store %{{.*}}, %x_1[
// CHECK: vector.maskedstore %x_1[
// CHECK-NOT: load %x{{(_0)?}}[
// CHECK: math.sqrt
// CHECK-NOT: load %x{{(_0)?}}[
// CHECK: vector.store %{{.*}}, %x_2[
// CHECK: vector.maskedstore %x_2[
// CHECK: return
func.func private @add_norm(%b: !batch, %w: !vector, %x: !rows, %y: !rows, %s: !rows, %o: !rows) {
  dnn.add_norm rms %x, %y weight %w eps 0.125 outs(%s, %o) : (!rows, !rows, !vector, !rows, !rows) -> ()
  return
}

// What is added to a norm's weight.
// CHECK-LABEL: @offset
// CHECK: math.sqrt
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<16xf32>
// CHECK: arith.addf %{{.*}}, %[[ONE]]
// CHECK: return
func.func private @offset(%b: !batch, %w: !vector, %x: !rows) {
  dnn.rms_norm %x, %w eps 0.125 offset 1.0 outs(%x) : (!rows, !vector, !rows) -> ()
  return
}

// Parts of a row: item i is part i % 2 of row i / 2, from column part * 19 on.
// Weights of their own lie one behind another, hence the mask.
// CHECK-LABEL: @groups
// CHECK: %[[ROWS:.*]] = memref.dim %x
// CHECK: arith.muli %[[ROWS]], %[[TWO:c2.*]] : index
// CHECK: scf.for %[[ITEM:.*]] =
// CHECK: %[[ROW:.*]] = arith.divui %[[ITEM]], %[[TWO]]
// CHECK: %[[PART:.*]] = arith.remui %[[ITEM]], %[[TWO]]
// CHECK: %[[BASE:.*]] = arith.muli %[[PART]], %c19
// CHECK: %[[AT:.*]] = arith.addi %[[BASE]], %
// CHECK: vector.load %x[%[[ROW]], %[[AT]]]
// CHECK: math.sqrt
// CHECK: vector.maskedload %{{.*}}[%{{.*}}], %{{.*}} : memref<64xf32>
// CHECK: return
func.func private @groups(%b: !batch, %w: !dnn.packed<vector, 38x1xf32>, %x: memref<?x38xf32>) {
  dnn.rms_norm %x, %w eps 0.125 groups 2 outs(%x) : (memref<?x38xf32>, !dnn.packed<vector, 38x1xf32>, memref<?x38xf32>) -> ()
  return
}

// Weights that the parts share are read from their start.
// CHECK-LABEL: @shared_groups
// CHECK: %[[W:.*]] = dnn.weight_view %weight : <vector, 19x1xf32>
// CHECK: math.sqrt
// CHECK: vector.load %[[W]][%c16{{.*}}] : memref<64xf32>
// CHECK: return
func.func private @shared_groups(%b: !batch, %w: !vector, %x: memref<?x38xf32>) {
  dnn.rms_norm %x, %w eps 0.125 groups 2 outs(%x) : (memref<?x38xf32>, !vector, memref<?x38xf32>) -> ()
  return
}
}
