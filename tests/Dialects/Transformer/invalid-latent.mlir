// Constraints of latent attention, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @latent_append_c1(%arg0: !transformer.cache<1x6xf32>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x4xf32>, %arg4: tensor<?x2xf32>) {
  // expected-error@+1 {{latent_append_c1: cache: expected a latent one, got '!transformer.cache<1x6xf32>'}}
  %0 = transformer.latent_append %arg0[%arg1], %arg2 latent %arg3 rotated %arg4 : (!transformer.cache<1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<1x6xf32>
  return
}

// -----

func.func @latent_append_c2(%arg0: !transformer.cache<latent 1x6xf32>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x5xf32>, %arg4: tensor<?x2xf32>) {
  // expected-error@+1 {{latent_append_c2: values per token of the cache: expected 7, got 6}}
  %0 = transformer.latent_append %arg0[%arg1], %arg2 latent %arg3 rotated %arg4 : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x5xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
  return
}

// -----

func.func @latent_attention_c1(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<cross 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c1: cache: expected a latent one, got '!transformer.cache<cross 1x6xf32>'}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<cross 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c2(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x7xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c2: values per token of the cache: expected 6, got 7}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x7xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c3(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c3: heads, key_dim and value_dim: expected positive numbers, got 0, 3 and 5}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 0 key_dim 3 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c3(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c3: scale: expected a finite number}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 1e300 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c3(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c3: heads, key_dim and value_dim: expected positive numbers, got 2, 0 and 5}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 0 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c3(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c3: heads, key_dim and value_dim: expected positive numbers, got 2, 3 and -5}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim -5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c4(%arg0: tensor<?x11xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c4: width of queries: expected 2 heads of more than 3, got 11}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.0e-01 : (tensor<?x11xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c4(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c4: width of queries: expected 2 heads of more than 5, got 10}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 5 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c5(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<15x4xf32>) {
  // expected-error@+1 {{latent_attention_c5: rows of expand: expected 16, got 15}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<15x4xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @latent_attention_c6(%arg0: tensor<?x10xf32>, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x6xf32>, %arg3: !transformer.scope, %arg4: tensor<16x4xf32>) {
  // expected-error@+1 {{latent_attention_c6: width of the result: expected 10, got 8}}
  %0 = transformer.latent_attention %arg0, %arg1 cache %arg2[%arg3] expand %arg4 heads 2 key_dim 3 value_dim 5 scale 5.0e-01 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x8xf32>
  return
}
