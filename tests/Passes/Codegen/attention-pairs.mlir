// Queries of bf16: pairs are multiplied, and weights rounded for them. Integers of
// a page become pairs once for all rows.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = memref<?x32xf32>
!queries = memref<?x32xbf16>

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = []>} {

// Eight rows and two lines at once; the scale comes behind the products.
// CHECK-LABEL: @pairs
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<8x64xbf16>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<32x16xbf16>
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %{{.*}} step %c2
// CHECK: :16 = scf.for %[[WORD:.*]] = %c0 to %c8 step %c1
// CHECK-COUNT-2: vector.load %keys[
// CHECK-COUNT-16: x86vector.avx512.dot
// CHECK-NOT: x86vector.avx512.dot
// CHECK: arith.mulf %{{.*}}, %cst{{.*}} : vector<16xf32>
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1
// CHECK: vector.load %values[
// CHECK-COUNT-8: x86vector.avx512.dot
// CHECK: return
func.func private @pairs(%s: !scope, %b: !batch, %c: !transformer.cache<1x16xbf16>, %q: !queries, %o: !rows) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.25 outs(%o) : (!queries, !batch, !transformer.cache<1x16xbf16>, !scope, !rows) -> ()
  return
}

// CHECK-LABEL: @integers
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<4x8x32xbf16>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<32x32xbf16>
// CHECK: %keys, %values, %scales = dnn.page
// CHECK: vector.load %keys[
// CHECK-COUNT-2: vector.store %{{.*}} : memref<4x8x32xbf16>
// CHECK: vector.load %values[
// CHECK-COUNT-2: vector.store %{{.*}} : memref<32x32xbf16>
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-NOT: vector.load %keys[
// CHECK: x86vector.avx512.dot
// CHECK: vector.load %scales[%c0, %
// CHECK: vector.load %scales[%c1, %
// CHECK: x86vector.avx512.dot
// CHECK: return
func.func private @integers(%s: !scope, %b: !batch, %c: !transformer.cache<1x16xi8>, %q: !queries, %o: !rows) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.25 outs(%o) : (!queries, !batch, !transformer.cache<1x16xi8>, !scope, !rows) -> ()
  return
}

// One token: integers are multiplied as they are, keys k as k + 128, with two
// digits of each query and of its weights.
// CHECK-LABEL: @digits
// CHECK-DAG: %[[QUERIES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x2x16xi8>
// CHECK-DAG: %[[STARTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x2xi32>
// CHECK-DAG: %[[WEIGHTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x2x64xi8>
// CHECK: arith.shrsi %{{.*}} : vector<16xi32>
// CHECK-COUNT-2: vector.store %{{.*}}, %[[QUERIES]]
// CHECK: arith.muli %{{.*}}, %c-128_i32 : i32
// CHECK: %keys, %values, %scales = dnn.page
// CHECK: memref.load %[[STARTS]]
// CHECK: :8 = scf.for %{{.*}} = %c0 to %c4{{[_0-9]*}} step %c1
// CHECK-COUNT-2: arith.xori %{{.*}} : vector<64xi8>
// CHECK-COUNT-8: dnn.dot %{{.*}} : vector<16xi32>, vector<64xi8>
// CHECK-NOT: dnn.dot
// CHECK: vector.load %scales[%c0, %
// CHECK: vector.load %scales[%c1, %
// CHECK: vector.store %{{.*}}, %[[WEIGHTS]]
// CHECK: vector.load %values[
// CHECK-COUNT-4: dnn.dot
// CHECK-NOT: dnn.dot
// CHECK: return
func.func private @digits(%s: !scope, %b: !batch, %c: !transformer.cache<1x16xi8>, %q: !queries, %o: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.25 outs(%o) : (!queries, !batch, !transformer.cache<1x16xi8>, !scope, !rows) -> ()
  return
}

// Queries of f32, which stay exact: integers are widened to f32.
// CHECK-LABEL: @exact
// CHECK-NOT: x86vector.avx512.dot
// CHECK: %keys, %values, %scales = dnn.page
// CHECK: vector.load %keys[{{.*}} vector<64xi8>
// CHECK-COUNT-4: arith.sitofp
// CHECK: math.fma
// CHECK-NOT: x86vector.avx512.dot
// CHECK: return
func.func private @exact(%s: !scope, %b: !batch, %c: !transformer.cache<1x16xi8>, %q: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.25 outs(%o) : (!rows, !batch, !transformer.cache<1x16xi8>, !scope, !rows) -> ()
  return
}
}
