module attributes {transformer.family = "qwen3", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x32xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x32xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<128x64xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<64x64xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<64x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<128x64xf32>) -> tensor<?x128xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %q_norm_weight = transformer.parameter %arg0 "self_attn.q_norm.weight" of norm : tensor<32xf32>
    %normed_0 = transformer.rms_norm %q_proj, %q_norm_weight eps 9.9999999999999995E-7 groups 4 : (tensor<?x128xf32>, tensor<32xf32>) -> tensor<?x128xf32>
    %k_norm_weight = transformer.parameter %arg0 "self_attn.k_norm.weight" of norm : tensor<32xf32>
    %normed_1 = transformer.rms_norm %k_proj, %k_norm_weight eps 9.9999999999999995E-7 groups 2 : (tensor<?x64xf32>, tensor<32xf32>) -> tensor<?x64xf32>
    %rotated = transformer.rope %normed_0, %arg1 heads 4 <half, dim = 32, base = 1.0e+06> : tensor<?x128xf32>
    %rotated_2 = transformer.rope %normed_1, %arg1 heads 2 <half, dim = 32, base = 1.0e+06> : tensor<?x64xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_2 values %v_proj : (!transformer.cache<2x32xf32>, !transformer.scope, !transformer.batch, tensor<?x64xf32>, tensor<?x64xf32>) -> !transformer.cache<2x32xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 4 kv_heads 2 scale 0.17677669529663687 : (tensor<?x128xf32>, !transformer.batch, !transformer.cache<2x32xf32>, !transformer.scope) -> tensor<?x128xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x128xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x128xf32>, tensor<64x128xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_3 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_proj_weight = transformer.parameter %arg0 "mlp.gate_proj.weight" of ffn : tensor<176x64xf32>
    %up_proj_weight = transformer.parameter %arg0 "mlp.up_proj.weight" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %arg0 "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_3 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_4 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_4, %cache : tensor<?x64xf32>, !transformer.cache<2x32xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x64xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %norm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %embed_tokens_weight = transformer.parameter %arg1 "model.embed_tokens.weight" of head : tensor<1000x64xf32>
    %logits = transformer.lm_head %normed, %arg2, %embed_tokens_weight : (tensor<?x64xf32>, !transformer.batch, tensor<1000x64xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<2x32xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x32xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %0 = call @embed(%model, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x64xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x32xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x32xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x32xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x32xf32>)
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %3 = call @head(%model_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<2x32xf32>
  }
}

