// Handles that are used as they may be: read as often as wanted, taken once.
// RUN: %tenon-opt %s --verify-fused | FileCheck %s

// CHECK-LABEL: @reads
func.func private @reads(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = transformer.online_attention causal %q, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  %1 = transformer.online_attention causal %0, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: @appends
func.func private @appends(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %0 : !transformer.cache<1x4xf32>
}

// CHECK-LABEL: @calls
func.func private @calls(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  // A dispatch that only reads leaves the handle.
  %0 = transformer.dispatch @reads or @reads by tokens(%s, %b, %c, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = transformer.dispatch @reads or @reads by tokens(%s, %b, %c, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = transformer.dispatch @appends or @appends by tokens(%s, %b, %c, %1) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %2 : !transformer.cache<1x4xf32>
}

// Latent and cross-attention caches are linear, too.
// CHECK-LABEL: @latents
func.func private @latents(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xf32>, %l: tensor<?x4xf32>, %q: tensor<?x10xf32>, %r: tensor<?x2xf32>) -> (tensor<?x10xf32>, !transformer.cache<latent 1x6xf32>) {
  %w = transformer.parameter %s "w" of attention : tensor<16x4xf32>
  %0 = transformer.latent_append %c[%s], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  %1 = transformer.latent_attention %q, %b cache %0[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return %1, %0 : tensor<?x10xf32>, !transformer.cache<latent 1x6xf32>
}

// CHECK-LABEL: @decodes
func.func private @decodes(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %m: !transformer.cache<cross 1x4xf32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32>, !transformer.cache<1x4xf32>) {
  // A cross-attention cache is read in every layer and never taken.
  %0 = transformer.online_attention bidirectional %x, %b cache %m[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<cross 1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  %1 = transformer.cache_append %c[%s], %b keys %0 values %0 : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  %2 = transformer.online_attention bidirectional %0, %b cache %m[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<cross 1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return %2, %1 : tensor<?x4xf32>, !transformer.cache<1x4xf32>
}
