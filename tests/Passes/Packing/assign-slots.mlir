// Places in the tables of scopes.
// RUN: %tenon-opt %s --assign-slots -split-input-file | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope

// Places follow the order of keys, and equal weights have one place.
// CHECK-LABEL: @layer
func.func private @layer(%s: !scope, %b: !batch) {
  // CHECK-NEXT: dnn.weight %arg0 ["b"] of "norm" slot 1
  %0 = dnn.weight %s ["b"] of "norm" : <vector, 8x1xf32>
  // CHECK-NEXT: dnn.weight %arg0 ["a"] of "ffn" slot 0
  %1 = dnn.weight %s ["a"] of "ffn" : <panels, 8x8xf32>
  // CHECK-NEXT: dnn.weight %arg0 ["b"] of "norm" slot 1
  %2 = dnn.weight %s ["b"] of "norm" : <vector, 8x1xf32>
  // CHECK-NEXT: dnn.table #transformer.rope<{{.*}}> in %arg0 slot 3
  %3 = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %s : <rows, 16x4xf32>
  return
}
// The scope of layer 0 is one of @layer's: both number its weights alike.
// CHECK-LABEL: @step
func.func @step(%b: !batch) attributes {transformer.role = "step"} {
  %l0 = dnn.scope %b "layers.0" number 0 layer 0
  %l1 = dnn.scope %b "layers.1" number 1 layer 1
  %m = dnn.scope %b "m" number 2
  // CHECK: dnn.weight %2 ["z"] of "norm" slot 0
  %0 = dnn.weight %m ["z"] of "norm" : <vector, 8x1xf32>
  // CHECK: dnn.weight %0 ["c"] of "norm" slot 2
  %1 = dnn.weight %l0 ["c"] of "norm" : <vector, 8x1xf32>
  dnn.dispatch @layer or @layer by tokens of %b(%l0, %b) outs() : (!batch, !scope, !batch) -> ()
  dnn.dispatch @layer or @layer by tokens of %b(%l1, %b) outs() : (!batch, !scope, !batch) -> ()
  return
}

// -----

// Two functions called with one scope share its table; a function that nothing
// calls has a table of its own.
!batch = !transformer.batch
!scope = !transformer.scope
// CHECK-LABEL: @first
func.func private @first(%s: !scope, %b: !batch) {
  // CHECK-NEXT: ["b"] of "norm" slot 1
  %0 = dnn.weight %s ["b"] of "norm" : <vector, 8x1xf32>
  return
}
// CHECK-LABEL: @second
func.func private @second(%s: !scope, %b: !batch) {
  // CHECK-NEXT: ["a"] of "norm" slot 0
  %0 = dnn.weight %s ["a"] of "norm" : <vector, 8x1xf32>
  return
}
// CHECK-LABEL: @uncalled
func.func private @uncalled(%s: !scope, %b: !batch) {
  // CHECK-NEXT: ["c"] of "norm" slot 0
  %0 = dnn.weight %s ["c"] of "norm" : <vector, 8x1xf32>
  return
}
func.func @step(%b: !batch) attributes {transformer.role = "step"} {
  %s = dnn.scope %b "s" number 0
  dnn.dispatch @first or @first by tokens of %b(%s, %b) outs() : (!batch, !scope, !batch) -> ()
  dnn.dispatch @second or @second by tokens of %b(%s, %b) outs() : (!batch, !scope, !batch) -> ()
  return
}

// -----

// Tables that differ in content or in the biases that they are made of have
// places of their own, equal ones share one, and all come behind weights of
// tensors, stacks among them.
!batch = !transformer.batch
!scope = !transformer.scope
// CHECK-LABEL: @tables
func.func private @tables(%s: !scope, %b: !batch) {
  // CHECK-NEXT: of "near" slot [[NEAR:[1-5]]]
  %0 = dnn.table #transformer.buckets<8, max = 20> in %s of "near" : <rows, 2x41xf32>
  // CHECK-NEXT: of "far" slot [[FAR:[1-5]]]
  %1 = dnn.table #transformer.buckets<8, max = 20> in %s of "far" : <rows, 2x41xf32>
  // CHECK-NEXT: #transformer.alibi<max = 8.0> in %arg0 slot [[ALIBI:[1-5]]]
  %2 = dnn.table #transformer.alibi<max = 8.0> in %s : <rows, 2x1xf32>
  // CHECK-NEXT: #transformer.alibi<max = 4.0> in %arg0 slot [[OTHER:[1-5]]]
  %3 = dnn.table #transformer.alibi<max = 4.0> in %s : <rows, 2x1xf32>
  // CHECK-NEXT: of "near" slot [[NEAR]]
  %4 = dnn.table #transformer.buckets<8, max = 20> in %s of "near" : <rows, 2x41xf32>
  // A wider table of the same content.
  // CHECK-NEXT: #transformer.alibi<max = 8.0> in %arg0 slot [[WIDER:[1-5]]] : <rows, 3x1xf32>
  %5 = dnn.table #transformer.alibi<max = 8.0> in %s : <rows, 3x1xf32>
  // CHECK-NEXT: dnn.weight %arg0 ["experts.*.up"] of "ffn" slot 0
  %6 = dnn.weight %s ["experts.*.up"] of "ffn" : <panels, 6x4x8xf32>
  return
}
