module attributes {transformer.family = "llama", transformer.max_sequence = 128 : i64, transformer.vocabulary = 97 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x72xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<97x72xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<97x72xf32>) -> tensor<?x72xf32>
    return %embedding : tensor<?x72xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x24xf32>, %x: tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<72xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<144x72xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<72x72xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<72x72xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x72xf32>, tensor<144x72xf32>) -> tensor<?x144xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x72xf32>, tensor<72x72xf32>) -> tensor<?x72xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x72xf32>, tensor<72x72xf32>) -> tensor<?x72xf32>
    %rotated = transformer.rope %q_proj, %batch heads 6 <half, dim = 24, base = 10000.0> : tensor<?x144xf32>
    %rotated_0 = transformer.rope %k_proj, %batch heads 3 <half, dim = 24, base = 10000.0> : tensor<?x72xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %rotated_0 values %v_proj : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_1[%scope] heads 6 kv_heads 3 scale 0.20412415 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<72x144xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x144xf32>, tensor<72x144xf32>) -> tensor<?x72xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x72xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<72xf32>
    %normed_2 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %gate_proj_weight = transformer.parameter %scope "mlp.gate_proj.weight" of ffn : tensor<264x72xf32>
    %up_proj_weight = transformer.parameter %scope "mlp.up_proj.weight" of ffn : tensor<264x72xf32>
    %down_proj_weight = transformer.parameter %scope "mlp.down_proj.weight" of ffn : tensor<72x264xf32>
    %ffn = transformer.gated_feed_forward silu %normed_2 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
    %sum_3 = transformer.residual %sum, %ffn : tensor<?x72xf32>
    return %sum_3, %cache_1 : tensor<?x72xf32>, !transformer.cache<3x24xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x72xf32>) -> tensor<?x97xf32> {
    %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<72xf32>
    %normed = transformer.rms_norm %x, %norm_weight eps 1e-05 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %lm_head_weight = transformer.parameter %scope_0 "lm_head.weight" of head : tensor<97x72xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xf32>) -> tensor<?x97xf32>
    return %logits : tensor<?x97xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x24xf32>) -> (tensor<?x97xf32>, !transformer.cache<3x24xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %root = transformer.scope ""
    %model = transformer.scope "model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x24xf32>, tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x24xf32>, tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>)
    %x_4 = call @head(%model, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x72xf32>) -> tensor<?x97xf32>
    return %x_4, %cache_3 : tensor<?x97xf32>, !transformer.cache<3x24xf32>
  }
}
