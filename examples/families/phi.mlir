module attributes {transformer.family = "phi", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x96xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x96xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x96xf32>) -> tensor<?x96xf32>
    return %embedding : tensor<?x96xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x32xf32>, %x: tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<3x32xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<96xf32>
    %input_layernorm_bias = transformer.parameter %scope "input_layernorm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %input_layernorm_weight, %input_layernorm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<96x96xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<96xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<96x96xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<96xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<96x96xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<96xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %q_layernorm_weight = transformer.parameter %scope "self_attn.q_layernorm.weight" of norm : tensor<32xf32>
    %q_layernorm_bias = transformer.parameter %scope "self_attn.q_layernorm.bias" of norm : tensor<32xf32>
    %normed_0 = transformer.layer_norm %q_proj, %q_layernorm_weight, %q_layernorm_bias eps 1e-05 groups 3 : (tensor<?x96xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x96xf32>
    %k_layernorm_weight = transformer.parameter %scope "self_attn.k_layernorm.weight" of norm : tensor<32xf32>
    %k_layernorm_bias = transformer.parameter %scope "self_attn.k_layernorm.bias" of norm : tensor<32xf32>
    %normed_1 = transformer.layer_norm %k_proj, %k_layernorm_weight, %k_layernorm_bias eps 1e-05 groups 3 : (tensor<?x96xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x96xf32>
    %rotated = transformer.rope %normed_0, %batch heads 3 <half, dim = 16, base = 10000.0> : tensor<?x96xf32>
    %rotated_2 = transformer.rope %normed_1, %batch heads 3 <half, dim = 16, base = 10000.0> : tensor<?x96xf32>
    %cache_3 = transformer.cache_append %cache[%scope], %batch keys %rotated_2 values %v_proj : (!transformer.cache<3x32xf32>, !transformer.scope, !transformer.batch, tensor<?x96xf32>, tensor<?x96xf32>) -> !transformer.cache<3x32xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_3[%scope] heads 3 kv_heads 3 scale 0.17677669 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<3x32xf32>, !transformer.scope) -> tensor<?x96xf32>
    %dense_weight = transformer.parameter %scope "self_attn.dense.weight" of attention : tensor<96x96xf32>
    %dense_bias = transformer.parameter %scope "self_attn.dense.bias" of attention : tensor<96xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %fc1_weight = transformer.parameter %scope "mlp.fc1.weight" of ffn : tensor<264x96xf32>
    %fc1_bias = transformer.parameter %scope "mlp.fc1.bias" of ffn : tensor<264xf32>
    %fc2_weight = transformer.parameter %scope "mlp.fc2.weight" of ffn : tensor<96x264xf32>
    %fc2_bias = transformer.parameter %scope "mlp.fc2.bias" of ffn : tensor<96xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x96xf32>, tensor<264x96xf32>, tensor<96x264xf32>, tensor<264xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %sum = transformer.residual %x, %dense : tensor<?x96xf32>
    %sum_4 = transformer.residual %sum, %ffn : tensor<?x96xf32>
    return %sum_4, %cache_3 : tensor<?x96xf32>, !transformer.cache<3x32xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x96xf32>) -> tensor<?x1000xf32> {
    %final_layernorm_weight = transformer.parameter %scope "final_layernorm.weight" of norm : tensor<96xf32>
    %final_layernorm_bias = transformer.parameter %scope "final_layernorm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %final_layernorm_weight, %final_layernorm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %lm_head_weight = transformer.parameter %scope_0 "lm_head.weight" of head : tensor<1000x96xf32>
    %lm_head_bias = transformer.parameter %scope_0 "lm_head.bias" of head : tensor<1000xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight bias %lm_head_bias : (tensor<?x96xf32>, !transformer.batch, tensor<1000x96xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x32xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x32xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x96xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x32xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<3x32xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x32xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<3x32xf32>)
    %model_4 = transformer.scope "model"
    %root = transformer.scope ""
    %x_5 = call @head(%model_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x96xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<3x32xf32>
  }
}

