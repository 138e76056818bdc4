// Weights are packed by key: one that is an argument of a function is an error,
// whatever reads it, and nothing comes of the module.
// RUN: not %tenon-opt %s --convert-transformer-to-dnn=level=avx2 -split-input-file 2>&1 | FileCheck %s --implicit-check-not="module "
// RUN: not %tenon-opt %s --convert-transformer-to-dnn=level=avx512_bf16 -split-input-file 2>&1 | FileCheck %s --implicit-check-not="module "

// A weight.
// CHECK: error: {{.*}}expected weights that are parameters
func.func @matmul(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = transformer.matmul %x weights(%w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// The second of several.
// CHECK: error: {{.*}}expected weights that are parameters
func.func @second(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x16xf32> {
  %p = transformer.parameter %s "p" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<8x8xf32>
  %0 = transformer.matmul %x weights(%p, %w) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// -----

// A bias.
// CHECK: error: {{.*}}expected weights that are parameters
func.func @bias(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %p = transformer.parameter %s "p" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<8x8xf32>
  %0 = transformer.matmul %x weights(%p) biases(%w) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// What a twin reads.
// CHECK: error: {{.*}}expected weights that are parameters
func.func @norm(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = transformer.rms_norm %x, %w eps 1e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK: error: {{.*}}expected weights that are parameters
func.func @gated(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = transformer.gated_matmul silu %x gate %w up %w : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK: error: {{.*}}expected weights that are parameters
func.func @embedding(%b: !transformer.batch, %w: tensor<9x8xf32>) -> tensor<?x8xf32> {
  %0 = transformer.embedding token %b, %w : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK: error: {{.*}}expected weights that are parameters
func.func @split(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x16xf32>, %n: tensor<4xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>) {
  %0:2 = transformer.split_append %x to %c[%s], %b heads 2 kv_heads 1 query_norm %n key_norm %n eps 1e-05 : (tensor<?x16xf32>, !transformer.cache<1x4xf32>, !transformer.scope, !transformer.batch, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x4xf32>)
  return %0#0, %0#1 : tensor<?x8xf32>, !transformer.cache<1x4xf32>
}

// -----

// The biases that a table is made of.
// CHECK: error: {{.*}}expected weights that are parameters
func.func @attention(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x8xf32>, %t: tensor<8x2xf32>) -> tensor<?x8xf32> {
  %0 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 bias %t buckets <8, max = 20> : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, tensor<8x2xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK: error: {{.*}}expected weights that are parameters
func.func @sinks(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: tensor<?x8xf32>, %t: tensor<2xf32>) -> tensor<?x8xf32> {
  %0 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 sinks %t : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope, tensor<2xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK: error: {{.*}}expected weights that are parameters
func.func @latent(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xbf16>, %q: tensor<?x10xf32>, %e: tensor<16x4xbf16>) -> tensor<?x10xf32> {
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xbf16>, !transformer.scope, tensor<16x4xbf16>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// -----

// CHECK: error: {{.*}}expected weights that are parameters
func.func @moe(%b: !transformer.batch, %x: tensor<?x8xf32>, %l: tensor<?x6xf32>, %g: tensor<6x4x8xf32>, %d: tensor<6x8x4xf32>) -> tensor<?x8xf32> {
  %y = transformer.moe silu %x, %l <softmax, top = 1> gate %g up %g down %d : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
