// Handles become pointers and loads through the step, and all that the code calls
// comes out of the step's function table: nothing is declared.
// RUN: %tenon-opt %s --convert-dnn-to-llvm --canonicalize | FileCheck %s --implicit-check-not="!transformer." --implicit-check-not="!dnn."

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xbf16>
!rows = memref<?x8xf32>
!weight = !dnn.packed<panels, 8x8xf32>

// A scope begins with its weights, of which "w" is number 3. matmul is field 3 of
// the function table (its size, the pool and the barrier come first), which is
// field 1 of the step; the runtime, field 2, is its first argument. A bias and a
// multiplier that there are not are null. Rows are the input's.
// CHECK-LABEL: llvm.func @matmul(
// CHECK-SAME: %[[SCOPE:[^ ]*]]: !llvm.ptr, %[[STEP:[^ ]*]]: !llvm.ptr, %{{[^ ]*}}: !llvm.ptr, %[[X:[^ ]*]]: !llvm.ptr, %{{[^ ]*}}: i64, %[[ROWS:[^ ]*]]: i64,
// CHECK-DAG: %[[NUMBER:.*]] = llvm.mlir.constant(5 : i64)
// CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: %[[WEIGHTS:.*]] = llvm.load %[[SCOPE]] :
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[WEIGHTS]][3]
// CHECK: %[[W:.*]] = llvm.load %[[AT]]
// CHECK: %[[TABLE_AT:.*]] = llvm.getelementptr %[[STEP]][1]
// CHECK: %[[TABLE:.*]] = llvm.load %[[TABLE_AT]] :
// CHECK: %[[MATMUL_AT:.*]] = llvm.getelementptr %[[TABLE]][3]
// CHECK: %[[MATMUL:.*]] = llvm.load %[[MATMUL_AT]]
// CHECK: %[[RUNTIME_AT:.*]] = llvm.getelementptr %[[STEP]][2]
// CHECK: %[[RUNTIME:.*]] = llvm.load %[[RUNTIME_AT]]
// CHECK: llvm.call %[[MATMUL]](%[[RUNTIME]], %[[NUMBER]], %[[ROWS]], %[[X]], %[[W]], %[[NULL]], %[[NULL]], %[[O:.*]], %[[O]]) : {{.*}} -> i64
func.func @matmul(%s: !scope, %b: !batch, %x: !rows, %o: !rows) {
  %w = dnn.weight %s ["w"] of ffn index 3 : !weight
  dnn.call_matmul 5 of %b(%x) weight %w residual %o output %o : !batch, !rows, !weight, !rows, !rows
  return
}

// Field 2 of the table, which cannot fail.
// CHECK-LABEL: llvm.func @body(
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %{{.*}}[2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[BARRIER:.*]] = llvm.load %[[FIELD]]
// CHECK: llvm.call %[[BARRIER]](%{{[^,]*}}) : !llvm.ptr, (!llvm.ptr) -> ()
func.func private @body(%t: index, %n: index, %b: !batch) {
  dnn.barrier %b
  return
}

// Field 5, which cannot fail, writes two numbers into a place on the stack that
// is taken once.
// CHECK-LABEL: llvm.func @claims(
// CHECK-SAME: %[[STEP:[^ ]*]]: !llvm.ptr, %[[T:[^ ]*]]: i64, %[[N:[^ ]*]]: i64, %[[TOTAL:[^ ]*]]: i64, %[[GRAIN:[^ ]*]]: i64)
// CHECK: %[[ITEMS:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %{{.*}}[5]
// CHECK: %[[CLAIM:.*]] = llvm.load %[[FIELD]]
// CHECK: llvm.call %[[CLAIM]](%{{[^,]*}}, %[[T]], %[[N]], %[[TOTAL]], %[[GRAIN]], %[[ITEMS]]) : !llvm.ptr, (!llvm.ptr, i64, i64, i64, i64, !llvm.ptr) -> ()
// CHECK-NEXT: llvm.load %[[ITEMS]]
// CHECK-NEXT: %[[AT:.*]] = llvm.getelementptr %[[ITEMS]][1]
// CHECK: llvm.load %[[AT]]
func.func private @claims(%b: !batch, %t: index, %n: index, %total: index, %grain: index) -> (index, index) {
  %first, %count = dnn.claim %grain of %total for %t of %n on %b
  return %first, %count : index, index
}

