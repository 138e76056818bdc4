// A dispatch is a comparison with the step's bound and two calls, which stay
// calls: the code of a layer exists once.
// RUN: %tenon-opt %s --expand-dispatch -split-input-file | FileCheck %s

!batch = !transformer.batch
!rows = memref<?x8xf32>

module attributes {transformer.few_tokens = 4 : i64} {

// CHECK: func.func private @layer.few{{.*}} attributes {passthrough = ["noinline"], transformer.variant = #transformer.variant<few>}
func.func private @layer.few(%b: !batch, %x: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  return
}
// CHECK: func.func private @layer.many{{.*}} attributes {passthrough = ["noinline"],
func.func private @layer.many(%b: !batch, %x: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<many>} {
  return
}
// What nothing dispatches to may be inlined.
// CHECK: func.func private @other(%batch: !transformer.batch) {
func.func private @other(%b: !batch) {
  return
}

// Destinations come behind the inputs; the count is the one that the dispatch
// names.
// CHECK-LABEL: func.func @step(
func.func @step(%b: !batch, %x: !rows, %o: !rows) {
  // CHECK-NEXT: %output_rows = dnn.count output_rows %batch
  // CHECK-NEXT: %few_tokens = dnn.few_tokens %batch
  // CHECK-NEXT: %[[FEW:.*]] = arith.cmpi ule, %output_rows, %few_tokens
  // CHECK-NEXT: scf.if %[[FEW]] {
  // CHECK-NEXT: func.call @layer.few(%batch, %x, %x_0) :
  // CHECK-NEXT: } else {
  // CHECK-NEXT: func.call @layer.many(%batch, %x, %x_0) :
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  dnn.dispatch @layer.few or @layer.many by output_rows of %b(%b, %x) outs(%o) : (!batch, !batch, !rows, !rows) -> ()
  return
}
}
