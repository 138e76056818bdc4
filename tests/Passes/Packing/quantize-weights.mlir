// What int8 and int4 change: matrices that are multiplied; heads, token
// embeddings and projections to values in more bits.
// RUN: %tenon-opt %s --quantize-weights=format=int8 | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: %tenon-opt %s --quantize-weights=format=int4 | FileCheck %s --check-prefixes=CHECK,INT4
// RUN: %tenon-opt %s --quantize-weights="format=int4 exclude=l0.*,nothing" | FileCheck %s --check-prefix=EXCLUDE
// RUN: %tenon-opt %s --quantize-weights="format=int4 exclude=encoder.kv" | FileCheck %s --check-prefix=SLICED
// RUN: %tenon-opt %s --quantize-weights="format=int4 exclude=l0.gate" | FileCheck %s --check-prefix=GATE
// RUN: %tenon-opt %s --quantize-weights | FileCheck %s --check-prefix=NONE
// RUN: not %tenon-opt %s --quantize-weights=format=int3 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not %tenon-opt %s --quantize-weights="format=int4 exclude=[" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: %tenon-opt %s --quantize-weights=format=int4 --remark-policy=all --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// NONE-NOT: transformer.quant
// ERROR: format: expected none, int8 or int4, got 'int3'
// PATTERN: exclude: '[':
// REMARK: table is quantised to q6_0
// REMARK: up is quantised to iq4_nl
// REMARK-NOT: norm is

!batch = !transformer.batch
!scope = !transformer.scope

// The table is also the head, under another key of another scope.
// CHECK-LABEL: @embed
// INT8: "table" of embedding : tensor<100x256x!transformer.quant<q8_0>>
// INT4: "table" of embedding : tensor<100x256x!transformer.quant<q6_0>>
// CHECK: "positions" of embedding : tensor<16x256xf32>
func.func private @embed(%s: !scope, %b: !batch) -> tensor<?x256xf32> {
  %t = transformer.parameter %s "table" of embedding : tensor<100x256xf32>
  %p = transformer.parameter %s "positions" of embedding : tensor<16x256xf32>
  %0 = transformer.embedding token %b, %t : (!batch, tensor<100x256xf32>) -> tensor<?x256xf32>
  %1 = transformer.embedding position %b, %p : (!batch, tensor<16x256xf32>) -> tensor<?x256xf32>
  %2 = transformer.residual %0, %1 : tensor<?x256xf32>
  return %2 : tensor<?x256xf32>
}

// Routers, norms and matrices of few output features stay.
// CHECK-LABEL: @layer
// CHECK: "norm" of norm : tensor<256xf32>
// INT8: "up" of ffn : tensor<80x256x!transformer.quant<q8_0>>
// INT4: "up" of ffn : tensor<80x256x!transformer.quant<iq4_nl>>
// CHECK: "down" of ffn : tensor<256x80x!transformer.quant
// CHECK: "small" of ffn : tensor<8x256xbf16>
// CHECK: "router" of ffn : tensor<64x256xf32>
// CHECK: "gate" of ffn : tensor<64x96x256x!transformer.quant
// Experts' gates and ups are read side by side, in one format.
// GATE-LABEL: @layer
// GATE: "gate" of ffn : tensor<64x96x256xbf16>
// GATE: "experts_up" of ffn : tensor<64x96x256xbf16>
// GATE: "experts_down" of ffn : tensor<64x256x96x!transformer.quant<iq4_nl>>
// EXCLUDE-LABEL: @embed
// EXCLUDE: "table" {{.*}}quant<q6_0>
// EXCLUDE-LABEL: @layer
// EXCLUDE-NOT: transformer.quant
// EXCLUDE: return
// A layer of which other matrices are excluded is a function of its own.
// EXCLUDE-LABEL: @layer_1
// EXCLUDE: "norm" of norm : tensor<256xf32>
// EXCLUDE: "up" of ffn : tensor<80x256x!transformer.quant<iq4_nl>>
func.func private @layer(%s: !scope, %b: !batch, %x: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %n = transformer.parameter %s "norm" of norm : tensor<256xf32>
  %u = transformer.parameter %s "up" of ffn : tensor<80x256xbf16>
  %d = transformer.parameter %s "down" of ffn : tensor<256x80xf32>
  %w = transformer.parameter %s "small" of ffn : tensor<8x256xbf16>
  %r = transformer.parameter %s "router" of ffn : tensor<64x256xf32>
  %g = transformer.parameter %s "gate" of ffn : tensor<64x96x256xbf16>
  %e = transformer.parameter %s "experts_up" of ffn : tensor<64x96x256xbf16>
  %o = transformer.parameter %s "experts_down" of ffn : tensor<64x256x96xbf16>
  %0 = transformer.rms_norm %x, %n eps 1e-05 : (tensor<?x256xf32>, tensor<256xf32>) -> tensor<?x256xf32>
  %1 = transformer.linear %0, %u : (tensor<?x256xf32>, tensor<80x256xbf16>) -> tensor<?x80xf32>
  %2 = transformer.linear %1, %d : (tensor<?x80xf32>, tensor<256x80xf32>) -> tensor<?x256xf32>
  %3 = transformer.linear %2, %w : (tensor<?x256xf32>, tensor<8x256xbf16>) -> tensor<?x8xf32>
  %4 = transformer.linear %2, %r : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %6 = transformer.moe silu %2, %4 <softmax, top = 2> gate %g up %e down %o : (tensor<?x256xf32>, tensor<?x64xf32>, tensor<64x96x256xbf16>, tensor<64x96x256xbf16>, tensor<64x256x96xbf16>) -> tensor<?x256xf32>
  return %6 : tensor<?x256xf32>
}

