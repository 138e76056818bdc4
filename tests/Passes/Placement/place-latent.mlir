// Latent vectors are appended as an effect; attention over them has a second
// destination for running sums: [T, heads * (value_dim + 2)].
// RUN: %tenon-opt %s --convert-transformer-to-dnn | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<latent 1x6xbf16>

// CHECK-LABEL: @latent
// CHECK-SAME: -> tensor<?x10xf32> {
func.func private @latent(%s: !scope, %b: !batch, %c: !cache, %l: tensor<?x4xf32>, %r: tensor<?x2xf32>, %q: tensor<?x10xf32>) -> (tensor<?x10xf32>, !cache) {
  // CHECK: dnn.latent_append %cache[%scope], %batch latent %x rotated %x_0 :
  // CHECK-DAG: %[[E:.*]] = dnn.weight %scope ["kv"] of attention : <row_major, 16x4xbf16>
  // CHECK-DAG: %[[OUT:.*]] = tensor.empty(%tokens) : tensor<?x10xf32>
  // CHECK-DAG: %[[STATE:.*]] = tensor.empty(%tokens) : tensor<?x14xf32>
  // CHECK: %[[Y:.*]], %{{.*}} = dnn.latent_attention %x_1, %batch cache %cache[%scope] expand %[[E]] heads 2 key_dim 3 value_dim 5 scale 0.5 outs(%[[OUT]], %[[STATE]])
  // CHECK: return %[[Y]] : tensor<?x10xf32>
  %e = transformer.parameter %s "kv" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<16x4xbf16>
  %n = transformer.latent_append %c[%s], %b latent %l rotated %r : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !cache
  %y = transformer.latent_attention %q, %b cache %n[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !batch, !cache, !scope, tensor<16x4xbf16>) -> tensor<?x10xf32>
  return %y, %n : tensor<?x10xf32>, !cache
}

// Keys and values that no split takes are appended by themselves, those of a
// source text as well.
// CHECK-LABEL: @cross_cache
func.func private @cross_cache(%s: !scope, %b: !batch, %m: !transformer.cache<cross 1x4xf32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32>, !transformer.cache<cross 1x4xf32>) {
  // CHECK: dnn.cache_append %cache[%scope], %batch keys %x values %x : !transformer.cache<cross 1x4xf32>
  // CHECK: dnn.attention bidirectional %x, %batch cache %cache[%scope] heads 1 kv_heads 1
  // CHECK-NOT: dnn.split
  %n = transformer.cache_append %m[%s], %b keys %x values %x : (!transformer.cache<cross 1x4xf32>, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !transformer.cache<cross 1x4xf32>
  %y = transformer.online_attention bidirectional %x, %b cache %n[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x4xf32>, !batch, !transformer.cache<cross 1x4xf32>, !scope) -> tensor<?x4xf32>
  return %y, %n : tensor<?x4xf32>, !transformer.cache<cross 1x4xf32>
}
