// Places in the tables of scopes.
// RUN: %tenon-opt %s --assign-weight-indices -split-input-file | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope

// Places follow the order of keys, tables come last, and equal weights have one
// place, in both variants of a function.
// CHECK-LABEL: @layer.few
func.func private @layer.few(%s: !scope, %b: !batch) attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK-NEXT: dnn.weight %scope ["b"] of norm index 1
  %0 = dnn.weight %s ["b"] of norm : <vector, 8x1xf32>
  // CHECK-NEXT: dnn.weight %scope ["a"] of ffn index 0
  %1 = dnn.weight %s ["a"] of ffn : <panels, 8x8xf32>
  // CHECK-NEXT: dnn.weight %scope ["b"] of norm index 1
  %2 = dnn.weight %s ["b"] of norm : <vector, 8x1xf32>
  return
}
// CHECK-LABEL: @layer.many
func.func private @layer.many(%s: !scope, %b: !batch) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: dnn.table #transformer.rope<{{.*}}> in %scope index 3
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %s : <row_major, 16x4xf32>
  // CHECK-NEXT: dnn.weight %scope ["a"] of ffn index 0
  %1 = dnn.weight %s ["a"] of ffn : <panels, 8x8xf32>
  return
}
// The scope of layer 0 is one of @layer's: both number its weights alike.
// CHECK-LABEL: @step
func.func @step(%b: !batch) attributes {transformer.role = "step"} {
  // CHECK: %[[L0:.*]] = dnn.scope %batch "layers.0"
  %l0 = dnn.scope %b "layers.0" number 0 layer 0
  %l1 = dnn.scope %b "layers.1" number 1 layer 1
  // CHECK: %[[M:.*]] = dnn.scope %batch "m"
  %m = dnn.scope %b "m" number 2
  // CHECK: dnn.weight %[[M]] ["z"] of norm index 0
  %0 = dnn.weight %m ["z"] of norm : <vector, 8x1xf32>
  // CHECK: dnn.weight %[[L0]] ["c"] of norm index 2
  %1 = dnn.weight %l0 ["c"] of norm : <vector, 8x1xf32>
  dnn.dispatch @layer.few or @layer.many by tokens of %b(%l0, %b) outs() : (!batch, !scope, !batch) -> ()
  dnn.dispatch @layer.few or @layer.many by tokens of %b(%l1, %b) outs() : (!batch, !scope, !batch) -> ()
  return
}

// -----

// Two functions called with one scope share its table; a function that nothing
// calls has a table of its own.
!batch = !transformer.batch
!scope = !transformer.scope
// CHECK-LABEL: @first
func.func private @first(%s: !scope, %b: !batch) attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK-NEXT: ["b"] of norm index 1
  %0 = dnn.weight %s ["b"] of norm : <vector, 8x1xf32>
  return
}
// CHECK-LABEL: @second
func.func private @second(%s: !scope, %b: !batch) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: ["a"] of norm index 0
  %0 = dnn.weight %s ["a"] of norm : <vector, 8x1xf32>
  return
}
// CHECK-LABEL: @uncalled
func.func private @uncalled(%s: !scope, %b: !batch) {
  // CHECK-NEXT: ["c"] of norm index 0
  %0 = dnn.weight %s ["c"] of norm : <vector, 8x1xf32>
  return
}
func.func @step(%b: !batch) attributes {transformer.role = "step"} {
  %s = dnn.scope %b "s" number 0
  dnn.dispatch @first or @second by tokens of %b(%s, %b) outs() : (!batch, !scope, !batch) -> ()
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
  // CHECK-NEXT: of "near" index [[NEAR:[1-5]]]
  %0 = dnn.table #transformer.buckets<8, max = 20> in %s of "near" : <row_major, 2x41xf32>
  // CHECK-NEXT: of "far" index [[FAR:[1-5]]]
  %1 = dnn.table #transformer.buckets<8, max = 20> in %s of "far" : <row_major, 2x41xf32>
  // CHECK-NEXT: #transformer.alibi<max = 8.0> in %scope index [[ALIBI:[1-5]]]
  %2 = dnn.table #transformer.alibi<max = 8.0> in %s : <row_major, 2x1xf32>
  // CHECK-NEXT: #transformer.alibi<max = 4.0> in %scope index [[OTHER:[1-5]]]
  %3 = dnn.table #transformer.alibi<max = 4.0> in %s : <row_major, 2x1xf32>
  // CHECK-NEXT: of "near" index [[NEAR]]
  %4 = dnn.table #transformer.buckets<8, max = 20> in %s of "near" : <row_major, 2x41xf32>
  // A wider table of the same content.
  // CHECK-NEXT: #transformer.alibi<max = 8.0> in %scope index [[WIDER:[1-5]]] : <row_major, 3x1xf32>
  %5 = dnn.table #transformer.alibi<max = 8.0> in %s : <row_major, 3x1xf32>
  // CHECK-NEXT: dnn.weight %scope ["experts.*.up"] of ffn index 0
  %6 = dnn.weight %s ["experts.*.up"] of ffn : <panels, 6x4x8xf32>
  return
}
