// What works row by row: input rows, class tokens, tables of positions,
// rotations, norms in parts, and functions of single elements.
// RUN: %tenon-opt %s --convert-transformer-to-dnn | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

module attributes {transformer.max_sequence = 16 : i64} {

// CHECK-LABEL: @images
func.func private @images(%s: !scope, %b: !batch) -> !rows {
  // CHECK: %[[T:.*]] = dnn.count tokens %batch
  // CHECK: %[[OUT:.*]] = tensor.empty(%[[T]]) : tensor<?x8xf32>
  // CHECK: %[[X:.*]] = dnn.input_features %batch outs(%[[OUT]])
  // CHECK: %[[C:.*]] = dnn.weight %scope ["class"] of embedding : <vector, 8x1xf32>
  // CHECK: dnn.class_token %[[X]], %batch, %[[C]] outs(
  %c = transformer.parameter %s "class" of embedding {dnn.layout = #dnn.layout<vector>} : tensor<8xbf16>
  %x = transformer.input_features %b : !rows
  %y = transformer.class_token %x, %b, %c : (!rows, !batch, tensor<8xbf16>) -> !rows
  return %y : !rows
}

// CHECK-LABEL: @merged
func.func private @merged(%b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[OUT:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
  // CHECK: dnn.merge_features %x, %batch token 3 outs(%[[OUT]])
  %y = transformer.merge_features %x, %b token 3 : !rows
  return %y : !rows
}

// A sinusoid is looked up like a learned position.
// CHECK-LABEL: @positions
func.func private @positions(%s: !scope, %b: !batch) -> !rows {
  // CHECK-DAG: %[[S:.*]] = dnn.table #transformer.sinusoid<half> in %scope : <row_major, 16x8xf32>
  // CHECK: %[[P:.*]] = dnn.embedding position %batch, %[[S]] outs(
  // CHECK-DAG: %[[L:.*]] = dnn.weight %scope ["learned"] of embedding : <row_major, 18x8xf32>
  // CHECK: dnn.embedding position %batch, %[[L]] offset 2 outs(
  // CHECK: dnn.residual %[[P]]
  %l = transformer.parameter %s "learned" of embedding {dnn.layout = #dnn.layout<row_major>} : tensor<18x8xf32>
  %x = transformer.sinusoid half %b : !rows
  %y = transformer.embedding position %b, %l offset 2 : (!batch, tensor<18x8xf32>) -> !rows
  %z = transformer.residual %x, %y : !rows
  return %z : !rows
}

// CHECK-LABEL: @rotations
func.func private @rotations(%s: !scope, %b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[T:.*]] = dnn.table #transformer.rope<interleaved, dim = 2, base = 10000.0> in %scope : <row_major, 16x2xf32>
  // CHECK: dnn.rope %x, %batch heads 2 from 2 <interleaved, dim = 2, base = 10000.0> table %[[T]] outs(
  %y = transformer.rope %x, %b heads 2 from 2 <interleaved, dim = 2, base = 10000.0> : !rows
  return %y : !rows
}

// CHECK-LABEL: @norms
func.func private @norms(%s: !scope, %b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[Y:.*]] = dnn.layer_norm %x, %{{.*}} eps 1e-05 groups 2 outs(
  // CHECK: %[[Z:.*]] = dnn.rms_norm %[[Y]], %{{.*}} eps 1e-05 offset 1.0 outs(
  // CHECK: %[[S:.*]] = tensor.empty
  // CHECK: %[[O:.*]] = tensor.empty
  // CHECK: %sum, %[[N:.*]] = dnn.add_norm rms %[[Z]], %[[Y]] weight %{{.*}} eps 1e-05 offset 1.0 outs(%[[S]], %[[O]])
  // CHECK: return %[[N]]
  %w = transformer.parameter %s "w" of norm {dnn.layout = #dnn.layout<vector>} : tensor<8xf32>
  %y = transformer.layer_norm %x, %w eps 1e-05 groups 2 : (!rows, tensor<8xf32>) -> !rows
  %z = transformer.rms_norm %y, %w eps 1e-05 offset 1.0 : (!rows, tensor<8xf32>) -> !rows
  %u, %v = transformer.add_norm rms %z, %y weight %w eps 1e-05 offset 1.0 : (!rows, !rows, tensor<8xf32>) -> (!rows, !rows)
  return %v : !rows
}

// Twins with all that their operations say.
// CHECK-LABEL: @elements
func.func private @elements(%b: !batch, %x: !rows, %g: tensor<?x1xf32>) -> tensor<?x3xf32> {
  // CHECK: %[[A:.*]] = dnn.activation relu %x outs(
  // CHECK: %[[B:.*]] = dnn.scale %[[A]] by 0.5 outs(
  // CHECK: %[[C:.*]] = dnn.soft_cap %[[B]] at 4.0 outs(
  // CHECK: %[[D:.*]] = dnn.clamp %[[C]] at 3.0 outs(
  // CHECK: %[[E:.*]] = dnn.sigmoid_gate %[[D]], %x_0 outs(
  // CHECK: dnn.slice %[[E]] from 5 outs({{.*}} -> tensor<?x3xf32>
  %0 = transformer.activation relu %x : !rows
  %1 = transformer.scale %0 by 0.5 : !rows
  %2 = transformer.soft_cap %1 at 4.0 : !rows
  %3 = transformer.clamp %2 at 3.0 : !rows
  %4 = transformer.sigmoid_gate %3, %g : (!rows, tensor<?x1xf32>) -> !rows
  %5 = transformer.slice %4 from 5 : (!rows) -> tensor<?x3xf32>
  return %5 : tensor<?x3xf32>
}

// Biases of scores become a table: one of distances per head, or its slope.
// CHECK-LABEL: @scores
func.func private @scores(%s: !scope, %b: !batch, %c: !transformer.cache<1x4xf32>, %q: !rows) -> !rows {
  // CHECK: %[[D:.*]] = dnn.table #transformer.buckets<8, max = 20> in %scope of "relative" : <row_major, 2x41xf32>
  // CHECK: dnn.attention prefix %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 bias %[[D]] content #transformer.buckets<8, max = 20> sinks %{{.*}} outs(
  // CHECK: %[[A:.*]] = dnn.table #transformer.alibi<max = 8.0, rounded> in %scope : <row_major, 2x1xf32>
  // CHECK: dnn.attention causal {{.*}} bias %[[A]] content #transformer.alibi<max = 8.0, rounded> outs(
  // CHECK: dnn.attention causal %{{.*}}, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 outs(
  %t = transformer.parameter %s "relative" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<8x2xf32>
  %n = transformer.parameter %s "sinks" of attention {dnn.layout = #dnn.layout<vector>} : tensor<2xf32>
  %x = transformer.online_attention prefix %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 bias %t buckets <8, max = 20> sinks %n : (!rows, !batch, !transformer.cache<1x4xf32>, !scope, tensor<8x2xf32>, tensor<2xf32>) -> !rows
  %y = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 alibi <max = 8.0, rounded> : (!rows, !batch, !transformer.cache<1x4xf32>, !scope) -> !rows
  %z = transformer.online_attention causal %y, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, !transformer.cache<1x4xf32>, !scope) -> !rows
  return %z : !rows
}
}
