// A handle has one op that takes it (cache_c1), and nothing uses it after that
// (cache_c2), across dispatches; nothing else has one (cache_c3).
// RUN: %tenon-opt %s --verify-fused -split-input-file -verify-diagnostics

func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.cache_append)}}
  %1 = transformer.online_attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}

// -----

// Two appends to one handle. Uses are looked at last first.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (transformer.cache_append)}}
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  %1 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return
}

// -----

// The old handle is returned.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (func.return)}}
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %c : !transformer.cache<1x4xf32>
}

// -----

// A dispatch takes the handle when its callee does.
func.func private @appends(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %0 : !transformer.cache<1x4xf32>
}
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.dispatch @appends or @appends by tokens(%s, %b, %c, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.dispatch)}}
  %1 = transformer.online_attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}

// -----

// A dispatch takes it when one of its variants does.
func.func private @f.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  return
}
func.func private @f.many(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return
}
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  transformer.dispatch @f.few or @f.many by tokens(%s, %b, %c, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> ()
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.dispatch)}}
  %1 = transformer.online_attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}

// -----

// Every handle is checked, not only arguments.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  %1 = transformer.cache_append %0[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.cache_append)}}
  %2 = transformer.online_attention causal %x, %b cache %0[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}

// -----

// Two appends to one latent cache.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xf32>, %l: tensor<?x4xf32>, %r: tensor<?x2xf32>) {
  // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (transformer.latent_append)}}
  %0 = transformer.latent_append %c[%s], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  %1 = transformer.latent_append %c[%s], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  return
}

// -----

// Latent attention over what it was before the append.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xf32>, %l: tensor<?x4xf32>, %r: tensor<?x2xf32>, %q: tensor<?x10xf32>) {
  %w = transformer.parameter %s "w" of attention : tensor<16x4xf32>
  %0 = transformer.latent_append %c[%s], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.latent_append)}}
  %1 = transformer.latent_attention %q, %b cache %c[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

// A cross-attention cache that was filled further.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<cross 1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<cross 1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<cross 1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.cache_append)}}
  %1 = transformer.online_attention bidirectional %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<cross 1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}

// -----

// What says nothing of caches does not get one.
func.func private @f(%c: !transformer.cache<1x4xf32>) {
  // expected-error@below {{cache_c3: a cache handle: expected an operation that appends to a cache or reads one}}
  %0 = builtin.unrealized_conversion_cast %c : !transformer.cache<1x4xf32> to i64
  return
}
