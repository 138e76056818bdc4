// Products of bf16 pairs only where the level has them; elsewhere weights are
// widened by a shift and multiplied in f32.
// RUN: %tenon-opt %s --generate-kernels --split-input-file | FileCheck %s

module attributes {dnn.cpu_level = "avx512_bf16"} {
// CHECK-LABEL: @dot
// CHECK: x86vector.avx512.dot
// CHECK-NOT: math.fma
// CHECK: return
func.func private @dot.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xbf16>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xbf16>
  dnn.product %x weight %w outs(%o) : (memref<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx512_bf16"} {
// CHECK-LABEL: @single
// CHECK-NOT: x86vector
// CHECK: math.fma
// CHECK-NOT: x86vector
// CHECK: return
func.func private @single.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xf32>
  dnn.product %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx512"} {
// CHECK-LABEL: @widened
// CHECK-NOT: x86vector
// CHECK: arith.shli
// CHECK: math.fma
// CHECK-NOT: x86vector
// CHECK: return
func.func private @widened.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xbf16>
  dnn.product %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @widened_avx2
// CHECK-NOT: x86vector
// CHECK: math.fma
// CHECK-NOT: x86vector
// CHECK: return
func.func private @widened_avx2.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xbf16>
  dnn.product %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  return
}
}
