// The output of a step has as many rows as what is written to it: those of an
// entry's argument are not known.
// RUN: %tenon-opt %s --bufferize-functions -split-input-file -verify-diagnostics

// expected-error@below {{bufferize-functions: expected an entry that returns computed rows, counted by a dnn.count}}
func.func @argument(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  return %x : tensor<?x8xf32>
}

// -----

// expected-error@below {{bufferize-functions: expected an entry that returns computed rows}}
func.func @destination(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  %0 = dnn.residual %x, %x outs(%x) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// expected-error@below {{bufferize-functions: expected a function that returns ranked tensors, got '!transformer.scope'}}
func.func @scope(%b: !transformer.batch, %s: !transformer.scope) -> !transformer.scope {
  return %s : !transformer.scope
}

// -----

// expected-error@below {{expected a function with an argument of type !transformer.batch}}
func.func @no_batch(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
  %0 = tensor.empty(%n) : tensor<?x8xf32>
  %1 = dnn.residual %x, %x outs(%0) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
