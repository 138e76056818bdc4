// What keeps norms, rotations and appends apart, and what the remark says.
// RUN: %tenon-opt %s --fuse-attention --remark-policy=all --remarks-filter-missed=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x4xf32>
#rope = #transformer.rope<half, dim = 4, base = 10000.0>

// CHECK-LABEL: @rotated_differently
func.func @rotated_differently(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows) -> !rows {
  // CHECK-NEXT: %[[K:.*]] = transformer.rope %x_0
  // CHECK-NEXT: %[[C:.*]] = transformer.cache_append %cache[%scope], %batch keys %[[K]] values %x_0
  // CHECK-NEXT: transformer.online_attention causal %x, %batch cache %[[C]][%scope] heads 1 kv_heads 1 scale 0.5 :
  %0 = transformer.rope %k, %b heads 1 #rope : !rows
  %1 = transformer.cache_append %c[%s], %b keys %0 values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  // expected-remark@below {{[Missed] FuseAttention | Category:fusion | Function=rotated_differently | Operation="online_attention ?x4xf32 -> ?x4xf32", Reason="queries and keys are rotated differently"}}
  %2 = transformer.online_attention causal %q, %b cache %1[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %2 : !rows
}

// A rotation whose result is used elsewhere stays, so the two differ.
// CHECK-LABEL: @rotation_used_elsewhere
func.func @rotation_used_elsewhere(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows) -> (!rows, !rows) {
  // CHECK-COUNT-2: transformer.rope
  // CHECK-NEXT: transformer.cache_append
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.rope %q, %b heads 1 #rope : !rows
  %1 = transformer.rope %k, %b heads 1 #rope : !rows
  %2 = transformer.cache_append %c[%s], %b keys %1 values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  // expected-remark@below {{queries and keys are rotated differently}}
  %3 = transformer.online_attention causal %0, %b cache %2[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %3, %1 : !rows, !rows
}

// CHECK-LABEL: @normalised_differently
func.func @normalised_differently(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows, %n: tensor<4xf32>) -> !rows {
  // CHECK-COUNT-2: transformer.rms_norm
  // CHECK-NEXT: transformer.cache_append
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.rms_norm %q, %n eps 1e-05 : (!rows, tensor<4xf32>) -> !rows
  %1 = transformer.rms_norm %k, %n eps 0.001 : (!rows, tensor<4xf32>) -> !rows
  %2 = transformer.cache_append %c[%s], %b keys %1 values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  // expected-remark@below {{queries and keys are normalised differently}}
  %3 = transformer.online_attention causal %0, %b cache %2[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %3 : !rows
}

// CHECK-LABEL: @staged_one_norm
func.func @staged_one_norm(%b: !batch, %q: !rows, %k: !rows, %n: tensor<4xf32>) -> !rows {
  // CHECK-NEXT: %[[N:.*]] = transformer.rms_norm %x
  // CHECK-NEXT: transformer.split_stage %[[N]], %x_0, %x_0 of %batch heads 1 kv_heads 1 :
  // CHECK-NEXT: transformer.online_attention bidirectional
  %0 = transformer.rms_norm %q, %n eps 1e-05 : (!rows, tensor<4xf32>) -> !rows
  %q0, %s0 = transformer.split_stage %0, %k, %k of %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !batch) -> (!rows, tensor<?x1280xf32>)
  // expected-remark@below {{queries and keys are normalised differently}}
  %1 = transformer.online_attention bidirectional %q0, %b staged %s0 heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, tensor<?x1280xf32>) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @not_appended
func.func @not_appended(%s: !scope, %b: !batch, %c: !cache, %q: !rows) -> !rows {
  // CHECK-NEXT: transformer.online_attention causal %x, %batch cache %cache[%scope]
  // expected-remark@below {{the cache was not appended to in this function}}
  %0 = transformer.online_attention causal %q, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %0 : !rows
}

// CHECK-LABEL: @other_scope
func.func @other_scope(%s: !scope, %t: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows) -> !rows {
  // CHECK-NEXT: transformer.cache_append
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.cache_append %c[%t], %b keys %k values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  // expected-remark@below {{append and attention have different scopes}}
  %1 = transformer.online_attention causal %q, %b cache %0[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %1 : !rows
}

// CHECK-LABEL: @second_attention
func.func @second_attention(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows) -> !rows {
  // CHECK-NEXT: %{{.*}}, %[[C:.*]] = transformer.split_append
  // CHECK-NEXT: %[[A:.*]] = transformer.online_attention
  // CHECK-NEXT: transformer.online_attention causal %[[A]], %batch cache %[[C]][%scope]
  %0 = transformer.cache_append %c[%s], %b keys %k values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  %1 = transformer.online_attention causal %q, %b cache %0[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  // The first attention has the append; this one finds none.
  // expected-remark@below {{the cache was not appended to in this function}}
  %2 = transformer.online_attention causal %1, %b cache %0[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %2 : !rows
}

// CHECK-LABEL: @appended_twice
func.func @appended_twice(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows) -> !rows {
  // CHECK-COUNT-2: transformer.cache_append
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.cache_append %c[%s], %b keys %k values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  %1 = transformer.cache_append %0[%s], %b keys %k values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  // expected-remark@below {{the appended cache is used before attention}}
  %2 = transformer.online_attention causal %q, %b cache %0[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %2 : !rows
}

// CHECK-LABEL: @offset_differently
func.func @offset_differently(%s: !scope, %b: !batch, %c: !cache, %q: !rows, %k: !rows, %n: tensor<4xf32>) -> !rows {
  // CHECK-COUNT-2: transformer.rms_norm
  // CHECK-NEXT: transformer.cache_append
  // CHECK-NEXT: transformer.online_attention
  %0 = transformer.rms_norm %q, %n eps 1e-05 offset 1.0 : (!rows, tensor<4xf32>) -> !rows
  %1 = transformer.rms_norm %k, %n eps 1e-05 : (!rows, tensor<4xf32>) -> !rows
  %2 = transformer.cache_append %c[%s], %b keys %1 values %k : (!cache, !scope, !batch, !rows, !rows) -> !cache
  // expected-remark@below {{queries and keys are normalised differently}}
  %3 = transformer.online_attention causal %0, %b cache %2[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %3 : !rows
}

// A source text is appended by the entry that encodes it: nothing is split.
// CHECK-LABEL: @cross_cache
func.func @cross_cache(%s: !scope, %b: !batch, %m: !transformer.cache<cross 1x4xf32>, %q: !rows) -> !rows {
  // CHECK-NEXT: transformer.online_attention bidirectional %x, %batch cache %cache[%scope] heads 1 kv_heads 1 scale 0.5 : {{.*}}!transformer.cache<cross 1x4xf32>
  // expected-remark@below {{the cache was not appended to in this function}}
  %0 = transformer.online_attention bidirectional %q, %b cache %m[%s] heads 1 kv_heads 1 scale 0.5 : (!rows, !batch, !transformer.cache<cross 1x4xf32>, !scope) -> !rows
  return %0 : !rows
}
