// Norms, rotations and the append are taken into one split; attention becomes
// its online form.
// RUN: %tenon-opt %s --fuse-attention | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
#rope = #transformer.rope<half, dim = 4, base = 10000.0>

// CHECK-LABEL: @cached
func.func @cached(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>) -> (tensor<?x8xf32>, !cache) {
  // CHECK-NEXT: %[[Q:.*]], %[[C:.*]] = transformer.split_append %arg3, %arg4, %arg5 to %arg2[%arg0], %arg1 heads 2 kv_heads 1 rope <half, dim = 4, base = 1.0e+04> :
  // CHECK-NEXT: %[[A:.*]] = transformer.online_attention causal %[[Q]], %arg1 cache %[[C]][%arg0] heads 2 kv_heads 1 scale 5.000000e-01 window 16 :
  // CHECK-NEXT: return %[[A]], %[[C]]
  %0 = transformer.rope %q, %b heads 2 #rope : tensor<?x8xf32>
  %1 = transformer.rope %k, %b heads 1 #rope : tensor<?x4xf32>
  %2 = transformer.cache_append %c[%s], %b keys %1 values %v : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %3 = transformer.attention causal %0, %b cache %2[%s] heads 2 kv_heads 1 scale 0.5 window 16 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %3, %2 : tensor<?x8xf32>, !cache
}

// CHECK-LABEL: @norms
func.func @norms(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>, %m: tensor<4xf32>, %n: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[Q:.*]], %[[C:.*]] = transformer.split_append %arg3, %arg4, %arg5 to %arg2[%arg0], %arg1 heads 2 kv_heads 1 query_norm %arg6 key_norm %arg7 rope {{.*}} {eps = 1.000000e-05 : f64}
  // CHECK-NEXT: transformer.online_attention causal %[[Q]]
  %0 = transformer.rms_norm %q, %m eps 1.0e-05 groups 2 : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %k, %n eps 1.0e-05 : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = transformer.rope %0, %b heads 2 #rope : tensor<?x8xf32>
  %3 = transformer.rope %1, %b heads 1 #rope : tensor<?x4xf32>
  %4 = transformer.cache_append %c[%s], %b keys %3 values %v : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %5 = transformer.attention causal %2, %b cache %4[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %5 : tensor<?x8xf32>
}

// A norm of the whole row is not one of heads: it stays before the split.
// CHECK-LABEL: @row_norm
func.func @row_norm(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %arg3
  // CHECK-NEXT: transformer.split_append %[[N]], %arg4, %arg4 to %arg2[%arg0], %arg1 heads 2 kv_heads 1 :
  %0 = transformer.rms_norm %q, %n eps 1.0e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = transformer.cache_append %c[%s], %b keys %k values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %2 = transformer.attention causal %0, %b cache %1[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// Without a cache, keys and values are laid out like pages: 1 * 64 * (4 + 16).
// CHECK-LABEL: @staged
func.func @staged(%b: !batch, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[Q:.*]], %[[S:.*]] = transformer.split_stage %arg1, %arg2, %arg3{{.*}} %arg0 heads 2 kv_heads 1 : {{.*}} -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  // CHECK-NEXT: transformer.online_attention bidirectional %[[Q]], %arg0 staged %[[S]] heads 2 kv_heads 1
  %0 = transformer.attention bidirectional %q, %b keys %k values %v heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// What is added to the weights of both norms.
// CHECK-LABEL: @norm_offsets
func.func @norm_offsets(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %n: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.split_append %arg3, %arg4, %arg4 to %arg2[%arg0], %arg1 heads 2 kv_heads 1 query_norm %arg5 key_norm %arg5 norm_offset 1.000000e+00 {eps = 1.000000e-05 : f64}
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.rms_norm %q, %n eps 1.0e-05 groups 2 offset 1.0 : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %k, %n eps 1.0e-05 offset 1.0 : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = transformer.cache_append %c[%s], %b keys %1 values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %3 = transformer.attention causal %0, %b cache %2[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// A rotation of the last elements of heads, and a norm whose weights differ by
// head, stay before the split.
// CHECK-LABEL: @other_chains
func.func @other_chains(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %arg3, %arg5 eps 1.000000e-05 groups 2 :
  // CHECK-NEXT: %[[Q:.*]] = transformer.rope %[[N]], %arg1 heads 2 from 2
  // CHECK-NEXT: %[[K:.*]] = transformer.rope %arg4, %arg1 heads 1 from 2
  // CHECK-NEXT: transformer.split_append %[[Q]], %[[K]], %arg4 to %arg2[%arg0], %arg1 heads 2 kv_heads 1 :
  %0 = transformer.rms_norm %q, %n eps 1.0e-05 groups 2 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = transformer.rope %0, %b heads 2 from 2 <half, dim = 2, base = 10000.0> : tensor<?x8xf32>
  %2 = transformer.rope %k, %b heads 1 from 2 <half, dim = 2, base = 10000.0> : tensor<?x4xf32>
  %3 = transformer.cache_append %c[%s], %b keys %2 values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %4 = transformer.attention causal %1, %b cache %3[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}

// Everything that changes scores goes along.
// CHECK-LABEL: @scores
func.func @scores(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %t: tensor<8x2xf32>, %n: tensor<2xf32>) -> tensor<?x8xf32> {
  // CHECK: transformer.online_attention prefix %{{.*}}, %arg1 cache %{{.*}}[%arg0] heads 2 kv_heads 1 scale 5.000000e-01 soft_cap 5.000000e+01 bias %arg5 buckets <8, max = 20> sinks %arg6 :
  // CHECK: transformer.online_attention causal %{{.*}}, %arg1 staged %{{.*}} heads 2 kv_heads 1 scale 5.000000e-01 window 3 alibi <max = 8.0> :
  %0 = transformer.cache_append %c[%s], %b keys %k values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %1 = transformer.attention prefix %q, %b cache %0[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 bias %t buckets <8, max = 20> sinks %n : (tensor<?x8xf32>, !batch, !cache, !scope, tensor<8x2xf32>, tensor<2xf32>) -> tensor<?x8xf32>
  %2 = transformer.attention causal %1, %b keys %k values %k heads 2 kv_heads 1 scale 0.5 window 3 alibi <max = 8.0> : (tensor<?x8xf32>, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
