// Constraints of attention and of appends, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @cache_append_c1(%arg0: !transformer.cache<1x4xf32>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x5xf32>, %arg4: tensor<?x4xf32>) {
  // expected-error@+1 {{cache_append_c1: width of keys: expected 4, got 5}}
  %0 = transformer.cache_append %arg0[%arg1], %arg2 keys %arg3 values %arg4 : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x5xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return
}

// -----

func.func @cache_append_c2(%arg0: !transformer.cache<1x4xf32>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x4xf32>, %arg4: tensor<?x5xf32>) {
  // expected-error@+1 {{cache_append_c2: width of values: expected 4, got 5}}
  %0 = transformer.cache_append %arg0[%arg1], %arg2 keys %arg3 values %arg4 : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x5xf32>) -> !transformer.cache<1x4xf32>
  return
}

// -----

func.func @attention_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c1: heads: expected a positive multiple of kv_heads 2, got 3}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 3 kv_heads 2 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c1: heads: expected a positive multiple of kv_heads 0, got 2}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 2 kv_heads 0 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 3 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>) {
  // expected-error@+1 {{attention_c3: expected a cache with its scope}}
  %0 = transformer.attention causal %arg0, %arg1 cache %arg2 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c4(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c4: kv_heads of the cache: expected 2, got 1}}
  %0 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 2 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c4(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c4: head_dim of the cache: expected 2, got 4}}
  %0 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 4 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c6(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c6: window: expected 1 to 2147483647, got 0}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 2 kv_heads 1 scale 5.0e-01 window 0 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c6(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c6: window: expected 1 to 2147483647, got 4294967296}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 2 kv_heads 1 scale 5.0e-01 window 4294967296 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c8: expected keys and values, or a cache}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: !transformer.cache<1x4xf32>, %arg4: !transformer.scope) {
  // expected-error@+1 {{attention_c8: expected keys and values, or a cache}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 cache %arg3[%arg4] heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c9(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x5xf32>, %arg3: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c9: width of keys: expected 4, got 5}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x5xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c9(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x5xf32>) {
  // expected-error@+1 {{attention_c9: width of values: expected 4, got 5}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c5: mask: expected bidirectional over a cross-attention cache, causal or prefix over one of the sequence, got bidirectional over '!transformer.cache<1x4xf32>'}}
  %0 = transformer.attention bidirectional %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<cross 1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c5: mask: expected bidirectional over a cross-attention cache, causal or prefix over one of the sequence, got causal over '!transformer.cache<cross 1x4xf32>'}}
  %0 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<cross 1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c5: mask: expected bidirectional over a cross-attention cache, causal or prefix over one of the sequence, got causal over '!transformer.cache<latent 1x4xf32>'}}
  %0 = transformer.attention causal %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<latent 1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c5: mask: expected a cache for prefix}}
  %0 = transformer.attention prefix %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c7(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c7: window: expected a causal mask, or a bidirectional one of this step's keys}}
  %0 = transformer.attention prefix %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 1 scale 5.0e-01 window 4 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c7(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<cross 1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{attention_c7: window: expected a causal mask, or a bidirectional one of this step's keys}}
  %0 = transformer.attention bidirectional %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 1 scale 5.0e-01 window 4 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<cross 1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c10(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c10: soft_cap: expected a positive number, got -5.000000e+01}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 soft_cap -50.0 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c10(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c10: scale: expected a finite number, got 1.000000e+300}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 1e300  : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>, %arg4: tensor<8x2xf32>) {
  // expected-error@+1 {{attention_c11: expected a bias with its buckets}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 bias %arg4 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>, tensor<8x2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c11: expected a bias with its buckets}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 buckets <8, max = 20> : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>, %arg4: tensor<8x2xf32>) {
  // expected-error@+1 {{attention_c12: rows of bias: expected 16, got 8}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 bias %arg4 buckets <16, max = 20> : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>, tensor<8x2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>, %arg4: tensor<8x1xf32>) {
  // expected-error@+1 {{attention_c12: columns of bias: expected 2, got 1}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 bias %arg4 buckets <8, max = 20> : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>, tensor<8x1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c13(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>, %arg4: tensor<8x2xf32>) {
  // expected-error@+1 {{attention_c13: expected alibi or a bias, not both}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 alibi <max = 8.0> bias %arg4 buckets <8, max = 20> : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>, tensor<8x2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>, %arg4: tensor<1xf32>) {
  // expected-error@+1 {{attention_c14: elements of sinks: expected 2, got 1}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg3 heads 2 kv_heads 1 scale 5.0e-01 sinks %arg4 : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @cache_append_c3(%arg0: !transformer.cache<latent 1x4xf32>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x4xf32>) {
  // expected-error@+1 {{cache_append_c3: cache: expected one of keys and values, got '!transformer.cache<latent 1x4xf32>'}}
  %0 = transformer.cache_append %arg0[%arg1], %arg2 keys %arg3 values %arg3 : (!transformer.cache<latent 1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<latent 1x4xf32>
  return
}

// -----

func.func @attention_c15(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x4xf32>) {
  // expected-error@+1 {{attention_c15: alibi: expected keys of a cache for rounded biases, which go by position}}
  %0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 2 kv_heads 1 scale 5.0e-01 alibi <max = 8.0, rounded> : (tensor<?x8xf32>, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}
