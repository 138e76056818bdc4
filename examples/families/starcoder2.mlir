module attributes {transformer.family = "starcoder2", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x96xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x96xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x96xf32>) -> tensor<?x96xf32>
    return %embedding : tensor<?x96xf32>
  }
  func.func private @layer_window(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>, %x: tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<96xf32>
    %input_layernorm_bias = transformer.parameter %scope "input_layernorm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %input_layernorm_weight, %input_layernorm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<96x96xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<96xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<32x96xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<32xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<32x96xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<32xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x96xf32>, tensor<32x96xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x96xf32>, tensor<32x96xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %batch heads 6 <half, dim = 16, base = 100000.0> : tensor<?x96xf32>
    %rotated_0 = transformer.rope %k_proj, %batch heads 2 <half, dim = 16, base = 100000.0> : tensor<?x32xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_1[%scope] heads 6 kv_heads 2 scale 0.25 window 128 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x96xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<96x96xf32>
    %o_proj_bias = transformer.parameter %scope "self_attn.o_proj.bias" of attention : tensor<96xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight bias %o_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x96xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<96xf32>
    %post_attention_layernorm_bias = transformer.parameter %scope "post_attention_layernorm.bias" of norm : tensor<96xf32>
    %normed_2 = transformer.layer_norm %sum, %post_attention_layernorm_weight, %post_attention_layernorm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %c_fc_weight = transformer.parameter %scope "mlp.c_fc.weight" of ffn : tensor<264x96xf32>
    %c_fc_bias = transformer.parameter %scope "mlp.c_fc.bias" of ffn : tensor<264xf32>
    %c_proj_weight = transformer.parameter %scope "mlp.c_proj.weight" of ffn : tensor<96x264xf32>
    %c_proj_bias = transformer.parameter %scope "mlp.c_proj.bias" of ffn : tensor<96xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed_2 up %c_fc_weight bias %c_fc_bias down %c_proj_weight bias %c_proj_bias : (tensor<?x96xf32>, tensor<264x96xf32>, tensor<96x264xf32>, tensor<264xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %sum_3 = transformer.residual %sum, %ffn : tensor<?x96xf32>
    return %sum_3, %cache_1 : tensor<?x96xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x96xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<96xf32>
    %norm_bias = transformer.parameter %scope "norm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %norm_weight, %norm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %embed_tokens_weight = transformer.parameter %scope_0 "model.embed_tokens.weight" of head : tensor<1000x96xf32>
    %logits = transformer.lm_head %normed, %batch, %embed_tokens_weight : (tensor<?x96xf32>, !transformer.batch, tensor<1000x96xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x96xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %x_0, %cache_1 = call @layer_window(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x_2, %cache_3 = call @layer_window(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %model_4 = transformer.scope "model"
    %root = transformer.scope ""
    %x_5 = call @head(%model_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x96xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

