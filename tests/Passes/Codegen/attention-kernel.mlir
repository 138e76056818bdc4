// Attention reads the cache page by page, or the rows of staged keys and
// values, and allocates nothing for scores.
// RUN: %tenon-opt %s --generate-kernels --split-input-file | FileCheck %s

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @cached
// CHECK-NOT: {{memref.alloc\(|memref.alloca\(%}}
// CHECK: dnn.page_table %arg1
// CHECK: dnn.page %arg2[%arg0]
// CHECK-SAME: memref<1x4x4x16xf32>, memref<1x64x16xf32>
// CHECK: math.exp
// CHECK-NOT: {{memref.alloc\(|memref.alloca\(%}}
// CHECK: return
func.func private @cached.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @staged
// CHECK-NOT: {{memref.alloc\(|memref.alloca\(%|dnn.page_table}}
// CHECK: dnn.staged_page %arg2
// CHECK: math.exp
// CHECK-NOT: {{memref.alloc\(|memref.alloca\(%|dnn.page_table}}
// CHECK: return
func.func private @staged.many(%b: !transformer.batch, %q: memref<?x8xf32>, %k: memref<?x1280xf32>, %o: memref<?x8xf32>) {
  dnn.attention bidirectional %q, %b staged %k heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, memref<?x1280xf32>, memref<?x8xf32>) -> ()
  return
}
}

// -----

// The split of queries, keys and values writes the pages.
module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @append
// CHECK: dnn.page %arg2[%arg0]
// CHECK: memref.store
// CHECK: return
func.func private @append.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %x: memref<?x16xf32>, %o: memref<?x8xf32>) {
  dnn.split_append %x to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (memref<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, memref<?x8xf32>) -> ()
  return
}
}
