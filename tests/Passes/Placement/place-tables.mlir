// Tables that are computed lie in a scope that the function gets, which all calls
// agree on, or else in the root, which is one scope of the manifest.
// RUN: %tenon-opt %s --convert-transformer-to-dnn | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x8xf32>

module attributes {transformer.max_sequence = 16 : i64} {

// CHECK-LABEL: @of_the_function
func.func private @of_the_function(%s: !scope, %b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[TABLE:.*]] = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %scope :
  // CHECK: dnn.rope {{.*}} table %[[TABLE]]
  %0 = transformer.rope %x, %b heads 2 <half, dim = 4, base = 10000.0> : !rows
  return %0 : !rows
}

// One root scope for a rotation, slopes and a sinusoid, with no number but 0.
// CHECK-LABEL: @of_the_root
func.func private @of_the_root(%b: !batch, %x: tensor<?x16xf32>) -> !rows {
  // CHECK: %[[ROOT:.*]] = dnn.scope %batch "" number 0
  // CHECK-NOT: dnn.scope
  // CHECK: %[[T0:.*]] = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %[[ROOT]] : <row_major, 16x4xf32>
  // CHECK: dnn.split_stage {{.*}} table %[[T0]]
  // CHECK: %[[T1:.*]] = dnn.table #transformer.alibi<max = 8.0> in %[[ROOT]] : <row_major, 2x1xf32>
  // CHECK: dnn.attention {{.*}} bias %[[T1]]
  // CHECK: %[[T2:.*]] = dnn.table #transformer.sinusoid<half> in %[[ROOT]] : <row_major, 16x8xf32>
  // CHECK: dnn.embedding position %batch, %[[T2]]
  %q, %s = transformer.split_stage %x of %b heads 2 kv_heads 1 rope <half, dim = 4, base = 10000.0> : (tensor<?x16xf32>, !batch) -> (!rows, tensor<?x1280xf32>)
  %a = transformer.online_attention causal %q, %b staged %s heads 2 kv_heads 1 scale 0.5 alibi <max = 8.0> : (!rows, !batch, tensor<?x1280xf32>) -> !rows
  %p = transformer.sinusoid half %b : !rows
  %r = transformer.residual %a, %p : !rows
  return %r : !rows
}

// A scope that the function names is not that of every call.
// CHECK-LABEL: @named
func.func private @named(%b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[ROOT:.*]] = dnn.scope %batch "" number 0
  // CHECK: %[[M:.*]] = dnn.scope %batch "m" number 1
  // CHECK: dnn.table {{.*}} in %[[ROOT]]
  %m = transformer.scope "m"
  %0 = transformer.rope %x, %b heads 2 <half, dim = 4, base = 10000.0> : !rows
  return %0 : !rows
}
}
