// Every type of a cache changes: arguments, results and calls. Latent vectors are
// not stored as integers.
// RUN: %tenon-opt %s --set-cache-format=format=int8 | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: %tenon-opt %s --set-cache-format=format=f32 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %tenon-opt %s --set-cache-format | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: not %tenon-opt %s --set-cache-format=format=int4 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: %tenon-opt %s --set-cache-format=format=int8 --remark-policy=all --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// ERROR: format: expected auto, f32, bf16 or int8, got 'int4'
// REMARK: latent vectors are kept in f32 or bf16

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<2x4xbf16>
!latent = !transformer.cache<latent 1x6xbf16>

// CHECK-LABEL: @layer
// INT8-SAME: !transformer.cache<2x4xi8>
// INT8-SAME: -> (tensor<?x8xf32>, !transformer.cache<2x4xi8>)
// F32-SAME: -> (tensor<?x8xf32>, !transformer.cache<2x4xf32>)
// BF16-SAME: -> (tensor<?x8xf32>, !transformer.cache<2x4xbf16>)
// INT8: transformer.cache_append {{.*}} !transformer.cache<2x4xi8>
// INT8: transformer.attention {{.*}} !transformer.cache<2x4xi8>
// INT8-NOT: 2x4xbf16
func.func private @layer(%s: !scope, %b: !batch, %c: !cache, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, !cache) {
  %n = transformer.cache_append %c[%s], %b keys %x values %x : (!cache, !scope, !batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !cache
  %y = transformer.attention causal %x, %b cache %n[%s] heads 2 kv_heads 2 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %y, %n : tensor<?x8xf32>, !cache
}

// CHECK-LABEL: @latent
// INT8-SAME: !transformer.cache<latent 1x6xbf16>
// F32-SAME: !transformer.cache<latent 1x6xf32>
func.func private @latent(%s: !scope, %b: !batch, %c: !latent, %x: tensor<?x4xf32>, %r: tensor<?x2xf32>) -> !latent {
  %n = transformer.latent_append %c[%s], %b latent %x rotated %r : (!latent, !scope, !batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !latent
  return %n : !latent
}
