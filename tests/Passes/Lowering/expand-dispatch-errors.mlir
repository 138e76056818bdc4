// A dispatch of tensors, before bufferization.
// RUN: %tenon-opt %s --expand-dispatch -verify-diagnostics

func.func private @f.few(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  return %x : tensor<?x8xf32>
}
func.func private @f.many(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  return %x : tensor<?x8xf32>
}
func.func @g(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@below {{'dnn.dispatch' op has results: expected it to write buffers}}
  %0 = dnn.dispatch @f.few or @f.many by tokens of %b(%b, %x) outs(%x) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
