module attributes {transformer.family = "mistral", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer_window(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x16xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<64x64xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<32x64xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<32x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 4 <half, dim = 16, base = 1.0e+04> : tensor<?x64xf32>
    %rotated_0 = transformer.rope %k_proj, %arg1 heads 2 <half, dim = 16, base = 1.0e+04> : tensor<?x32xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 4 kv_heads 2 scale 2.500000e-01 window 128 : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_1 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_proj_weight = transformer.parameter %arg0 "mlp.gate_proj.weight" of ffn : tensor<176x64xf32>
    %up_proj_weight = transformer.parameter %arg0 "mlp.up_proj.weight" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %arg0 "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_1 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_2 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_2, %cache : tensor<?x64xf32>, !transformer.cache<2x16xf32>
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
    %1:2 = call @layer_window(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer_window(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %3 = call @head(%model_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

