// Handles become pointers and loads through the step, and everything that the
// code needs comes through the step's function table: nothing is declared.
// RUN: %tenon-opt %s --lower-to-llvm --canonicalize | FileCheck %s --implicit-check-not="llvm.func @" --implicit-check-not="llvm.func private" --implicit-check-not="transformer."

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = memref<?x8xf32>
!weight = !dnn.packed<panels, 8x8xf32>

module attributes {transformer.few_tokens = 4 : i64, transformer.vocabulary = 9 : i64} {

// matmul is field 2 of the table: the pool, then the barrier, come first.
// CHECK-LABEL: llvm.func internal @layer(
// CHECK-SAME: %arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: !llvm.ptr,
func.func private @layer(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %o: !rows) attributes {transformer.max_tokens = 8 : i64} {
  // CHECK-DAG: %[[SITE:.*]] = llvm.mlir.constant(5 : i64)
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: %[[WEIGHTS:.*]] = llvm.load %arg0 :
  // CHECK: %[[AT:.*]] = llvm.getelementptr %[[WEIGHTS]][3]
  // CHECK: %[[W:.*]] = llvm.load %[[AT]]
  %w = dnn.weight %s ["w"] of "ffn" slot 3 : !weight
  // CHECK: %[[STEP_FIELD:.*]] = llvm.getelementptr %arg1[1]
  // CHECK: %[[TABLE:.*]] = llvm.load %[[STEP_FIELD]] :
  // CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[TABLE]][3]
  // CHECK: %[[MATMUL:.*]] = llvm.load %[[FIELD]]
  // CHECK: %[[ANSWER:.*]] = llvm.call %[[MATMUL]](%{{[0-9]+}}, %[[SITE]], %arg6, %arg4, %[[W]], %[[NULL]], %[[NULL]], %arg11, %arg11) :
  // CHECK: llvm.icmp "ne" %[[ANSWER]], %{{.*}} : i64
  // CHECK: llvm.return %{{.*}} : i64
  dnn.call_site 5 of %b(%x) weight %w residual %o output %o : !batch, !rows, !weight, !rows, !rows
  return
}

// CHECK-LABEL: llvm.func internal @body(
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %{{.*}}[2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[BARRIER:.*]] = llvm.load %[[FIELD]]
// CHECK: llvm.call %[[BARRIER]](%{{[^,]*}}) : !llvm.ptr, (!llvm.ptr) -> ()
func.func private @body(%t: index, %n: index, %b: !batch) {
  dnn.barrier %b
  return
}

// The entry takes the step alone; a dispatch compares the count with the
// module's bound.
// CHECK-LABEL: llvm.func @tenon_entry_step(
// CHECK-SAME: %arg0: !llvm.ptr) -> i64
func.func @step(%b: !batch, %c: !cache) attributes {transformer.role = "step", transformer.output = "hidden"} {
  // CHECK-DAG: %[[FOUR:.*]] = llvm.mlir.constant(4 : index)
  // CHECK-DAG: llvm.mlir.addressof @body.body
  // CHECK: %[[FEW:.*]] = llvm.icmp "ule" %{{.*}}, %[[FOUR]]
  // CHECK: llvm.cond_br %[[FEW]]
  // CHECK: %[[ANSWER:.*]] = llvm.call @layer(
  // CHECK: llvm.icmp "ne" %[[ANSWER]]
  // CHECK: llvm.call @layer(
  // CHECK: llvm.return %{{.*}} : i64
  %n = dnn.count tokens %b
  %s = dnn.scope %b "s" number 1
  %x = dnn.buffer %b[%n] at 64 : !rows
  %o = dnn.output %b[%n] : !rows
  dnn.launch @body on %b(%b) : !batch, !batch
  dnn.dispatch @layer or @layer by tokens of %b(%s, %b, %c, %x) outs(%o) : (!batch, !scope, !batch, !cache, !rows, !rows) -> ()
  return
}

// A launched function is called with what the environment holds.
// CHECK-LABEL: llvm.func internal @body.body(
// CHECK-SAME: %arg0: !llvm.ptr, %arg1: i64, %arg2: i64) {
// CHECK: %[[AT:.*]] = llvm.getelementptr %arg0[0, 0]
// CHECK: %[[B:.*]] = llvm.load %[[AT]]
// CHECK: llvm.call @body(%arg1, %arg2, %[[B]])
}
