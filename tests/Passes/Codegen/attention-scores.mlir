// What changes masks and scores, and what it reads.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// What attention does not ask for its kernel does not have.
// CHECK-LABEL: @plain
// CHECK-NOT: {{dnn.field prefixes|dnn.field source_lengths|dnn.page_table cross|math.tanh|dnn.weight_view|vector.gather}}
// CHECK: math.roundeven
// CHECK-NOT: {{dnn.field prefixes|dnn.field source_lengths|dnn.page_table cross|math.tanh|dnn.weight_view|vector.gather}}
// CHECK: return
func.func private @plain(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @prefix
// CHECK: %prefixes = dnn.field prefixes %batch
// CHECK: memref.load %prefixes[%
// CHECK: %[[PREFIX:.*]] = arith.index_cast
// CHECK: arith.maxsi %{{.*}}, %[[PREFIX]]
// CHECK: dnn.page_table %batch[
// CHECK: return
func.func private @prefix(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention prefix %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// A source text has its own lengths and pages.
// CHECK-LABEL: @cross_cache
// CHECK: %source_lengths = dnn.field source_lengths %batch
// CHECK: memref.load %source_lengths[%[[SEQUENCE:.*]]]
// CHECK: dnn.page_table cross %batch[%[[SEQUENCE]]]
// CHECK: return
func.func private @cross_cache(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<cross 1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention bidirectional %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<cross 1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// A cap of scores, and sinks that the sums begin with.
// CHECK-LABEL: @capped
// CHECK: dnn.weight_view %weight : <vector, 2x1xf32>
// CHECK: memref.load %{{.*}}[%[[HEAD:.*]]] : memref<64xf32>
// CHECK: arith.divf
// CHECK: math.tanh
// CHECK: arith.select
// CHECK: math.roundeven
// CHECK: return
func.func private @capped(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %n: !dnn.packed<vector, 2x1xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 sinks %n outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Slopes times distances; nothing is rounded.
// CHECK-LABEL: @alibi
// CHECK: dnn.weight_view %weight : <row_major, 2x1xf32>
// CHECK: arith.sitofp
// CHECK-NOT: arith.constant dense<32767>
// CHECK: return
func.func private @alibi(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %t: !dnn.packed<row_major, 2x1xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t content #transformer.alibi<max = 8.0> outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Positions and biases are rounded to bf16.
// CHECK-LABEL: @rounded
// CHECK: arith.sitofp
// CHECK: arith.constant dense<32767> : vector<16xi32>
// CHECK: return
func.func private @rounded(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %t: !dnn.packed<row_major, 2x1xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t content #transformer.alibi<max = 8.0, rounded> outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Biases of distances from -20 to 20 are gathered.
// CHECK-LABEL: @buckets
// CHECK: dnn.weight_view %weight : <row_major, 2x41xf32>
// CHECK-DAG: %[[DISTANCE:.*]] = arith.subi %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK-DAG: arith.index_cast %c20
// CHECK: arith.minsi %[[DISTANCE]], %
// CHECK: arith.maxsi
// CHECK: vector.gather %{{.*}}[%{{.*}}, %c0]
// CHECK-NOT: arith.sitofp
// CHECK: return
func.func private @buckets(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %t: !dnn.packed<row_major, 2x41xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t content #transformer.buckets<8, max = 20> outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<row_major, 2x41xf32>, memref<?x8xf32>) -> ()
  return
}
}
