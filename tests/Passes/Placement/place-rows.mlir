// Destinations have as many rows as what is written to them.
// RUN: %tenon-opt %s --convert-transformer-to-dnn | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

// CHECK-LABEL: @rows.few
func.func private @rows.few(%s: !scope, %b: !batch, %x: !rows) -> (!rows, !rows, !rows) attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK-DAG: %tokens = dnn.count tokens %batch
  // CHECK-DAG: %output_rows = dnn.count output_rows %batch
  // CHECK-DAG: %sequences = dnn.count sequences %batch
  %n = transformer.parameter %s "n" of norm {dnn.layout = #dnn.layout<vector>} : tensor<8xf32>
  // The sum is the first result, the norm the second.
  // CHECK: %[[S:.*]], %[[N:.*]] = dnn.add_norm layer %x, %x weight %{{.*}} bias %{{.*}} eps 1e-05 outs(
  // CHECK: %[[A:.*]] = dnn.residual %[[S]], %[[N]] outs(
  %0:2 = transformer.add_norm layer %x, %x weight %n bias %n eps 1e-05 : (!rows, !rows, tensor<8xf32>, tensor<8xf32>) -> (!rows, !rows)
  %1 = transformer.residual %0#0, %0#1 : !rows
  // CHECK: %[[W:.*]] = tensor.empty(%output_rows)
  // CHECK: %[[R:.*]] = dnn.select_output_rows %[[A]], %batch outs(%[[W]])
  %2 = transformer.select_output_rows %1, %b : (!rows, !batch) -> !rows
  // CHECK: %[[V:.*]] = tensor.empty(%output_rows)
  // CHECK: dnn.rms_norm %[[R]], %{{.*}} eps 1e-05 outs(%[[V]])
  %3 = transformer.rms_norm %2, %n eps 1e-05 : (!rows, tensor<8xf32>) -> !rows
  // CHECK: %[[P:.*]] = tensor.empty(%sequences)
  // CHECK: dnn.pool cls %[[A]], %batch normalize outs(%[[P]])
  %4 = transformer.pool cls %1, %b normalize : (!rows, !batch) -> !rows
  return %1, %3, %4 : !rows, !rows, !rows
}
func.func private @rows.many(%s: !scope, %b: !batch, %x: !rows) -> (!rows, !rows, !rows) attributes {transformer.variant = #transformer.variant<many>} {
  %0 = transformer.select_output_rows %x, %b : (!rows, !batch) -> !rows
  %1 = transformer.pool cls %x, %b normalize : (!rows, !batch) -> !rows
  return %x, %0, %1 : !rows, !rows, !rows
}

// Those of a call are read off what is called.
// CHECK-LABEL: @encode
func.func @encode(%b: !batch, %x: !rows) attributes {transformer.role = "encode"} {
  // CHECK: %[[T:.*]] = tensor.empty(%tokens)
  // CHECK-NEXT: %[[W:.*]] = tensor.empty(%output_rows)
  // CHECK-NEXT: %[[S:.*]] = tensor.empty(%sequences)
  // CHECK-NEXT: dnn.dispatch @rows.few or @rows.many by tokens of %batch({{.*}}) outs(%[[T]], %[[W]], %[[S]])
  %s = transformer.scope ""
  %0:3 = transformer.dispatch @rows.few or @rows.many by tokens(%s, %b, %x) : (!scope, !batch, !rows) -> (!rows, !rows, !rows)
  return
}

// What a function gets has the rows of what its calls pass.
// CHECK-LABEL: @dense.few
// CHECK-NOT: dnn.count {{tokens|output_rows}}
// CHECK: %sequences = dnn.count sequences %batch
// CHECK: %[[E:.*]] = tensor.empty(%sequences)
// CHECK: dnn.residual %x, %x outs(%[[E]])
// CHECK: return
func.func private @dense.few(%b: !batch, %x: !rows) -> !rows attributes {transformer.variant = #transformer.variant<few>} {
  %0 = transformer.residual %x, %x : !rows
  return %0 : !rows
}
func.func private @dense.many(%b: !batch, %x: !rows) -> !rows attributes {transformer.variant = #transformer.variant<many>} {
  %0 = transformer.residual %x, %x : !rows
  return %0 : !rows
}
func.func @embed(%b: !batch, %x: !rows) -> !rows attributes {transformer.role = "embed"} {
  %0 = transformer.pool mean %x, %b : (!rows, !batch) -> !rows
  %1 = transformer.dispatch @dense.few or @dense.many by tokens(%b, %0) : (!batch, !rows) -> !rows
  return %1 : !rows
}
