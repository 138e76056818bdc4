// Every operation of a model, in every form, survives printing and parsing.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

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
func.func @parameters(%arg0: !transformer.scope) {
  // CHECK-NEXT: %embed_weight = transformer.parameter %arg0 "embed.weight" of embedding : tensor<97x72xf32>
  %embed_weight = transformer.parameter %arg0 "embed.weight" of embedding : tensor<97x72xf32>
  // CHECK-NEXT: %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<72x72xbf16>
  %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<72x72xbf16>
  // CHECK-NEXT: %up_weight = transformer.parameter %arg0 "up.weight" of ffn : tensor<264x72xf16>
  %up_weight = transformer.parameter %arg0 "up.weight" of ffn : tensor<264x72xf16>
  // CHECK-NEXT: %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<72xf32>
  %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<72xf32>
  // CHECK-NEXT: %bias = transformer.parameter %arg0 "bias" of head : tensor<97xbf16>
  %bias = transformer.parameter %arg0 "bias" of head : tensor<97xbf16>
  return
}

// CHECK-LABEL: @embeddings(
func.func @embeddings(%arg0: !transformer.batch, %arg1: tensor<97x72xbf16>) {
  // CHECK-NEXT: %embedding = transformer.embedding token %arg0, %arg1 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding = transformer.embedding token %arg0, %arg1 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %embedding_0 = transformer.embedding position %arg0, %arg1 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding_0 = transformer.embedding position %arg0, %arg1 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %embedding_1 = transformer.embedding token_type %arg0, %arg1 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding_1 = transformer.embedding token_type %arg0, %arg1 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @ropes(
func.func @ropes(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch) {
  // CHECK-NEXT: %rotated = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 1.0e+04> : tensor<?x144xf32>
  %rotated = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 1.0e+04> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_0 = transformer.rope %arg0, %arg1 heads 6 <interleaved, dim = 16, base = 1.0e+04> : tensor<?x144xf32>
  %rotated_0 = transformer.rope %arg0, %arg1 heads 6 <interleaved, dim = 16, base = 1.0e+04> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_1 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 1.0e+04, linear(factor = 2.5)> : tensor<?x144xf32>
  %rotated_1 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 1.0e+04, linear(factor = 2.5)> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_2 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 5.0e+05, llama3(factor = 32.0, low = 1.0, high = 4.0, original = 8192.0)> : tensor<?x144xf32>
  %rotated_2 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 5.0e+05, llama3(factor = 32.0, low = 1.0, high = 4.0, original = 8192.0)> : tensor<?x144xf32>
  return
}

// CHECK-LABEL: @norms(
func.func @norms(%arg0: tensor<?x72xf32>, %arg1: tensor<72xf32>, %arg2: tensor<72xbf16>, %arg3: tensor<24xf32>) {
  // CHECK-NEXT: %normed = transformer.layer_norm %arg0, %arg1, %arg2 eps 9.9999999999999998E-13 : (tensor<?x72xf32>, tensor<72xf32>, tensor<72xbf16>) -> tensor<?x72xf32>
  %normed = transformer.layer_norm %arg0, %arg1, %arg2 eps 9.9999999999999998E-13 : (tensor<?x72xf32>, tensor<72xf32>, tensor<72xbf16>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_0 = transformer.rms_norm %arg0, %arg1 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %normed_0 = transformer.rms_norm %arg0, %arg1 eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %normed_1 = transformer.rms_norm %arg0, %arg3 eps 9.765625E-4 groups 3 : (tensor<?x72xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  %normed_1 = transformer.rms_norm %arg0, %arg3 eps 9.765625E-4 groups 3 : (tensor<?x72xf32>, tensor<24xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @linears(
func.func @linears(%arg0: tensor<?x72xf32>, %arg1: tensor<264x72xbf16>, %arg2: tensor<264xf32>) {
  // CHECK-NEXT: %linear = transformer.linear %arg0, %arg1 : (tensor<?x72xf32>, tensor<264x72xbf16>) -> tensor<?x264xf32>
  %linear = transformer.linear %arg0, %arg1 : (tensor<?x72xf32>, tensor<264x72xbf16>) -> tensor<?x264xf32>
  // CHECK-NEXT: %linear_0 = transformer.linear %arg0, %arg1 bias %arg2 : (tensor<?x72xf32>, tensor<264x72xbf16>, tensor<264xf32>) -> tensor<?x264xf32>
  %linear_0 = transformer.linear %arg0, %arg1 bias %arg2 : (tensor<?x72xf32>, tensor<264x72xbf16>, tensor<264xf32>) -> tensor<?x264xf32>
  return
}

// CHECK-LABEL: @feed_forwards(
func.func @feed_forwards(%arg0: tensor<?x72xf32>, %arg1: tensor<264x72xf32>, %arg2: tensor<72x264xf32>, %arg3: tensor<264xf32>, %arg4: tensor<72xf32>) {
  // CHECK-NEXT: %ffn = transformer.feed_forward relu %arg0 up %arg1 down %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  %ffn = transformer.feed_forward relu %arg0 up %arg1 down %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_0 = transformer.feed_forward gelu %arg0 up %arg1 bias %arg3 down %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>) -> tensor<?x72xf32>
  %ffn_0 = transformer.feed_forward gelu %arg0 up %arg1 bias %arg3 down %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_1 = transformer.feed_forward gelu_tanh %arg0 up %arg1 down %arg2 bias %arg4 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %ffn_1 = transformer.feed_forward gelu_tanh %arg0 up %arg1 down %arg2 bias %arg4 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_2 = transformer.feed_forward none %arg0 up %arg1 bias %arg3 down %arg2 bias %arg4 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %ffn_2 = transformer.feed_forward none %arg0 up %arg1 bias %arg3 down %arg2 bias %arg4 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @gated_feed_forwards(
func.func @gated_feed_forwards(%arg0: tensor<?x72xf32>, %arg1: tensor<264x72xf32>, %arg2: tensor<72x264xf32>, %arg3: tensor<264xf32>, %arg4: tensor<72xf32>) {
  // CHECK-NEXT: %ffn = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg1 down %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  %ffn = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg1 down %arg2 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
  // CHECK-NEXT: %ffn_0 = transformer.gated_feed_forward gelu %arg0 gate %arg1 bias %arg3 up %arg1 bias %arg3 down %arg2 bias %arg4 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  %ffn_0 = transformer.gated_feed_forward gelu %arg0 gate %arg1 bias %arg3 up %arg1 bias %arg3 down %arg2 bias %arg4 : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>, tensor<264xf32>, tensor<264xf32>, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @residuals(
func.func @residuals(%arg0: tensor<?x72xf32>, %arg1: tensor<?x72xf32>) {
  // CHECK-NEXT: %sum = transformer.residual %arg0, %arg1 : tensor<?x72xf32>
  %sum = transformer.residual %arg0, %arg1 : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @appends(
func.func @appends(%arg0: !transformer.cache<3x24xf32>, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x72xf32>) {
  // CHECK-NEXT: %cache = transformer.cache_append %arg0[%arg1], %arg2 keys %arg3 values %arg3 : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
  %cache = transformer.cache_append %arg0[%arg1], %arg2 keys %arg3 values %arg3 : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
  return
}

// CHECK-LABEL: @attentions(
func.func @attentions(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch, %arg2: tensor<?x72xf32>, %arg3: !transformer.cache<3x24xf32>, %arg4: !transformer.scope) {
  // CHECK-NEXT: %attended = transformer.attention bidirectional %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended = transformer.attention bidirectional %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  %attended_0 = transformer.attention causal %arg0, %arg1 keys %arg2 values %arg2 heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_1 = transformer.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 6 kv_heads 3 scale 0.20412414523193154 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_1 = transformer.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 6 kv_heads 3 scale 0.20412414523193154 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  // CHECK-NEXT: %attended_2 = transformer.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  %attended_2 = transformer.attention causal %arg0, %arg1 cache %arg3[%arg4] heads 6 kv_heads 3 scale 2.500000e-01 window 16 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
  return
}

// CHECK-LABEL: @heads(
func.func @heads(%arg0: tensor<?x72xf32>, %arg1: !transformer.batch, %arg2: tensor<97x72xbf16>, %arg3: tensor<97xf32>) {
  // CHECK-NEXT: %wanted = transformer.select_rows %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %wanted = transformer.select_rows %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %logits = transformer.lm_head %arg0, %arg1, %arg2 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>) -> tensor<?x97xf32>
  %logits = transformer.lm_head %arg0, %arg1, %arg2 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>) -> tensor<?x97xf32>
  // CHECK-NEXT: %logits_0 = transformer.lm_head %arg0, %arg1, %arg2 bias %arg3 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>, tensor<97xf32>) -> tensor<?x97xf32>
  %logits_0 = transformer.lm_head %arg0, %arg1, %arg2 bias %arg3 : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xbf16>, tensor<97xf32>) -> tensor<?x97xf32>
  // CHECK-NEXT: %pooled = transformer.pool mean %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %pooled = transformer.pool mean %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %pooled_1 = transformer.pool cls %arg0, %arg1 normalize : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %pooled_1 = transformer.pool cls %arg0, %arg1 normalize : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  // CHECK-NEXT: %pooled_2 = transformer.pool last %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  %pooled_2 = transformer.pool last %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch) -> tensor<?x72xf32>
  return
}
