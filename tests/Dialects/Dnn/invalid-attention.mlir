// What verifiers refuse of attention and its cache.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @split_append_c1(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c1: heads: expected a positive multiple of kv_heads 0, got 2}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 0 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c1_multiple(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c1: heads: expected a positive multiple of kv_heads 2, got 3}}
  %0 = dnn.split_append %q to %c[%s], %b heads 3 kv_heads 2 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c2(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0 = dnn.split_append %q to %c[%s], %b heads 3 kv_heads 1 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c3(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %k: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c3: qkv: expected one tensor or three, got 2}}
  %0 = dnn.split_append %k, %k to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (tensor<?x4xf32>, tensor<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c4(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %k: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c4: width of qkv: expected 8, got 4}}
  %0 = dnn.split_append %k, %k, %k to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c5(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %n: !dnn.packed<vector, 3x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c5: norm elements: expected 4, got 3}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 query_norm %n eps 1e-06 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 3x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c6(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %n: !dnn.packed<vector, 4x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c6: expected eps with a norm}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 query_norm %n outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c6_offset(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %n: !dnn.packed<vector, 4x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c6: norm_offset: expected a finite number, got }}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 query_norm %n eps 1e-05 norm_offset 0x7FF0000000000000 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c6_range(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %n: !dnn.packed<vector, 4x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c6: eps: expected a number from 0 to 1, got 1.5}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 key_norm %n eps 1.5 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c7(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c7: rope dim: expected at most head_dim 4, got 6}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 rope <half, dim = 6, base = 10000.0> table %t outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<row_major, 9x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c8(%q: tensor<?x16xf32>, %c: !transformer.cache<2x4xf32>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c8: kv_heads of the cache: expected 1, got 2}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (tensor<?x16xf32>, !transformer.cache<2x4xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c8_head_dim(%q: tensor<?x16xf32>, %c: !transformer.cache<1x5xf32>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c8: head_dim of the cache: expected 4, got 5}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x5xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c9(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c9: expected a rotation with its table}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c9_columns(%q: tensor<?x16xf32>, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c9: columns of the table: expected 2, got 4}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 rope <half, dim = 2, base = 10000.0> table %t outs(%o) : (tensor<?x16xf32>, !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, !dnn.packed<row_major, 9x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_append_c10(%q: tensor<?x16xf32>, %c: !transformer.cache<cross 1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_append_c10: cache: expected one that grows with the sequence}}
  %0 = dnn.split_append %q to %c[%s], %b heads 2 kv_heads 1 outs(%o) : (tensor<?x16xf32>, !transformer.cache<cross 1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @split_stage_c1(%q: tensor<?x16xf32>, %b: !transformer.batch, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c1: heads: expected a positive multiple of kv_heads 0, got 2}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 0 outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c1_multiple(%q: tensor<?x16xf32>, %b: !transformer.batch, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c1: heads: expected a positive multiple of kv_heads 2, got 3}}
  %0:2 = dnn.split_stage %q of %b heads 3 kv_heads 2 outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c2(%q: tensor<?x16xf32>, %b: !transformer.batch, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0:2 = dnn.split_stage %q of %b heads 3 kv_heads 1 outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c3(%b: !transformer.batch, %k: tensor<?x4xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c3: qkv: expected one tensor or three, got 2}}
  %0:2 = dnn.split_stage %k, %k of %b heads 2 kv_heads 1 outs(%o, %g) : (tensor<?x4xf32>, tensor<?x4xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c4(%b: !transformer.batch, %k: tensor<?x4xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c4: width of qkv: expected 8, got 4}}
  %0:2 = dnn.split_stage %k, %k, %k of %b heads 2 kv_heads 1 outs(%o, %g) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c5(%q: tensor<?x16xf32>, %b: !transformer.batch, %n: !dnn.packed<vector, 3x1xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c5: norm elements: expected 4, got 3}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 query_norm %n eps 1e-06 outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<vector, 3x1xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c6(%q: tensor<?x16xf32>, %b: !transformer.batch, %n: !dnn.packed<vector, 4x1xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c6: expected eps with a norm}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 query_norm %n outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c6_offset(%q: tensor<?x16xf32>, %b: !transformer.batch, %n: !dnn.packed<vector, 4x1xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c6: norm_offset: expected a finite number, got }}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 query_norm %n eps 1e-05 norm_offset 0x7FF0000000000000 outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c6_range(%q: tensor<?x16xf32>, %b: !transformer.batch, %n: !dnn.packed<vector, 4x1xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c6: eps: expected a number from 0 to 1, got 1.5}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 key_norm %n eps 1.5 outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c7(%q: tensor<?x16xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x4xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c7: rope dim: expected at most head_dim 4, got 6}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 rope <half, dim = 6, base = 10000.0> table %t outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<row_major, 9x4xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c8(%q: tensor<?x16xf32>, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_split_stage_c8: width of staged: expected 1280, got 8}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 outs(%o, %o) : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @split_stage_c9(%q: tensor<?x16xf32>, %b: !transformer.batch, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c9: expected a rotation with its table}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c9_columns(%q: tensor<?x16xf32>, %b: !transformer.batch, %t: !dnn.packed<row_major, 9x4xf32>, %o: tensor<?x8xf32>, %g: tensor<?x1280xf32>) {
  // expected-error@below {{dnn_split_stage_c9: columns of the table: expected 2, got 4}}
  %0:2 = dnn.split_stage %q of %b heads 2 kv_heads 1 rope <half, dim = 2, base = 10000.0> table %t outs(%o, %g) : (tensor<?x16xf32>, !transformer.batch, !dnn.packed<row_major, 9x4xf32>, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @cache_append_c1(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %k: tensor<?x8xf32>, %v: tensor<?x4xf32>) {
  // expected-error@below {{dnn_cache_append_c1: width of keys: expected 4, got 8}}
  dnn.cache_append %c[%s], %b keys %k values %v : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @cache_append_c2(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %k: tensor<?x4xf32>, %v: tensor<?x8xf32>) {
  // expected-error@below {{dnn_cache_append_c2: width of values: expected 4, got 8}}
  dnn.cache_append %c[%s], %b keys %k values %v : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @cache_append_c3(%c: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %b: !transformer.batch, %k: tensor<?x6xf32>) {
  // expected-error@below {{dnn_cache_append_c3: cache: expected one of keys and values}}
  dnn.cache_append %c[%s], %b keys %k values %k : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, tensor<?x6xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @latent_append_c1(%c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %b: !transformer.batch, %l: tensor<?x4xf32>) {
  // expected-error@below {{dnn_latent_append_c1: cache: expected a latent one}}
  dnn.latent_append %c[%s], %b latent %l rotated %l : !transformer.cache<1x4xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @latent_append_c2(%c: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %b: !transformer.batch, %l: tensor<?x4xf32>) {
  // expected-error@below {{dnn_latent_append_c2: values per token of the cache: expected 8, got 6}}
  dnn.latent_append %c[%s], %b latent %l rotated %l : !transformer.cache<latent 1x6xbf16>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @attention_c1(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c1: heads: expected a positive multiple of kv_heads 0, got 2}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 0 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 3 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c3: expected a cache with its scope}}
  %0 = dnn.attention causal %q, %b cache %c heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c4(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x5xf32>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c4: head_dim of the cache: expected 4, got 5}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x5xf32>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c5: mask: expected bidirectional over a cross-attention cache, causal or prefix over one of the sequence}}
  %0 = dnn.attention bidirectional %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5_prefix(%q: tensor<?x8xf32>, %b: !transformer.batch, %g: tensor<?x1280xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c5: mask: expected a cache for prefix}}
  %0 = dnn.attention prefix %q, %b staged %g heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c6(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c6: window: expected 1 to 2147483647, got 0}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 window 0 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c6(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c6: window: expected 1 to 2147483647, got 4294967296}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 window 4294967296 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c7(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c7: window: expected a causal mask, or a bidirectional one of this step's keys}}
  %0 = dnn.attention prefix %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 window 4 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8(%q: tensor<?x8xf32>, %b: !transformer.batch, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c8: expected staged keys and values, or a cache}}
  %0 = dnn.attention causal %q, %b heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c9(%q: tensor<?x8xf32>, %b: !transformer.batch, %g: tensor<?x640xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c9: width of staged: expected 1280, got 640}}
  %0 = dnn.attention causal %q, %b staged %g heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x640xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c10(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c10: soft_cap: expected a positive number}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 0.0 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c10(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c10: scale: expected a finite number, got 1.000000e+300}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 1e300  outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %a: !dnn.packed<row_major, 2x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c11: expected a bias with its content}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %a outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11_content(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c11: expected a bias with its content}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 content #transformer.alibi<max = 8.0> outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %a: !dnn.packed<row_major, 3x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c12: rows of bias: expected 2, got 3}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %a content #transformer.alibi<max = 8.0> outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 3x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12_columns(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %a: !dnn.packed<row_major, 2x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c12: columns of bias: expected 257, got 1}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %a content #transformer.buckets<32, max = 128> outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c13(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %a: !dnn.packed<row_major, 2x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c13: content: expected a table by head}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %a content #transformer.sinusoid<half> outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<row_major, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %n: !dnn.packed<vector, 3x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c14: elements of sinks: expected 2, got 3}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 sinks %n outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, !dnn.packed<vector, 3x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c15(%q: tensor<?x8xf32>, %b: !transformer.batch, %g: tensor<?x1280xf32>, %a: !dnn.packed<row_major, 2x1xf32>, %o: tensor<?x8xf32>) {
  // expected-error@below {{dnn_attention_c15: alibi: expected keys of a cache for rounded biases}}
  %0 = dnn.attention causal %q, %b staged %g heads 2 kv_heads 1 scale 0.5 bias %a content #transformer.alibi<max = 8.0, rounded> outs(%o) : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>, !dnn.packed<row_major, 2x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c16(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %o: tensor<?x6xf32>) {
  // expected-error@below {{dnn_attention_c16: width of the destination: expected 8, got 6}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @attention_c17(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %g: tensor<?x1280xf32>, %o: tensor<?x8xf32>, %p: tensor<?x36xf32>) {
  // expected-error@below {{dnn_attention_c17: expected partition_pages with a destination of partials}}
  %0 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 partition_pages 8 outs(%o) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c17(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %g: tensor<?x1280xf32>, %o: tensor<?x8xf32>, %p: tensor<?x36xf32>) {
  // expected-error@below {{dnn_attention_c17: expected partition_pages with a destination of partials}}
  %0:2 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 outs(%o, %p) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>, tensor<?x36xf32>) -> (tensor<?x8xf32>, tensor<?x36xf32>)
  return
}

