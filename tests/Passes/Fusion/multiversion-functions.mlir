// Each function that an entry calls exists for decode-sized and for prefill-sized
// batches; an attribute says which is which.
// RUN: %tenon-opt %s --multiversion-functions="few-tokens=4 max-tokens=256" | FileCheck %s

// CHECK: module attributes {transformer.few_tokens = 4 : i64}

!batch = !transformer.batch
!rows = tensor<?x8xf32>

// CHECK: func.func private @layer.few(%batch: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-SAME: transformer.max_output_rows = 4 : i64, transformer.max_tokens = 4 : i64, transformer.variant = #transformer.variant<few>}
// CHECK-NEXT: %sum = transformer.residual %x, %x
// CHECK: func.func private @layer.many(%batch: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-SAME: transformer.max_output_rows = 256 : i64, transformer.max_tokens = 256 : i64, transformer.variant = #transformer.variant<many>}
// CHECK-NEXT: %sum = transformer.residual %x, %x
func.func private @layer(%b: !batch, %x: !rows) -> !rows {
  %0 = transformer.residual %x, %x : !rows
  return %0 : !rows
}

// A function that selects rows is few by those: its tokens may be many.
// CHECK: func.func private @head.few
// CHECK-SAME: transformer.max_output_rows = 4 : i64, transformer.max_tokens = 256 : i64, transformer.variant = #transformer.variant<few>}
// CHECK: func.func private @head.many
// CHECK-SAME: transformer.max_output_rows = 256 : i64, transformer.max_tokens = 256 : i64, transformer.variant = #transformer.variant<many>}
func.func private @head(%b: !batch, %x: !rows) -> !rows {
  %0 = transformer.select_output_rows %x, %b : (!rows, !batch) -> !rows
  return %0 : !rows
}

// What no entry calls is left alone.
// CHECK: func.func private @unused(%batch: !transformer.batch) {
func.func private @unused(%b: !batch) {
  return
}

// Called twice, cloned once.
// CHECK: func.func @step
// CHECK-SAME: attributes {transformer.max_output_rows = 256 : i64, transformer.max_tokens = 256 : i64, transformer.role = "step"}
// CHECK-NEXT: %[[A:.*]] = transformer.dispatch @layer.few or @layer.many by tokens(%batch, %x)
// CHECK-NEXT: %[[B:.*]] = transformer.dispatch @layer.few or @layer.many by tokens(%batch, %[[A]])
// CHECK-NEXT: %[[C:.*]] = transformer.dispatch @head.few or @head.many by output_rows(%batch, %[[B]])
// CHECK-NEXT: return %[[C]]
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @step(%b: !batch, %x: !rows) -> !rows attributes {transformer.role = "step"} {
  %0 = call @layer(%b, %x) : (!batch, !rows) -> !rows
  %1 = call @layer(%b, %0) : (!batch, !rows) -> !rows
  %2 = call @head(%b, %1) : (!batch, !rows) -> !rows
  return %2 : !rows
}
