// What cannot be placed.
// RUN: %tenon-opt %s --place-operations -split-input-file -verify-diagnostics

func.func @not_fused(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // expected-error@below {{placement: expected a fused operation, got this one; see --remarks for why it was not fused}}
  %0 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// expected-error@below {{placement: expected an argument of type !transformer.batch}}
func.func @no_batch(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

func.func private @layer(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
func.func @embed(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.role = "embed"} {
  %0 = transformer.dispatch @layer or @layer by tokens(%b, %x) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = transformer.pool mean %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
  // expected-error@below {{rows of @layer: expected tokens as other calls pass, got sequences}}
  %2 = transformer.dispatch @layer or @layer by tokens(%b, %1) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// expected-error@below {{expected the attribute transformer.max_sequence: it sizes tables of positions}}
module {
  func.func @step(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x12xf32>) {
    %0:2 = transformer.split_append %x to %c[%s], %b heads 1 kv_heads 1 rope <half, dim = 4, base = 10000.0> : (tensor<?x12xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch) -> (tensor<?x4xf32>, !transformer.cache<1x4xf32>)
    return
  }
}

// -----

func.func private @layer(%b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %d: !transformer.cache<2x4xf32>) -> (!transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>) {
  return %d, %c : !transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>
}
func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %d: !transformer.cache<2x4xf32>) attributes {transformer.role = "step"} {
  // expected-error@below {{placement: expected cache results in the order of the cache operands}}
  %0:2 = transformer.dispatch @layer or @layer by tokens(%b, %c, %d) : (!transformer.batch, !transformer.cache<1x4xf32>, !transformer.cache<2x4xf32>) -> (!transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

module attributes {transformer.max_sequence = 16 : i64} {
  func.func @no_scope(%b: !transformer.batch, %x: tensor<?x12xf32>) {
    // expected-error@below {{placement: expected a scope in this function, to keep a computed table in}}
    %0:2 = transformer.split_stage %x of %b heads 1 kv_heads 1 rope <half, dim = 4, base = 10000.0> : (tensor<?x12xf32>, !transformer.batch) -> (tensor<?x4xf32>, tensor<?x1280xf32>)
    return
  }
}
