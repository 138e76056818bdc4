// A function without library matmuls is one parallel region with a barrier
// before operations that need others' results; otherwise there are regions
// between the matmuls.
// RUN: %tenon-opt %s --generate-kernels | FileCheck %s
// RUN: %tenon-opt %s --generate-kernels | FileCheck %s --check-prefix=GONE

// Every operation is a kernel or a call now.
// GONE-NOT: dnn.{{rms_norm|matmul|residual}}

!batch = !transformer.batch
!scope = !transformer.scope
!rows = memref<?x8xf32>
!vector = !dnn.packed<vector, 8x1xf32>
!weight = !dnn.packed<panels, 8x8xf32>

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {

// Weights and buffers are found before the region.
// CHECK-LABEL: @layer.few
// CHECK-NOT: dnn.parallel
// CHECK-DAG: %[[N:.*]] = dnn.weight %scope ["n"]
// CHECK-DAG: %[[W:.*]] = dnn.weight %scope ["w"]
// CHECK: dnn.parallel %[[T:.*]] of
// CHECK-NOT: dnn.barrier
// Kernels have numbers in program order. The norm reads 64 floats, as vectors are
// padded, and 8 of a row, and writes as many.
// CHECK: %[[ROWS:.*]] = memref.dim %x, %c0
// CHECK-NEXT: dnn.kernel "rms_norm {{.*}}" in "layer.few" number 0 of %batch[%scope] rows %[[ROWS]] thread %[[T]] cost <weight_bytes = 256, row_bytes = 64, numbers = f32>
// CHECK-NOT: because
// CHECK: dnn.weight_view %[[N]]
// CHECK: dnn.barrier %batch
// CHECK: dnn.kernel "matmul {{.*}}" in "layer.few" number 1 of %batch[%scope] rows %{{.*}} thread %[[T]] cost <weight_bytes = 4096, row_bytes = 96, row_flops = 128, numbers = f32> because "a decode-sized batch streams the weights"
// CHECK: dnn.weight_view %[[W]]
// CHECK-NOT: dnn.{{parallel|barrier}}
// CHECK: return
func.func private @layer.few(%s: !scope, %b: !batch, %x: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  %n = dnn.weight %s ["n"] of norm index 0 : !vector
  %c = dnn.count tokens %b
  %0 = dnn.buffer %b[%c] at 0 : !rows
  dnn.rms_norm %x, %n eps 1e-05 outs(%0) : (!rows, !vector, !rows) -> ()
  %w = dnn.weight %s ["w"] of ffn index 1 : !weight
  dnn.matmul %0 weight %w residual %x outs(%o) : (!rows, !weight, !rows, !rows) -> ()
  return
}

// One kernel, the call, then two kernels.
// CHECK-LABEL: @layer.many
// CHECK: %[[A:.*]] = dnn.buffer %batch[{{.*}}] at 0
// CHECK: %[[B:.*]] = dnn.buffer %batch[{{.*}}] at 1024
// CHECK: dnn.parallel
// CHECK-NOT: dnn.{{parallel|barrier}}
// CHECK: dnn.kernel "matmul {{.*}}" in "layer.many" number 3 of %batch[%scope] rows %{{[^ ]*}} cost <{{.*}}> primitive 3 because "prefill-sized rows, of formats that it serves"
// CHECK-NEXT: dnn.call_matmul 3 of %batch(%[[A]]) weight %{{.*}} residual %x output %[[B]] :
// CHECK: dnn.parallel
// CHECK-NOT: dnn.{{parallel|barrier}}
// CHECK: dnn.barrier %batch
// CHECK-NOT: dnn.{{parallel|barrier|call_matmul}}
// CHECK: return
func.func private @layer.many(%s: !scope, %b: !batch, %x: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<many>} {
  %n = dnn.weight %s ["n"] of norm index 0 : !vector
  %c = dnn.count tokens %b
  %0 = dnn.buffer %b[%c] at 0 : !rows
  %1 = dnn.buffer %b[%c] at 1024 : !rows
  dnn.rms_norm %x, %n eps 1e-05 outs(%0) : (!rows, !vector, !rows) -> ()
  %w = dnn.weight %s ["w"] of ffn index 1 : !weight
  dnn.matmul %0 weight %w residual %x primitive 3 outs(%1) : (!rows, !weight, !rows, !rows) -> ()
  dnn.residual %x, %1 outs(%0) : (!rows, !rows, !rows) -> ()
  dnn.residual %x, %0 outs(%o) : (!rows, !rows, !rows) -> ()
  return
}

// Between kernels that neither read nor write what the other writes there is no
// barrier: the second does not need the first, the third reads what both wrote,
// the fourth writes over the end of what the third reads, the fifth needs only
// what came before that barrier, and the buffer of the last is not planned and
// may be anywhere.
// CHECK-LABEL: @independent.few
// CHECK: dnn.kernel "matmul {{.*}}outs(%buffer) :
// CHECK-NOT: dnn.barrier
// CHECK: dnn.kernel "matmul {{.*}}outs(%buffer_0) :
// CHECK: dnn.barrier
// CHECK: dnn.kernel "residual %buffer, %buffer_0 outs(%buffer_1) :
// CHECK: dnn.barrier
// CHECK: dnn.kernel "residual %x, %x outs(%buffer_2) :
// CHECK-NOT: dnn.barrier
// CHECK: dnn.kernel "residual %x, %x outs(%buffer_1) :
// CHECK: dnn.barrier
// CHECK: dnn.kernel "residual %x, %x outs(%buffer_3) :
// CHECK: return
func.func private @independent.few(%s: !scope, %b: !batch, %x: !rows) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !weight
  %c = dnn.count tokens %b
  %0 = dnn.buffer %b[%c] at 0 plan <1024 bytes from 0 to 9> : !rows
  %1 = dnn.buffer %b[%c] at 1024 plan <1024 bytes from 0 to 9> : !rows
  %2 = dnn.buffer %b[%c] at 2048 plan <1024 bytes from 0 to 9> : !rows
  %3 = dnn.buffer %b[%c] at 1984 plan <64 bytes from 0 to 9> : !rows
  %4 = dnn.buffer %b[%c] at 4096 : !rows
  dnn.matmul %x weight %w outs(%0) : (!rows, !weight, !rows) -> ()
  dnn.matmul %x weight %w outs(%1) : (!rows, !weight, !rows) -> ()
  dnn.residual %0, %1 outs(%2) : (!rows, !rows, !rows) -> ()
  dnn.residual %x, %x outs(%3) : (!rows, !rows, !rows) -> ()
  dnn.residual %x, %x outs(%2) : (!rows, !rows, !rows) -> ()
  dnn.residual %x, %x outs(%4) : (!rows, !rows, !rows) -> ()
  return
}

