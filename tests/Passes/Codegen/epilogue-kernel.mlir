// What is applied to a product is applied where it is written.
// RUN: %tenon-opt %s --generate-kernels --split-input-file | FileCheck %s

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @silu
// CHECK: math.exp
// CHECK-NOT: {{math.erf|math.tanh|dnn.barrier}}
// CHECK: return
func.func private @silu.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xf32>
  dnn.gated_product silu %x gate %w up %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @gelu
// CHECK: math.erf
// CHECK-NOT: dnn.barrier
// CHECK: return
func.func private @gelu.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xf32>
  dnn.product %x weight %w activation gelu outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @relu
// CHECK: arith.max
// CHECK: return
func.func private @relu.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xf32>
  dnn.product %x weight %w activation relu outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @plain
// CHECK-NOT: {{math.exp|math.erf|math.tanh|arith.max}}
// CHECK: return
func.func private @plain.few(%s: !transformer.scope, %b: !transformer.batch, %x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %w = dnn.weight %s ["w"] of "ffn" slot 0 : <panels, 8x8xf32>
  dnn.product %x weight %w outs(%o) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}
}
