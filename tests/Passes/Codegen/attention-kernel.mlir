// Attention reads the cache page by page, or the rows of staged keys and values,
// and keeps 64 scores a row: which rows a block has, which keys they see, and
// what of a page is read. Heads of 6 of which two share keys and values.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = memref<?x12xf32>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Blocks of four rows, two tokens of two heads, and eight blocks for a page. Keys
// a token sees lie from its position less 7 up to its position; tokens of another
// sequence, or beyond the last, see none.
// CHECK-LABEL: @cached
// CHECK-COUNT-3: memref.alloca() {alignment = 64 : i64} : memref<16xi32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<4x64xf32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<32x16xf32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<32x6xf32>
// CHECK-NOT: {{memref.alloc\(|memref.alloca\(%}}
// CHECK: scf.for %[[ITEM:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[FIRST:.*]] = arith.muli %[[ITEM]], %c16
// CHECK: scf.for %[[SEQUENCE:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK: %[[RANGE:.*]]:2 = scf.for %[[OFFSET:.*]] = %c0 to %c16 step %c1 iter_args
// CHECK: %[[INDEX:.*]] = arith.addi %[[FIRST]], %[[OFFSET]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi sle, %[[INDEX]], %
// CHECK: memref.load %sequence_of
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %[[SEQUENCE]]
// CHECK: %[[MINE:.*]] = arith.andi %[[EXISTS]], %[[SAME]]
// CHECK: memref.load %positions
// CHECK: %[[OWN:.*]] = arith.index_cast
// CHECK: arith.addi %[[OWN]], %c1
// CHECK: %[[BACK:.*]] = arith.subi %[[OWN]], %c7
// CHECK: %[[SINCE:.*]] = arith.maxsi %c0, %[[BACK]]
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: %[[FROM:.*]] = arith.select %[[MINE]], %[[SINCE]], %c2147483647
// CHECK: %[[TO:.*]] = arith.select %[[MINE]], %[[END]], %c0
// Queries are scaled into scratch.
// CHECK: vector.maskedload %x[
// CHECK: arith.minsi %{{.*}}, %[[FROM]]
// CHECK: arith.maxsi %{{.*}}, %[[TO]]
// CHECK: scf.for %[[PAGE:.*]] = %
// CHECK: %pages = dnn.page_table %batch[%[[SEQUENCE]]]
// CHECK: memref.load %pages[%[[PAGE]]]
// CHECK: %keys, %values = dnn.page %cache[%scope], %{{.*}} : <1x6xbf16> -> memref<1x4x3x32xbf16>, memref<1x32x32xbf16>
// The next page, of which blocks ask for a share each; behind the last comes the
// first again.
// CHECK: %[[AFTER:.*]] = arith.select
// CHECK: memref.load %pages[%[[AFTER]]]
// CHECK: %[[NEXT_KEYS:keys_.*]], %[[NEXT_VALUES:values_.*]] = dnn.page
// CHECK: %[[KEY0:.*]] = arith.muli %[[PAGE]], %c64
// A block that sees nothing of the page does nothing.
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c8 step %c1 {
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[ANY:.*]] = arith.andi
// CHECK: scf.if %[[ANY]] {
// Keys up to the last that any row of the block sees, 16 at once.
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[KEY0]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: %[[UP:.*]] = arith.addi %[[COUNT]], %c15
// CHECK: %[[GROUPS:.*]] = arith.divui %[[UP]], %c16
// Pairs of elements: one line of keys for all rows.
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %[[GROUPS]] step %c1 {
// CHECK: memref.prefetch %[[NEXT_KEYS]][
// CHECK: %[[DOTS:.*]]:4 = scf.for %[[WORD:.*]] = %c0 to %c3{{.*}} step %c1
// CHECK: vector.load %keys[%c0, %[[GROUP]], %[[WORD]], %c0]
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK: arith.addi %[[KEY0]], %
// CHECK: %[[KEYS:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<16xi32>
// Scores of keys that all rows see are as they are.
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: vector.store %[[DOTS]]#0, %[[SCORES:.*]][%c0, %
// CHECK-NEXT: vector.store %[[DOTS]]#1, %[[SCORES]][%c1, %
// CHECK: } else {
// CHECK: %[[ABOVE:.*]] = arith.cmpi sge, %[[KEYS]], %
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[KEYS]], %
// CHECK: %[[SEEN:.*]] = arith.andi %[[ABOVE]], %[[BELOW]]
// CHECK: arith.select %[[SEEN]], %
// The others have the lowest score.
// CHECK: scf.for %[[GROUP:.*]] = %[[GROUPS]] to %c4 step %c1 {
// CHECK-COUNT-4: vector.store %{{.*}} : memref<4x64xf32>
// CHECK: math.roundeven
// CHECK: memref.prefetch %[[NEXT_VALUES]][
// CHECK: %[[UP:.*]] = arith.addi %[[COUNT]], %c1
// CHECK: %[[PAIRS:.*]] = arith.divui %[[UP]], %c2
// CHECK: scf.for %[[KEY:.*]] = %c0 to %[[PAIRS]] step %c1
// CHECK: vector.load %values[%c0, %[[KEY]], %
// Only tokens of this pass are written.
// CHECK: arith.cmpi sle
// CHECK: %[[OWNED:.*]] = arith.andi %{{.*}} : i1
// CHECK: scf.if %[[OWNED]] {
// CHECK: vector.maskedstore %x_0[
// CHECK-NOT: {{memref.alloc\(|memref.alloca\(%}}
// CHECK: return
func.func private @cached(%s: !scope, %b: !batch, %c: !transformer.cache<1x6xbf16>, %q: !rows, %o: !rows) {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 window 8 outs(%o) : (!rows, !batch, !transformer.cache<1x6xbf16>, !scope, !rows) -> ()
  return
}

// A decode-sized batch has sequences of one token: a block is one token.
// CHECK-LABEL: @decode
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<2x64xf32>
// CHECK: :2 = scf.for %{{.*}} = %c0 to %c3{{.*}} step %c1
// CHECK: return
func.func private @decode(%s: !scope, %b: !batch, %c: !transformer.cache<1x6xbf16>, %q: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (!rows, !batch, !transformer.cache<1x6xbf16>, !scope, !rows) -> ()
  return
}

// Staged keys count from the step's start: those of a sequence lie between two
// starts, and row r has tokens 64 r on.
// CHECK-LABEL: @staged
// CHECK-NOT: dnn.page_table
// CHECK: %starts = dnn.field starts %batch
// CHECK: memref.load %starts[%[[SEQUENCE:.*]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[SEQUENCE]], %c1
// CHECK: memref.load %starts[%[[NEXT]]]
// CHECK: dnn.staged_page %x_0[%{{.*}}] : memref<?x1408xf32> -> memref<1x4x6x16xf32>, memref<1x64x16xf32>
// CHECK-NOT: dnn.page_table
// CHECK: return
func.func private @staged(%b: !batch, %q: !rows, %k: memref<?x1408xf32>, %o: !rows) {
  dnn.attention bidirectional %q, %b staged %k heads 2 kv_heads 1 scale 0.5 outs(%o) : (!rows, !batch, memref<?x1408xf32>, !rows) -> ()
  return
}
}
