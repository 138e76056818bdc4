// What is no model.
// RUN: %tenon-opt %s --verify-model -split-input-file -verify-diagnostics

// expected-error@below {{expected a function with the attribute transformer.role}}
module {
  func.func @step(%b: !transformer.batch) {
    return
  }
}

// -----

// expected-error@below {{'func.func' op expected a body}}
func.func private @layer(!transformer.batch)

// -----

// expected-error@below {{'func.func' op expected an argument of type !transformer.batch}}
func.func private @layer(%s: !transformer.scope) {
  return
}

// -----

// expected-error@below {{expected an entry without tensor arguments}}
func.func @step(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.role = "step"} {
  return %x : tensor<?x8xf32>
}

// -----

// expected-error@below {{expected an entry with one tensor result, got 0}}
func.func @step(%b: !transformer.batch) attributes {transformer.role = "step"} {
  return
}

// -----

// expected-error@below {{expected an entry with one tensor result, got 2}}
func.func @step(%b: !transformer.batch) -> (tensor<?x8xf32>, tensor<?x8xf32>) attributes {transformer.role = "step"} {
  %s = transformer.scope ""
  %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0, %0 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  %s = transformer.scope ""
  %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
// expected-error@below {{expected one entry of role 'encode', got a second one}}
func.func @again(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  %s = transformer.scope ""
  %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  %s = transformer.scope ""
  // expected-error@below {{'arith.constant' op is not allowed after stage 'transformer': expected operations of the transformer dialect}}
  %c = arith.constant 1 : i64
  %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// A weight is a parameter of the function that uses it.
func.func private @layer(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // expected-error@below {{operand 1: expected a transformer.parameter, got another value of type 'tensor<8x8xf32>'}}
  %0 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  %s = transformer.scope ""
  %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Caches come out in the order they go in: placement maps them by place.
func.func private @swap(%batch: !transformer.batch, %a: !transformer.cache<1x4xf32>, %b: !transformer.cache<1x4xf32>) -> (!transformer.cache<1x4xf32>, !transformer.cache<1x4xf32>) {
  // expected-error@below {{expected caches in the order of the function's arguments}}
  return %b, %a : !transformer.cache<1x4xf32>, !transformer.cache<1x4xf32>
}
