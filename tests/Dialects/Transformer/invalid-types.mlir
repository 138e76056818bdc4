// What types and attributes may be, and inferred result types.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected kv_heads x head_dim, got 1 dimensions}}
func.func private @cache_dimensions(!transformer.cache<4xf32>)

// -----

// expected-error@+1 {{expected positive kv_heads and head_dim, got 0 and 4}}
func.func private @cache_kv_heads(!transformer.cache<0x4xf32>)

// -----

// expected-error@+1 {{expected positive kv_heads and head_dim, got 1 and 0}}
func.func private @cache_head_dim(!transformer.cache<1x0xf32>)

// -----

// expected-error@+1 {{expected one of f32, bf16, i8, got f16}}
func.func private @cache_element(!transformer.cache<1x4xf16>)

// -----

// expected-error@+1 {{expected half or interleaved, got quarter}}
func.func private @rope_style() attributes {test.rope = #transformer.rope<quarter, dim = 4, base = 1.0>}

// -----

// expected-error@+1 {{expected an even dim of 2 to 268435456, got 3}}
func.func private @rope_dim_odd() attributes {test.rope = #transformer.rope<half, dim = 3, base = 1.0>}

// -----

// expected-error@+1 {{expected an even dim of 2 to 268435456, got 0}}
func.func private @rope_dim_zero() attributes {test.rope = #transformer.rope<half, dim = 0, base = 1.0>}

// -----

// expected-error@+1 {{expected a positive base, got 0}}
func.func private @rope_base() attributes {test.rope = #transformer.rope<half, dim = 4, base = 0.0>}

// -----

// expected-error@+1 {{expected a positive base, got 1.000000e-300}}
func.func private @rope_base_f32() attributes {test.rope = #transformer.rope<half, dim = 4, base = 1e-300>}

// -----

// expected-error@+1 {{expected a positive base, got 1.000000e+39}}
func.func private @rope_base_infinite() attributes {test.rope = #transformer.rope<half, dim = 4, base = 1e39>}

// -----

// expected-error@+1 {{expected linear, llama3, yarn or longrope, got ntk}}
func.func private @rope_scaling() attributes {test.rope = #transformer.rope<half, dim = 4, base = 1.0, ntk(factor = 2.0)>}

// -----

// expected-error@+1 {{expected a positive factor, got -2}}
func.func private @rope_factor() attributes {test.rope = #transformer.rope<half, dim = 4, base = 1.0, linear(factor = -2.0)>}

// -----

// expected-error@+1 {{expected low < high, got low = 4.000000e+00, high = 1.000000e+00}}
func.func private @rope_llama3_order() attributes {test.rope = #transformer.rope<half, dim = 4, base = 1.0, llama3(factor = 2.0, low = 4.0, high = 1.0, original = 8192.0)>}

// -----

// expected-error@+1 {{expected a positive original, got 0.000000e+00}}
func.func private @rope_llama3_original() attributes {test.rope = #transformer.rope<half, dim = 4, base = 1.0, llama3(factor = 2.0, low = 1.0, high = 4.0, original = 0.0)>}

// -----

// expected-error@+1 {{expected sequence, cross or latent, got ring}}
func.func private @cache_kind(!transformer.cache<ring 1x4xf32>)

// -----

// expected-error@+1 {{expected one head of latent vectors, got 2}}
func.func private @cache_latent_heads(!transformer.cache<latent 2x4xf32>)

// -----

// expected-error@+1 {{expected 'truncate'}}
func.func private @rope_yarn_number() attributes {test.a = #transformer.rope<half, dim = 4, base = 1.0, yarn(factor = 4.0, fast = 32.0, slow = 1.0, original = 64.0, attention = 1.0)>}

// -----

// expected-error@+1 {{expected a positive truncate, got -1.000000e+00}}
func.func private @rope_yarn_truncate() attributes {test.a = #transformer.rope<half, dim = 4, base = 1.0, yarn(factor = 4.0, fast = 32.0, slow = 1.0, original = 64.0, truncate = -1.0, attention = 1.0)>}

// -----

// expected-error@+1 {{expected a positive slow, got 0.000000e+00}}
func.func private @rope_yarn_slow() attributes {test.a = #transformer.rope<half, dim = 4, base = 1.0, yarn(factor = 4.0, fast = 32.0, slow = 0.0, original = 64.0, truncate = 1.0, attention = 1.0)>}

// -----

// expected-error@+1 {{expected 3 numbers of the scaling, got 2}}
func.func private @rope_longrope_count() attributes {test.a = #transformer.rope<half, dim = 4, base = 1.0, longrope(attention = 1.0, 1.0)>}

// -----

// expected-error@+1 {{expected a positive factor, got 0.000000e+00}}
func.func private @rope_longrope_factor() attributes {test.a = #transformer.rope<half, dim = 4, base = 1.0, longrope(attention = 1.0, 1.0, 0.0)>}

// -----

// expected-error@+1 {{expected a positive max, got 0.000000e+00}}
func.func private @alibi_max() attributes {test.a = #transformer.alibi<max = 0.0>}

// -----

// expected-error@+1 {{expected 'rounded'}}
func.func private @alibi_word() attributes {test.a = #transformer.alibi<max = 8.0, cut>}

// -----

// expected-error@+1 {{expected an even count of buckets and a max above a quarter or a half of it, got 7 and 20}}
func.func private @buckets_odd() attributes {test.a = #transformer.buckets<7, max = 20>}

// -----

// expected-error@+1 {{expected an even count of buckets and a max above a quarter or a half of it, got 2 and 20}}
func.func private @buckets_few() attributes {test.a = #transformer.buckets<2, max = 20, bidirectional>}

// -----

// expected-error@+1 {{expected an even count of buckets and a max above a quarter or a half of it, got 32 and 16}}
func.func private @buckets_max() attributes {test.a = #transformer.buckets<32, max = 16>}

// -----

// expected-error@+1 {{expected an even count of buckets and a max above a quarter or a half of it, got 32 and 2000000}}
func.func private @buckets_huge() attributes {test.a = #transformer.buckets<32, max = 2000000>}

// -----

// expected-error@+1 {{expected 'bidirectional'}}
func.func private @buckets_word() attributes {test.a = #transformer.buckets<32, max = 128, both>}

// -----

// expected-error@+1 {{expected softmax or sigmoid, got relu}}
func.func private @router_score() attributes {test.a = #transformer.router<relu, top = 2>}

// -----

// expected-error@+1 {{expected normalize, scale or groups, got renormalize}}
func.func private @router_word() attributes {test.a = #transformer.router<softmax, top = 2, renormalize>}

// -----

// expected-error@+1 {{expected a positive top, got 0}}
func.func private @router_top() attributes {test.a = #transformer.router<softmax, top = 0>}

// -----

// expected-error@+1 {{expected a positive scale, got 0.000000e+00}}
func.func private @router_scale() attributes {test.a = #transformer.router<softmax, top = 2, scale = 0.0>}

// -----

// expected-error@+1 {{expected groups >= kept groups >= 1, got 4 and 5}}
func.func private @router_groups() attributes {test.a = #transformer.router<softmax, top = 2, groups = 4 keep 5>}

// -----

// expected-error@+1 {{expected groups >= kept groups >= 1, got 4 and 0}}
func.func private @router_kept() attributes {test.a = #transformer.router<softmax, top = 2, groups = 4 keep 0>}

// -----

func.func @inferred_linear(%x: tensor<?x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{op inferred type(s) 'tensor<?x6xf32>' are incompatible with return type(s) of operation 'tensor<?x8xf32>'}}
  %0 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<6x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @inferred_matmul(%x: tensor<?x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{op inferred type(s) 'tensor<?x12xf32>' are incompatible with return type(s) of operation 'tensor<?x6xf32>'}}
  %0 = transformer.matmul %x weights(%w, %w) : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @inferred_embedding(%b: !transformer.batch, %t: tensor<9x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{op inferred type(s) 'tensor<?x8xf32>' are incompatible with return type(s) of operation 'tensor<?x9xf32>'}}
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @inferred_append(%c: !transformer.cache<1x4xf32>, %s: !transformer.scope, %b: !transformer.batch, %k: tensor<?x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{op inferred type(s) '!transformer.cache<1x4xf32>' are incompatible with return type(s) of operation '!transformer.cache<1x4xbf16>'}}
  %0 = transformer.cache_append %c[%s], %b keys %k values %k : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xbf16>
  return
}

// -----

func.func @rows_are_f32(%x: tensor<?x8xbf16>) {
  // expected-error@+1 {{operand #0 must be rows of f32, tensor<?xWxf32>, but got 'tensor<?x8xbf16>'}}
  %0 = transformer.residual %x, %x : tensor<?x8xbf16>
  return
}

// -----

func.func @rows_have_a_width(%x: tensor<?x?xf32>) {
  // expected-error@+1 {{operand #0 must be rows of f32, tensor<?xWxf32>, but got 'tensor<?x?xf32>'}}
  %0 = transformer.residual %x, %x : tensor<?x?xf32>
  return
}

// -----

func.func @rows_are_as_many_as_there_are(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{operand #0 must be rows of f32, tensor<?xWxf32>, but got 'tensor<4x8xf32>'}}
  %0 = transformer.residual %x, %x : tensor<4x8xf32>
  return
}

// -----

func.func @weights_are_static(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>) {
  // expected-error@+1 {{operand #1 must be stored matrix, but got 'tensor<?x8xf32>'}}
  %0 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-error@below {{expected a quantised format, got bf16}}
func.func private @quant(tensor<4x64x!transformer.quant<bf16>>)

// -----

// expected-error@below {{expected one of f32, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q6_0, q4_k, q5_k, q6_k, iq4_nl, iq4_xs, mxfp4, u4_zp, got q9_0}}
func.func private @unknown_quant(tensor<4x64x!transformer.quant<q9_0>>)

// -----

// expected-error@below {{expected one of f32, bf16, i8, got q8_0}}
func.func private @quantised_cache(!transformer.cache<1x32xq8_0>)

// -----

// expected-error@below {{expected latent vectors of f32 or bf16, got i8}}
func.func private @latent_integers(!transformer.cache<latent 1x32xi8>)

// -----

func.func @expansions_are_plain(%q: tensor<?x72xf32>, %b: !transformer.batch, %c: !transformer.cache<latent 1x40xf32>, %s: !transformer.scope, %e: tensor<96x32x!transformer.quant<q8_0>>) {
  // expected-error@+1 {{must be stored matrix that is not quantised, but got 'tensor<96x32x!transformer.quant<q8_0>>'}}
  %0 = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 3 key_dim 16 value_dim 16 scale 0.25 : (tensor<?x72xf32>, !transformer.batch, !transformer.cache<latent 1x40xf32>, !transformer.scope, tensor<96x32x!transformer.quant<q8_0>>) -> tensor<?x48xf32>
  return
}
