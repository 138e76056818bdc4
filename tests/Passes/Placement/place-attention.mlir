// Splits and attention on destinations: rotations get their table of angles,
// appends are effects, staged keys and values have a row per chunk.
// RUN: %tenon-opt %s --place-operations | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>
!qkv = tensor<?x16xf32>

module attributes {transformer.max_sequence = 16 : i64} {

// CHECK: func.func private @cached({{.*}}) -> tensor<?x8xf32> {
func.func private @cached(%s: !scope, %b: !batch, %c: !cache, %x: !qkv) -> (!rows, !cache) {
  // CHECK-DAG: %[[TABLE:.*]] = dnn.table #transformer.rope<half, dim = 4, base = 1.0e+04> in %arg0 : <rows, 16x4xf32>
  // CHECK: %[[Q:.*]] = dnn.split_append %arg3 to %arg2[%arg0], %arg1 heads 2 kv_heads 1 query_norm %{{.*}} key_norm %{{.*}} rope <half, dim = 4, base = 1.0e+04> table %[[TABLE]] outs(%{{.*}}) {eps = 1.000000e-05 : f64}
  // CHECK: %[[A:.*]] = dnn.attention causal %[[Q]], %arg1 cache %arg2[%arg0] heads 2 kv_heads 1 scale 5.000000e-01 window 8 outs(%{{.*}})
  // CHECK: return %[[A]] : tensor<?x8xf32>
  %n = transformer.parameter %s "n" of norm : tensor<4xf32>
  %q:2 = transformer.split_append %x to %c[%s], %b heads 2 kv_heads 1 query_norm %n key_norm %n rope <half, dim = 4, base = 10000.0> {eps = 1.0e-05} : (!qkv, !cache, !scope, !batch, tensor<4xf32>, tensor<4xf32>) -> (!rows, !cache)
  %a = transformer.online_attention causal %q#0, %b cache %q#1[%s] heads 2 kv_heads 1 scale 0.5 window 8 : (!rows, !batch, !cache, !scope) -> !rows
  return %a, %q#1 : !rows, !cache
}

// CHECK-LABEL: @staged
func.func private @staged(%s: !scope, %b: !batch, %x: !qkv) -> !rows {
  // CHECK-DAG: %[[CHUNKS:.*]] = dnn.count chunks %arg1
  // CHECK-DAG: %[[TOKENS:.*]] = dnn.count tokens %arg1
  // CHECK: %[[QUERY:.*]] = tensor.empty(%[[TOKENS]]) : tensor<?x8xf32>
  // CHECK: %[[STAGED:.*]] = tensor.empty(%[[CHUNKS]]) : tensor<?x1280xf32>
  // CHECK: %[[Q:.*]]:2 = dnn.split_stage %arg2{{.*}} outs(%[[QUERY]], %[[STAGED]])
  // CHECK: dnn.attention bidirectional %[[Q]]#0, %arg1 staged %[[Q]]#1 heads 2
  %q:2 = transformer.split_stage %x of %b heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> : (!qkv, !batch) -> (!rows, tensor<?x1280xf32>)
  %a = transformer.online_attention bidirectional %q#0, %b staged %q#1 heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, tensor<?x1280xf32>) -> !rows
  return %a : !rows
}

// Angles lie in any scope that the function knows.
// CHECK-LABEL: @inline
func.func private @inline(%b: !batch, %x: !qkv) -> !rows {
  // CHECK: %[[S:.*]] = dnn.scope %arg0 "m"
  // CHECK: %[[TABLE:.*]] = dnn.table #transformer.rope<half, dim = 4, base = 1.0e+04> in %[[S]]
  // CHECK: dnn.split_stage {{.*}} table %[[TABLE]]
  %s = transformer.scope "m"
  %q:2 = transformer.split_stage %x of %b heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> : (!qkv, !batch) -> (!rows, tensor<?x1280xf32>)
  return %q#0 : !rows
}

// Equal scopes have one number; the cache that a dispatch gives is the one it
// got.
// CHECK: func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<1x4xf32>) -> tensor<?x8xf32>
func.func @step(%b: !batch, %c: !cache) -> (!rows, !cache) attributes {transformer.role = "step"} {
  // CHECK-DAG: %[[L0:.*]] = dnn.scope %arg0 "l.0" number 0 layer 0
  // CHECK-DAG: %[[L1:.*]] = dnn.scope %arg0 "l.1" number 1 layer 1
  // CHECK-DAG: %[[AGAIN:.*]] = dnn.scope %arg0 "l.0" number 0 layer 0
  // CHECK: %[[X:.*]] = dnn.embedding token %arg0,
  // CHECK: dnn.dispatch @cached or @cached by tokens of %arg0(%[[L0]], %arg0, %arg1, %[[X]]) outs(%{{.*}})
  // CHECK: %[[Y:.*]] = dnn.dispatch @cached or @cached by tokens of %arg0(%[[L1]], %arg0, %arg1, %[[X]]) outs(%{{.*}})
  // CHECK: return %[[Y]] : tensor<?x8xf32>
  %l0 = transformer.scope "l.0" layer 0
  %l1 = transformer.scope "l.1" layer 1
  %again = transformer.scope "l.0" layer 0
  %t = transformer.parameter %again "t" of embedding {dnn.layout = "rows"} : tensor<9x16xf32>
  %x = transformer.embedding token %b, %t : (!batch, tensor<9x16xf32>) -> !qkv
  %1:2 = transformer.dispatch @cached or @cached by tokens(%l0, %b, %c, %x) : (!scope, !batch, !cache, !qkv) -> (!rows, !cache)
  %2:2 = transformer.dispatch @cached or @cached by tokens(%l1, %b, %1#1, %x) : (!scope, !batch, !cache, !qkv) -> (!rows, !cache)
  return %2#0, %2#1 : !rows, !cache
}
}
