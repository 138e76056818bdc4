// Quantised weights are multiplied with rows of grouped integers: for products
// of bytes of 16 bits in a decode-sized batch and of 8 bits otherwise; where
// products are of 16 bits, of 8 bits only if these hold sums of a format's
// products. Exact activations stay numbers, and so do those of many rows that
// tiles of bf16 multiply.
// RUN: split-file %s %t
// RUN: %tenon-opt %t/auto.mlir --convert-transformer-to-dnn=level=avx512_vnni | FileCheck %s --check-prefixes=CHECK,INT
// RUN: %tenon-opt %t/auto.mlir --convert-transformer-to-dnn=level=avx2_vnni | FileCheck %s --check-prefixes=CHECK,INT
// RUN: %tenon-opt %t/auto.mlir --convert-transformer-to-dnn=level=avx512 | FileCheck %s --check-prefixes=WORDS,SMALL
// RUN: %tenon-opt %t/auto.mlir --convert-transformer-to-dnn=level=avx2 | FileCheck %s --check-prefixes=WORDS,SMALL
// RUN: sed s/q4_0/iq4_nl/ %t/auto.mlir | %tenon-opt --convert-transformer-to-dnn=level=avx2 | FileCheck %s --check-prefixes=WORDS,LARGE
// RUN: %tenon-opt %t/exact.mlir --convert-transformer-to-dnn=level=avx512_vnni | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: %tenon-opt %t/auto.mlir --convert-transformer-to-dnn=level=amx | FileCheck %s --check-prefixes=TILES

// TILES-LABEL: @few
// TILES: dnn.cast {{.*}}, tensor<?x40x!dnn.grouped<16>>)
// TILES-LABEL: @many
// TILES: %[[Q:.*]] = dnn.cast %x outs({{.*}}) : (tensor<?x40xf32>, tensor<?x40xbf16>)
// TILES: dnn.matmul %[[Q]] weight
// TILES-LABEL: @experts
// TILES-NOT: grouped
// CHECK-LABEL: @few
// INT: %[[E:.*]] = tensor.empty(%tokens) : tensor<?x40x!dnn.grouped<16>>
// INT-NEXT: %[[Q:.*]] = dnn.cast %x outs(%[[E]]) : (tensor<?x40xf32>, tensor<?x40x!dnn.grouped<16>>)
// INT: dnn.gated_matmul silu %[[Q]] gate
// WORDS-LABEL: @few
// WORDS: %[[Q:.*]] = dnn.cast {{.*}}, tensor<?x40x!dnn.grouped<16, int16>>)
// WORDS: dnn.gated_matmul silu %[[Q]] gate
// WORDS-LABEL: @many
// SMALL: %[[Q:.*]] = dnn.cast {{.*}}, tensor<?x40x!dnn.grouped<8>>)
// LARGE: %[[Q:.*]] = dnn.cast {{.*}}, tensor<?x40x!dnn.grouped<16, int16>>)
// WORDS: dnn.matmul %[[Q]] weight
// EXACT-NOT: dnn.cast
// EXACT: dnn.gated_matmul silu %x gate
// CHECK-LABEL: @many
// INT: %[[E:.*]] = tensor.empty(%tokens) : tensor<?x40x!dnn.grouped<8>>
// INT-NEXT: %[[Q:.*]] = dnn.cast %x outs(%[[E]])
// INT: dnn.matmul %[[Q]] weight
// EXACT-NOT: dnn.cast
// EXACT: dnn.matmul %x weight
// Each of two choices of a token would have to begin with a group.
// CHECK-LABEL: @experts
// INT: %[[E:.*]] = tensor.empty(%tokens) : tensor<?x64x!dnn.grouped<8>>
// INT-NEXT: %[[Q:.*]] = dnn.cast %x outs(%[[E]])
// INT: %[[H:.*]] = dnn.moe_gate_up silu %[[Q]]
// INT-NOT: dnn.cast
// INT: dnn.moe_down %[[H]] by
// INT-SAME: (tensor<?x80xf32>
// INT: %[[H:.*]] = dnn.moe_gate_up silu {{.*}} -> tensor<?x64x!dnn.grouped<8>>
// INT-NOT: dnn.cast
// INT: dnn.moe_down %[[H]] by

//--- auto.mlir
!batch = !transformer.batch
!scope = !transformer.scope
!q = !transformer.quant<q4_0>
func.func private @few(%s: !scope, %b: !batch, %x: tensor<?x40xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %g = transformer.parameter %s "g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<8x40x!q>
  %y = transformer.gated_matmul silu %x gate %g up %g : (tensor<?x40xf32>, tensor<8x40x!q>, tensor<8x40x!q>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func private @many(%s: !scope, %b: !batch, %x: tensor<?x40xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  %w = transformer.parameter %s "w" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<8x40x!q>
  %y = transformer.matmul %x weights(%w) : (tensor<?x40xf32>, tensor<8x40x!q>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func private @experts(%s: !scope, %b: !batch, %x: tensor<?x64xf32>, %l: tensor<?x6xf32>) -> tensor<?x64xf32> {
  %g = transformer.parameter %s "e.*.g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x40x64x!q>
  %d = transformer.parameter %s "e.*.d" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x64x40x!q>
  %h = transformer.parameter %s "f.*.g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x32x64x!q>
  %e = transformer.parameter %s "f.*.d" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<6x64x32x!q>
  %y = transformer.moe silu %x, %l <softmax, top = 2> gate %g up %g down %d : (tensor<?x64xf32>, tensor<?x6xf32>, tensor<6x40x64x!q>, tensor<6x40x64x!q>, tensor<6x64x40x!q>) -> tensor<?x64xf32>
  %z = transformer.moe silu %y, %l <softmax, top = 2> gate %h up %h down %e : (tensor<?x64xf32>, tensor<?x6xf32>, tensor<6x32x64x!q>, tensor<6x32x64x!q>, tensor<6x64x32x!q>) -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

//--- exact.mlir
!batch = !transformer.batch
!scope = !transformer.scope
!q = !transformer.quant<q4_0>
module attributes {transformer.activations = "exact"} {
func.func private @few(%s: !scope, %b: !batch, %x: tensor<?x40xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %g = transformer.parameter %s "g" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<8x40x!q>
  %y = transformer.gated_matmul silu %x gate %g up %g : (tensor<?x40xf32>, tensor<8x40x!q>, tensor<8x40x!q>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func private @many(%s: !scope, %b: !batch, %x: tensor<?x40xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  %w = transformer.parameter %s "w" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<8x40x!q>
  %y = transformer.matmul %x weights(%w) : (tensor<?x40xf32>, tensor<8x40x!q>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func private @experts(%s: !scope, %b: !batch, %x: tensor<?x64xf32>, %l: tensor<?x6xf32>) -> tensor<?x64xf32> {
  return %x : tensor<?x64xf32>
}
}