// -----

func.func @attention_c18(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %g: tensor<?x1280xf32>, %o: tensor<?x8xf32>, %p: tensor<?x36xf32>) {
  // expected-error@below {{dnn_attention_c18: partition_pages: expected at least 1, got 0}}
  %0:2 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 partition_pages 0 outs(%o, %p) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>, tensor<?x36xf32>) -> (tensor<?x8xf32>, tensor<?x36xf32>)
  return
}

// -----

func.func @attention_c19(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %g: tensor<?x1280xf32>, %o: tensor<?x8xf32>, %p: tensor<?x35xf32>) {
  // expected-error@below {{dnn_attention_c19: width of the partials: expected a multiple of 12, got 35}}
  %0:2 = dnn.attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 partition_pages 8 outs(%o, %p) : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xbf16>, !transformer.scope, tensor<?x8xf32>, tensor<?x35xf32>) -> (tensor<?x8xf32>, tensor<?x35xf32>)
  return
}

// -----

func.func @attention_c20(%q: tensor<?x8xf32>, %b: !transformer.batch, %c: !transformer.cache<1x4xbf16>, %s: !transformer.scope, %g: tensor<?x1280xf32>, %o: tensor<?x8xf32>, %p: tensor<?x36xf32>) {
  // expected-error@below {{dnn_attention_c20: partition_pages: expected pages of a cache}}
  %0:2 = dnn.attention causal %q, %b staged %g heads 2 kv_heads 1 scale 0.5 partition_pages 8 outs(%o, %p) : (tensor<?x8xf32>, !transformer.batch, tensor<?x1280xf32>, tensor<?x8xf32>, tensor<?x36xf32>) -> (tensor<?x8xf32>, tensor<?x36xf32>)
  return
}

