// A function without library products is one parallel region with a barrier
// between operations; otherwise there are regions between the products.
// RUN: %tenon-opt %s --generate-kernels | FileCheck %s
// RUN: %tenon-opt %s --generate-kernels | FileCheck %s --check-prefix=GONE

// Every operation is a kernel or a call now.
// GONE-NOT: dnn.{{norm|product|add}}

!batch = !transformer.batch
!scope = !transformer.scope
!rows = memref<?x8xf32>
!vector = !dnn.packed<vector, 8x1xf32>
!weight = !dnn.packed<panels, 8x8xf32>

module attributes {dnn.cpu_level = "avx512_bf16"} {

// Weights and buffers are found before the region.
// CHECK-LABEL: @layer.few
// CHECK-NOT: dnn.parallel
// CHECK-DAG: %[[N:.*]] = dnn.weight %arg0 ["n"]
// CHECK-DAG: %[[W:.*]] = dnn.weight %arg0 ["w"]
// CHECK: dnn.parallel
// CHECK-NOT: dnn.barrier
// CHECK: dnn.weight_view %[[N]]
// CHECK: dnn.barrier %arg1
// CHECK: dnn.weight_view %[[W]]
// CHECK-NOT: dnn.{{parallel|barrier}}
// CHECK: return
func.func private @layer.few(%s: !scope, %b: !batch, %x: !rows, %o: !rows) {
  %n = dnn.weight %s ["n"] of "norm" slot 0 : !vector
  %c = dnn.count tokens %b
  %0 = dnn.buffer %b[%c] at 0 : !rows
  dnn.norm rms %x weight %n outs(%0) eps 1.0e-05 : (!rows, !vector, !rows) -> ()
  %w = dnn.weight %s ["w"] of "ffn" slot 1 : !weight
  dnn.product %0 weight %w residual %x outs(%o) : (!rows, !weight, !rows, !rows) -> ()
  return
}

// One kernel, the call, then two kernels.
// CHECK-LABEL: @layer.many
// CHECK: %[[A:.*]] = dnn.buffer %arg1[{{.*}}] at 0
// CHECK: %[[B:.*]] = dnn.buffer %arg1[{{.*}}] at 1024
// CHECK: dnn.parallel
// CHECK-NOT: dnn.{{parallel|barrier}}
// CHECK: dnn.call_site 3 of %arg1(%[[A]]) weight %{{.*}} residual %arg2 output %[[B]] :
// CHECK: dnn.parallel
// CHECK-NOT: dnn.{{parallel|barrier}}
// CHECK: dnn.barrier %arg1
// CHECK-NOT: dnn.{{parallel|barrier|call_site}}
// CHECK: return
func.func private @layer.many(%s: !scope, %b: !batch, %x: !rows, %o: !rows) {
  %n = dnn.weight %s ["n"] of "norm" slot 0 : !vector
  %c = dnn.count tokens %b
  %0 = dnn.buffer %b[%c] at 0 : !rows
  %1 = dnn.buffer %b[%c] at 1024 : !rows
  dnn.norm rms %x weight %n outs(%0) eps 1.0e-05 : (!rows, !vector, !rows) -> ()
  %w = dnn.weight %s ["w"] of "ffn" slot 1 : !weight
  dnn.product %0 weight %w residual %x outs(%1) site 3 : (!rows, !weight, !rows, !rows) -> ()
  dnn.add %x, %1 outs(%0) : (!rows, !rows, !rows) -> ()
  dnn.add %x, %0 outs(%o) : (!rows, !rows, !rows) -> ()
  return
}

// Two library products in a row have no region between them.
// CHECK-LABEL: @calls.many
// CHECK-NOT: dnn.parallel
// CHECK: dnn.call_site 0
// CHECK-NEXT: dnn.call_site 1
// CHECK-NEXT: return
func.func private @calls.many(%s: !scope, %b: !batch, %x: !rows, %o: !rows) {
  %w = dnn.weight %s ["w"] of "ffn" slot 1 : !weight
  dnn.product %x weight %w outs(%o) site 0 : (!rows, !weight, !rows) -> ()
  dnn.product %x weight %w multiplier %o outs(%o) site 1 : (!rows, !weight, !rows, !rows) -> ()
  return
}

// A call of a layer function ends a region.
// CHECK-LABEL: @step
// CHECK: dnn.parallel
// CHECK: dnn.dispatch
// CHECK: dnn.parallel
// CHECK: return
func.func @step(%s: !scope, %b: !batch, %x: !rows, %o: !rows) attributes {transformer.role = "step"} {
  dnn.add %x, %x outs(%o) : (!rows, !rows, !rows) -> ()
  dnn.dispatch @layer.few or @layer.many by tokens of %b(%s, %b, %o) outs(%x) : (!batch, !scope, !batch, !rows, !rows) -> ()
  dnn.add %x, %x outs(%o) : (!rows, !rows, !rows) -> ()
  return
}
}
