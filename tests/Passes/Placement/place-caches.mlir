// Of several caches, each handle that a dispatch gives is the one it got.
// RUN: %tenon-opt %s --convert-transformer-to-dnn | FileCheck %s

!batch = !transformer.batch
!wide = !transformer.cache<2x4xf32>
!narrow = !transformer.cache<1x4xf32>

// CHECK: func.func private @layer.few(%batch: !transformer.batch, %cache: !transformer.cache<1x4xf32>, %cache_0: !transformer.cache<2x4xf32>) attributes
// CHECK-NEXT: return
func.func private @layer.few(%b: !batch, %c: !narrow, %d: !wide) -> (!narrow, !wide) attributes {transformer.variant = #transformer.variant<few>} {
  return %c, %d : !narrow, !wide
}
func.func private @layer.many(%b: !batch, %c: !narrow, %d: !wide) -> (!narrow, !wide) attributes {transformer.variant = #transformer.variant<many>} {
  return %c, %d : !narrow, !wide
}

// CHECK-LABEL: @step
// CHECK: dnn.dispatch @layer.few or @layer.many by tokens of %batch(%batch, %cache, %cache_0) outs()
// CHECK-NEXT: dnn.dispatch @layer.few or @layer.many by tokens of %batch(%batch, %cache, %cache_0) outs()
// CHECK-NEXT: return
func.func @step(%b: !batch, %c: !narrow, %d: !wide) -> (!narrow, !wide) attributes {transformer.role = "step"} {
  %0:2 = transformer.dispatch @layer.few or @layer.many by tokens(%b, %c, %d) : (!batch, !narrow, !wide) -> (!narrow, !wide)
  %1:2 = transformer.dispatch @layer.few or @layer.many by tokens(%b, %0#0, %0#1) : (!batch, !narrow, !wide) -> (!narrow, !wide)
  return %1#0, %1#1 : !narrow, !wide
}
