// What placement does not know, and handles of caches that fusion broke.
// RUN: %tenon-opt %s --verify-fused -split-input-file -verify-diagnostics

func.func @linear(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) {
  %0 = transformer.matmul %x weights(%w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  // expected-error@below {{'transformer.linear' op is not allowed after stage 'fused': expected a fused operation (remarks say why it is none)}}
  %1 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention(%b: !transformer.batch, %x: tensor<?x8xf32>) {
  %0 = transformer.rope %x, %b heads 2 <half, dim = 4, base = 10000.0> : tensor<?x8xf32>
  // expected-error@below {{'transformer.attention' op is not allowed}}
  %1 = transformer.attention causal %0, %b keys %x values %x heads 2 kv_heads 2 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func private @layer(%b: !transformer.batch)
func.func @call(%b: !transformer.batch) {
  // expected-error@below {{'func.call' op is not allowed}}
  call @layer(%b) : (!transformer.batch) -> ()
  return
}

// -----

func.func @handle(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x12xf32>, %q: tensor<?x4xf32>) {
  %0:2 = transformer.split_append %x to %c[%s], %b heads 1 kv_heads 1 : (tensor<?x12xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x4xf32>, !transformer.cache<1x4xf32>)
  // expected-error@below {{cache_c2: a cache handle: expected the newest one, got one that an earlier op has taken (transformer.split_append)}}
  %1 = transformer.online_attention causal %0#0, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return
}
