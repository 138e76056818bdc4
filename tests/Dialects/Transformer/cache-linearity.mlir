// Handles that are used as they may be: read as often as wanted, taken once.
// RUN: %tenon-opt %s --verify-model | FileCheck %s

// CHECK-LABEL: @reads
func.func private @reads(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %q: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = transformer.attention causal %q, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  %1 = transformer.attention causal %0, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: @appends
func.func private @appends(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  %0 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %0 : !transformer.cache<1x4xf32>
}

// CHECK-LABEL: @calls
func.func private @calls(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x4xf32>) -> !transformer.cache<1x4xf32> {
  // A call that only reads leaves the handle.
  %0 = call @reads(%s, %b, %c, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = call @reads(%s, %b, %c, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = call @appends(%s, %b, %c, %1) : (!transformer.scope, !transformer.batch, !transformer.cache<1x4xf32>, tensor<?x4xf32>) -> !transformer.cache<1x4xf32>
  return %2 : !transformer.cache<1x4xf32>
}

func.func @step(%b: !transformer.batch) -> tensor<?x4xf32> attributes {transformer.role = "step"} {
  %s = transformer.scope "s"
  %t = transformer.parameter %s "t" of embedding : tensor<9x4xf32>
  %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
