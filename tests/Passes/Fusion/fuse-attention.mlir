// Norms, rotations and the append are taken into one split.
// RUN: %tenon-opt %s --fuse-attention --remark-policy=all --remarks-filter=".*" 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS < %t.remarks

// What is absorbed is named, each by itself.
// REMARKS: remark: [Passed] FuseAttention | Category:fusion | Function=cached | Operation="online_attention ?x8xf32 -> ?x8xf32", Remark="the append, rotations are one pass over queries, keys and values"
// REMARKS: Function=cached | Operation="rope ?x8xf32 -> ?x8xf32", Remark="queries: absorbed by the append"
// REMARKS: Function=cached | Operation="rope ?x4xf32 -> ?x4xf32", Remark="keys: absorbed by the append"

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
#rope = #transformer.rope<half, dim = 4, base = 10000.0>

// CHECK-LABEL: @cached
func.func @cached(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>) -> (tensor<?x8xf32>, !cache) {
  // CHECK-NEXT: %[[Q:.*]], %[[C:.*]] = transformer.split_append %x, %x_0, %x_1 to %cache[%scope], %batch heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> :
  // CHECK-NEXT: %[[A:.*]] = transformer.online_attention causal %[[Q]], %batch cache %[[C]][%scope] heads 2 kv_heads 1 scale 0.5 window 16 :
  // CHECK-NEXT: return %[[A]], %[[C]]
  %0 = transformer.rope %q, %b heads 2 #rope : tensor<?x8xf32>
  %1 = transformer.rope %k, %b heads 1 #rope : tensor<?x4xf32>
  %2 = transformer.cache_append %c[%s], %b keys %1 values %v : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %3 = transformer.online_attention causal %0, %b cache %2[%s] heads 2 kv_heads 1 scale 0.5 window 16 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %3, %2 : tensor<?x8xf32>, !cache
}

// CHECK-LABEL: @norms
func.func @norms(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>, %m: tensor<4xf32>, %n: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[Q:.*]], %[[C:.*]] = transformer.split_append %x, %x_0, %x_1 to %cache[%scope], %batch heads 2 kv_heads 1 query_norm %x_2 key_norm %x_3 eps 1e-05 rope {{.*}} :
  // CHECK-NEXT: transformer.online_attention causal %[[Q]]
  %0 = transformer.rms_norm %q, %m eps 1e-05 groups 2 : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %k, %n eps 1e-05 : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = transformer.rope %0, %b heads 2 #rope : tensor<?x8xf32>
  %3 = transformer.rope %1, %b heads 1 #rope : tensor<?x4xf32>
  %4 = transformer.cache_append %c[%s], %b keys %3 values %v : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %5 = transformer.online_attention causal %2, %b cache %4[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %5 : tensor<?x8xf32>
}

// A norm of the whole row is not one of heads: it stays before the split.
// CHECK-LABEL: @row_norm
func.func @row_norm(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %x
  // CHECK-NEXT: transformer.split_append %[[N]], %x_0, %x_0 to %cache[%scope], %batch heads 2 kv_heads 1 :
  %0 = transformer.rms_norm %q, %n eps 1e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = transformer.cache_append %c[%s], %b keys %k values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %2 = transformer.online_attention causal %0, %b cache %1[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// Without a cache they go into what stages keys and values.
// CHECK-LABEL: @staged
func.func @staged(%b: !batch, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>, %n: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[Q:.*]], %[[S:.*]] = transformer.split_stage %x, %x_0, %x_1 of %batch heads 2 kv_heads 1 query_norm %x_2 key_norm %x_2 eps 1e-05 rope <half, dim = 4, base = 10000.0> : {{.*}} -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  // CHECK-NEXT: transformer.online_attention bidirectional %[[Q]], %batch staged %[[S]] heads 2 kv_heads 1
  // CHECK-NEXT: return
  %0 = transformer.rms_norm %q, %n eps 1e-05 groups 2 : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %k, %n eps 1e-05 : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = transformer.rope %0, %b heads 2 #rope : tensor<?x8xf32>
  %3 = transformer.rope %1, %b heads 1 #rope : tensor<?x4xf32>
  %4, %5 = transformer.split_stage %2, %3, %v of %b heads 2 kv_heads 1 : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !batch) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  %6 = transformer.online_attention bidirectional %4, %b staged %5 heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, tensor<?x1280xf32>) -> tensor<?x8xf32>
  return %6 : tensor<?x8xf32>
}

// What is added to the weights of both norms.
// CHECK-LABEL: @norm_offsets
func.func @norm_offsets(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %n: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.split_append %x, %x_0, %x_0 to %cache[%scope], %batch heads 2 kv_heads 1 query_norm %x_1 key_norm %x_1 eps 1e-05 norm_offset 1.0 :
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.rms_norm %q, %n eps 1e-05 groups 2 offset 1.0 : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  %1 = transformer.rms_norm %k, %n eps 1e-05 offset 1.0 : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = transformer.cache_append %c[%s], %b keys %1 values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %3 = transformer.online_attention causal %0, %b cache %2[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// A rotation of the last elements of heads, and a norm whose weights differ by
// head, stay before the split.
// CHECK-LABEL: @other_chains
func.func @other_chains(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %x, %x_1 eps 1e-05 groups 2 :
  // CHECK-NEXT: %[[Q:.*]] = transformer.rope %[[N]], %batch heads 2 from 2
  // CHECK-NEXT: %[[K:.*]] = transformer.rope %x_0, %batch heads 1 from 2
  // CHECK-NEXT: transformer.split_append %[[Q]], %[[K]], %x_0 to %cache[%scope], %batch heads 2 kv_heads 1 :
  %0 = transformer.rms_norm %q, %n eps 1e-05 groups 2 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = transformer.rope %0, %b heads 2 from 2 <half, dim = 2, base = 10000.0> : tensor<?x8xf32>
  %2 = transformer.rope %k, %b heads 1 from 2 <half, dim = 2, base = 10000.0> : tensor<?x4xf32>
  %3 = transformer.cache_append %c[%s], %b keys %2 values %k : (!cache, !scope, !batch, tensor<?x4xf32>, tensor<?x4xf32>) -> !cache
  %4 = transformer.online_attention causal %1, %b cache %3[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}
