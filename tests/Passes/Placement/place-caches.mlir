// Of several caches, each handle that a dispatch gives is the one it got.
// RUN: %tenon-opt %s --place-operations | FileCheck %s

!batch = !transformer.batch
!wide = !transformer.cache<2x4xf32>
!narrow = !transformer.cache<1x4xf32>

// CHECK: func.func private @layer(%arg0: !transformer.batch, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.cache<2x4xf32>) {
func.func private @layer(%b: !batch, %c: !narrow, %d: !wide) -> (!narrow, !wide) {
  return %c, %d : !narrow, !wide
}

// CHECK-LABEL: @step
// CHECK: dnn.dispatch @layer or @layer by tokens of %arg0(%arg0, %arg1, %arg2) outs()
// CHECK-NEXT: dnn.dispatch @layer or @layer by tokens of %arg0(%arg0, %arg1, %arg2) outs()
// CHECK-NEXT: return
func.func @step(%b: !batch, %c: !narrow, %d: !wide) -> (!narrow, !wide) attributes {transformer.role = "step"} {
  %0:2 = transformer.dispatch @layer or @layer by tokens(%b, %c, %d) : (!batch, !narrow, !wide) -> (!narrow, !wide)
  %1:2 = transformer.dispatch @layer or @layer by tokens(%b, %0#0, %0#1) : (!batch, !narrow, !wide) -> (!narrow, !wide)
  return %1#0, %1#1 : !narrow, !wide
}