// The matrix that makes values, of a cache or of attention without one.
// CHECK-LABEL: @cached
// INT8-COUNT-3: 64x256x!transformer.quant<q8_0>>
// INT4: "q" of attention : tensor<64x256x!transformer.quant<iq4_nl>>
// INT4: "k" of attention : tensor<64x256x!transformer.quant<iq4_nl>>
// INT4: "v" of attention : tensor<64x256x!transformer.quant<q6_0>>
func.func private @cached(%s: !scope, %b: !batch, %c: !transformer.cache<1x64xf32>, %x: tensor<?x256xf32>) -> (tensor<?x64xf32>, !transformer.cache<1x64xf32>) {
  %wq = transformer.parameter %s "q" of attention : tensor<64x256xf32>
  %wk = transformer.parameter %s "k" of attention : tensor<64x256xf32>
  %wv = transformer.parameter %s "v" of attention : tensor<64x256xf32>
  %q = transformer.linear %x, %wq : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %k = transformer.linear %x, %wk : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %v = transformer.linear %x, %wv : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %c1 = transformer.cache_append %c[%s], %b keys %k values %v : (!transformer.cache<1x64xf32>, !scope, !batch, tensor<?x64xf32>, tensor<?x64xf32>) -> !transformer.cache<1x64xf32>
  %0 = transformer.attention causal %q, %b cache %c1[%s] heads 1 kv_heads 1 scale 0.125 : (tensor<?x64xf32>, !batch, !transformer.cache<1x64xf32>, !scope) -> tensor<?x64xf32>
  return %0, %c1 : tensor<?x64xf32>, !transformer.cache<1x64xf32>
}

// CHECK-LABEL: @both_ways
// A pattern may name the tensor that a parameter is a part of.
// SLICED-LABEL: @both_ways
// SLICED: "kv^T[0:64]" of attention : tensor<64x256xf32>
// SLICED: "v" of attention : tensor<64x256x!transformer.quant<q6_0>>
// INT4: "kv^T[0:64]" of attention : tensor<64x256x!transformer.quant<iq4_nl>>
// INT4: "v" of attention : tensor<64x256x!transformer.quant<q6_0>>
func.func private @both_ways(%s: !scope, %b: !batch, %x: tensor<?x256xf32>) -> tensor<?x64xf32> {
  %wk = transformer.parameter %s "kv^T[0:64]" of attention : tensor<64x256xf32>
  %wv = transformer.parameter %s "v" of attention : tensor<64x256xf32>
  %k = transformer.linear %x, %wk : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %v = transformer.linear %x, %wv : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %0 = transformer.attention bidirectional %k, %b keys %k values %v heads 1 kv_heads 1 scale 0.125 : (tensor<?x64xf32>, !batch, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: @head
// INT8: "m.table" of head : tensor<100x256x!transformer.quant<q8_0>>
// INT4: "m.table" of head : tensor<100x256x!transformer.quant<q6_0>>
func.func private @head(%s: !scope, %b: !batch, %x: tensor<?x256xf32>) -> tensor<?x100xf32> {
  %t = transformer.parameter %s "m.table" of head : tensor<100x256xf32>
  %0 = transformer.lm_head %x, %b, %t : (tensor<?x256xf32>, !batch, tensor<100x256xf32>) -> tensor<?x100xf32>
  return %0 : tensor<?x100xf32>
}

// EXCLUDE-LABEL: @step
// EXCLUDE: call @layer(
// EXCLUDE-COUNT-2: call @layer_1(
func.func @step(%b: !batch, %c: !transformer.cache<1x64xf32>) -> (tensor<?x100xf32>, !transformer.cache<1x64xf32>) attributes {transformer.role = "step", transformer.output = "logits"} {
  %root = transformer.scope ""
  %m = transformer.scope "m"
  %l = transformer.scope "l0"
  %0 = call @embed(%m, %b) : (!scope, !batch) -> tensor<?x256xf32>
  %x0 = call @layer(%l, %b, %0) : (!scope, !batch, tensor<?x256xf32>) -> tensor<?x256xf32>
  %l1 = transformer.scope "l1"
  %x1 = call @layer(%l1, %b, %x0) : (!scope, !batch, tensor<?x256xf32>) -> tensor<?x256xf32>
  %l2 = transformer.scope "l2"
  %1 = call @layer(%l2, %b, %x1) : (!scope, !batch, tensor<?x256xf32>) -> tensor<?x256xf32>
  %e = transformer.scope "encoder"
  %4 = call @both_ways(%e, %b, %1) : (!scope, !batch, tensor<?x256xf32>) -> tensor<?x64xf32>
  %d = transformer.scope "decoder"
  %5, %c1 = call @cached(%d, %b, %c, %1) : (!scope, !batch, !transformer.cache<1x64xf32>, tensor<?x256xf32>) -> (tensor<?x64xf32>, !transformer.cache<1x64xf32>)
  %2 = call @head(%root, %b, %1) : (!scope, !batch, tensor<?x256xf32>) -> tensor<?x100xf32>
  return %2, %c1 : tensor<?x100xf32>, !transformer.cache<1x64xf32>
}
