// Fused operations become their twins on destinations. bf16 weights meet bf16
// rows only where the level has matmuls of them.
// RUN: %tenon-opt %s --convert-transformer-to-dnn="level=avx2" | FileCheck %s --check-prefixes=CHECK,AVX2,WIDE
// RUN: %tenon-opt %s --convert-transformer-to-dnn="level=avx512" | FileCheck %s --check-prefixes=CHECK,AVX512,WIDE
// RUN: %tenon-opt %s --convert-transformer-to-dnn="level=avx512_bf16" | FileCheck %s --check-prefixes=CHECK,BF16

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>

// AVX2: module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [int16], library = []>, transformer.max_sequence = 16 : i64}
// AVX512: module attributes {dnn.target = #dnn.target<avx512, vector = 512, registers = 32, dot = [int16], library = [f32]>,
// BF16: module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8, int16], library = [f32, bf16]>,
module attributes {transformer.max_sequence = 16 : i64} {

// Merged parameters are one weight. Matrices keep their type, vectors are f32.
// CHECK-LABEL: @matmuls
func.func private @matmuls(%s: !scope, %b: !batch, %x: !rows) -> tensor<?x12xf32> {
  %q = transformer.parameter %s "q" of attention {dnn.layout = #dnn.layout<panels>} : tensor<8x8xbf16>
  %k = transformer.parameter %s "k" of attention {dnn.layout = #dnn.layout<panels>} : tensor<4x8xbf16>
  %h = transformer.parameter %s "h" of attention {dnn.layout = #dnn.layout<panels>} : tensor<12x12xf32>
  %m = transformer.parameter %s "m" of attention {dnn.layout = #dnn.layout<vector>} : tensor<8xbf16>
  %n = transformer.parameter %s "n" of attention {dnn.layout = #dnn.layout<vector>} : tensor<4xbf16>
  // CHECK-NEXT: %[[T:.*]] = dnn.count tokens %batch
  // CHECK-NEXT: %[[W:.*]] = dnn.weight %scope ["q", "k"] of attention : <panels, 12x8xbf16>
  // CHECK-NEXT: %[[B:.*]] = dnn.weight %scope ["m", "n"] of attention : <vector, 12x1xf32>
  // BF16-NEXT: %[[N:.*]] = tensor.empty(%[[T]]) : tensor<?x8xbf16>
  // BF16-NEXT: %[[X:.*]] = dnn.cast %x outs(%[[N]])
  // CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[T]]) : tensor<?x12xf32>
  // WIDE-NEXT: %[[P:.*]] = dnn.matmul %x weight %[[W]] bias %[[B]] activation relu outs(%[[E]])
  // BF16-NEXT: %[[P:.*]] = dnn.matmul %[[X]] weight %[[W]] bias %[[B]] activation relu outs(%[[E]])
  // CHECK-NEXT: %[[H:.*]] = dnn.weight %scope ["h"] of attention : <panels, 12x12xf32>
  // CHECK-NEXT: %[[F:.*]] = tensor.empty
  // CHECK-NEXT: dnn.matmul %[[P]] weight %[[H]] outs(%[[F]])
  %0 = transformer.matmul %x weights(%q, %k) biases(%m, %n) activation relu : (!rows, tensor<8x8xbf16>, tensor<4x8xbf16>, tensor<8xbf16>, tensor<4xbf16>) -> tensor<?x12xf32>
  %1 = transformer.matmul %0 weights(%h) : (tensor<?x12xf32>, tensor<12x12xf32>) -> tensor<?x12xf32>
  return %1 : tensor<?x12xf32>
}
}
