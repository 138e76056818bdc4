// A mixture of experts, step by step: nothing has a size that data decides.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.cpu_level = "avx2"} {

// Softmax over all experts; no groups.
// CHECK-LABEL: @route.few
// CHECK-COUNT-2: memref.alloca(
// CHECK-NOT: memref.alloca(
// CHECK: math.exp
// CHECK: vector.reduction <add>
// CHECK: return
func.func private @route.few(%b: !transformer.batch, %l: memref<?x6xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  dnn.route %l <softmax, top = 2, normalize> outs(%i, %w) : (memref<?x6xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// Sigmoids, a correction, and scratch for the ranks of groups.
// CHECK-LABEL: @route_groups.few
// CHECK-COUNT-3: memref.alloca(
// CHECK: dnn.weight_view %arg2 : <vector, 6x1xf32>
// CHECK: math.exp
// CHECK-NOT: vector.reduction <add>
// CHECK: return
func.func private @route_groups.few(%b: !transformer.batch, %l: memref<?x6xf32>, %c: !dnn.packed<vector, 6x1xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  dnn.route %l correction %c <sigmoid, top = 2, groups = 3 keep 2 pairs> outs(%i, %w) : (memref<?x6xf32>, !dnn.packed<vector, 6x1xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// One thread counts and lists.
// CHECK-LABEL: @group.few
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: scf.if
// CHECK: memref<7xi32>
// CHECK: return
func.func private @group.few(%b: !transformer.batch, %i: memref<?x2xi32>, %o: memref<?x2xi32>, %f: memref<1x7xi32>) {
  dnn.group %i outs(%o, %f) : (memref<?x2xi32>, memref<?x2xi32>, memref<1x7xi32>) -> ()
  return
}

// Panels of all experts; rows of one are found through data.
// CHECK-LABEL: @expert_gated.few
// CHECK: dnn.weight_view %arg4 : <panels, 6x4x8xf32> -> memref<6x16x64xf32>
// CHECK: memref.load %arg3[
// CHECK: memref.load %arg2[
// CHECK: math.exp
// CHECK-NOT: arith.minnumf
// CHECK: return
func.func private @expert_gated.few(%b: !transformer.batch, %x: memref<?x8xf32>, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %h: memref<?x8xf32>) {
  dnn.expert_gated silu %x by %i, %f gate %g up %g outs(%h) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, memref<?x8xf32>) -> ()
  return
}

// Biases, and a limit that cuts the gate on one side and up on both.
// CHECK-LABEL: @limited.few
// CHECK: dnn.weight_view %arg5 : <rows, 6x4xf32>
// CHECK: arith.minnumf
// CHECK: arith.maxnumf
// CHECK: return
func.func private @limited.few(%b: !transformer.batch, %x: memref<?x8xf32>, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %g: !dnn.packed<panels, 6x4x8xf32>, %e: !dnn.packed<rows, 6x4xf32>, %h: memref<?x8xf32>) {
  dnn.expert_gated quick_gelu %x by %i, %f gate %g bias %e up %g bias %e limit 7.0 up_offset 1.0 outs(%h) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<panels, 6x4x8xf32>, !dnn.packed<rows, 6x4xf32>, !dnn.packed<rows, 6x4xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @expert_down.few
// CHECK: dnn.weight_view %arg4 : <panels, 6x8x4xf32> -> memref<6x16x64xf32>
// CHECK-NOT: math.exp
// CHECK: vector.maskedstore %arg5[
// CHECK: return
func.func private @expert_down.few(%b: !transformer.batch, %h: memref<?x8xf32>, %i: memref<?x2xi32>, %f: memref<1x7xi32>, %d: !dnn.packed<panels, 6x8x4xf32>, %r: memref<?x16xf32>) {
  dnn.expert_down %h by %i, %f down %d outs(%r) : (memref<?x8xf32>, memref<?x2xi32>, memref<1x7xi32>, !dnn.packed<panels, 6x8x4xf32>, memref<?x16xf32>) -> ()
  return
}

// CHECK-LABEL: @combine.few
// CHECK: memref.load %arg2[
// CHECK: math.fma
// CHECK: vector.maskedstore %arg3[
// CHECK: return
func.func private @combine.few(%b: !transformer.batch, %r: memref<?x16xf32>, %w: memref<?x2xf32>, %o: memref<?x8xf32>) {
  dnn.combine %r by %w outs(%o) : (memref<?x16xf32>, memref<?x2xf32>, memref<?x8xf32>) -> ()
  return
}
}
