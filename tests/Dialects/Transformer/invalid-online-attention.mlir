// Constraints of attention over pages, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @online_attention_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1280xf32>) {
  // expected-error@+1 {{online_attention_c1: heads: expected a positive multiple of kv_heads 2, got 3}}
  %0 = transformer.online_attention causal %arg0, %arg1 staged %arg2 heads 3 kv_heads 2 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c1(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1280xf32>) {
  // expected-error@+1 {{online_attention_c1: heads: expected a positive multiple of kv_heads 0, got 2}}
  %0 = transformer.online_attention causal %arg0, %arg1 staged %arg2 heads 2 kv_heads 0 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c2(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1280xf32>) {
  // expected-error@+1 {{online_attention_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0 = transformer.online_attention causal %arg0, %arg1 staged %arg2 heads 3 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c3(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>) {
  // expected-error@+1 {{online_attention_c3: expected a cache with its scope}}
  %0 = transformer.online_attention causal %arg0, %arg1 cache %arg2 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c4(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{online_attention_c4: kv_heads of the cache: expected 2, got 1}}
  %0 = transformer.online_attention causal %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 2 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c4(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{online_attention_c4: head_dim of the cache: expected 2, got 4}}
  %0 = transformer.online_attention causal %arg0, %arg1 cache %arg2[%arg3] heads 4 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c5(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope) {
  // expected-error@+1 {{online_attention_c5: mask: expected causal over a cache, got bidirectional}}
  %0 = transformer.online_attention bidirectional %arg0, %arg1 cache %arg2[%arg3] heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c6(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1280xf32>) {
  // expected-error@+1 {{online_attention_c6: window: expected at least 1, got 0}}
  %0 = transformer.online_attention causal %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.0e-01 window 0 : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c7(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1280xf32>) {
  // expected-error@+1 {{online_attention_c7: window: expected a causal mask}}
  %0 = transformer.online_attention bidirectional %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.0e-01 window 4 : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c8(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{online_attention_c8: expected staged keys and values, or a cache}}
  %0 = transformer.online_attention causal %arg0, %arg1 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @online_attention_c9(%arg0: tensor<?x8xf32>, %arg1: !transformer.batch, %arg2: tensor<?x1279xf32>) {
  // expected-error@+1 {{online_attention_c9: width of staged: expected 1280, got 1279}}
  %0 = transformer.online_attention causal %arg0, %arg1 staged %arg2 heads 2 kv_heads 1 scale 5.0e-01 : (tensor<?x8xf32>, !transformer.batch, tensor<?x1279xf32>) -> tensor<?x8xf32>
  return
}
