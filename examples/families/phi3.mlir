module attributes {transformer.family = "phi3", transformer.max_sequence = 1024 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x16xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %qkv_proj_weight = transformer.parameter %arg0 "self_attn.qkv_proj.weight[0:64]" of attention : tensor<64x64xf32>
    %qkv_proj_weight_0 = transformer.parameter %arg0 "self_attn.qkv_proj.weight[64:96]" of attention : tensor<32x64xf32>
    %qkv_proj_weight_1 = transformer.parameter %arg0 "self_attn.qkv_proj.weight[96:128]" of attention : tensor<32x64xf32>
    %linear = transformer.linear %normed, %qkv_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %linear_2 = transformer.linear %normed, %qkv_proj_weight_0 : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %linear_3 = transformer.linear %normed, %qkv_proj_weight_1 : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %linear, %arg1 heads 4 <half, dim = 16, base = 1.0e+04, longrope(attention = 1.0540925533894598, 1.0, 1.3, 1.9, 2.8, 4.0, 5.6, 7.7, 10.3)> : tensor<?x64xf32>
    %rotated_4 = transformer.rope %linear_2, %arg1 heads 2 <half, dim = 16, base = 1.0e+04, longrope(attention = 1.0540925533894598, 1.0, 1.3, 1.9, 2.8, 4.0, 5.6, 7.7, 10.3)> : tensor<?x32xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_4 values %linear_3 : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 4 kv_heads 2 scale 2.500000e-01 : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_5 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_up_proj_weight = transformer.parameter %arg0 "mlp.gate_up_proj.weight[0:176]" of ffn : tensor<176x64xf32>
    %gate_up_proj_weight_6 = transformer.parameter %arg0 "mlp.gate_up_proj.weight[176:352]" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %arg0 "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_5 gate %gate_up_proj_weight up %gate_up_proj_weight_6 down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_7 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_7, %cache : tensor<?x64xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x64xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %norm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %lm_head_weight = transformer.parameter %arg1 "lm_head.weight" of head : tensor<1000x64xf32>
    %logits = transformer.lm_head %normed, %arg2, %lm_head_weight : (tensor<?x64xf32>, !transformer.batch, tensor<1000x64xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %0 = call @embed(%model, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x64xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %3 = call @head(%model_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

