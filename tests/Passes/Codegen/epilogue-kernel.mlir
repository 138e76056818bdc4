// What is applied to a matmul is applied where it is written, under the mask of
// the features that there are.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!rows = memref<?x8xf32>
!weight = !dnn.packed<panels, 8x8xf32>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
// The bias, which is padded, then the activation, the multiplier, the residual.
// CHECK-LABEL: @all
// CHECK: %[[BIAS:.*]] = dnn.weight_view %weight_{{.*}} : <vector, 8x1xf32> -> memref<64xf32>
// CHECK: %[[LEFT:.*]] = arith.subi %c8, %[[AT:.*]] : index
// CHECK: %[[MASK:.*]] = vector.create_mask %[[LEFT]]
// CHECK: %[[B:.*]] = vector.load %[[BIAS]][%[[AT]]]
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[B]]
// CHECK: %[[A:.*]] = arith.maxnumf %[[S]], %
// CHECK: %[[M:.*]] = vector.maskedload %x_1[%[[ROW:.*]], %[[AT]]], %[[MASK]]
// CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[M]]
// CHECK: %[[R:.*]] = vector.maskedload %x_2[%[[ROW]], %[[AT]]], %[[MASK]]
// CHECK: %[[Y:.*]] = arith.addf %[[P]], %[[R]]
// CHECK: vector.maskedstore %x_3[%[[ROW]], %[[AT]]], %[[MASK]], %[[Y]]
// CHECK-NOT: dnn.barrier
// CHECK: return
func.func private @all(%b: !batch, %x: !rows, %w: !weight, %v: !dnn.packed<vector, 8x1xf32>, %m: !rows, %r: !rows, %o: !rows) {
  dnn.matmul %x weight %w bias %v activation relu multiplier %m residual %r outs(%o) : (!rows, !weight, !dnn.packed<vector, 8x1xf32>, !rows, !rows, !rows) -> ()
  return
}

// Both matmuls of a gated one in one pass: two sums a row, three rows with 16
// columns of each. The activation is the gate's.
// CHECK-LABEL: @gated
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c3
// CHECK: :6 = scf.for
// CHECK: %[[E:.*]] = math.exp
// CHECK: vector.maskedstore
// CHECK: case 2 {
// CHECK-NOT: {{case 3|math.erf|math.tanh|dnn.barrier}}
// CHECK: return
func.func private @gated(%b: !batch, %x: !rows, %w: !weight, %v: !weight, %o: !rows) {
  dnn.gated_matmul silu %x gate %w up %v outs(%o) : (!rows, !weight, !weight, !rows) -> ()
  return
}

// CHECK-LABEL: @gelu
// CHECK: math.erf
// CHECK-NOT: math.tanh
// CHECK: return
func.func private @gelu(%b: !batch, %x: !rows, %w: !weight, %o: !rows) {
  dnn.matmul %x weight %w activation gelu outs(%o) : (!rows, !weight, !rows) -> ()
  return
}

// Rounded as it is stored.
// CHECK-LABEL: @rounded
// CHECK: arith.bitcast %{{.*}} : vector<16xi16> to vector<16xbf16>
// CHECK: vector.maskedstore %x_0[{{.*}} : memref<?x8xbf16>, vector<16xi1>, vector<16xbf16>
// CHECK: return
func.func private @rounded(%b: !batch, %x: !rows, %w: !weight, %o: memref<?x8xbf16>) {
  dnn.matmul %x weight %w outs(%o) : (!rows, !weight, memref<?x8xbf16>) -> ()
  return
}

// CHECK-LABEL: @plain
// CHECK-NOT: {{math.exp|math.erf|math.tanh|arith.max}}
// CHECK: return
func.func private @plain(%b: !batch, %x: !rows, %w: !weight, %o: !rows) {
  dnn.matmul %x weight %w outs(%o) : (!rows, !weight, !rows) -> ()
  return
}
}