// Field 4, which cannot fail, with the kernel's number, its layer, rows and
// thread; outside of layers null, outside of regions thread 0.
// CHECK-LABEL: llvm.func @marks(
// CHECK-SAME: %[[STEP:[^ ]*]]: !llvm.ptr, %[[SCOPE:[^ ]*]]: !llvm.ptr, %[[N:[^ ]*]]: i64, %[[T:[^ ]*]]: i64)
// CHECK-DAG: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i64)
// CHECK-DAG: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.inline_asm has_side_effects "# f: a"
// CHECK: llvm.getelementptr %[[STEP]][1]
// CHECK: %[[MARK_AT:.*]] = llvm.getelementptr %{{.*}}[4]
// CHECK: %[[MARK:.*]] = llvm.load %[[MARK_AT]]
// CHECK: llvm.getelementptr %[[STEP]][2]
// CHECK: llvm.call %[[MARK]](%{{[^,]*}}, %[[SEVEN]], %[[SCOPE]], %[[N]], %[[T]]) : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, i64, i64) -> ()
// CHECK: llvm.call %{{.*}}(%{{[^,]*}}, %[[EIGHT]], %[[NULL]], %[[N]], %[[ZERO]]) : {{.*}} -> ()
func.func private @marks(%b: !batch, %s: !scope, %n: index, %t: index) {
  dnn.kernel "a" in "f" number 7 of %b[%s] rows %n thread %t cost <numbers = f32>
  dnn.kernel "b" in "f" number 8 of %b rows %n cost <numbers = f32>
  return
}

// Field 1: a body and what it captured, which lie on the stack of the function's
// first block.
// CHECK-LABEL: llvm.func @launch(
// CHECK-SAME: %[[STEP:[^ ]*]]: !llvm.ptr
// CHECK-DAG: %[[BODY:.*]] = llvm.mlir.addressof @body.body
// CHECK-DAG: %[[SPACE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr)>
// CHECK: llvm.store %[[STEP]], %
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %{{.*}}[1]
// CHECK: llvm.call %{{.*}}(%{{.*}}, %[[BODY]], %[[SPACE]]) : {{.*}} -> i64
func.func @launch(%b: !batch) {
  dnn.launch @body on %b(%b) : !batch, !batch
  return
}

// Staged pages are field 16 of the batch; scopes are 16 bytes, the arena is field
// 5 of the step and the output field 6.
// CHECK-LABEL: llvm.func @handles(
// CHECK-SAME: %[[STEP:[^ ]*]]: !llvm.ptr
// CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-DAG: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i64)
// CHECK-DAG: %[[AT:.*]] = llvm.mlir.constant(128 : i64)
// CHECK: %[[BATCH_AT:.*]] = llvm.getelementptr %[[STEP]][3]
// CHECK: %[[BATCH:.*]] = llvm.load %[[BATCH_AT]]
// CHECK: llvm.getelementptr %[[BATCH]][16]
// CHECK: %[[STEP_BATCH_AT:.*]] = llvm.getelementptr %[[STEP]][3]
// CHECK: %[[STEP_BATCH:.*]] = llvm.load %[[STEP_BATCH_AT]]
// CHECK: llvm.getelementptr %[[STEP_BATCH]][15]
// CHECK: llvm.getelementptr %[[STEP]][4]
// CHECK: %[[S:.*]] = llvm.mul %[[TWO]], %[[SIXTEEN]]
// CHECK: llvm.getelementptr %{{.*}}[%[[S]]] : {{.*}}, i8
// CHECK: llvm.getelementptr %[[STEP]][5]
// CHECK: %[[A:.*]] = llvm.mul %[[AT]], %{{.*}}
// CHECK: llvm.getelementptr %{{.*}}[%[[A]]] : {{.*}}, i8
// CHECK: llvm.getelementptr %[[STEP]][6]
func.func @handles(%b: !batch) -> (index, index, !scope, !rows, !rows) {
  %n = dnn.count staged_pages %b
  %f = dnn.few_tokens %b
  %s = dnn.scope %b "s" number 2
  %x = dnn.buffer %b[%n] at 128 : !rows
  %o = dnn.output %b[%n] : !rows
  return %n, %f, %s, %x, %o : index, index, !scope, !rows, !rows
}

