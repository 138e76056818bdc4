// Constraints of the splits of queries, keys and values, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @split_append_c1(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c1: heads: expected a positive multiple of kv_heads 2, got 3}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 3 kv_heads 2 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c2(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 3 kv_heads 1 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<?x8xf32>, %arg2: !transformer.cache<1x4xf32>, %arg3: !transformer.scope, %arg4: !transformer.batch) {
  // expected-error@+1 {{split_append_c3: qkv: expected one tensor or three, got 2}}
  %0:2 = transformer.split_append %arg0, %arg1 to %arg2[%arg3], %arg4 heads 2 kv_heads 1 : (tensor<?x8xf32>, tensor<?x8xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c4(%arg0: tensor<?x15xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c4: width of qkv: expected 16, got 15}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 : (tensor<?x15xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<?x4xf32>, %arg2: tensor<?x5xf32>, %arg3: !transformer.cache<1x4xf32>, %arg4: !transformer.scope, %arg5: !transformer.batch) {
  // expected-error@+1 {{split_append_c4: width of qkv: expected 4, got 5}}
  %0:2 = transformer.split_append %arg0, %arg1, %arg2 to %arg3[%arg4], %arg5 heads 2 kv_heads 1 : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x5xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c5(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch, %arg4: tensor<5xf32>) {
  // expected-error@+1 {{split_append_c5: norm elements: expected 4, got 5}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 query_norm %arg4 {eps = 0.0 : f64} : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<5xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c6(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch, %arg4: tensor<4xf32>) {
  // expected-error@+1 {{split_append_c6: expected eps with a norm}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 query_norm %arg4 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<4xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c6_offset(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch, %arg4: tensor<4xf32>) {
  // expected-error@+1 {{split_append_c6: norm_offset: expected a finite number, got }}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 query_norm %arg4 eps 1e-05 norm_offset 0x7FF0000000000000 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<4xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c6_eps(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch, %arg4: tensor<4xf32>) {
  // expected-error@+1 {{split_append_c6: eps: expected a number from 0 to 1, got }}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 eps 0x7FF8000000000000 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c7(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c7: rope dim: expected at most head_dim 4, got 6}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 rope <half, dim = 6, base = 1.0e+04> : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @split_append_c8(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<2x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c8: kv_heads of the cache: expected 1, got 2}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 : (tensor<?x16xf32>, !transformer.cache<2x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<2x4xf32>)
  return
}

// -----

func.func @split_append_c8(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x8xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c8: head_dim of the cache: expected 4, got 8}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 : (tensor<?x16xf32>, !transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
  return
}

// -----

func.func @split_append_c9(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c9: result: expected '!transformer.cache<1x4xf32>', got '!transformer.cache<1x4xbf16>'}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<1x4xbf16>)
  return
}

// -----

func.func @split_stage_c1(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{split_stage_c1: heads: expected a positive multiple of kv_heads 2, got 3}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1) <{heads = 3 : i64, kvHeads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<?x16xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c2(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{split_stage_c2: width of queries: expected a multiple of heads 3, got 8}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1) <{heads = 3 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<?x16xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<?x8xf32>, %arg2: !transformer.batch) {
  // expected-error@+1 {{split_stage_c3: qkv: expected one tensor or three, got 2}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1, %arg2) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 2, 1, 0, 0>}> : (tensor<?x8xf32>, tensor<?x8xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c4(%arg0: tensor<?x15xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{split_stage_c4: width of qkv: expected 16, got 15}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<?x15xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<?x4xf32>, %arg2: tensor<?x5xf32>, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_stage_c4: width of qkv: expected 4, got 5}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1, %arg2, %arg3) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 3, 1, 0, 0>}> : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x5xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c5(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch, %arg2: tensor<5xf32>) {
  // expected-error@+1 {{split_stage_c5: norm elements: expected 4, got 5}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1, %arg2) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>, eps = 0.0 : f64}> : (tensor<?x16xf32>, !transformer.batch, tensor<5xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c6(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch, %arg2: tensor<4xf32>) {
  // expected-error@+1 {{split_stage_c6: expected eps with a norm}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1, %arg2) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<?x16xf32>, !transformer.batch, tensor<4xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c6_offset(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch, %arg2: tensor<4xf32>) {
  // expected-error@+1 {{split_stage_c6: norm_offset: expected a finite number, got }}
  %0:2 = "transformer.split_stage"(%arg0, %arg1, %arg2) <{heads = 2 : i64, kvHeads = 1 : i64, eps = 1.0e-05 : f64, normOffset = 0x7FF0000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<?x16xf32>, !transformer.batch, tensor<4xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c7(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{split_stage_c7: rope dim: expected at most head_dim 4, got 6}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>, rope = #transformer.rope<half, dim = 6, base = 1.0e+04>}> : (tensor<?x16xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// -----

func.func @split_stage_c8(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch) {
  // expected-error@+1 {{split_stage_c8: width of staged: expected 1280, got 1281}}
  %0:2 = "transformer.split_stage"(%arg0, %arg1) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<?x16xf32>, !transformer.batch) -> (tensor<?x8xf32>, tensor<?x1281xf32>)
  return
}

// -----

func.func @split_append_c10(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<latent 1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c10: cache: expected one that grows with the sequence, got '!transformer.cache<latent 1x4xf32>'}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 : (tensor<?x16xf32>, !transformer.cache<latent 1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<latent 1x4xf32>)
  return
}

// -----

func.func @split_append_c10(%arg0: tensor<?x16xf32>, %arg1: !transformer.cache<cross 1x4xf32>, %arg2: !transformer.scope, %arg3: !transformer.batch) {
  // expected-error@+1 {{split_append_c10: cache: expected one that grows with the sequence, got '!transformer.cache<cross 1x4xf32>'}}
  %0:2 = transformer.split_append %arg0 to %arg1[%arg2], %arg3 heads 2 kv_heads 1 : (tensor<?x16xf32>, !transformer.cache<cross 1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x8xf32>, !transformer.cache<cross 1x4xf32>)
  return
}
