// A weight without a place.
// RUN: not %tenon-opt %s --convert-dnn-to-llvm 2>&1 | FileCheck %s

// CHECK: error: 'dnn.weight' op expected an index
func.func @layer(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of ffn : <panels, 8x8xf32>
  dnn.call_matmul 0 of %b(%x) weight %w output %x : !transformer.batch, memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>
  return
}
