// Splits and attention on destinations: rotations get their table of angles,
// appends are effects, staged keys and values have a row per chunk.
// RUN: %tenon-opt %s --convert-transformer-to-dnn | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>
!qkv = tensor<?x16xf32>

module attributes {transformer.max_sequence = 16 : i64} {

// CHECK-LABEL: @cached.few
// CHECK-SAME: -> tensor<?x8xf32> attributes
func.func private @cached.few(%s: !scope, %b: !batch, %c: !cache, %x: !qkv) -> (!rows, !cache) attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK-DAG: %[[TABLE:.*]] = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %scope : <row_major, 16x4xf32>
  // CHECK: %[[Q:.*]] = dnn.split_append %x to %cache[%scope], %batch heads 2 kv_heads 1 query_norm %n{{.*}} key_norm %n{{.*}} eps 1e-05 rope <half, dim = 4, base = 10000.0> table %[[TABLE]] outs(%{{.*}})
  // CHECK-NEXT: %[[OUT:.*]] = tensor.empty(%tokens) : tensor<?x8xf32>
  // CHECK-NEXT: %[[A:.*]] = dnn.attention causal %[[Q]], %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 window 8 outs(%[[OUT]])
  // CHECK-NEXT: return %[[A]] : tensor<?x8xf32>
  %n = transformer.parameter %s "n" of norm {dnn.layout = #dnn.layout<vector>} : tensor<4xf32>
  %q:2 = transformer.split_append %x to %c[%s], %b heads 2 kv_heads 1 query_norm %n key_norm %n eps 1e-05 rope <half, dim = 4, base = 10000.0> : (!qkv, !cache, !scope, !batch, tensor<4xf32>, tensor<4xf32>) -> (!rows, !cache)
  %a = transformer.online_attention causal %q#0, %b cache %q#1[%s] heads 2 kv_heads 1 scale 0.5 window 8 : (!rows, !batch, !cache, !scope) -> !rows
  return %a, %q#1 : !rows, !cache
}

// Of three operands as well; offsets of norms go along.
// CHECK-LABEL: @cached.many
func.func private @cached.many(%s: !scope, %b: !batch, %c: !cache, %x: !qkv) -> (!rows, !cache) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK: dnn.split_append %{{.*}}, %{{.*}}, %{{.*}} to %cache[%scope], %batch heads 2 kv_heads 1 query_norm %{{.*}} key_norm %{{.*}} eps 1e-05 norm_offset 1.0 outs(
  %n = transformer.parameter %s "n" of norm {dnn.layout = #dnn.layout<vector>} : tensor<4xf32>
  %x0 = transformer.slice %x from 0 : (!qkv) -> !rows
  %x1 = transformer.slice %x from 8 : (!qkv) -> tensor<?x4xf32>
  %x2 = transformer.slice %x from 12 : (!qkv) -> tensor<?x4xf32>
  %q:2 = transformer.split_append %x0, %x1, %x2 to %c[%s], %b heads 2 kv_heads 1 query_norm %n key_norm %n eps 1e-05 norm_offset 1.0 : (!rows, tensor<?x4xf32>, tensor<?x4xf32>, !cache, !scope, !batch, tensor<4xf32>, tensor<4xf32>) -> (!rows, !cache)
  return %q#0, %q#1 : !rows, !cache
}

// CHECK-LABEL: @staged
func.func private @staged(%s: !scope, %b: !batch, %x: !qkv) -> !rows {
  // CHECK-DAG: %staged_pages = dnn.count staged_pages %batch
  // CHECK-DAG: %tokens = dnn.count tokens %batch
  // CHECK: %[[QUERY:.*]] = tensor.empty(%tokens) : tensor<?x8xf32>
  // CHECK: %[[STAGED:.*]] = tensor.empty(%staged_pages) : tensor<?x1280xf32>
  // CHECK: %query, %staged = dnn.split_stage %x of %batch heads 2 kv_heads 1 rope {{.*}} table %{{.*}} outs(%[[QUERY]], %[[STAGED]])
  // CHECK: dnn.attention bidirectional %query, %batch staged %staged heads 2
  %q:2 = transformer.split_stage %x of %b heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> : (!qkv, !batch) -> (!rows, tensor<?x1280xf32>)
  %a = transformer.online_attention bidirectional %q#0, %b staged %q#1 heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, tensor<?x1280xf32>) -> !rows
  return %a : !rows
}

// Equal scopes have one number; the cache that a dispatch gives is the one it
// got.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %batch: !transformer.batch, %cache: !transformer.cache<1x4xf32>) -> tensor<?x8xf32>
func.func @step(%b: !batch, %c: !cache) -> (!rows, !cache) attributes {transformer.role = "step"} {
  // CHECK-DAG: %[[L0:.*]] = dnn.scope %batch "l.0" number 0 layer 0
  // CHECK-DAG: %[[L1:.*]] = dnn.scope %batch "l.1" number 1 layer 1
  // CHECK-DAG: %[[AGAIN:.*]] = dnn.scope %batch "l.0" number 0 layer 0
  // CHECK: %[[T:.*]] = dnn.weight %[[AGAIN]] ["t"]
  // CHECK: %[[X:.*]] = dnn.embedding token %batch, %[[T]]
  // CHECK: dnn.dispatch @cached.few or @cached.many by tokens of %batch(%[[L0]], %batch, %cache, %[[X]]) outs(%{{.*}})
  // CHECK: %[[Y:.*]] = dnn.dispatch @cached.few or @cached.many by tokens of %batch(%[[L1]], %batch, %cache, %[[X]]) outs(%{{.*}})
  // CHECK: return %[[Y]] : tensor<?x8xf32>
  %l0 = transformer.scope "l.0" layer 0
  %l1 = transformer.scope "l.1" layer 1
  %again = transformer.scope "l.0" layer 0
  %t = transformer.parameter %again "t" of embedding {dnn.layout = #dnn.layout<row_major>} : tensor<9x16xf32>
  %x = transformer.embedding token %b, %t : (!batch, tensor<9x16xf32>) -> !qkv
  %1:2 = transformer.dispatch @cached.few or @cached.many by tokens(%l0, %b, %c, %x) : (!scope, !batch, !cache, !qkv) -> (!rows, !cache)
  %2:2 = transformer.dispatch @cached.few or @cached.many by tokens(%l1, %b, %1#1, %x) : (!scope, !batch, !cache, !qkv) -> (!rows, !cache)
  return %2#0, %2#1 : !rows, !cache
}
}
