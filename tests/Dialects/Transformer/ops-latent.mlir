// Latent vectors: 32 and 8 rotated values per token; heads of 16 and 8 elements.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @latents(
func.func @latents(%arg0: !transformer.cache<latent 1x40xbf16>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x32xf32>, %arg4: tensor<?x8xf32>, %arg5: tensor<?x72xf32>, %arg6: tensor<84x32xbf16>) {
  // CHECK-NEXT: %cache = transformer.latent_append %arg0[%arg1], %arg2 latent %arg3 rotated %arg4 : (!transformer.cache<latent 1x40xbf16>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xbf16>
  %cache = transformer.latent_append %arg0[%arg1], %arg2 latent %arg3 rotated %arg4 : (!transformer.cache<latent 1x40xbf16>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xbf16>
  // CHECK-NEXT: %attended = transformer.latent_attention %arg5, %arg2 cache %cache[%arg1] expand %arg6 heads 3 key_dim 16 value_dim 12 scale 2.500000e-01 : (tensor<?x72xf32>, !transformer.batch, !transformer.cache<latent 1x40xbf16>, !transformer.scope, tensor<84x32xbf16>) -> tensor<?x36xf32>
  %attended = transformer.latent_attention %arg5, %arg2 cache %cache[%arg1] expand %arg6 heads 3 key_dim 16 value_dim 12 scale 2.500000e-01 : (tensor<?x72xf32>, !transformer.batch, !transformer.cache<latent 1x40xbf16>, !transformer.scope, tensor<84x32xbf16>) -> tensor<?x36xf32>
  return
}
