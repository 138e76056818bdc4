// A gated matmul is one kernel, or for prefill-sized batches, where the library
// has fast matmuls of the type, two of those: up first, then gate, which is
// multiplied with it.
// RUN: %tenon-opt %s --convert-transformer-to-dnn="level=avx2" | FileCheck %s --check-prefixes=CHECK,KERNEL
// RUN: %tenon-opt %s --convert-transformer-to-dnn="level=avx512" | FileCheck %s --check-prefixes=CHECK,KERNEL
// RUN: %tenon-opt %s --convert-transformer-to-dnn="level=avx512_bf16" | FileCheck %s --check-prefixes=CHECK,LIBRARY

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>
!weight = tensor<6x8xbf16>

// CHECK-LABEL: @f.few
func.func private @f.few(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x6xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %g = transformer.parameter %s "g" of ffn {dnn.layout = #dnn.layout<panels>} : !weight
  %u = transformer.parameter %s "u" of ffn {dnn.layout = #dnn.layout<panels>} : !weight
  // CHECK-DAG: %[[U:.*]] = dnn.weight %scope ["u"]
  // CHECK-DAG: %[[G:.*]] = dnn.weight %scope ["g"]
  // CHECK: dnn.gated_matmul silu %{{.*}} gate %[[G]] up %[[U]] outs(%{{.*}})
  // CHECK-NEXT: return
  %0 = transformer.gated_matmul silu %x gate %g up %u : (!rows, !weight, !weight) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: @f.many
func.func private @f.many(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x6xf32> attributes {transformer.variant = #transformer.variant<many>} {
  %c = transformer.parameter %s "c" of ffn {dnn.layout = #dnn.layout<vector>} : tensor<6xf32>
  %d = transformer.parameter %s "d" of ffn {dnn.layout = #dnn.layout<vector>} : tensor<6xf32>
  %g = transformer.parameter %s "g" of ffn {dnn.layout = #dnn.layout<panels>} : !weight
  %u = transformer.parameter %s "u" of ffn {dnn.layout = #dnn.layout<panels>} : !weight
  // KERNEL-DAG: %[[C:.*]] = dnn.weight %scope ["c"]
  // KERNEL-DAG: %[[D:.*]] = dnn.weight %scope ["d"]
  // KERNEL: dnn.gated_matmul silu %{{.*}} gate %{{.*}} bias %[[C]] up %{{.*}} bias %[[D]] outs
  // LIBRARY: dnn.weight %scope ["u"]
  // LIBRARY: %[[D:.*]] = dnn.weight %scope ["d"]
  // LIBRARY: %[[L:.*]] = dnn.matmul %{{.*}} weight %{{.*}} bias %[[D]] outs(%{{.*}}) : {{.*}} -> tensor<?x6xbf16>
  // LIBRARY: %[[G:.*]] = dnn.weight %scope ["g"]
  // LIBRARY: %[[C:.*]] = dnn.weight %scope ["c"]
  // LIBRARY: dnn.matmul %{{.*}} weight %[[G]] bias %[[C]] activation silu multiplier %[[L]] outs(%{{.*}}) : {{.*}} -> tensor<?x6xf32>
  // CHECK-NEXT: return
  %0 = transformer.gated_matmul silu %x gate %g bias %c up %u bias %d : (!rows, !weight, !weight, tensor<6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// What is compiled once runs for large batches too.
// CHECK-LABEL: @once
func.func private @once(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x6xf32> {
  %g = transformer.parameter %s "g" of ffn {dnn.layout = #dnn.layout<panels>} : !weight
  %u = transformer.parameter %s "u" of ffn {dnn.layout = #dnn.layout<panels>} : !weight
  // KERNEL: dnn.gated_matmul silu
  // LIBRARY: dnn.matmul {{.*}} activation silu multiplier
  %0 = transformer.gated_matmul silu %x gate %g up %u : (!rows, !weight, !weight) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
