module attributes {transformer.family = "phi3", transformer.max_sequence = 1024 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>, %x: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %qkv_proj_weight = transformer.parameter %scope "self_attn.qkv_proj.weight[0:64]" of attention : tensor<64x64xf32>
    %qkv_proj_weight_0 = transformer.parameter %scope "self_attn.qkv_proj.weight[64:96]" of attention : tensor<32x64xf32>
    %qkv_proj_weight_1 = transformer.parameter %scope "self_attn.qkv_proj.weight[96:128]" of attention : tensor<32x64xf32>
    %linear = transformer.linear %normed, %qkv_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %linear_2 = transformer.linear %normed, %qkv_proj_weight_0 : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %linear_3 = transformer.linear %normed, %qkv_proj_weight_1 : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %linear, %batch heads 4 <half, dim = 16, base = 10000.0, longrope(attention = 1.0540925533894598, 1.0, 1.3, 1.9, 2.8, 4.0, 5.6, 7.7, 10.3)> : tensor<?x64xf32>
    %rotated_4 = transformer.rope %linear_2, %batch heads 2 <half, dim = 16, base = 10000.0, longrope(attention = 1.0540925533894598, 1.0, 1.3, 1.9, 2.8, 4.0, 5.6, 7.7, 10.3)> : tensor<?x32xf32>
    %cache_5 = transformer.cache_append %cache[%scope], %batch keys %rotated_4 values %linear_3 : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_5[%scope] heads 4 kv_heads 2 scale 0.25 : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_6 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_up_proj_weight = transformer.parameter %scope "mlp.gate_up_proj.weight[0:176]" of ffn : tensor<176x64xf32>
    %gate_up_proj_weight_7 = transformer.parameter %scope "mlp.gate_up_proj.weight[176:352]" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %scope "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_6 gate %gate_up_proj_weight up %gate_up_proj_weight_7 down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_8, %cache_5 : tensor<?x64xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x64xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %norm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %lm_head_weight = transformer.parameter %scope_0 "lm_head.weight" of head : tensor<1000x64xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight : (tensor<?x64xf32>, !transformer.batch, tensor<1000x64xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x64xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %model_4 = transformer.scope "model"
    %root = transformer.scope ""
    %x_5 = call @head(%model_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

