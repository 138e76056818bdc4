// A gated product is one kernel, or where the library has fast products of
// the type, two of them for many rows: up first, then gate, multiplied with it.
// RUN: %tenon-opt %s --place-operations="level=avx2" | FileCheck %s --check-prefixes=CHECK,KERNEL
// RUN: %tenon-opt %s --place-operations="level=avx512" | FileCheck %s --check-prefixes=CHECK,KERNEL
// RUN: %tenon-opt %s --place-operations="level=avx512_bf16" | FileCheck %s --check-prefixes=CHECK,LIBRARY

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>
!weight = tensor<6x8xbf16>

// CHECK-LABEL: @f.few
func.func private @f.few(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x6xf32> {
  %g = transformer.parameter %s "g" of ffn {dnn.layout = "panels"} : !weight
  %u = transformer.parameter %s "u" of ffn {dnn.layout = "panels"} : !weight
  // CHECK-DAG: %[[U:.*]] = dnn.weight %arg0 ["u"]
  // CHECK-DAG: %[[G:.*]] = dnn.weight %arg0 ["g"]
  // CHECK: dnn.gated_product silu %{{.*}} gate %[[G]] up %[[U]] outs(%{{.*}})
  // CHECK-NEXT: return
  %0 = transformer.gated_product silu %x gate %g up %u : (!rows, !weight, !weight) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: @f.many
func.func private @f.many(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x6xf32> {
  %c = transformer.parameter %s "c" of ffn {dnn.layout = "vector"} : tensor<6xf32>
  %d = transformer.parameter %s "d" of ffn {dnn.layout = "vector"} : tensor<6xf32>
  %g = transformer.parameter %s "g" of ffn {dnn.layout = "panels"} : !weight
  %u = transformer.parameter %s "u" of ffn {dnn.layout = "panels"} : !weight
  // KERNEL-DAG: %[[C:.*]] = dnn.weight %arg0 ["c"]
  // KERNEL-DAG: %[[D:.*]] = dnn.weight %arg0 ["d"]
  // KERNEL: dnn.gated_product silu %{{.*}} gate %{{.*}} bias %[[C]] up %{{.*}} bias %[[D]] outs
  // LIBRARY: dnn.weight %arg0 ["u"]
  // LIBRARY: %[[D:.*]] = dnn.weight %arg0 ["d"]
  // LIBRARY: %[[L:.*]] = dnn.product %{{.*}} weight %{{.*}} bias %[[D]] outs(%{{.*}}) : {{.*}} -> tensor<?x6xbf16>
  // LIBRARY: %[[G:.*]] = dnn.weight %arg0 ["g"]
  // LIBRARY: %[[C:.*]] = dnn.weight %arg0 ["c"]
  // LIBRARY: dnn.product %{{.*}} weight %[[G]] bias %[[C]] activation silu multiplier %[[L]] outs(%{{.*}}) : {{.*}} -> tensor<?x6xf32>
  // CHECK-NEXT: return
  %0 = transformer.gated_product silu %x gate %g bias %c up %u bias %d : (!rows, !weight, !weight, tensor<6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
