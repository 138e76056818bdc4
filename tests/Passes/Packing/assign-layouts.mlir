// Layouts: panels for what is multiplied, rows for what is only gathered,
// vectors for the rest.
// RUN: %tenon-opt %s --assign-layouts --remark-policy=all --remarks-filter=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope

// CHECK-LABEL: @layer
func.func @layer(%s: !scope, %b: !batch) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.parameter %scope "table" of embedding {dnn.layout = #dnn.layout<row_major>}
  // expected-remark@below {{[Analysis] AssignLayouts | Category:packing | Function=layer | Operation=parameter, Remark="table is stored as row_major"}}
  %t = transformer.parameter %s "table" of embedding : tensor<9x8xf32>
  // CHECK-NEXT: transformer.parameter %scope "weight" of ffn {dnn.layout = #dnn.layout<panels>}
  // expected-remark@below {{weight is stored as panels}}
  %w = transformer.parameter %s "weight" of ffn : tensor<8x8xf32>
  // CHECK-NEXT: transformer.parameter %scope "norm" of norm {dnn.layout = #dnn.layout<vector>}
  %n = transformer.parameter %s "norm" of norm : tensor<8xf32>
  %0 = transformer.embedding token %b, %t : (!batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %0, %n eps 1e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %2 = transformer.matmul %1 weights(%w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// Tied embeddings: "m.table" is gathered from in @embed and multiplied with in
// @head, under another key of another scope. It is stored once, in panels.
// CHECK-LABEL: @embed
func.func private @embed(%s: !scope, %b: !batch) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.parameter %scope "table" of embedding {dnn.layout = #dnn.layout<panels>}
  // expected-remark@below {{table is stored as panels}}
  %t = transformer.parameter %s "table" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
// CHECK-LABEL: @head
func.func private @head(%s: !scope, %b: !batch, %x: tensor<?x8xf32>) -> tensor<?x9xf32> {
  // CHECK-NEXT: transformer.parameter %scope "m.table" of head {dnn.layout = #dnn.layout<panels>}
  // expected-remark@below {{m.table is stored as panels}}
  %t = transformer.parameter %s "m.table" of head : tensor<9x8xf32>
  %0 = transformer.matmul %x weights(%t) : (tensor<?x8xf32>, tensor<9x8xf32>) -> tensor<?x9xf32>
  return %0 : tensor<?x9xf32>
}
func.func @step(%b: !batch) -> tensor<?x9xf32> attributes {transformer.role = "step"} {
  %root = transformer.scope ""
  %m = transformer.scope "m"
  %0 = call @embed(%m, %b) : (!scope, !batch) -> tensor<?x8xf32>
  %1 = call @head(%root, %b, %0) : (!scope, !batch, tensor<?x8xf32>) -> tensor<?x9xf32>
  return %1 : tensor<?x9xf32>
}

// Matrices of experts are multiplied, each by itself; their biases are read row
// by row.
// CHECK-LABEL: @experts
func.func private @experts(%s: !scope, %b: !batch, %x: tensor<?x8xf32>, %l: tensor<?x6xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: "experts.*.gate" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x4x8xbf16>
  // expected-remark@below {{experts.*.gate is stored as panels}}
  %g = transformer.parameter %s "experts.*.gate" of ffn : tensor<6x4x8xbf16>
  // CHECK-NEXT: "experts.*.down" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x8x4xbf16>
  // expected-remark@below {{experts.*.down is stored as panels}}
  %d = transformer.parameter %s "experts.*.down" of ffn : tensor<6x8x4xbf16>
  // CHECK-NEXT: "experts.*.bias" of ffn {dnn.layout = #dnn.layout<row_major>} : tensor<6x4xbf16>
  // expected-remark@below {{experts.*.bias is stored as row_major}}
  %a = transformer.parameter %s "experts.*.bias" of ffn : tensor<6x4xbf16>
  // CHECK-NEXT: "correction" of ffn {dnn.layout = #dnn.layout<vector>} : tensor<6xf32>
  %c = transformer.parameter %s "correction" of ffn : tensor<6xf32>
  %y = transformer.moe silu %x, %l <sigmoid, top = 2> correction %c gate %g bias %a up %g down %d : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x4x8xbf16>, tensor<6x4x8xbf16>, tensor<6x8x4xbf16>, tensor<6x4xbf16>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// What attention reads row by row: the matrix that expands latent vectors, and
// learned biases of distances.
// CHECK-LABEL: @attends
func.func private @attends(%s: !scope, %b: !batch, %c: !transformer.cache<latent 1x6xbf16>, %k: !transformer.cache<1x4xbf16>, %q: tensor<?x10xf32>, %p: tensor<?x8xf32>) -> (tensor<?x10xf32>, tensor<?x8xf32>) {
  // CHECK-NEXT: "expand" of attention {dnn.layout = #dnn.layout<row_major>}
  // expected-remark@below {{expand is stored as row_major}}
  %e = transformer.parameter %s "expand" of attention : tensor<16x4xbf16>
  // CHECK-NEXT: "relative" of attention {dnn.layout = #dnn.layout<row_major>}
  // expected-remark@below {{relative is stored as row_major}}
  %t = transformer.parameter %s "relative" of attention : tensor<8x2xf32>
  // CHECK-NEXT: "sinks" of attention {dnn.layout = #dnn.layout<vector>}
  %n = transformer.parameter %s "sinks" of attention : tensor<2xbf16>
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !batch, !transformer.cache<latent 1x6xbf16>, !scope, tensor<16x4xbf16>) -> tensor<?x10xf32>
  %z = transformer.online_attention causal %p, %b cache %k[%s] heads 2 kv_heads 1 scale 0.5 bias %t buckets <8, max = 20> sinks %n : (tensor<?x8xf32>, !batch, !transformer.cache<1x4xbf16>, !scope, tensor<8x2xf32>, tensor<2xbf16>) -> tensor<?x8xf32>
  return %y, %z : tensor<?x10xf32>, tensor<?x8xf32>
}
