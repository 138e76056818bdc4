// Three matmuls of one input become one with three weights.
// RUN: %tenon-opt %s --merge-qkv --remark-policy=all --remarks-filter-passed=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>

// CHECK-LABEL: @merged
func.func @merged(%s: !scope, %b: !batch, %c: !cache, %x: !rows) -> tensor<?x8xf32> {
  %q = transformer.parameter %s "q" of attention : tensor<8x8xf32>
  %k = transformer.parameter %s "k" of attention : tensor<4x8xf32>
  %v = transformer.parameter %s "v" of attention : tensor<4x8xf32>
  // CHECK: %[[P:.*]] = transformer.matmul %x weights(%q, %k, %v) : {{.*}} -> tensor<?x16xf32>
  // CHECK-NEXT: transformer.split_append %[[P]] to %cache[%scope], %batch
  %0 = transformer.matmul %x weights(%q) : (!rows, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = transformer.matmul %x weights(%k) : (!rows, tensor<4x8xf32>) -> tensor<?x4xf32>
  %2 = transformer.matmul %x weights(%v) : (!rows, tensor<4x8xf32>) -> tensor<?x4xf32>
  // expected-remark@below {{[Passed] MergeQkv | Category:fusion | Function=merged | Operation="split_append ?x8xf32, ?x4xf32, ?x4xf32 -> ?x8xf32", Remark="queries, keys and values are one matmul"}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 2 kv_heads 1 : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !cache, !scope, !batch) -> (tensor<?x8xf32>, !cache)
  return %3#0 : tensor<?x8xf32>
}

// Biases are concatenated in the same order.
// CHECK-LABEL: @biases
func.func @biases(%b: !batch, %x: !rows, %q: tensor<8x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>, %m: tensor<8xf32>, %n: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[P:.*]] = transformer.matmul %x weights(%x_0, %x_1, %x_2) biases(%x_3, %x_4, %x_5) :
  // CHECK-NEXT: transformer.split_stage %[[P]]{{.*}} %batch heads 2
  %0 = transformer.matmul %x weights(%q) biases(%m) : (!rows, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = transformer.matmul %x weights(%k) biases(%n) : (!rows, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = transformer.matmul %x weights(%v) biases(%o) : (!rows, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  // expected-remark@below {{queries, keys and values are one matmul}}
  %3:2 = transformer.split_stage %0, %1, %2 of %b heads 2 kv_heads 1 : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return %3#0 : tensor<?x8xf32>
}
