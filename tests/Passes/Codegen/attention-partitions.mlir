// A work item is a token, a key-value head and a partition of the token's pages.
// How many there are follows from the token alone; threads take them in turn.
// RUN: %tenon-opt %s --generate-kernels --cse | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<2x6xf32>
!rows = memref<?x24xf32>

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Four heads in two items. Partials of one partition are 4 * (6 + 2) wide, so
// that there are three.
// CHECK-LABEL: @few
// CHECK: dnn.parallel %[[THREAD:.*]] of %[[THREADS:.*]] {
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<2x64xf32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<3xf32>
// CHECK: %[[ALL:.*]]:2 = scf.for %[[TOKEN:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[BEFORE:.*]] = %c0, %[[MOST:.*]] = %c1)
// Partitions of two pages, but at most three of them.
// CHECK: arith.divui %{{.*}}, %c2
// CHECK: arith.minsi %{{.*}}, %c3
// CHECK: %[[PAGES:.*]] = arith.divui
// CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %[[PAGES]]
// CHECK: %[[ITEMS:.*]] = arith.muli %[[COUNT]], %c2
// CHECK: arith.remui %[[BEFORE]], %[[THREADS]]
// CHECK: %[[FIRST:.*]] = arith.remui %{{.*}}, %[[THREADS]]
// CHECK: scf.for %[[ITEM:.*]] = %[[FIRST]] to %[[ITEMS]] step %[[THREADS]] {
// CHECK: arith.divui %[[ITEM]], %c2
// Values are asked for while keys are multiplied, and the next page's keys with
// the values, into the second level of the cache. Behind the last page comes that
// which this thread's next item begins with, of another head.
// CHECK: %[[AFTER:.*]] = arith.addi %[[ITEM]], %[[THREADS]]
// CHECK: %[[AFTER_HEAD:.*]] = arith.remui %[[AFTER]], %c2
// CHECK: %[[AFTER_PART:.*]] = arith.divui %[[AFTER]], %c2
// CHECK: %[[PART:.*]] = arith.minsi %[[AFTER_PART]], %
// CHECK: arith.muli %[[PART]], %[[PAGES]]
// CHECK: %[[AFTER_PAGE:.*]] = arith.addi
// CHECK: scf.for %[[PAGE:.*]] =
// CHECK: %[[KEYS:.*]], %[[VALUES:.*]] = dnn.page %cache
// CHECK: %[[UP:.*]] = arith.addi %[[PAGE]], %c1
// CHECK: %[[IS_INSIDE:.*]] = arith.cmpi slt, %[[UP]], %
// CHECK: arith.select %[[IS_INSIDE]], %[[UP]], %[[AFTER_PAGE]]
// CHECK: %[[NEXT:.*]], %{{.*}} = dnn.page %cache
// CHECK: %[[NEXT_HEAD:.*]] = arith.select %[[IS_INSIDE]], %{{.*}}, %[[AFTER_HEAD]]
// CHECK: memref.prefetch %[[VALUES]]{{.*}} locality<2>
// CHECK: vector.load %[[KEYS]]
// CHECK: memref.prefetch %[[NEXT]][%[[NEXT_HEAD]]{{.*}} locality<2>
// CHECK: vector.load %[[VALUES]]
// The only one is written to the row, others to the partials, with maximum and
// total.
// CHECK: arith.cmpi eq, %[[COUNT]], %c1
// CHECK: scf.if
// CHECK: vector.maskedstore %x_0[
// CHECK: } else {
// CHECK-NOT: %x_0[
// CHECK: vector.maskedstore %x_1[%[[TOKEN]],
// CHECK: memref.store %{{.*}}, %x_1[%[[TOKEN]],
// CHECK: memref.store %{{.*}}, %x_1[%[[TOKEN]],
// CHECK: scf.yield
// All threads wait, or none.
// CHECK: %[[SEVERAL:.*]] = arith.cmpi slt, %c1, %[[ALL]]#1
// CHECK: scf.if %[[SEVERAL]] {
// CHECK-NEXT: dnn.barrier %batch
// CHECK-NOT: dnn.barrier
// Partials are added up in order.
// CHECK: math.roundeven
// CHECK: arith.divf
// CHECK: math.fma
// CHECK: vector.maskedstore %x_0[
// CHECK: return
func.func private @few(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %o: !rows, %p: memref<?x96xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.attention causal %q, %b cache %c[%s] heads 4 kv_heads 2 scale 0.5 partition_pages 2 outs(%o, %p) : (!rows, !batch, !cache, !scope, !rows, memref<?x96xf32>) -> ()
  return
}

// Only the first partition has the sink.
// CHECK-LABEL: @sinks
// CHECK: %[[IS:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: arith.select %[[IS]], %{{.*}}, %cst
// CHECK: arith.select %[[IS]], %cst{{.*}}, %cst
// CHECK: return
func.func private @sinks(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %n: !dnn.packed<vector, 4x1xf32>, %o: !rows, %p: memref<?x96xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  dnn.attention causal %q, %b cache %c[%s] heads 4 kv_heads 2 scale 0.5 sinks %n partition_pages 2 outs(%o, %p) : (!rows, !batch, !cache, !scope, !dnn.packed<vector, 4x1xf32>, !rows, memref<?x96xf32>) -> ()
  return
}
}
