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
