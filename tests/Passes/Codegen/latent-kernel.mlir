// Attention over latent vectors.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// The two forms are two branches, chosen by the queries that a sequence has in
// the step; both read pages of latent vectors, and neither allocates scores of
// the whole context.
// CHECK-LABEL: @latent
// CHECK-NOT: memref.alloc(
// CHECK: dnn.weight_view %weight : <row_major, 16x4xbf16>
// CHECK: dnn.field starts %batch
// CHECK-COUNT-2: dnn.latent_page %cache[%scope]
// CHECK-NOT: {{dnn.latent_page|dnn.page |memref.alloc\(}}
// CHECK: return
func.func private @latent(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xbf16>, %q: memref<?x10xf32>, %e: !dnn.packed<row_major, 16x4xbf16>, %o: memref<?x10xf32>, %t: memref<?x14xf32>) {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %t) : (memref<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  return
}
}
