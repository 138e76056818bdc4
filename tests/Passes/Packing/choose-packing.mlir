// Layouts: panels for what is multiplied, rows for what is only gathered,
// vectors for the rest.
// RUN: %tenon-opt %s --choose-packing --remark-policy=all --remarks-filter-passed=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope

// CHECK-LABEL: @layer
func.func @layer(%s: !scope, %b: !batch) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.parameter %arg0 "table" of embedding {dnn.layout = "rows"}
  // expected-remark@below {{[Passed] ChoosePacking | Category:packing | Function=layer | Remark="table is stored as rows"}}
  %t = transformer.parameter %s "table" of embedding : tensor<9x8xf32>
  // CHECK-NEXT: transformer.parameter %arg0 "weight" of ffn {dnn.layout = "panels"}
  // expected-remark@below {{weight is stored as panels}}
  %w = transformer.parameter %s "weight" of ffn : tensor<8x8xf32>
  // CHECK-NEXT: transformer.parameter %arg0 "norm" of norm {dnn.layout = "vector"}
  %n = transformer.parameter %s "norm" of norm : tensor<8xf32>
  %0 = transformer.embedding token %b, %t : (!batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %0, %n eps 1.0e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %2 = transformer.product %1 weights(%w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// Tied embeddings: "m.table" is gathered from in @embed and multiplied with in
// @head, under another key of another scope. It is stored once, in panels.
// CHECK-LABEL: @embed
func.func private @embed(%s: !scope, %b: !batch) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.parameter %arg0 "table" of embedding {dnn.layout = "panels"}
  // expected-remark@below {{table is stored as panels}}
  %t = transformer.parameter %s "table" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
// CHECK-LABEL: @head
func.func private @head(%s: !scope, %b: !batch, %x: tensor<?x8xf32>) -> tensor<?x9xf32> {
  // CHECK-NEXT: transformer.parameter %arg0 "m.table" of head {dnn.layout = "panels"}
  // expected-remark@below {{m.table is stored as panels}}
  %t = transformer.parameter %s "m.table" of head : tensor<9x8xf32>
  %0 = transformer.product %x weights(%t) : (tensor<?x8xf32>, tensor<9x8xf32>) -> tensor<?x9xf32>
  return %0 : tensor<?x9xf32>
}
func.func @step(%b: !batch) -> tensor<?x9xf32> attributes {transformer.role = "step"} {
  %root = transformer.scope ""
  %m = transformer.scope "m"
  %0 = call @embed(%m, %b) : (!scope, !batch) -> tensor<?x8xf32>
  %1 = call @head(%root, %b, %0) : (!scope, !batch, tensor<?x8xf32>) -> tensor<?x9xf32>
  return %1 : tensor<?x9xf32>
}
