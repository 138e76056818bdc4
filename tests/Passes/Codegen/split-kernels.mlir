// Splits of queries, keys and values: which columns are which heads, and where in
// a page they go. Heads of 6: two of queries, one of keys and values.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x6xbf16>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Keys begin at column 12, values at 18. Token t of a page is lane t % 16 of key
// block t / 16, two elements to a word, and half t % 2 of the words of row t / 2
// of the values.
// CHECK-LABEL: @append
// CHECK: scf.for %[[ITEM:.*]] =
// CHECK: %[[ROW:.*]] = arith.divui %[[ITEM]], %[[C2:c2.*]] : index
// CHECK: %[[HEAD:.*]] = arith.remui %[[ITEM]], %[[C2]]
// CHECK: arith.muli %[[HEAD]], %[[C6:c6.*]] : index
// CHECK: vector.maskedload %x[%[[ROW]], %
// CHECK: vector.maskedstore %x_0[%[[ROW]], %
// CHECK: scf.for %[[TOKEN:.*]] =
// CHECK: memref.load %positions[%[[TOKEN]]]
// CHECK: %[[POSITION:.*]] = arith.index_cast
// CHECK: dnn.page_table %batch[
// CHECK: %[[NUMBER:.*]] = arith.divui %[[POSITION]], %[[C64:c64.*]] : index
// CHECK: memref.load %pages[%[[NUMBER]]]
// CHECK: %keys, %values = dnn.page %cache[%scope], %
// CHECK: %[[T:.*]] = arith.remui %[[POSITION]], %[[C64]]
// CHECK: arith.addi %{{.*}}, %c12
// CHECK: %[[BLOCK:.*]] = arith.divui %[[T]], %[[C16:c16.*]] : index
// CHECK: %[[LANE:.*]] = arith.remui %[[T]], %[[C16]]
// CHECK: %[[PAIR:.*]] = arith.muli %[[LANE]], %[[C2]]
// CHECK: scf.for %[[AT:.*]] = %c0 to %[[C6]] step %c1
// CHECK: %[[WORD:.*]] = arith.divui %[[AT]], %[[C2]]
// CHECK: %[[HALF:.*]] = arith.remui %[[AT]], %[[C2]]
// CHECK: %[[IN:.*]] = arith.addi %[[PAIR]], %[[HALF]]
// CHECK: memref.store %{{.*}}, %keys[%c0, %[[BLOCK]], %[[WORD]], %[[IN]]]
// CHECK: arith.addi %{{.*}}, %c18
// CHECK: %[[ROW:.*]] = arith.divui %[[T]], %[[C2]]
// CHECK: %[[PARITY:.*]] = arith.remui %[[T]], %[[C2]]
// CHECK: scf.for %[[AT:.*]] = %c0 to %[[C6]] step %c1
// CHECK: %[[TWICE:.*]] = arith.muli %[[AT]], %[[C2]]
// CHECK: %[[IN:.*]] = arith.addi %[[TWICE]], %[[PARITY]]
// CHECK: memref.store %{{.*}}, %values[%c0, %[[ROW]], %[[IN]]]
// CHECK: return
func.func private @append(%s: !scope, %b: !batch, %c: !cache, %x: memref<?x24xf32>, %o: memref<?x12xf32>) {
  dnn.split_append %x to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (memref<?x24xf32>, !cache, !scope, !batch, memref<?x12xf32>) -> ()
  return
}

// Integers: each part of a head has the largest magnitude / 127 as its scale.
// CHECK-LABEL: @append_integers
// CHECK: dnn.page %cache[%scope], %{{.*}} : <1x6xi8> -> memref<1x4x2x64xi8>, memref<1x16x64xi8>, memref<2x1x64xf32>
// CHECK: math.absf
// CHECK: %[[MAX:.*]] = vector.reduction <maxnumf>
// CHECK: %[[SCALE:.*]] = arith.divf %[[MAX]], %{{.*}}
// CHECK: memref.store %[[SCALE]], %scales[%c0, %c0, %
// CHECK: math.roundeven
// CHECK: arith.fptosi %{{.*}} : f32 to i8
// CHECK: memref.store %{{.*}}, %keys[
// CHECK: math.absf
// CHECK: memref.store %{{.*}}, %scales[%c1{{.*}}, %c0, %
// CHECK: arith.fptosi %{{.*}} : f32 to i8
// CHECK: memref.store %{{.*}}, %values[
// CHECK: return
func.func private @append_integers(%s: !scope, %b: !batch, %c: !transformer.cache<1x6xi8>, %x: memref<?x24xf32>, %o: memref<?x12xf32>) {
  dnn.split_append %x to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (memref<?x24xf32>, !transformer.cache<1x6xi8>, !scope, !batch, memref<?x12xf32>) -> ()
  return
}

