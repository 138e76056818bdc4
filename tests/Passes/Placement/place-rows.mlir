// Destinations have as many rows as what is written to them.
// RUN: %tenon-opt %s --place-operations | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

// CHECK-LABEL: @rows
func.func private @rows(%s: !scope, %b: !batch, %x: !rows) -> (!rows, !rows, !rows) {
  // CHECK-DAG: %[[TOKENS:.*]] = dnn.count tokens %arg1
  // CHECK-DAG: %[[WANTED:.*]] = dnn.count wanted %arg1
  // CHECK-DAG: %[[SEQUENCES:.*]] = dnn.count sequences %arg1
  %n = transformer.parameter %s "n" of norm : tensor<8xf32>
  // The norm is the first result, the sum the second.
  // CHECK: %[[N:.*]]:2 = dnn.norm layer %arg2 residual %arg2 weight %{{.*}} bias %{{.*}} outs(%{{.*}}, %{{.*}}) eps 1.000000e-05
  // CHECK: %[[A:.*]] = dnn.add %[[N]]#1, %[[N]]#0
  %0:2 = transformer.add_norm layer %x, %x weight %n bias %n eps 1.0e-05 : (!rows, !rows, tensor<8xf32>, tensor<8xf32>) -> (!rows, !rows)
  %1 = transformer.residual %0#0, %0#1 : !rows
  // CHECK: %[[W:.*]] = tensor.empty(%[[WANTED]])
  // CHECK: %[[R:.*]] = dnn.select_rows %[[A]], %arg1 outs(%[[W]])
  %2 = transformer.select_rows %1, %b : (!rows, !batch) -> !rows
  // CHECK: %[[V:.*]] = tensor.empty(%[[WANTED]])
  // CHECK: dnn.norm rms %[[R]] weight %{{.*}} outs(%[[V]])
  %3 = transformer.rms_norm %2, %n eps 1.0e-05 : (!rows, tensor<8xf32>) -> !rows
  // CHECK: %[[S:.*]] = tensor.empty(%[[SEQUENCES]])
  // CHECK: dnn.pool cls %[[A]], %arg1 outs(%[[S]]) normalize
  %4 = transformer.pool cls %1, %b normalize : (!rows, !batch) -> !rows
  return %1, %3, %4 : !rows, !rows, !rows
}

// Those of a call are read off what is called.
// CHECK-LABEL: @encode
func.func @encode(%b: !batch, %x: !rows) attributes {transformer.role = "encode"} {
  // CHECK-DAG: %[[TOKENS:.*]] = dnn.count tokens %arg0
  // CHECK-DAG: %[[WANTED:.*]] = dnn.count wanted %arg0
  // CHECK-DAG: %[[SEQUENCES:.*]] = dnn.count sequences %arg0
  // CHECK: %[[T:.*]] = tensor.empty(%[[TOKENS]])
  // CHECK-NEXT: %[[W:.*]] = tensor.empty(%[[WANTED]])
  // CHECK-NEXT: %[[S:.*]] = tensor.empty(%[[SEQUENCES]])
  // CHECK-NEXT: dnn.dispatch @rows or @rows by tokens of %arg0({{.*}}) outs(%[[T]], %[[W]], %[[S]])
  %s = transformer.scope ""
  %0:3 = transformer.dispatch @rows or @rows by tokens(%s, %b, %x) : (!scope, !batch, !rows) -> (!rows, !rows, !rows)
  return
}

// What a function gets has the rows of what its calls pass.
// CHECK-LABEL: @dense
// CHECK-NOT: dnn.count {{tokens|wanted}}
// CHECK: %[[N:.*]] = dnn.count sequences %arg0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]])
// CHECK: dnn.add %arg1, %arg1 outs(%[[E]])
// CHECK: return
func.func private @dense(%b: !batch, %x: !rows) -> !rows {
  %0 = transformer.residual %x, %x : !rows
  return %0 : !rows
}
func.func @embed(%b: !batch, %x: !rows) -> !rows attributes {transformer.role = "embed"} {
  %0 = transformer.pool mean %x, %b : (!rows, !batch) -> !rows
  %1 = transformer.dispatch @dense or @dense by tokens(%b, %0) : (!batch, !rows) -> !rows
  return %1 : !rows
}
