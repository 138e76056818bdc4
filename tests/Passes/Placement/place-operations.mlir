// Fused operations become their twins on destinations. bf16 weights meet bf16
// rows only where the level has products of them.
// RUN: %tenon-opt %s --place-operations="level=avx2" | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %tenon-opt %s --place-operations="level=avx512" | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %tenon-opt %s --place-operations="level=avx512_bf16" | FileCheck %s --check-prefixes=CHECK,BF16

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>

// CHECK: module attributes {dnn.cpu_level = "[[LEVEL:.*]]", transformer.max_sequence = 16 : i64}
module attributes {transformer.max_sequence = 16 : i64} {

// Merged parameters are one weight; halves are widened when they are packed.
// CHECK-LABEL: @products
func.func private @products(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x12xf32> {
  %q = transformer.parameter %s "q" of attention {dnn.layout = "panels"} : tensor<8x8xbf16>
  %k = transformer.parameter %s "k" of attention {dnn.layout = "panels"} : tensor<4x8xbf16>
  %h = transformer.parameter %s "h" of attention {dnn.layout = "panels"} : tensor<12x12xf16>
  %m = transformer.parameter %s "m" of attention {dnn.layout = "vector"} : tensor<8xbf16>
  %n = transformer.parameter %s "n" of attention {dnn.layout = "vector"} : tensor<4xbf16>
  // CHECK-NEXT: %[[T:.*]] = dnn.count tokens %arg1
  // CHECK-NEXT: %[[W:.*]] = dnn.weight %arg0 ["q", "k"] of "attention" : <panels, 12x8xbf16>
  // CHECK-NEXT: %[[B:.*]] = dnn.weight %arg0 ["m", "n"] of "attention" : <vector, 12x1xf32>
  // BF16-NEXT: %[[N:.*]] = tensor.empty(%[[T]]) : tensor<?x8xbf16>
  // BF16-NEXT: %[[X:.*]] = dnn.cast %arg2 outs(%[[N]])
  // CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[T]]) : tensor<?x12xf32>
  // WIDE-NEXT: %[[P:.*]] = dnn.product %arg2 weight %[[W]] bias %[[B]] activation relu outs(%[[E]])
  // BF16-NEXT: %[[P:.*]] = dnn.product %[[X]] weight %[[W]] bias %[[B]] activation relu outs(%[[E]])
  // CHECK-NEXT: %[[H:.*]] = dnn.weight %arg0 ["h"] of "attention" : <panels, 12x12xf32>
  // CHECK-NEXT: %[[F:.*]] = tensor.empty
  // CHECK-NEXT: dnn.product %[[P]] weight %[[H]] outs(%[[F]])
  %0 = transformer.product %x weights(%q, %k) biases(%m, %n) activation relu : (!rows, tensor<8x8xbf16>, tensor<4x8xbf16>, tensor<8xbf16>, tensor<4xbf16>) -> tensor<?x12xf32>
  %1 = transformer.product %0 weights(%h) : (tensor<?x12xf32>, tensor<12x12xf16>) -> tensor<?x12xf32>
  return %1 : tensor<?x12xf32>
}
}
