module attributes {transformer.family = "starcoder2", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x96xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<1000x96xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<1000x96xf32>) -> tensor<?x96xf32>
    return %embedding : tensor<?x96xf32>
  }
  func.func private @layer_window(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x16xf32>, %arg3: tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<96xf32>
    %input_layernorm_bias = transformer.parameter %arg0 "input_layernorm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %arg3, %input_layernorm_weight, %input_layernorm_bias eps 1.000000e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<96x96xf32>
    %q_proj_bias = transformer.parameter %arg0 "self_attn.q_proj.bias" of attention : tensor<96xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<32x96xf32>
    %k_proj_bias = transformer.parameter %arg0 "self_attn.k_proj.bias" of attention : tensor<32xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<32x96xf32>
    %v_proj_bias = transformer.parameter %arg0 "self_attn.v_proj.bias" of attention : tensor<32xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x96xf32>, tensor<32x96xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x96xf32>, tensor<32x96xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 6 <half, dim = 16, base = 1.0e+05> : tensor<?x96xf32>
    %rotated_0 = transformer.rope %k_proj, %arg1 heads 2 <half, dim = 16, base = 1.0e+05> : tensor<?x32xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 6 kv_heads 2 scale 2.500000e-01 window 128 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x96xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<96x96xf32>
    %o_proj_bias = transformer.parameter %arg0 "self_attn.o_proj.bias" of attention : tensor<96xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight bias %o_proj_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x96xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<96xf32>
    %post_attention_layernorm_bias = transformer.parameter %arg0 "post_attention_layernorm.bias" of norm : tensor<96xf32>
    %normed_1 = transformer.layer_norm %sum, %post_attention_layernorm_weight, %post_attention_layernorm_bias eps 1.000000e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %c_fc_weight = transformer.parameter %arg0 "mlp.c_fc.weight" of ffn : tensor<264x96xf32>
    %c_fc_bias = transformer.parameter %arg0 "mlp.c_fc.bias" of ffn : tensor<264xf32>
    %c_proj_weight = transformer.parameter %arg0 "mlp.c_proj.weight" of ffn : tensor<96x264xf32>
    %c_proj_bias = transformer.parameter %arg0 "mlp.c_proj.bias" of ffn : tensor<96xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed_1 up %c_fc_weight bias %c_fc_bias down %c_proj_weight bias %c_proj_bias : (tensor<?x96xf32>, tensor<264x96xf32>, tensor<96x264xf32>, tensor<264xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %sum_2 = transformer.residual %sum, %ffn : tensor<?x96xf32>
    return %sum_2, %cache : tensor<?x96xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x96xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<96xf32>
    %norm_bias = transformer.parameter %arg0 "norm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %arg3, %norm_weight, %norm_bias eps 1.000000e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %embed_tokens_weight = transformer.parameter %arg1 "model.embed_tokens.weight" of head : tensor<1000x96xf32>
    %logits = transformer.lm_head %normed, %arg2, %embed_tokens_weight : (tensor<?x96xf32>, !transformer.batch, tensor<1000x96xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %0 = call @embed(%model, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x96xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %1:2 = call @layer_window(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer_window(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %3 = call @head(%model_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x96xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

