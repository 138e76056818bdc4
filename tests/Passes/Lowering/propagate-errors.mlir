// What the runtime answers is returned at once unless it is 0, up to the entry.
// RUN: %tenon-opt %s --propagate-errors | FileCheck %s

// CHECK-LABEL: llvm.func internal @layer(
// CHECK-SAME: %[[F:[^ ]*]]: !llvm.ptr) -> i64
llvm.func internal @layer(%f: !llvm.ptr) {
  // CHECK: %[[A:.*]] = llvm.call %[[F]](%[[F]])
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK: %[[FAILED:.*]] = llvm.icmp "ne" %[[A]], %[[ZERO]]
  // CHECK: llvm.cond_br %[[FAILED]], ^[[RETURN:.*]], ^[[NEXT:.*]]
  // CHECK: ^[[RETURN]]:
  // CHECK-NEXT: llvm.return %[[A]] : i64
  // CHECK: ^[[NEXT]]:
  // CHECK-NEXT: %[[B:.*]] = llvm.call %[[F]](%[[F]])
  // CHECK: llvm.icmp "ne" %[[B]]
  // CHECK: llvm.return %[[B]]
  // CHECK: %[[DONE:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK-NEXT: llvm.return %[[DONE]] : i64
  %0 = llvm.call %f(%f) : !llvm.ptr, (!llvm.ptr) -> i64
  %1 = llvm.call %f(%f) : !llvm.ptr, (!llvm.ptr) -> i64
  llvm.return
}

// So is what a function answers that may fail; the rest of a caller does not run.
// CHECK-LABEL: llvm.func @tenon_entry_step(
// CHECK-SAME: ) -> i64
llvm.func @tenon_entry_step(%f: !llvm.ptr) {
  // CHECK: llvm.call @quiet(%{{.*}}) : (!llvm.ptr) -> ()
  // CHECK-NEXT: %[[A:.*]] = llvm.call @layer(%{{.*}}) : (!llvm.ptr) -> i64
  // CHECK: llvm.icmp "ne" %[[A]]
  // CHECK: llvm.return %[[A]]
  // CHECK: %[[B:.*]] = llvm.call @layer(
  // CHECK: llvm.icmp "ne" %[[B]]
  // CHECK: llvm.return %{{.*}} : i64
  llvm.call @quiet(%f) : (!llvm.ptr) -> ()
  llvm.call @layer(%f) : (!llvm.ptr) -> ()
  llvm.call @layer(%f) : (!llvm.ptr) -> ()
  llvm.return
}

// In branches as well.
// CHECK-LABEL: llvm.func @tenon_entry_encode(
// CHECK-SAME: ) -> i64
llvm.func @tenon_entry_encode(%f: !llvm.ptr, %c: i1) {
  // CHECK: llvm.cond_br %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
  // CHECK: ^[[THEN]]:
  // CHECK-NEXT: %[[A:.*]] = llvm.call @layer(
  // CHECK: llvm.icmp "ne" %[[A]]
  // CHECK: llvm.return %[[A]]
  llvm.cond_br %c, ^bb1, ^bb2
^bb1:
  llvm.call @layer(%f) : (!llvm.ptr) -> ()
  llvm.br ^bb2
^bb2:
  llvm.return
}

// An entry that cannot fail answers 0.
// CHECK-LABEL: llvm.func @tenon_entry_empty(
// CHECK-SAME: ) -> i64
// CHECK-NEXT: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT: llvm.return %[[ZERO]]
llvm.func @tenon_entry_empty(%f: !llvm.ptr) {
  llvm.return
}

// Calls that answer nothing, such as barriers, cannot fail, nor can functions
// that make no others.
// CHECK-LABEL: llvm.func internal @quiet(
// CHECK-NOT: i64
// CHECK: llvm.return
// CHECK-NOT: i64
llvm.func internal @quiet(%f: !llvm.ptr) {
  llvm.call %f(%f) : !llvm.ptr, (!llvm.ptr) -> ()
  llvm.return
}
