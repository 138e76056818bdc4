// Casts of one value are one, and a result that is only cast is written in
// that type.
// RUN: %tenon-opt %s --narrow-results | FileCheck %s

!f32 = tensor<?x8xf32>
!bf16 = tensor<?x8xbf16>
!vector = !dnn.packed<vector, 8x1xf32>
!weight = !dnn.packed<panels, 8x8xbf16>

// CHECK-LABEL: @narrowed
func.func @narrowed(%x: !f32, %n: !vector, %w: !weight, %o: !f32, %h: !bf16) -> (!f32, !f32) {
  // CHECK-NEXT: %[[N:.*]] = dnn.norm rms %arg0 weight %arg1 outs(%arg4) eps {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: dnn.product %[[N]]
  // CHECK-NEXT: dnn.product %[[N]]
  // CHECK-NOT: dnn.cast
  %0 = dnn.norm rms %x weight %n outs(%o) eps 1.0e-05 : (!f32, !vector, !f32) -> !f32
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  %2 = dnn.product %1 weight %w outs(%o) : (!bf16, !weight, !f32) -> !f32
  %3 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  %4 = dnn.product %3 weight %w outs(%o) : (!bf16, !weight, !f32) -> !f32
  return %2, %4 : !f32, !f32
}

// The second result of a norm with a residual keeps its type.
// CHECK-LABEL: @one_of_two
func.func @one_of_two(%x: !f32, %n: !vector, %o: !f32, %h: !bf16) -> (!bf16, !f32) {
  // CHECK-NEXT: %[[N:.*]]:2 = dnn.norm rms %arg0 residual %arg0 weight %arg1 outs(%arg3, %arg2) {{.*}} -> (tensor<?x8xbf16>, tensor<?x8xf32>)
  // CHECK-NEXT: return %[[N]]#0, %[[N]]#1
  %0:2 = dnn.norm rms %x residual %x weight %n outs(%o, %o) eps 1.0e-05 : (!f32, !f32, !vector, !f32, !f32) -> (!f32, !f32)
  %1 = dnn.cast %0#0 outs(%h) : (!f32, !bf16) -> !bf16
  return %1, %0#1 : !bf16, !f32
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !f32, %n: !vector, %o: !f32, %h: !bf16) -> (!f32, !bf16) {
  // CHECK-NEXT: dnn.norm {{.*}} outs(%arg2)
  // CHECK-NEXT: dnn.cast
  %0 = dnn.norm rms %x weight %n outs(%o) eps 1.0e-05 : (!f32, !vector, !f32) -> !f32
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %0, %1 : !f32, !bf16
}

// An argument has its type, and kernels of sums write f32.
// CHECK-LABEL: @other_producers
func.func @other_producers(%x: !f32, %o: !f32, %h: !bf16) -> (!bf16, !bf16) {
  // CHECK: dnn.cast %arg0
  // CHECK: dnn.add {{.*}} -> tensor<?x8xf32>
  // CHECK: dnn.cast
  %0 = dnn.cast %x outs(%h) : (!f32, !bf16) -> !bf16
  %1 = dnn.add %x, %x outs(%o) : (!f32, !f32, !f32) -> !f32
  %2 = dnn.cast %1 outs(%h) : (!f32, !bf16) -> !bf16
  return %0, %2 : !bf16, !bf16
}
