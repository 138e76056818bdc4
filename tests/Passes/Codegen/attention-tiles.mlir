// Attention of many tokens in tiles of 16 rows.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope

module attributes {dnn.target = #dnn.target<amx, vector = 512, registers = 32, dot = [bf16, int8, int16, bf16_tile, int8_tile], library = []>} {

// Four heads of four tokens are a block, two blocks an item. Rows are read once
// for all keys of a page.
// CHECK-LABEL: @square
// CHECK-DAG: %[[QUERIES:.*]] = memref.alloca() {{.*}} : memref<32x32xbf16>
// CHECK-DAG: %[[SCORES:.*]] = memref.alloca() {{.*}} : memref<16x64xf32>
// CHECK-DAG: %[[WEIGHTS:.*]] = memref.alloca() {{.*}} : memref<16x64xbf16>
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<32x32xf32>
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c2 step %c1
// CHECK: amx.tile_load %[[QUERIES]]
// CHECK: scf.for
// CHECK: amx.tile_zero
// CHECK: amx.tile_load %keys[
// CHECK: amx.tile_mulf
// CHECK: amx.tile_store %[[SCORES]]
// Rows of tokens of other sequences are left.
// CHECK: scf.if
// CHECK: vector.load %[[SCORES]]
// CHECK: scf.if
// CHECK: arith.truncf
// Values of up to 32 keys, or of all.
// CHECK: scf.index_switch
// CHECK: case 1
// CHECK: amx.tile_load %[[WEIGHTS]]
// CHECK-NOT: amx.tile_load %[[WEIGHTS]]
// CHECK: case 2
// CHECK-COUNT-2: amx.tile_load %[[WEIGHTS]]
// CHECK: amx.tile_load %[[SUMS]]
// CHECK: amx.tile_load %values[
// CHECK: amx.tile_mulf
// CHECK: amx.tile_load %values[
// CHECK: amx.tile_mulf
// CHECK: amx.tile_store %[[SUMS]]
// CHECK-NOT: x86vector.avx512.dot
// CHECK: return
func.func private @square(%s: !scope, %b: !batch, %c: !transformer.cache<1x32xbf16>, %q: memref<?x128xbf16>, %o: memref<?x128xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 4 kv_heads 1 scale 0.25 outs(%o) : (memref<?x128xbf16>, !batch, !transformer.cache<1x32xbf16>, !scope, memref<?x128xf32>) -> ()
  return
}

// Three heads of five tokens: a tile has a row more, which would be the next
// block's.
// CHECK-LABEL: @fifteen
// CHECK-DAG: memref.alloca() {{.*}} : memref<16x32xbf16>
// CHECK-DAG: memref.alloca() {{.*}} : memref<16x32xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c1 step %c1
// CHECK: amx.tile_load
// CHECK: return
func.func private @fifteen(%s: !scope, %b: !batch, %c: !transformer.cache<1x32xbf16>, %q: memref<?x96xbf16>, %o: memref<?x96xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 3 kv_heads 1 scale 0.25 outs(%o) : (memref<?x96xbf16>, !batch, !transformer.cache<1x32xbf16>, !scope, memref<?x96xf32>) -> ()
  return
}

// Integers have become pairs.
// CHECK-LABEL: @integers
// CHECK-DAG: %[[KEYS:.*]] = memref.alloca() {{.*}} : memref<4x16x32xbf16>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() {{.*}} : memref<32x64xbf16>
// CHECK: amx.tile_load %[[KEYS]]
// CHECK: amx.tile_load %[[VALUES]]
// CHECK: return
func.func private @integers(%s: !scope, %b: !batch, %c: !transformer.cache<1x32xi8>, %q: memref<?x128xbf16>, %o: memref<?x128xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 4 kv_heads 1 scale 0.25 outs(%o) : (memref<?x128xbf16>, !batch, !transformer.cache<1x32xi8>, !scope, memref<?x128xf32>) -> ()
  return
}

// Half a tile of a key.
// CHECK-LABEL: @narrow
// CHECK-NOT: amx.tile
// CHECK: x86vector.avx512.dot
// CHECK-NOT: amx.tile
// CHECK: return
func.func private @narrow(%s: !scope, %b: !batch, %c: !transformer.cache<1x16xbf16>, %q: memref<?x64xbf16>, %o: memref<?x64xf32>) {
  dnn.attention causal %q, %b cache %c[%s] heads 4 kv_heads 1 scale 0.25 outs(%o) : (memref<?x64xbf16>, !batch, !transformer.cache<1x16xbf16>, !scope, memref<?x64xf32>) -> ()
  return
}
}