// -----

func.func @latent_attention_c1(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<1x6xf32>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c1: cache: expected a latent one}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<1x6xf32>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c2(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x7xf32>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c2: values per token of the cache: expected 6, got 7}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x7xf32>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c3(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c3: heads, key_dim and value_dim: expected positive numbers, got 0, 3 and 5}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 0 key_dim 3 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c3(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c3: scale: expected a finite number}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 1e300 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c4(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c4: width of queries: expected 2 heads of more than 5, got 10}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 5 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c5(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 15x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c5: rows of expand: expected 16, got 15}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 15x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c6(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x8xf32>, %e: tensor<?x14xf32>) {
  // expected-error@below {{dnn_latent_attention_c6: width of the result: expected 10, got 8}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x8xf32>, tensor<?x14xf32>) -> (tensor<?x8xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c7(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x10xf32>) {
  // expected-error@below {{dnn_latent_attention_c7: width of the state: expected 14, got 10}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x10xf32>) -> (tensor<?x10xf32>, tensor<?x10xf32>)
  return
}

// -----

func.func @latent_attention_c8(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>, %p: tensor<?x36xf32>) {
  // expected-error@below {{dnn_latent_attention_c8: expected partition_pages with a destination of partials}}
  %0:2 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 partition_pages 4 outs(%o, %e) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>)
  return
}

// -----

func.func @latent_attention_c9(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>, %p: tensor<?x36xf32>) {
  // expected-error@below {{dnn_latent_attention_c9: partition_pages: expected at least 1, got 0}}
  %0:3 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 partition_pages 0 outs(%o, %e, %p) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>, tensor<?x36xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>, tensor<?x36xf32>)
  return
}

// -----

func.func @latent_attention_c10(%q: tensor<?x10xf32>, %b: !transformer.batch, %l: !transformer.cache<latent 1x6xbf16>, %s: !transformer.scope, %w: !dnn.packed<row_major, 16x4xf32>, %o: tensor<?x10xf32>, %e: tensor<?x14xf32>, %p: tensor<?x12xf32>) {
  // expected-error@below {{dnn_latent_attention_c10: width of the partials: expected 12 and a multiple of 12, got 12}}
  %0:3 = dnn.latent_attention %q, %b cache %l[%s] expand %w heads 2 key_dim 3 value_dim 5 scale 0.5 partition_pages 4 outs(%o, %e, %p) : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, !dnn.packed<row_major, 16x4xf32>, tensor<?x10xf32>, tensor<?x14xf32>, tensor<?x12xf32>) -> (tensor<?x10xf32>, tensor<?x14xf32>, tensor<?x12xf32>)
  return
}
