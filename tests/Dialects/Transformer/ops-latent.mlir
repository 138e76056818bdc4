// Latent vectors: 32 and 8 rotated values per token; heads of 16 and 8 elements.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @latents(
func.func @latents(%cache: !transformer.cache<latent 1x40xbf16>, %scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x32xf32>, %x_0: tensor<?x8xf32>, %x_1: tensor<?x72xf32>, %x_2: tensor<84x32xbf16>) {
  // CHECK-NEXT: %cache_3 = transformer.latent_append %cache[%scope], %batch latent %x rotated %x_0 : (!transformer.cache<latent 1x40xbf16>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xbf16>
  %cache_3 = transformer.latent_append %cache[%scope], %batch latent %x rotated %x_0 : (!transformer.cache<latent 1x40xbf16>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xbf16>
  // CHECK-NEXT: %attended = transformer.latent_attention %x_1, %batch cache %cache_3[%scope] expand %x_2 heads 3 key_dim 16 value_dim 12 scale 0.25 : (tensor<?x72xf32>, !transformer.batch, !transformer.cache<latent 1x40xbf16>, !transformer.scope, tensor<84x32xbf16>) -> tensor<?x36xf32>
  %attended = transformer.latent_attention %x_1, %batch cache %cache_3[%scope] expand %x_2 heads 3 key_dim 16 value_dim 12 scale 0.25 : (tensor<?x72xf32>, !transformer.batch, !transformer.cache<latent 1x40xbf16>, !transformer.scope, tensor<84x32xbf16>) -> tensor<?x36xf32>
  return
}
