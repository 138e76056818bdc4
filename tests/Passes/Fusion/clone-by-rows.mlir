// Each function that an entry calls exists for few and for many rows.
// RUN: %tenon-opt %s --clone-by-rows="few-tokens=4 max-tokens=256" | FileCheck %s

// CHECK: module attributes {transformer.few_tokens = 4 : i64}

!batch = !transformer.batch
!rows = tensor<?x8xf32>

// CHECK: func.func private @layer.few(%arg0: !transformer.batch, %arg1: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-SAME: transformer.max_tokens = 4 : i64, transformer.max_wanted = 4 : i64
// CHECK-NEXT: transformer.residual %arg1, %arg1
// CHECK: func.func private @layer.many(%arg0: !transformer.batch, %arg1: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-SAME: transformer.max_tokens = 256 : i64, transformer.max_wanted = 256 : i64
// CHECK-NEXT: transformer.residual %arg1, %arg1
func.func private @layer(%b: !batch, %x: !rows) -> !rows {
  %0 = transformer.residual %x, %x : !rows
  return %0 : !rows
}

// A function that selects rows is few by those: its tokens may be many.
// CHECK: func.func private @head.few
// CHECK-SAME: transformer.max_tokens = 256 : i64, transformer.max_wanted = 4 : i64
// CHECK: func.func private @head.many
// CHECK-SAME: transformer.max_tokens = 256 : i64, transformer.max_wanted = 256 : i64
func.func private @head(%b: !batch, %x: !rows) -> !rows {
  %0 = transformer.select_rows %x, %b : (!rows, !batch) -> !rows
  return %0 : !rows
}

// What no entry calls is left alone.
// CHECK: func.func private @unused(%arg0: !transformer.batch) {
func.func private @unused(%b: !batch) {
  return
}

// Called twice, cloned once.
// CHECK: func.func @step
// CHECK-SAME: transformer.max_tokens = 256 : i64, transformer.max_wanted = 256 : i64
// CHECK-NEXT: %[[A:.*]] = transformer.dispatch @layer.few or @layer.many by tokens(%arg0, %arg1)
// CHECK-NEXT: %[[B:.*]] = transformer.dispatch @layer.few or @layer.many by tokens(%arg0, %[[A]])
// CHECK-NEXT: %[[C:.*]] = transformer.dispatch @head.few or @head.many by wanted(%arg0, %[[B]])
// CHECK-NEXT: return %[[C]]
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @step(%b: !batch, %x: !rows) -> !rows attributes {transformer.role = "step"} {
  %0 = call @layer(%b, %x) : (!batch, !rows) -> !rows
  %1 = call @layer(%b, %0) : (!batch, !rows) -> !rows
  %2 = call @head(%b, %1) : (!batch, !rows) -> !rows
  return %2 : !rows
}
