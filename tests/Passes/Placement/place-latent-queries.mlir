// Queries of latent attention are bf16 where pairs of it are multiplied with
// pages, those of few rows unless activations are to stay exact.
// RUN: %tenon-opt %s -split-input-file --convert-transformer-to-dnn="level=avx512" | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %tenon-opt %s -split-input-file --convert-transformer-to-dnn="level=avx512_bf16" | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: %tenon-opt %s -split-input-file --convert-transformer-to-dnn="level=amx" | FileCheck %s --check-prefixes=CHECK,PAIRS

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<latent 1x6xbf16>

// CHECK-LABEL: @f.few
// F32: dnn.latent_attention {{.*}} : (tensor<?x10xf32>,
// PAIRS: dnn.latent_attention {{.*}} : (tensor<?x10xbf16>,
func.func private @f.few(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x10xf32>) -> tensor<?x10xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %e = transformer.parameter %s "kv" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<16x4xbf16>
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !batch, !cache, !scope, tensor<16x4xbf16>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// CHECK-LABEL: @f.many
// F32: dnn.latent_attention {{.*}} : (tensor<?x10xf32>,
// PAIRS: dnn.latent_attention {{.*}} : (tensor<?x10xbf16>,
func.func private @f.many(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x10xf32>) -> tensor<?x10xf32> attributes {transformer.variant = #transformer.variant<many>} {
  %e = transformer.parameter %s "kv" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<16x4xbf16>
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !batch, !cache, !scope, tensor<16x4xbf16>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// -----

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<latent 1x6xbf16>

module attributes {transformer.activations = "exact"} {
// CHECK-LABEL: @exact.few
// CHECK: dnn.latent_attention {{.*}} : (tensor<?x10xf32>,
func.func private @exact.few(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x10xf32>) -> tensor<?x10xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %e = transformer.parameter %s "kv" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<16x4xbf16>
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !batch, !cache, !scope, tensor<16x4xbf16>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}
}
