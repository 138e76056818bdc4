// What changes masks and scores, and what it reads.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.cpu_level = "avx2"} {

// What attention does not ask for its kernel does not have.
// CHECK-LABEL: @plain.few
// CHECK-NOT: {{dnn.field prefixes|dnn.field memory_lengths|dnn.page_table memory|math.tanh|dnn.weight_view|vector.gather}}
// CHECK: math.exp
// CHECK-NOT: {{dnn.field prefixes|dnn.field memory_lengths|dnn.page_table memory|math.tanh|dnn.weight_view|vector.gather}}
// CHECK: return
func.func private @plain.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @prefix.few
// CHECK: dnn.field prefixes %arg1
// CHECK: dnn.page_table %arg1[
// CHECK: return
func.func private @prefix.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention prefix %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// A source text has its own lengths and pages.
// CHECK-LABEL: @memory.few
// CHECK: dnn.field memory_lengths %arg1
// CHECK: dnn.page_table memory %arg1[
// CHECK: return
func.func private @memory.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<memory 1x4xf32>, %q: memref<?x8xf32>, %o: memref<?x8xf32>) {
  dnn.attention bidirectional %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<memory 1x4xf32>, !transformer.scope, memref<?x8xf32>) -> ()
  return
}

// A cap of scores, and sinks that the sums begin with.
// CHECK-LABEL: @capped.few
// CHECK: dnn.weight_view %arg4 : <vector, 2x1xf32>
// CHECK: math.tanh
// CHECK: math.exp
// CHECK: return
func.func private @capped.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %n: !dnn.packed<vector, 2x1xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 sinks %n outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Slopes times distances; nothing is rounded.
// CHECK-LABEL: @alibi.few
// CHECK: dnn.weight_view %arg4 : <rows, 2x1xf32>
// CHECK: arith.sitofp
// CHECK-NOT: arith.constant dense<32767>
// CHECK: return
func.func private @alibi.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %t: !dnn.packed<rows, 2x1xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t content #transformer.alibi<max = 8.0> outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<rows, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Positions and biases are rounded to bf16.
// CHECK-LABEL: @rounded.few
// CHECK: arith.sitofp
// CHECK: arith.constant dense<32767> : vector<16xi32>
// CHECK: return
func.func private @rounded.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %t: !dnn.packed<rows, 2x1xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t content #transformer.alibi<max = 8.0, rounded> outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<rows, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// Biases of distances from -20 to 20 are gathered.
// CHECK-LABEL: @buckets.few
// CHECK: dnn.weight_view %arg4 : <rows, 2x41xf32>
// CHECK: vector.gather
// CHECK-NOT: arith.sitofp
// CHECK: return
func.func private @buckets.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: memref<?x8xf32>, %t: !dnn.packed<rows, 2x41xf32>, %o: memref<?x8xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t content #transformer.buckets<8, max = 20> outs(%o) : (memref<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, !dnn.packed<rows, 2x41xf32>, memref<?x8xf32>) -> ()
  return
}
}
