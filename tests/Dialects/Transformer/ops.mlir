// Every operation of a model, in every form, survives printing and parsing.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// Results are called after the parameter or the layer.
// CHECK-LABEL: @scopes(
func.func @scopes() {
  // CHECK-NEXT: %root = transformer.scope ""
  %root = transformer.scope ""
  // CHECK-NEXT: %encoder = transformer.scope "model.encoder"
  %encoder = transformer.scope "model.encoder"
  // CHECK-NEXT: %l3 = transformer.scope "model.layers.3" layer 3
  %l3 = transformer.scope "model.layers.3" layer 3
  return
}

// CHECK-LABEL: @parameters(
func.func @parameters(%scope: !transformer.scope) {
  // CHECK-NEXT: %embed_weight = transformer.parameter %scope "embed.weight" of embedding : tensor<97x72xf32>
  %embed_weight = transformer.parameter %scope "embed.weight" of embedding : tensor<97x72xf32>
  // CHECK-NEXT: %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<72x72xbf16>
  %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<72x72xbf16>
  // CHECK-NEXT: %up_weight = transformer.parameter %scope "up.weight" of ffn : tensor<264x72xf16>
  %up_weight = transformer.parameter %scope "up.weight" of ffn : tensor<264x72xf16>
  // CHECK-NEXT: %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<72xf32>
  %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<72xf32>
  // CHECK-NEXT: %bias = transformer.parameter %scope "bias" of head : tensor<97xbf16>
  %bias = transformer.parameter %scope "bias" of head : tensor<97xbf16>
  return
}

