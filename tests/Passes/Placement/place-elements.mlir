// What works row by row: input rows, class tokens, tables of positions,
// rotations, norms in parts, and functions of single elements.
// RUN: %tenon-opt %s --place-operations | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!rows = tensor<?x8xf32>

module attributes {transformer.max_sequence = 16 : i64} {

// CHECK-LABEL: @images
func.func private @images(%s: !scope, %b: !batch) -> !rows {
  // CHECK: %[[T:.*]] = dnn.count tokens %arg1
  // CHECK: %[[OUT:.*]] = tensor.empty(%[[T]]) : tensor<?x8xf32>
  // CHECK: %[[X:.*]] = dnn.input_rows %arg1 outs(%[[OUT]])
  // CHECK: %[[C:.*]] = dnn.weight %arg0 ["class"] of "embedding" : <vector, 8x1xf32>
  // CHECK: dnn.class_token %[[X]], %arg1, %[[C]] outs(
  %c = transformer.parameter %s "class" of embedding {dnn.layout = "vector"} : tensor<8xbf16>
  %x = transformer.input_rows %b : !rows
  %y = transformer.class_token %x, %b, %c : (!rows, !batch, tensor<8xbf16>) -> !rows
  return %y : !rows
}

// A sinusoid is looked up like a learned position.
// CHECK-LABEL: @positions
func.func private @positions(%s: !scope, %b: !batch) -> !rows {
  // CHECK-DAG: %[[S:.*]] = dnn.table #transformer.sinusoid<half> in %arg0 : <rows, 16x8xf32>
  // CHECK: %[[P:.*]] = dnn.embedding position %arg1, %[[S]] outs(
  // CHECK-DAG: %[[L:.*]] = dnn.weight %arg0 ["learned"] of "embedding" : <rows, 18x8xf32>
  // CHECK: dnn.embedding position %arg1, %[[L]] offset 2 outs(
  // CHECK: dnn.add %[[P]]
  %l = transformer.parameter %s "learned" of embedding {dnn.layout = "rows"} : tensor<18x8xf32>
  %x = transformer.sinusoid half %b : !rows
  %y = transformer.embedding position %b, %l offset 2 : (!batch, tensor<18x8xf32>) -> !rows
  %z = transformer.residual %x, %y : !rows
  return %z : !rows
}

// CHECK-LABEL: @rotations
func.func private @rotations(%s: !scope, %b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[T:.*]] = dnn.table #transformer.rope<interleaved, dim = 2, base = 1.0e+04> in %arg0 : <rows, 16x2xf32>
  // CHECK: dnn.rope %arg2, %arg1 heads 2 from 2 <interleaved, dim = 2, base = 1.0e+04> table %[[T]] outs(
  %y = transformer.rope %x, %b heads 2 from 2 <interleaved, dim = 2, base = 10000.0> : !rows
  return %y : !rows
}

// CHECK-LABEL: @norms
func.func private @norms(%s: !scope, %b: !batch, %x: !rows) -> !rows {
  // CHECK: %[[Y:.*]] = dnn.norm layer %arg2 weight %{{.*}} outs({{.*}}) eps 1.000000e-05 groups 2 :
  // CHECK: %[[Z:.*]] = dnn.norm rms %[[Y]] weight %{{.*}} outs({{.*}}) eps 1.000000e-05 offset 1.000000e+00 :
  // CHECK: dnn.norm rms %[[Z]] residual %[[Y]] weight %{{.*}} outs({{.*}}) eps 1.000000e-05 offset 1.000000e+00 :
  %w = transformer.parameter %s "w" of norm {dnn.layout = "vector"} : tensor<8xf32>
  %y = transformer.layer_norm %x, %w eps 1.0e-05 groups 2 : (!rows, tensor<8xf32>) -> !rows
  %z = transformer.rms_norm %y, %w eps 1.0e-05 offset 1.0 : (!rows, tensor<8xf32>) -> !rows
  %u, %v = transformer.add_norm rms %z, %y weight %w eps 1.0e-05 offset 1.0 : (!rows, !rows, tensor<8xf32>) -> (!rows, !rows)
  return %v : !rows
}

// A cap at 4 is 4 tanh(x / 4).
// CHECK-LABEL: @elements
func.func private @elements(%b: !batch, %x: !rows, %g: tensor<?x1xf32>) -> tensor<?x3xf32> {
  // CHECK: %[[A:.*]] = dnn.elementwise relu %arg1 input_factor 1.000000e+00 factor 1.000000e+00 outs(
  // CHECK: %[[B:.*]] = dnn.elementwise none %[[A]] input_factor 1.000000e+00 factor 5.000000e-01 outs(
  // CHECK: %[[C:.*]] = dnn.elementwise tanh %[[B]] input_factor 2.500000e-01 factor 4.000000e+00 outs(
  // CHECK: %[[D:.*]] = dnn.elementwise none %[[C]] input_factor 1.000000e+00 factor 1.000000e+00 bound 3.000000e+00 outs(
  // CHECK: %[[E:.*]] = dnn.sigmoid_gate %[[D]], %arg2 outs(
  // CHECK: dnn.columns %[[E]] from 5 outs({{.*}} -> tensor<?x3xf32>
  %0 = transformer.activation relu %x : !rows
  %1 = transformer.scale %0 by 0.5 : !rows
  %2 = transformer.soft_cap %1 at 4.0 : !rows
  %3 = transformer.clamp %2 at 3.0 : !rows
  %4 = transformer.sigmoid_gate %3, %g : (!rows, tensor<?x1xf32>) -> !rows
  %5 = transformer.columns %4 from 5 : (!rows) -> tensor<?x3xf32>
  return %5 : tensor<?x3xf32>
}

// Biases of scores become a table: one of distances per head, or its slope.
// CHECK-LABEL: @scores
func.func private @scores(%s: !scope, %b: !batch, %c: !transformer.cache<1x4xf32>, %q: !rows) -> !rows {
  // CHECK: %[[D:.*]] = dnn.table #transformer.buckets<8, max = 20> in %arg0 of "relative" : <rows, 2x41xf32>
  // CHECK: dnn.attention prefix %arg3, %arg1 cache %arg2[%arg0] heads 2 kv_heads 1 scale 5.000000e-01 soft_cap 5.000000e+01 bias %[[D]] content #transformer.buckets<8, max = 20> sinks %{{.*}} outs(
  // CHECK: %[[A:.*]] = dnn.table #transformer.alibi<max = 8.0, rounded> in %arg0 : <rows, 2x1xf32>
  // CHECK: dnn.attention causal {{.*}} bias %[[A]] content #transformer.alibi<max = 8.0, rounded> outs(
  // CHECK: dnn.attention causal %{{.*}}, %arg1 cache %arg2[%arg0] heads 2 kv_heads 1 scale 5.000000e-01 outs(
  %t = transformer.parameter %s "relative" of attention {dnn.layout = "rows"} : tensor<8x2xf32>
  %n = transformer.parameter %s "sinks" of attention {dnn.layout = "vector"} : tensor<2xf32>
  %x = transformer.online_attention prefix %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 soft_cap 50.0 bias %t buckets <8, max = 20> sinks %n : (!rows, !batch, !transformer.cache<1x4xf32>, !scope, tensor<8x2xf32>, tensor<2xf32>) -> !rows
  %y = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 alibi <max = 8.0, rounded> : (!rows, !batch, !transformer.cache<1x4xf32>, !scope) -> !rows
  %z = transformer.online_attention causal %y, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, !transformer.cache<1x4xf32>, !scope) -> !rows
  return %z : !rows
}
}
