// Appends to each kind of cache.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Keys and values go to a page of the sequence: to lane t % 16 of key block t / 16
// and to row t of the values, where t is the position in its page.
// CHECK-LABEL: @append
// CHECK: memref.load %positions[%[[ROW:.*]]]
// CHECK: %[[POSITION:.*]] = arith.index_cast
// CHECK: memref.load %sequence_of[%[[ROW]]]
// CHECK: %[[SEQUENCE:.*]] = arith.index_cast
// CHECK: dnn.page_table %batch[%[[SEQUENCE]]]
// CHECK: %[[NUMBER:.*]] = arith.divui %[[POSITION]], %[[C64:c64.*]] : index
// CHECK: memref.load %pages[%[[NUMBER]]]
// CHECK: %keys, %values = dnn.page %cache[%scope], %
// CHECK: %[[T:.*]] = arith.remui %[[POSITION]], %[[C64]]
// CHECK: %[[BLOCK:.*]] = arith.divui %[[T]], %[[C16:c16.*]] : index
// CHECK: %[[LANE:.*]] = arith.remui %[[T]], %[[C16]]
// CHECK: memref.store %{{.*}}, %keys[%c0, %[[BLOCK]], %{{.*}}, %[[LANE]]]
// Values are padded to a whole vector, with zeros.
// CHECK: %[[VALUES:.*]] = vector.maskedload %alloca[%c0],
// CHECK-NEXT: vector.store %[[VALUES]], %values[%c0, %[[T]], %c0] : memref<1x64x16xf32>
// CHECK: return
func.func private @append(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %k: memref<?x4xf32>) {
  dnn.cache_append %c[%s], %b keys %k values %k : !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  return
}

// Those of a source text to a page of its own table.
// CHECK-LABEL: @append_memory
// CHECK: dnn.page_table cross %batch[
// CHECK: dnn.page %cache[%scope]
// CHECK: return
func.func private @append_memory(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<cross 1x4xf32>, %k: memref<?x4xf32>) {
  dnn.cache_append %c[%s], %b keys %k values %k : !transformer.cache<cross 1x4xf32>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x4xf32>
  return
}

// Both parts of a latent vector lie side by side in 6 of 16 values.
// CHECK-LABEL: @append_latent
// CHECK: dnn.page_table %batch[
// CHECK: %[[PAGE:.*]] = dnn.latent_page %cache[%scope], {{.*}} -> memref<64x16xbf16>
// CHECK: %[[T:.*]] = arith.remui
// CHECK-DAG: vector.maskedload %x[%[[ROW:.*]], %c0]
// CHECK-DAG: vector.create_mask %c4
// CHECK: vector.maskedstore %[[PAGE]][%[[T]], %c0],
// CHECK: vector.create_mask %c2
// CHECK: vector.maskedload %x_0[%
// CHECK: vector.maskedstore %[[PAGE]][%[[T]], %
// CHECK-NOT: dnn.page %
// CHECK: return
func.func private @append_latent(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xbf16>, %k: memref<?x4xf32>, %r: memref<?x2xf32>) {
  dnn.latent_append %c[%s], %b latent %k rotated %r : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, memref<?x4xf32>, memref<?x2xf32>
  return
}
}
