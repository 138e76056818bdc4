// An MoE layer becomes its router, the grouping of choices by expert, two matmuls
// of all experts, and the sum; a buffer has a row per token with all choices of
// it side by side.
// RUN: %tenon-opt %s --convert-transformer-to-dnn=level=avx2 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %tenon-opt %s --convert-transformer-to-dnn=level=avx512_bf16 | FileCheck %s --check-prefixes=CHECK,BF16

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

// CHECK-LABEL: @moe
func.func private @moe(%s: !scope, %b: !batch, %x: !rows, %l: tensor<?x6xf32>) -> !rows {
  // CHECK: %[[CHOICES:.*]] = tensor.empty(%tokens) : tensor<?x2xi32>
  // CHECK: %[[WEIGHTS:.*]] = tensor.empty(%tokens) : tensor<?x2xf32>
  // CHECK: %[[C:.*]] = dnn.weight %scope ["c"] of ffn : <vector, 6x1xf32>
  // CHECK: %choices, %weights = dnn.moe_route %x_0 correction %[[C]] <sigmoid, top = 2, normalize> outs(%[[CHOICES]], %[[WEIGHTS]])
  // CHECK: %[[OFFSETS:.*]] = tensor.empty() : tensor<1x7xi32>
  // CHECK: %order, %offsets = dnn.moe_group %choices outs(%{{.*}}, %[[OFFSETS]])
  // CHECK-DAG: %[[GATE:.*]] = dnn.weight %scope ["e.*.g"] of ffn : <panels, 6x4x8xbf16>
  // CHECK-DAG: %[[DOWN:.*]] = dnn.weight %scope ["e.*.d"] of ffn : <panels, 6x8x4xbf16>
  // CHECK-DAG: %[[BIAS:.*]] = dnn.weight %scope ["e.*.a"] of ffn : <row_major, 6x4xf32>
  // BF16: %[[X:.*]] = dnn.cast %x
  // F32: %[[H:.*]] = dnn.moe_gate_up silu %x by %order, %offsets gate %[[GATE]] bias %[[BIAS]] up {{.*}} limit 7.0 up_offset 1.0 outs({{.*}} -> tensor<?x8xf32>
  // BF16: %[[H:.*]] = dnn.moe_gate_up silu %[[X]] by %order, %offsets gate %[[GATE]] bias %[[BIAS]] up {{.*}} -> tensor<?x8xbf16>
  // CHECK: %[[P:.*]] = dnn.moe_down %[[H]] by %order, %offsets down %[[DOWN]] outs({{.*}} -> tensor<?x16xf32>
  // CHECK: %[[Y:.*]] = dnn.moe_combine %[[P]] by %weights outs({{.*}} -> tensor<?x8xf32>
  // CHECK: return %[[Y]]
  %g = transformer.parameter %s "e.*.g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x4x8xbf16>
  %u = transformer.parameter %s "e.*.u" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x4x8xbf16>
  %d = transformer.parameter %s "e.*.d" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x8x4xbf16>
  %a = transformer.parameter %s "e.*.a" of ffn {dnn.layout = #dnn.layout<row_major>} : tensor<6x4xf32>
  %c = transformer.parameter %s "c" of ffn {dnn.layout = #dnn.layout<vector>} : tensor<6xf32>
  %y = transformer.moe silu %x, %l <sigmoid, top = 2, normalize> correction %c gate %g bias %a up %u down %d limit 7.0 up_offset 1.0 : (!rows, tensor<?x6xf32>, tensor<6xf32>, tensor<6x4x8xbf16>, tensor<6x4x8xbf16>, tensor<6x8x4xbf16>, tensor<6x4xf32>) -> !rows
  return %y : !rows
}

// Rows that were selected are those that are routed.
// CHECK-LABEL: @of_output_rows
func.func private @of_output_rows(%s: !scope, %b: !batch, %x: !rows, %l: tensor<?x6xf32>) -> !rows {
  // CHECK: %output_rows = dnn.count output_rows %batch
  // CHECK: dnn.select_output_rows
  // CHECK: tensor.empty(%output_rows) : tensor<?x1xi32>
  // CHECK: dnn.moe_route
  // CHECK: dnn.moe_gate_up
  // CHECK: %[[P:.*]] = tensor.empty(%output_rows) : tensor<?x8xf32>
  // CHECK: dnn.moe_down
  %g = transformer.parameter %s "e.*.g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x4x8xf32>
  %d = transformer.parameter %s "e.*.d" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x8x4xf32>
  %w = transformer.select_output_rows %x, %b : (!rows, !batch) -> !rows
  %m = transformer.select_output_rows %l, %b : (tensor<?x6xf32>, !batch) -> tensor<?x6xf32>
  %y = transformer.moe silu %w, %m <softmax, top = 1> gate %g up %g down %d : (!rows, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> !rows
  return %y : !rows
}

// A feed-forward of all tokens is no MoE layer.
// CHECK-LABEL: @shared_expert
func.func private @shared_expert(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x4xf32> {
  // CHECK-NOT: dnn.moe_route
  // F32: dnn.gated_matmul silu
  // BF16: dnn.matmul
  // BF16: dnn.matmul
  // CHECK-NOT: dnn.moe
  // CHECK: return
  %g = transformer.parameter %s "g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<4x8xf32>
  %y = transformer.gated_matmul silu %x gate %g up %g : (!rows, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
