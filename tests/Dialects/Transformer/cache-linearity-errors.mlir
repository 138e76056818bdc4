// A handle has one op that takes it (cache_c1), and nothing uses it after that
// (cache_c2), across calls and dispatches.
// RUN: %tenon-opt %s --verify-model -split-input-file -verify-diagnostics

func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.cache_append)}}
  %1 = transformer.attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Two appends to one handle. Uses are looked at last first.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (transformer.cache_append)}}
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  %1 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// The old handle is returned.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (func.return)}}
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %c : !transformer.cache<1x4xf32>
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A call takes the handle when its callee does.
func.func private @appends(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %0 : !transformer.cache<1x4xf32>
}
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = call @appends(%s, %b, %c, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (func.call)}}
  %1 = transformer.attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
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
  %1 = transformer.attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Every handle of the line is checked, not only arguments.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  %1 = transformer.cache_append %0[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.cache_append)}}
  %2 = transformer.attention causal %x, %b cache %0[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Two appends to one latent cache.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xf32>, %l: tensor<?x4xf32>, %r: tensor<?x2xf32>) {
  // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (transformer.latent_append)}}
  %0 = transformer.latent_append %c[%s], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  %1 = transformer.latent_append %c[%s], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
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
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A memory that was filled further.
func.func private @f(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<memory 1x4xf32>, %x: tensor<?x4xf32>) {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<memory 1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<memory 1x4xf32>
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.cache_append)}}
  %1 = transformer.attention bidirectional %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<memory 1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}
func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
