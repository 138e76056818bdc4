// Kernels that came with images, positions and functions of single elements.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.cpu_level = "avx2"} {

// An offset is added to what is looked up.
// CHECK-LABEL: @embedding_offset.few
// CHECK: dnn.field positions %arg0
// CHECK: arith.constant 2 : index
// CHECK-NOT: dnn.field
// CHECK: return
func.func private @embedding_offset.few(%b: !transformer.batch, %t: !dnn.packed<rows, 9x8xf32>, %o: memref<?x8xf32>) {
  dnn.embedding position %b, %t offset 2 outs(%o) : (!transformer.batch, !dnn.packed<rows, 9x8xf32>, memref<?x8xf32>) -> ()
  return
}

// What is added to a norm's weight.
// CHECK-LABEL: @norm_offset.few
// CHECK: math.sqrt
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<16xf32>
// CHECK: arith.addf %{{.*}}, %[[ONE]]
// CHECK: return
func.func private @norm_offset.few(%b: !transformer.batch, %w: !dnn.packed<vector, 8x1xf32>, %x: memref<?x8xf32>) {
  dnn.norm rms %x weight %w outs(%x) eps 0.125 offset 1.0 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Parts of a row: an item is row * 2 + part.
// CHECK-LABEL: @norm_groups.few
// CHECK: arith.remui
// CHECK: math.sqrt
// CHECK: return
func.func private @norm_groups.few(%b: !transformer.batch, %w: !dnn.packed<vector, 8x1xf32>, %x: memref<?x8xf32>) {
  dnn.norm layer %x weight %w outs(%x) eps 0.125 groups 2 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @input_rows.few
// CHECK: dnn.features %arg0[
// CHECK: vector.maskedstore %arg1[
// CHECK: return
func.func private @input_rows.few(%b: !transformer.batch, %o: memref<?x8xf32>) {
  dnn.input_rows %b outs(%o) : (!transformer.batch, memref<?x8xf32>) -> ()
  return
}

// Rows at position 0 are selected.
// CHECK-LABEL: @class_token.few
// CHECK: dnn.field positions %arg0
// CHECK: arith.cmpi eq
// CHECK: arith.select
// CHECK: return
func.func private @class_token.few(%b: !transformer.batch, %x: memref<?x8xf32>, %t: !dnn.packed<vector, 8x1xf32>, %o: memref<?x8xf32>) {
  dnn.class_token %x, %b, %t outs(%o) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @elementwise.few
// CHECK: math.tanh
// CHECK-NOT: arith.minnumf
// CHECK: return
func.func private @elementwise.few(%b: !transformer.batch, %x: memref<?x8xf32>) {
  dnn.elementwise tanh %x input_factor 0.25 factor 4.0 outs(%x) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @bounded.few
// CHECK-NOT: math.tanh
// CHECK: arith.minnumf
// CHECK: arith.maxnumf
// CHECK: return
func.func private @bounded.few(%b: !transformer.batch, %x: memref<?x8xf32>) {
  dnn.elementwise none %x input_factor 1.0 factor 1.0 bound 3.0 outs(%x) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @sigmoid_gate.few
// CHECK: math.exp
// CHECK: return
func.func private @sigmoid_gate.few(%b: !transformer.batch, %x: memref<?x8xf32>, %g: memref<?x1xf32>) {
  dnn.sigmoid_gate %x, %g outs(%x) : (memref<?x8xf32>, memref<?x1xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @columns.few
// CHECK: arith.constant 5 : index
// CHECK-NOT: math.
// CHECK: vector.maskedstore %arg2[
// CHECK: return
func.func private @columns.few(%b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x3xf32>) {
  dnn.columns %x from 5 outs(%o) : (memref<?x8xf32>, memref<?x3xf32>) -> ()
  return
}

// Angles come from a table by position.
// CHECK-LABEL: @rope.few
// CHECK: dnn.weight_view %arg2 : <rows, 16x2xf32>
// CHECK: dnn.field positions %arg0
// CHECK-NOT: {{math.cos|math.sin}}
// CHECK: return
func.func private @rope.few(%b: !transformer.batch, %x: memref<?x8xf32>, %t: !dnn.packed<rows, 16x2xf32>, %o: memref<?x8xf32>) {
  dnn.rope %x, %b heads 2 from 2 <half, dim = 2, base = 1.0e+04> table %t outs(%o) : (memref<?x8xf32>, !transformer.batch, !dnn.packed<rows, 16x2xf32>, memref<?x8xf32>) -> ()
  return
}
}
