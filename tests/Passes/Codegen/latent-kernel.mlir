// Attention over latent vectors.
// RUN: %tenon-opt %s -split-input-file --generate-kernels --cse | FileCheck %s

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Which of the two forms a sequence has follows from its queries in the step;
// both read pages of latent vectors, and neither allocates scores of the whole
// context.
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

// In a decode-sized batch K is absorbed head by head, before a barrier; items of
// 16 heads, the lanes of scores, and a partition of pages follow; V is applied
// behind another one. 19 heads are two blocks.
// CHECK-LABEL: @phases
// CHECK: dnn.parallel %[[THREAD:.*]] of %[[THREADS:.*]] {
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<16x16xf32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<64x16xf32>
// The page is widened once for all of them.
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<64x16xf32>
// CHECK: dnn.barrier %batch
// CHECK: scf.for %[[TOKEN:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[BEFORE:.*]] = %c0)
// CHECK: scf.for %[[ITEM:.*]] = %{{.*}} to %{{.*}} step %[[THREADS]] {
// CHECK: arith.divui %[[ITEM]], %c2
// CHECK: dnn.latent_page %cache[%scope]
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// Four keys at a time, one vector of queries.
// CHECK: :4 = scf.for %{{.*}} = %c0 to %c6 step %c1
// CHECK: vector.load %{{.*}}[%{{.*}}, %c0] : memref<16x16xf32>, vector<16xf32>
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK: math.roundeven
// CHECK-NOT: dnn.latent_page
// CHECK: dnn.barrier %batch
// CHECK-NOT: {{dnn.latent_page|dnn.barrier}}
// CHECK: return
func.func private @phases(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xbf16>, %q: memref<?x95xf32>, %e: !dnn.packed<row_major, 152x4xbf16>, %o: memref<?x95xf32>, %t: memref<?x133xf32>, %p: memref<?x456xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 19 key_dim 3 value_dim 5 scale 0.5 partition_pages 4 outs(%o, %t, %p) : (memref<?x95xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 152x4xbf16>, memref<?x95xf32>, memref<?x133xf32>, memref<?x456xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16], library = []>} {

// Dot products take neighbours of a key for scores, eight keys at a time, while
// lines of the next page are asked for; for sums they take two keys, whose
// elements are interleaved, 32 of eight heads at a time. No page is widened.
// CHECK-LABEL: @pairs
// CHECK-NOT: memref<64x64xf32>
// CHECK: %[[PAGE:.*]] = dnn.latent_page %cache[%scope]
// CHECK: %[[NEXT:.*]] = dnn.latent_page %cache[%scope]
// CHECK: :8 = scf.for %[[WORD:.*]] = %c0 to %c32 step %c8
// CHECK: memref.prefetch %[[NEXT]]
// CHECK: %[[QUERIES:.*]] = vector.load %{{.*}}[%[[WORD]], %c0] : memref<32x32xbf16>, vector<32xbf16>
// CHECK: vector.load %[[PAGE]][%{{.*}}, %{{.*}}] : memref<64x64xbf16>, vector<2xbf16>
// CHECK: x86vector.avx512.dot %{{.*}}, %[[QUERIES]], %
// CHECK: math.roundeven
// CHECK: :16 = scf.for %[[PAIR:.*]] = %c0 to
// CHECK: %[[EVEN:.*]] = vector.load %[[PAGE]]
// CHECK: %[[ODD:.*]] = vector.load %[[PAGE]]
// CHECK: %[[LOW:.*]] = vector.shuffle %[[EVEN]], %[[ODD]] [0, 32, 1, 33, {{.*}} 15, 47]
// CHECK: %[[HIGH:.*]] = vector.shuffle %[[EVEN]], %[[ODD]] [16, 48, 17, 49, {{.*}} 31, 63]
// CHECK: vector.load %{{.*}}[%[[PAIR]], %{{.*}}] : memref<32x32xbf16>, vector<2xbf16>
// CHECK: x86vector.avx512.dot %{{.*}}, %[[LOW]], %
// CHECK-NEXT: x86vector.avx512.dot %{{.*}}, %[[HIGH]], %
// CHECK-COUNT-14: x86vector.avx512.dot
// CHECK-NOT: x86vector.avx512.dot
// CHECK: return
func.func private @pairs(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x64xbf16>, %q: memref<?x80xbf16>, %e: !dnn.packed<row_major, 26x32xbf16>, %o: memref<?x10xf32>, %t: memref<?x14xf32>, %p: memref<?x332xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 8 value_dim 5 scale 0.5 partition_pages 8 outs(%o, %t, %p) : (memref<?x80xbf16>, !transformer.batch, !transformer.cache<latent 1x64xbf16>, !transformer.scope, !dnn.packed<row_major, 26x32xbf16>, memref<?x10xf32>, memref<?x14xf32>, memref<?x332xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, bf16_tile], library = []>} {

// With queries of bf16, 16 heads go through a page in tiles: its rows are
// multiplied as they lie with the queries, 2 * 32 elements of each, and for the
// sums once with weights of even and once of odd elements, which are put in
// order at the end.
// CHECK-LABEL: @tiles
// CHECK: dnn.latent_page %cache[%scope]
// CHECK: dnn.latent_page %cache[%scope]
// CHECK-COUNT-2: amx.tile_mulf {{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
// CHECK-NOT: amx.tile_mulf
// CHECK: amx.tile_store
// CHECK-COUNT-4: amx.tile_mulf
// CHECK-NOT: amx.tile_mulf
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 2, 18,
// CHECK: vector.shuffle {{.*}} [8, 24, 9, 25,
// CHECK: return
func.func private @tiles(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x64xbf16>, %q: memref<?x80xbf16>, %e: !dnn.packed<row_major, 26x32xbf16>, %o: memref<?x10xf32>, %t: memref<?x14xf32>, %p: memref<?x332xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 8 value_dim 5 scale 0.5 partition_pages 8 outs(%o, %t, %p) : (memref<?x80xbf16>, !transformer.batch, !transformer.cache<latent 1x64xbf16>, !transformer.scope, !dnn.packed<row_major, 26x32xbf16>, memref<?x10xf32>, memref<?x14xf32>, memref<?x332xf32>) -> ()
  return
}

// With many queries the page is expanded in tiles, 32 keys times 16 elements of
// keys and then of values, and laid out as tiles take keys and values.
// CHECK-LABEL: @expanded
// CHECK-COUNT-2: dnn.latent_page %cache[%scope]
// CHECK-COUNT-2: amx.tile_mulf
// CHECK: amx.tile_store
// CHECK: return
func.func private @expanded(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x64xbf16>, %q: memref<?x80xbf16>, %e: !dnn.packed<row_major, 26x32xbf16>, %o: memref<?x10xf32>, %t: memref<?x14xf32>) {
  dnn.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 8 value_dim 5 scale 0.5 outs(%o, %t) : (memref<?x80xbf16>, !transformer.batch, !transformer.cache<latent 1x64xbf16>, !transformer.scope, !dnn.packed<row_major, 26x32xbf16>, memref<?x10xf32>, memref<?x14xf32>) -> ()
  return
}
}
