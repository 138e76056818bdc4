// Attention goes through keys and values page by page, and nothing else changes.
// RUN: %tenon-opt %s --lower-attention | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>
!heads = tensor<?x4xf32>
#rope = #transformer.rope<half, dim = 4, base = 10000.0>

// What comes before it stays for --fuse-attention.
// CHECK-LABEL: @cached
func.func @cached(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !heads, %v: !heads) -> (!rows, !cache) {
  // CHECK-NEXT: %[[Q:.*]] = transformer.rope %x, %batch heads 2
  // CHECK-NEXT: %[[K:.*]] = transformer.rope %x_0, %batch heads 1
  // CHECK-NEXT: %[[C:.*]] = transformer.cache_append %cache[%scope], %batch keys %[[K]] values %x_1
  // CHECK-NEXT: %[[A:.*]] = transformer.online_attention causal %[[Q]], %batch cache %[[C]][%scope] heads 2 kv_heads 1 scale 0.5 window 16 :
  // CHECK-NEXT: return %[[A]], %[[C]]
  %0 = transformer.rope %q, %b heads 2 #rope : !rows
  %1 = transformer.rope %k, %b heads 1 #rope : !heads
  %2 = transformer.cache_append %c[%s], %b keys %1 values %v : (!cache, !scope, !batch, !heads, !heads) -> !cache
  %3 = transformer.attention causal %0, %b cache %2[%s] heads 2 kv_heads 1 scale 0.5 window 16 : (!rows, !batch, !cache, !scope) -> !rows
  return %3, %2 : !rows, !cache
}

// Without a cache, keys and values are laid out like pages: 1 * 64 * (4 + 16).
// CHECK-LABEL: @staged
func.func @staged(%b: !batch, %q: !rows, %k: !heads, %v: !heads) -> !rows {
  // CHECK-NEXT: %[[Q:.*]], %[[S:.*]] = transformer.split_stage %x, %x_0, %x_1 of %batch heads 2 kv_heads 1 : {{.*}} -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  // CHECK-NEXT: transformer.online_attention bidirectional %[[Q]], %batch staged %[[S]] heads 2 kv_heads 1 scale 0.5 :
  %0 = transformer.attention bidirectional %q, %b keys %k values %v heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, !heads, !heads) -> !rows
  return %0 : !rows
}

// A source text was appended by the entry that encoded it.
// CHECK-LABEL: @cross_cache
func.func @cross_cache(%s: !scope, %b: !batch, %m: !transformer.cache<cross 1x4xf32>, %q: !rows) -> !rows {
  // CHECK-NEXT: transformer.online_attention bidirectional %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 : {{.*}}!transformer.cache<cross 1x4xf32>
  // CHECK-NEXT: return
  %0 = transformer.attention bidirectional %q, %b cache %m[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, !transformer.cache<cross 1x4xf32>, !scope) -> !rows
  return %0 : !rows
}

// Everything that changes scores goes along.
// CHECK-LABEL: @scores
func.func @scores(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !heads, %t: tensor<8x2xf32>, %n: tensor<2xf32>) -> !rows {
  // CHECK-NEXT: %[[A:.*]] = transformer.online_attention prefix %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 bias %x_1 buckets <8, max = 20> sinks %x_2 :
  // CHECK-NEXT: %[[Q:.*]], %[[S:.*]] = transformer.split_stage %[[A]], %x_0, %x_0 of %batch
  // CHECK-NEXT: transformer.online_attention causal %[[Q]], %batch staged %[[S]] heads 2 kv_heads 1 scale 0.5 window 3 alibi <max = 8.0> :
  %1 = transformer.attention prefix %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 bias %t buckets <8, max = 20> sinks %n : (!rows, !batch, !cache, !scope, tensor<8x2xf32>, tensor<2xf32>) -> !rows
  %2 = transformer.attention causal %1, %b keys %k values %k heads 2 kv_heads 1 scale 0.5 window 3 alibi <max = 8.0> : (!rows, !batch, !heads, !heads) -> !rows
  return %2 : !rows
}