// Three operands begin at column 0 each. Both norms are of one head, with their
// offset; queries and keys are rotated, values are not.
// CHECK-LABEL: @apart
// CHECK-NOT: {{%c12|%c18}}
// CHECK: math.sqrt
// CHECK: arith.constant dense<1.000000e+00>
// CHECK-COUNT-2: vector.maskedload %{{.*}} : memref<16x6xf32>
// CHECK: math.sqrt
// CHECK-COUNT-2: vector.maskedload %{{.*}} : memref<16x6xf32>
// CHECK-NOT: {{math.sqrt|memref<16x6xf32>}}
// CHECK: vector.maskedload %x_1[
// CHECK-NOT: {{math.sqrt|memref<16x6xf32>}}
// CHECK: return
func.func private @apart(%s: !scope, %b: !batch, %c: !cache, %q: memref<?x12xf32>, %k: memref<?x6xf32>, %v: memref<?x6xf32>, %n: !dnn.packed<vector, 6x1xf32>, %t: !dnn.packed<row_major, 16x6xf32>, %o: memref<?x12xf32>) {
  dnn.split_append %q, %k, %v to %c[%s], %b heads 2 kv_heads 1 query_norm %n key_norm %n eps 1e-05 norm_offset 1.0 rope <half, dim = 6, base = 10000.0> table %t outs(%o) : (memref<?x12xf32>, memref<?x6xf32>, memref<?x6xf32>, !cache, !scope, !batch, !dnn.packed<vector, 6x1xf32>, !dnn.packed<vector, 6x1xf32>, !dnn.packed<row_major, 16x6xf32>, memref<?x12xf32>) -> ()
  return
}

// A token's slot is the first of its sequence and the tokens before it; slots
// behind a sequence are zero, up to the next one's or the last page's end.
// CHECK-LABEL: @stage
// CHECK-NOT: dnn.page_table
// CHECK: scf.for %[[TOKEN:.*]] =
// CHECK: %[[IN:.*]] = arith.subi %[[TOKEN]], %
// CHECK: memref.load %staged_starts[
// CHECK: %[[SLOT:.*]] = arith.addi %{{.*}}, %[[IN]]
// CHECK: %[[PAGE:.*]] = arith.divui %[[SLOT]], %c64
// CHECK: dnn.staged_page %x_1[%[[PAGE]]] : memref<?x1408xf32> -> memref<1x4x6x16xf32>, memref<1x64x16xf32>
// CHECK: arith.remui %[[SLOT]], %c64
// CHECK: dnn.count sequences
// CHECK: scf.for %[[SEQUENCE:.*]] =
// CHECK: %[[NEXT:.*]] = arith.addi %[[SEQUENCE]], %c1
// CHECK: memref.load %staged_starts[%[[SEQUENCE]]]
// CHECK: %[[FROM:.*]] = arith.addi
// CHECK: memref.load %staged_starts[%[[NEXT]]]
// CHECK: %[[TO:.*]] = arith.index_cast
// CHECK: scf.for %[[EMPTY:.*]] = %[[FROM]] to %[[TO]]
// CHECK: arith.divui %[[EMPTY]], %c64
// CHECK: dnn.staged_page %x_1[
// CHECK-NOT: vector.maskedload %x[
// CHECK: return
func.func private @stage(%b: !batch, %x: memref<?x24xf32>, %o: memref<?x12xf32>, %k: memref<?x1408xf32>) {
  dnn.split_stage %x of %b heads 2 kv_heads 1 outs(%o, %k) : (memref<?x24xf32>, !batch, memref<?x12xf32>, memref<?x1408xf32>) -> ()
  return
}
}