// CHECK-LABEL: @embeddings(
func.func @embeddings(%batch: !transformer.batch, %x: tensor<97x72xbf16>) {
  // CHECK-NEXT: %embedding = transformer.embedding token %batch, %x : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding = transformer.embedding token %batch, %x : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %embedding_0 = transformer.embedding position %batch, %x : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding_0 = transformer.embedding position %batch, %x : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %embedding_1 = transformer.embedding token_type %batch, %x : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding_1 = transformer.embedding token_type %batch, %x : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @ropes(
func.func @ropes(%x: tensor<?x144xf32>, %batch: !transformer.batch) {
  // CHECK-NEXT: %rotated = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 10000.0> : tensor<?x144xf32>
  %rotated = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 10000.0> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_0 = transformer.rope %x, %batch heads 6 <interleaved, dim = 16, base = 10000.0> : tensor<?x144xf32>
  %rotated_0 = transformer.rope %x, %batch heads 6 <interleaved, dim = 16, base = 10000.0> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_1 = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 10000.0, linear(factor = 2.5)> : tensor<?x144xf32>
  %rotated_1 = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 10000.0, linear(factor = 2.5)> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_2 = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 500000.0, llama3(factor = 32.0, low = 1.0, high = 4.0, original = 8192.0)> : tensor<?x144xf32>
  %rotated_2 = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 500000.0, llama3(factor = 32.0, low = 1.0, high = 4.0, original = 8192.0)> : tensor<?x144xf32>
  return
}

// CHECK-LABEL: @norms(
func.func @norms(%x: tensor<?x72xf32>, %x_0: tensor<72xf32>, %x_1: tensor<72xbf16>, %x_2: tensor<24xf32>) {
  // CHECK-NEXT: %normed = transformer.layer_norm %x, %x_0, %x_1 eps 1e-12 : (tensor<?x72xf32>, tensor<72xf32>, tensor<72xbf16>) -> tensor<?x72xf32>
  %normed = transformer.layer_norm %x, %x_0, %x_1 eps 1e-12 : (tensor<?x72xf32>, tensor<72xf32>, tensor<72xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_3 = transformer.rms_norm %x, %x_0 eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_3 = transformer.rms_norm %x, %x_0 eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_4 = transformer.rms_norm %x, %x_2 eps 0.0009765625 groups 3 : (tensor<?x72xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  %normed_4 = transformer.rms_norm %x, %x_2 eps 0.0009765625 groups 3 : (tensor<?x72xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @linears(
func.func @linears(%x: tensor<?x72xf32>, %x_0: tensor<264x72xbf16>, %x_1: tensor<264xf32>) {
  // CHECK-NEXT: %linear = transformer.linear %x, %x_0 : (tensor<?x72xf32>, tensor<264x72xbf16>) -> tensor<?x264xf32>
  %linear = transformer.linear %x, %x_0 : (tensor<?x72xf32>, tensor<264x72xbf16>) -> tensor<?x264xf32>
  // CHECK-NEXT: %linear_2 = transformer.linear %x, %x_0 bias %x_1 : (tensor<?x72xf32>, tensor<264x72xbf16>, tensor<264xf32>) -> tensor<?x264xf32>
  %linear_2 = transformer.linear %x, %x_0 bias %x_1 : (tensor<?x72xf32>, tensor<264x72xbf16>, tensor<264xf32>) -> tensor<?x264xf32>
  return
}

// CHECK-LABEL: @feed_forwards(
func.func @feed_forwards(%x: tensor<?x72xf32>, %x_0: tensor<264x72xf32>, %x_1: tensor<72x264xf32>, %x_2: tensor<264xf32>, %x_3: tensor<72xf32>) {
  // CHECK-NEXT: %ffn = transformer.feed_forward relu %x up %x_0 down %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  %ffn = transformer.feed_forward relu %x up %x_0 down %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_4 = transformer.feed_forward gelu %x up %x_0 bias %x_2 down %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>) -> tensor<?x72xf32>
  %ffn_4 = transformer.feed_forward gelu %x up %x_0 bias %x_2 down %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_5 = transformer.feed_forward gelu_tanh %x up %x_0 down %x_1 bias %x_3 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %ffn_5 = transformer.feed_forward gelu_tanh %x up %x_0 down %x_1 bias %x_3 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_6 = transformer.feed_forward none %x up %x_0 bias %x_2 down %x_1 bias %x_3 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %ffn_6 = transformer.feed_forward none %x up %x_0 bias %x_2 down %x_1 bias %x_3 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @gated_feed_forwards(
func.func @gated_feed_forwards(%x: tensor<?x72xf32>, %x_0: tensor<264x72xf32>, %x_1: tensor<72x264xf32>, %x_2: tensor<264xf32>, %x_3: tensor<72xf32>) {
  // CHECK-NEXT: %ffn = transformer.gated_feed_forward silu %x gate %x_0 up %x_0 down %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  %ffn = transformer.gated_feed_forward silu %x gate %x_0 up %x_0 down %x_1 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_4 = transformer.gated_feed_forward gelu %x gate %x_0 bias %x_2 up %x_0 bias %x_2 down %x_1 bias %x_3 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %ffn_4 = transformer.gated_feed_forward gelu %x gate %x_0 bias %x_2 up %x_0 bias %x_2 down %x_1 bias %x_3 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @residuals(
func.func @residuals(%x: tensor<?x72xf32>, %x_0: tensor<?x72xf32>) {
  // CHECK-NEXT: %sum = transformer.residual %x, %x_0 : tensor<?x72xf32>
  %sum = transformer.residual %x, %x_0 : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @appends(
func.func @appends(%cache: !transformer.cache<3x24xf32>, %scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x72xf32>) {
  // CHECK-NEXT: %cache_0 = transformer.cache_append %cache[%scope], %batch keys %x values %x : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
  %cache_0 = transformer.cache_append %cache[%scope], %batch keys %x values %x : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
  return
}

// CHECK-LABEL: @attentions(
func.func @attentions(%x: tensor<?x144xf32>, %batch: !transformer.batch, %x_0: tensor<?x72xf32>, %cache: !transformer.cache<3x24xf32>, %scope: !transformer.scope) {
  // CHECK-NEXT: %attended = transformer.attention bidirectional %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended = transformer.attention bidirectional %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_1 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended_1 = transformer.attention causal %x, %batch keys %x_0 values %x_0 heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_2 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.20412414523193154 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_2 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.20412414523193154 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_3 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_3 = transformer.attention causal %x, %batch cache %cache[%scope] heads 6 kv_heads 3 scale 0.25 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  return
}

// CHECK-LABEL: @heads(
func.func @heads(%x: tensor<?x72xf32>, %batch: !transformer.batch, %x_0: tensor<97x72xbf16>, %x_1: tensor<97xf32>) {
  // CHECK-NEXT: %selected = transformer.select_output_rows %x, %batch : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %selected = transformer.select_output_rows %x, %batch : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %logits = transformer.lm_head %x, %batch, %x_0 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>) -> tensor<?x97xf32>
  %logits = transformer.lm_head %x, %batch, %x_0 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>) -> tensor<?x97xf32>
  // CHECK-NEXT: %logits_2 = transformer.lm_head %x, %batch, %x_0 bias %x_1 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>, tensor<97xf32>) -> tensor<?x97xf32>
  %logits_2 = transformer.lm_head %x, %batch, %x_0 bias %x_1 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>, tensor<97xf32>) -> tensor<?x97xf32>
  // CHECK-NEXT: %pooled = transformer.pool mean %x, %batch : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %pooled = transformer.pool mean %x, %batch : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %pooled_3 = transformer.pool cls %x, %batch normalize : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %pooled_3 = transformer.pool cls %x, %batch normalize : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %pooled_4 = transformer.pool last %x, %batch : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %pooled_4 = transformer.pool last %x, %batch : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  return
}