// Two library matmuls in a row have no region between them.
// CHECK-LABEL: @calls.many
// CHECK-NOT: dnn.parallel
// CHECK: dnn.call_matmul 0
// CHECK: dnn.kernel "matmul %x weight %w multiplier %x_0 primitive 1 outs(%x_0) : {{.*}}" in "calls.many"
// CHECK-NEXT: dnn.call_matmul 1
// CHECK-NEXT: return
func.func private @calls.many(%s: !scope, %b: !batch, %x: !rows, %o: !rows) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 1 : !weight
  dnn.matmul %x weight %w primitive 0 outs(%o) : (!rows, !weight, !rows) -> ()
  dnn.matmul %x weight %w multiplier %o primitive 1 outs(%o) : (!rows, !weight, !rows, !rows) -> ()
  return
}

// A call of a layer function ends a region. Numbers go on from function to function.
// CHECK-LABEL: @step
// CHECK: dnn.parallel
// CHECK: dnn.kernel "residual {{.*}}" in "step" number 14 of %batch[%scope] rows
// CHECK: dnn.dispatch
// CHECK: dnn.parallel
// CHECK: return
func.func @step(%s: !scope, %b: !batch, %x: !rows, %o: !rows) attributes {transformer.role = "step"} {
  dnn.residual %x, %x outs(%o) : (!rows, !rows, !rows) -> ()
  dnn.dispatch @layer.few or @layer.many by tokens of %b(%s, %b, %o) outs(%x) : (!batch, !scope, !batch, !rows, !rows) -> ()
  dnn.residual %x, %x outs(%o) : (!rows, !rows, !rows) -> ()
  return
}
}
