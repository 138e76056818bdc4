// Appends to each kind of cache.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.cpu_level = "avx2"} {

// Keys and values go to a page of the sequence.
// CHECK-LABEL: @append.few
// CHECK: dnn.page_table %arg1[
// CHECK: dnn.page %arg2[%arg0]
// CHECK: return
func.func private @append.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %k: memref<?x4xf32>) {
  dnn.append %k, %k to %c[%s], %b : !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  return
}

// Those of a source text to a page of its own table.
// CHECK-LABEL: @append_memory.few
// CHECK: dnn.page_table memory %arg1[
// CHECK: dnn.page %arg2[%arg0]
// CHECK: return
func.func private @append_memory.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<memory 1x4xf32>, %k: memref<?x4xf32>) {
  dnn.append %k, %k to %c[%s], %b : !transformer.cache<memory 1x4xf32>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  return
}

// Both parts of a latent vector lie side by side in 6 of 16 values; the rest is
// zero.
// CHECK-LABEL: @append_latent.few
// CHECK: dnn.page_table %arg1[
// CHECK: dnn.latent_page %arg2[%arg0]
// CHECK-SAME: memref<64x16xbf16>
// CHECK-NOT: dnn.page %
// CHECK: return
func.func private @append_latent.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xbf16>, %k: memref<?x4xf32>, %r: memref<?x2xf32>) {
  dnn.append %k, %r to %c[%s], %b : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x2xf32>
  return
}
}
