// Handles: counts, scopes, weights, tables and calls.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @counts(
func.func @counts(%batch: !transformer.batch) {
  // CHECK-NEXT: %tokens = dnn.count tokens %batch
  %tokens = dnn.count tokens %batch
  // CHECK-NEXT: %output_rows = dnn.count output_rows %batch
  %output_rows = dnn.count output_rows %batch
  // CHECK-NEXT: %sequences = dnn.count sequences %batch
  %sequences = dnn.count sequences %batch
  // CHECK-NEXT: %staged_pages = dnn.count staged_pages %batch
  %staged_pages = dnn.count staged_pages %batch
  return
}

// A weight is called after its parameters, a scope after its layer.
// CHECK-LABEL: @scopes(
func.func @scopes(%batch: !transformer.batch, %scope: !transformer.scope) {
  // CHECK-NEXT: %root = dnn.scope %batch "" number 0
  %root = dnn.scope %batch "" number 0
  // CHECK-NEXT: %encoder = dnn.scope %batch "model.encoder" number 1
  %encoder = dnn.scope %batch "model.encoder" number 1
  // CHECK-NEXT: %l3 = dnn.scope %batch "model.layers.3" number 4 layer 3
  %l3 = dnn.scope %batch "model.layers.3" number 4 layer 3
  // CHECK-NEXT: %q_k_proj_weight = dnn.weight %scope ["q_proj.weight", "k_proj.weight"] of attention : <panels, 12x8xbf16>
  %q_k_proj_weight = dnn.weight %scope ["q_proj.weight", "k_proj.weight"] of attention : <panels, 12x8xbf16>
  // CHECK-NEXT: %norm_weight = dnn.weight %scope ["norm.weight"] of norm index 2 : <vector, 8x1xf32>
  %norm_weight = dnn.weight %scope ["norm.weight"] of norm index 2 : <vector, 8x1xf32>
  // CHECK-NEXT: %up_weight = dnn.weight %scope ["experts.*.up.weight"] of ffn index 4 : <panels, 6x4x8xbf16>
  %up_weight = dnn.weight %scope ["experts.*.up.weight"] of ffn index 4 : <panels, 6x4x8xbf16>
  return
}

// CHECK-LABEL: @tables(
func.func @tables(%scope: !transformer.scope) {
  // CHECK-NEXT: %table = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %scope index 1 : <row_major, 128x4xf32>
  %table = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %scope index 1 : <row_major, 128x4xf32>
  // CHECK-NEXT: %table_0 = dnn.table #transformer.sinusoid<interleaved> in %scope : <row_major, 128x8xf32>
  %table_0 = dnn.table #transformer.sinusoid<interleaved> in %scope : <row_major, 128x8xf32>
  // CHECK-NEXT: %table_1 = dnn.table #transformer.buckets<32, max = 128> in %scope of "relative_attention_bias.weight" index 3 : <row_major, 2x257xf32>
  %table_1 = dnn.table #transformer.buckets<32, max = 128> in %scope of "relative_attention_bias.weight" index 3 : <row_major, 2x257xf32>
  // CHECK-NEXT: %table_2 = dnn.table #transformer.alibi<max = 8.0> in %scope : <row_major, 2x1xf32>
  %table_2 = dnn.table #transformer.alibi<max = 8.0> in %scope : <row_major, 2x1xf32>
  return
}

// What a matmul makes is called after the weight.
// CHECK-LABEL: @names(
func.func @names(%scope: !transformer.scope, %x: tensor<?x8xf32>, %x_0: tensor<?x12xf32>) {
  // CHECK-NEXT: %q_k_proj_weight = dnn.weight %scope ["attn.q_proj.weight", "attn.k_proj.weight"] of attention : <panels, 12x8xf32>
  %q_k_proj_weight = dnn.weight %scope ["attn.q_proj.weight", "attn.k_proj.weight"] of attention : <panels, 12x8xf32>
  // CHECK-NEXT: %q_k_proj = dnn.matmul %x weight %q_k_proj_weight outs(%x_0) : (tensor<?x8xf32>, !dnn.packed<panels, 12x8xf32>, tensor<?x12xf32>) -> tensor<?x12xf32>
  %q_k_proj = dnn.matmul %x weight %q_k_proj_weight outs(%x_0) : (tensor<?x8xf32>, !dnn.packed<panels, 12x8xf32>, tensor<?x12xf32>) -> tensor<?x12xf32>
  return
}

// A function returns results on tensors and takes destinations on buffers.
// CHECK-LABEL: @dispatches(
func.func @dispatches(%batch: !transformer.batch, %x: tensor<?x8xf32>, %x_0: memref<?x8xf32>) {
  // CHECK-NEXT: %x_1 = dnn.dispatch @t.few or @t.many by tokens of %batch(%batch, %x) outs(%x) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %x_1 = dnn.dispatch @t.few or @t.many by tokens of %batch(%batch, %x) outs(%x) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.dispatch @b.few or @b.many by output_rows of %batch(%batch, %x_0) outs(%x_0) : (!transformer.batch, !transformer.batch, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.dispatch @b.few or @b.many by output_rows of %batch(%batch, %x_0) outs(%x_0) : (!transformer.batch, !transformer.batch, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
func.func private @t.few(!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>}
func.func private @t.many(!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>}
func.func private @b.few(!transformer.batch, memref<?x8xf32>, memref<?x8xf32>) attributes {transformer.variant = #transformer.variant<few>}
func.func private @b.many(!transformer.batch, memref<?x8xf32>, memref<?x8xf32>) attributes {transformer.variant = #transformer.variant<many>}
