module attributes {transformer.family = "llama", transformer.max_sequence = 128 : i64, transformer.vocabulary = 97 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x72xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<97x72xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<97x72xf32>) -> tensor<?x72xf32>
    return %embedding : tensor<?x72xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<3x24xf32>, %arg3: tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<72xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<144x72xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<72x72xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<72x72xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x72xf32>, tensor<144x72xf32>) -> tensor<?x144xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x72xf32>, tensor<72x72xf32>) -> tensor<?x72xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x72xf32>, tensor<72x72xf32>) -> tensor<?x72xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 6 <half, dim = 24, base = 1.0e+04> : tensor<?x144xf32>
    %rotated_0 = transformer.rope %k_proj, %arg1 heads 3 <half, dim = 24, base = 1.0e+04> : tensor<?x72xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_0 values %v_proj : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 6 kv_heads 3 scale 0.20412414523193154 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<72x144xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x144xf32>, tensor<72x144xf32>) -> tensor<?x72xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x72xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<72xf32>
    %normed_1 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %gate_proj_weight = transformer.parameter %arg0 "mlp.gate_proj.weight" of ffn : tensor<264x72xf32>
    %up_proj_weight = transformer.parameter %arg0 "mlp.up_proj.weight" of ffn : tensor<264x72xf32>
    %down_proj_weight = transformer.parameter %arg0 "mlp.down_proj.weight" of ffn : tensor<72x264xf32>
    %ffn = transformer.gated_feed_forward silu %normed_1 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
    %sum_2 = transformer.residual %sum, %ffn : tensor<?x72xf32>
    return %sum_2, %cache : tensor<?x72xf32>, !transformer.cache<3x24xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x72xf32>) -> tensor<?x97xf32> {
    %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<72xf32>
    %normed = transformer.rms_norm %arg3, %norm_weight eps 1.000000e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %lm_head_weight = transformer.parameter %arg1 "lm_head.weight" of head : tensor<97x72xf32>
    %logits = transformer.lm_head %normed, %arg2, %lm_head_weight : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xf32>) -> tensor<?x97xf32>
    return %logits : tensor<?x97xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<3x24xf32>) -> (tensor<?x97xf32>, !transformer.cache<3x24xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %root = transformer.scope ""
    %model = transformer.scope "model"
    %0 = call @embed(%model, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x24xf32>, tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x24xf32>, tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>)
    %3 = call @head(%model, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x72xf32>) -> tensor<?x97xf32>
    return %3, %2#1 : tensor<?x97xf32>, !transformer.cache<3x24xf32>
  }
}