// Caches are field 1 of the scope: the pages of kind c, each of keys and values:
// 4 * 4 * 16 * 2 and 64 * 16 * 2 bytes.
// CHECK-LABEL: llvm.func @page(
// CHECK-SAME: %[[SCOPE:[^ ]*]]: !llvm.ptr, %[[CACHE:[^ ]*]]: i64, %[[PAGE:[^ ]*]]: i64
// CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(2560 : i64)
// CHECK-DAG: %[[KEY_BYTES:.*]] = llvm.mlir.constant(512 : i64)
// CHECK: %[[CACHES_AT:.*]] = llvm.getelementptr %[[SCOPE]][1]
// CHECK: %[[CACHES:.*]] = llvm.load %[[CACHES_AT]]
// CHECK: %[[KIND_AT:.*]] = llvm.getelementptr %[[CACHES]][%[[CACHE]]]
// CHECK: %[[PAGES:.*]] = llvm.load %[[KIND_AT]]
// CHECK: %[[OFFSET:.*]] = llvm.mul %[[PAGE]], %[[BYTES]]
// CHECK: %[[KEYS:.*]] = llvm.getelementptr %[[PAGES]][%[[OFFSET]]]
// CHECK: %[[BEHIND:.*]] = llvm.mul %{{.*}}, %[[KEY_BYTES]]
// CHECK: llvm.getelementptr %[[KEYS]][%[[BEHIND]]]
func.func @page(%s: !scope, %c: !cache, %n: index) -> (memref<1x4x2x32xbf16>, memref<1x32x32xbf16>) {
  %k, %v = dnn.page %c[%s], %n : <1x4xbf16> -> memref<1x4x2x32xbf16>, memref<1x32x32xbf16>
  return %k, %v : memref<1x4x2x32xbf16>, memref<1x32x32xbf16>
}

// The part of a thread of the scratch memory, field 7 of the step; field 8 is how
// large one is.
// CHECK-LABEL: llvm.func @scratch(
// CHECK-SAME: %[[T:.*]]: i64, %[[STEP:.*]]: !llvm.ptr
// CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(128 : i64) : i64
// CHECK: %[[BYTES_AT:.*]] = llvm.getelementptr %[[STEP]][8]
// CHECK: %[[BYTES:.*]] = llvm.load %[[BYTES_AT]] : !llvm.ptr -> i64
// CHECK: %[[BEGIN:.*]] = llvm.mul %[[T]], %[[BYTES]] : i64
// CHECK: %[[PLACE:.*]] = llvm.add %[[BEGIN]], %[[OFFSET]] : i64
// CHECK: %[[ALL_AT:.*]] = llvm.getelementptr %[[STEP]][7]
// CHECK: %[[ALL:.*]] = llvm.load %[[ALL_AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[AT:.*]] = llvm.mul %[[PLACE]], %{{.*}} : i64
// CHECK: llvm.getelementptr %[[ALL]][%[[AT]]] : {{.*}}, i8
func.func private @scratch(%t: index, %b: !batch) -> f32 {
  %x = dnn.scratch %b[%t] at 128 : memref<8xf32>
  %0 = memref.load %x[%t] : memref<8xf32>
  return %0 : f32
}

// A launched function is called with what the environment holds.
// CHECK-LABEL: llvm.func internal @body.body(
// CHECK-SAME: %[[SPACE:[^ ]*]]: !llvm.ptr, %[[T:[^ ]*]]: i64, %[[N:[^ ]*]]: i64) {
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[SPACE]][0, 0]
// CHECK: %[[B:.*]] = llvm.load %[[AT]]
// CHECK: llvm.call @body(%[[T]], %[[N]], %[[B]])
