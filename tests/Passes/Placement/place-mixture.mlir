// A mixture becomes its router, the grouping of choices by expert, two products
// of all experts, and the sum; a buffer has a row per token with all choices of
// it side by side.
// RUN: %tenon-opt %s --place-operations=level=avx2 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %tenon-opt %s --place-operations=level=avx512_bf16 | FileCheck %s --check-prefixes=CHECK,BF16

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

// CHECK-LABEL: @mixture
func.func private @mixture(%s: !scope, %b: !batch, %x: !rows, %l: tensor<?x6xf32>) -> !rows {
  // CHECK: %[[T:.*]] = dnn.count tokens %arg1
  // CHECK: %[[CHOICES:.*]] = tensor.empty(%[[T]]) : tensor<?x2xi32>
  // CHECK: %[[WEIGHTS:.*]] = tensor.empty(%[[T]]) : tensor<?x2xf32>
  // CHECK: %[[C:.*]] = dnn.weight %arg0 ["c"] of "ffn" : <vector, 6x1xf32>
  // CHECK: %[[R:.*]]:2 = dnn.route %arg3 correction %[[C]] <sigmoid, top = 2, normalize> outs(%[[CHOICES]], %[[WEIGHTS]])
  // CHECK: %[[OFFSETS:.*]] = tensor.empty() : tensor<1x7xi32>
  // CHECK: %[[G:.*]]:2 = dnn.group %[[R]]#0 outs(%{{.*}}, %[[OFFSETS]])
  // CHECK-DAG: %[[GATE:.*]] = dnn.weight %arg0 ["e.*.g"] of "ffn" : <panels, 6x4x8xbf16>
  // CHECK-DAG: %[[DOWN:.*]] = dnn.weight %arg0 ["e.*.d"] of "ffn" : <panels, 6x8x4xbf16>
  // CHECK-DAG: %[[BIAS:.*]] = dnn.weight %arg0 ["e.*.a"] of "ffn" : <rows, 6x4xf32>
  // BF16: %[[X:.*]] = dnn.cast %arg2
  // F32: %[[H:.*]] = dnn.expert_gated silu %arg2 by %[[G]]#0, %[[G]]#1 gate %[[GATE]] bias %[[BIAS]] up {{.*}} limit 7.000000e+00 up_offset 1.000000e+00 outs({{.*}} -> tensor<?x8xf32>
  // BF16: %[[H:.*]] = dnn.expert_gated silu %[[X]] by %[[G]]#0, %[[G]]#1 gate %[[GATE]] bias %[[BIAS]] up {{.*}} -> tensor<?x8xbf16>
  // CHECK: %[[P:.*]] = dnn.expert_down %[[H]] by %[[G]]#0, %[[G]]#1 down %[[DOWN]] outs({{.*}} -> tensor<?x16xf32>
  // CHECK: %[[Y:.*]] = dnn.combine %[[P]] by %[[R]]#1 outs({{.*}} -> tensor<?x8xf32>
  // CHECK: return %[[Y]]
  %g = transformer.parameter %s "e.*.g" of ffn {dnn.layout = "panels"} : tensor<6x4x8xbf16>
  %u = transformer.parameter %s "e.*.u" of ffn {dnn.layout = "panels"} : tensor<6x4x8xbf16>
  %d = transformer.parameter %s "e.*.d" of ffn {dnn.layout = "panels"} : tensor<6x8x4xbf16>
  %a = transformer.parameter %s "e.*.a" of ffn {dnn.layout = "rows"} : tensor<6x4xf32>
  %c = transformer.parameter %s "c" of ffn {dnn.layout = "vector"} : tensor<6xf32>
  %y = transformer.mixture silu %x, %l <sigmoid, top = 2, normalize> correction %c gate %g bias %a up %u down %d limit 7.0 up_offset 1.0 : (!rows, tensor<?x6xf32>, tensor<6xf32>, tensor<6x4x8xbf16>, tensor<6x4x8xbf16>, tensor<6x8x4xbf16>, tensor<6x4xf32>) -> !rows
  return %y : !rows
}

// Rows that were selected are those that are routed.
// CHECK-LABEL: @of_wanted_rows
func.func private @of_wanted_rows(%s: !scope, %b: !batch, %x: !rows, %l: tensor<?x6xf32>) -> !rows {
  // CHECK: %[[R:.*]] = dnn.count wanted %arg1
  // CHECK: dnn.select_rows
  // CHECK: tensor.empty(%[[R]]) : tensor<?x1xi32>
  // CHECK: dnn.route
  // CHECK: dnn.expert_gated
  // CHECK: %[[P:.*]] = tensor.empty(%[[R]]) : tensor<?x8xf32>
  // CHECK: dnn.expert_down
  %g = transformer.parameter %s "e.*.g" of ffn {dnn.layout = "panels"} : tensor<6x4x8xf32>
  %d = transformer.parameter %s "e.*.d" of ffn {dnn.layout = "panels"} : tensor<6x8x4xf32>
  %w = transformer.select_rows %x, %b : (!rows, !batch) -> !rows
  %m = transformer.select_rows %l, %b : (tensor<?x6xf32>, !batch) -> tensor<?x6xf32>
  %y = transformer.mixture silu %w, %m <softmax, top = 1> gate %g up %g down %d : (!rows, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> !rows
  return %y : !rows
}

// A feed-forward of all tokens is no mixture.
// CHECK-LABEL: @shared_expert
func.func private @shared_expert(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x4xf32> {
  // CHECK-NOT: dnn.route
  // CHECK: dnn.gated_product silu
  // CHECK-NOT: dnn.expert
  // CHECK: return
  %g = transformer.parameter %s "g" of ffn {dnn.layout = "panels"} : tensor<4x8xf32>
  %y = transformer.gated_product silu %x gate %g up %g : (!rows, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
