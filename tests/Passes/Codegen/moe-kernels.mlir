// A mixture of experts, step by step: nothing has a size that data decides.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Softmax over all experts; no groups.
// CHECK-LABEL: @route
// CHECK-COUNT-2: memref.alloca(
// CHECK-NOT: memref.alloca(
// Lanes that stand for no expert are lower than any.
// CHECK: %[[MASK:.*]] = vector.create_mask %c6
// CHECK: vector.maskedload %x[%[[ROW:.*]], %c0], %[[MASK]]
// CHECK: arith.select %[[MASK]], %
// CHECK: math.exp
// CHECK: vector.reduction <add>
// CHECK: scf.for %[[I:.*]] = %c0 to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1
// CHECK: memref.store %{{.*}}, %x_0[%[[ROW]], %[[I]]]
// CHECK: memref.store %{{.*}}, %x_1[%[[ROW]], %[[I]]]
// CHECK: return
func.func private @route(%b: !transformer.batch, %l: memref<?x6xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  dnn.moe_route %l <softmax, top = 2, normalize> outs(%i, %w) : (memref<?x6xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// Sigmoids, a correction, and scratch for the ranks of groups.
// CHECK-LABEL: @route_groups
// CHECK-COUNT-3: memref.alloca(
// CHECK: dnn.weight_view %weight : <vector, 6x1xf32>
// CHECK: math.exp
// CHECK-NOT: vector.reduction <add>
// CHECK: return
func.func private @route_groups(%b: !transformer.batch, %l: memref<?x6xf32>, %c: !dnn.packed<vector, 6x1xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  dnn.moe_route %l correction %c <sigmoid, top = 2, groups = 3 keep 2 pairs> outs(%i, %w) : (memref<?x6xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// One thread counts and lists.
// CHECK-LABEL: @group
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK: scf.for %{{.*}} = %c0 to %c7 step %c1
// Choice c of the list is number c % 2 of token c / 2.
// CHECK: scf.for %[[CHOICE:.*]] =
// CHECK-DAG: %[[TOKEN:.*]] = arith.divui %[[CHOICE]], %[[C2:c2.*]] : index
// CHECK-DAG: %[[NUMBER:.*]] = arith.remui %[[CHOICE]], %[[C2]]
// CHECK: memref.load %x[%[[TOKEN]], %[[NUMBER]]]
// CHECK: memref.store %{{.*}}, %x_1[%c0, %
// CHECK: memref.store %{{.*}}, %x_0[%
// CHECK: }
// CHECK: return
func.func private @group(%b: !transformer.batch, %i: memref<?x2xi32>, %o: memref<?x2xi32>, %f: memref<1x7xi32>) {
  dnn.moe_group %i outs(%o, %f) : (memref<?x2xi32>, memref<?x2xi32>, memref<1x7xi32>) -> ()
  return
}

// Panels of all experts; rows of one are found through data.
// CHECK-LABEL: @expert_gated
// CHECK: dnn.weight_view %weight : <panels, 6x4x8xf32> -> memref<6x16x64xf32>
// Experts that some token chose are listed.
// CHECK: %[[CHOSEN:.*]] = scf.for %[[EXPERT:.*]] = %c0 to %c6 step %c1 iter_args(%[[COUNT:.*]] = %c0)
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[EXPERT]]
// CHECK: memref.store %[[NUMBER]], %[[LIST:.*]][%[[COUNT]]]
// CHECK: arith.cmpi slt
// Threads claim their panels, of which an expert has one here.
// CHECK: dnn.claim %c1 of %[[CHOSEN]]
// CHECK: scf.for %[[UNIT:[^ ]+]] =
// CHECK: memref.load %[[LIST]][%[[UNIT]]]
// CHECK: %[[CLAIMED:.*]] = arith.index_cast
// CHECK: memref.load %x_1[%c0, %[[CLAIMED]]]
// CHECK: %[[FROM:.*]] = arith.index_cast
// CHECK: scf.for %[[PLACE:.*]] = %[[FROM]] to %
// CHECK: memref.load %x_0[%
// CHECK: %[[CHOICE:.*]] = arith.index_cast
// CHECK: %[[TOKEN:.*]] = arith.divui %[[CHOICE]], %[[C2:c2.*]] : index
// CHECK: vector.load %{{.*}}[%{{.*}}, %
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: math.exp
// CHECK-NOT: arith.minnumf
// CHECK: vector.maskedstore %x_2[%{{.*}}, %{{.*}}], %[[MASK]]
// CHECK: return
func.func private @expert_gated(%b: !transformer.batch, %x: memref<?x8xf32>, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %h: memref<?x8xf32>) {
  dnn.moe_gate_up silu %x by %i, %f gate %g up %g outs(%h) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, memref<?x8xf32>) -> ()
  return
}

// Biases, and a limit that cuts the gate on one side and up on both.
// CHECK-LABEL: @limited
// CHECK: dnn.weight_view %weight_2 : <row_major, 6x4xf32>
// CHECK: arith.minnumf
// CHECK: arith.maxnumf
// CHECK: return
func.func private @limited(%b: !transformer.batch, %x: memref<?x8xf32>, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %e: !dnn.packed<row_major, 6x4xf32>, %h: memref<?x8xf32>) {
  dnn.moe_gate_up quick_gelu %x by %i, %f gate %g bias %e up %g bias %e limit 7.0 up_offset 1.0 outs(%h) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<row_major, 6x4xf32>, !dnn.packed<row_major, 6x4xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @expert_down
// CHECK: dnn.weight_view %weight : <panels, 6x8x4xf32> -> memref<6x16x64xf32>
// CHECK-NOT: math.exp
// CHECK: vector.maskedstore %x_2[
// CHECK: return
func.func private @expert_down(%b: !transformer.batch, %h: memref<?x8xf32>, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %d: !dnn.packed<panels, 6x8x4xf32>, %r: memref<?x16xf32>) {
  dnn.moe_down %h by %i, %f down %d outs(%r) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x8x4xf32>, memref<?x16xf32>) -> ()
  return
}

// Choice i of a token has columns 8 i on.
// CHECK-LABEL: @combine
// CHECK: memref.load %x_0[%[[ROW:.*]], %c0]
// CHECK: math.fma
// CHECK-DAG: memref.load %x_0[%[[ROW]], %c1]
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %c0, %c8
// CHECK-DAG: vector.maskedload %x[%[[ROW]], %[[NEXT]]]
// CHECK: math.fma
// CHECK: vector.maskedstore %x_1[%[[ROW]], %c0]
// CHECK: return
func.func private @combine(%b: !transformer.batch, %r: memref<?x16xf32>, %w: memref<?x2xf32>, %o: memref<?x8xf32>) {
  dnn.moe_combine %r by %w outs(%o) : (memref<?x16xf32>, memref<?x2xf32>, memref<?x8xf32>) -> ()
  return
}
}
