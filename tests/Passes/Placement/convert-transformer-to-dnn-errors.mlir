// What cannot be placed.
// RUN: %tenon-opt %s --convert-transformer-to-dnn -split-input-file -verify-diagnostics

// What has no twin is named.
func.func @not_fused(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // expected-error@below {{'transformer.linear' op expected a fused operation, got this one; remarks say why it was not fused}}
  %0 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @attention(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@below {{'transformer.attention' op expected a fused operation}}
  %0 = transformer.attention causal %x, %b keys %x values %x heads 2 kv_heads 2 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// So is what belongs to another dialect.
func.func @other_dialect(%b: !transformer.batch) -> f32 {
  // expected-error@below {{'arith.constant' op expected a fused operation}}
  %0 = arith.constant 1.0 : f32
  return %0 : f32
}

// -----

// expected-error@below {{expected a function with an argument of type !transformer.batch}}
func.func @no_batch(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

// expected-error@below {{'func.func' op expected a body}}
func.func private @no_body(!transformer.batch)

// -----

func.func private @layer.few(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  return %x : tensor<?x8xf32>
}
func.func private @layer.many(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  return %x : tensor<?x8xf32>
}
func.func @embed(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.role = "embed"} {
  %0 = transformer.dispatch @layer.few or @layer.many by tokens(%b, %x) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = transformer.pool mean %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
  // expected-error@below {{module_c14: rows passed to @layer.few: expected tokens as other calls pass, got sequences}}
  %2 = transformer.dispatch @layer.few or @layer.many by tokens(%b, %1) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

func.func private @layer.few(%b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %d: !transformer.cache<2x4xf32>) -> (!transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  return %d, %c : !transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>
}
func.func private @layer.many(%b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %d: !transformer.cache<2x4xf32>) -> (!transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>) attributes {transformer.variant = #transformer.variant<many>} {
  return %d, %c : !transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>
}
func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %d: !transformer.cache<2x4xf32>) attributes {transformer.role = "step"} {
  // expected-error@below {{'transformer.dispatch' op expected cache results in the order of the cache operands}}
  %0:2 = transformer.dispatch @layer.few or @layer.many by tokens(%b, %c, %d) : (!transformer.batch, !transformer.cache<1x4xf32>, !transformer.cache<2x4xf32>) -> (!transformer.cache<2x4xf32>, !transformer.cache<1x4xf32>)
  return
}

// -----

func.func @no_layout(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@below {{'transformer.parameter' op expected the attribute dnn.layout}}
  %n = transformer.parameter %s "n" of norm : tensor<8xf32>
  %0 = transformer.rms_norm %x, %n eps 1e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Nothing is packed in f16.
func.func @f16_weight(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
  // expected-error@below {{'transformer.parameter' op expected f32, bf16 or a quantised format, got 'f16'}}
  %t = transformer.parameter %s "t" of embedding {dnn.layout = #dnn.layout<row_major>} : tensor<9x8xf16>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf16>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
