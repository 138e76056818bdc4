module attributes {transformer.family = "deepseek_v2", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x40xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<96x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<96x64xf32>) -> tensor<?x96xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 4 from 16 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x96xf32>
    %kv_a_proj_with_mqa_weight = transformer.parameter %arg0 "self_attn.kv_a_proj_with_mqa.weight" of attention : tensor<40x64xf32>
    %kv_a_proj_with_mqa = transformer.linear %normed, %kv_a_proj_with_mqa_weight : (tensor<?x64xf32>, tensor<40x64xf32>) -> tensor<?x40xf32>
    %columns = transformer.columns %kv_a_proj_with_mqa from 0 : (tensor<?x40xf32>) -> tensor<?x32xf32>
    %kv_a_layernorm_weight = transformer.parameter %arg0 "self_attn.kv_a_layernorm.weight" of norm : tensor<32xf32>
    %normed_0 = transformer.rms_norm %columns, %kv_a_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %columns_1 = transformer.columns %kv_a_proj_with_mqa from 32 : (tensor<?x40xf32>) -> tensor<?x8xf32>
    %rotated_2 = transformer.rope %columns_1, %arg1 heads 1 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x8xf32>
    %cache = transformer.latent_append %arg2[%arg0], %arg1 latent %normed_0 rotated %rotated_2 : (!transformer.cache<latent 1x40xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xf32>
    %kv_b_proj_weight = transformer.parameter %arg0 "self_attn.kv_b_proj.weight" of attention : tensor<128x32xf32>
    %attended = transformer.latent_attention %rotated, %arg1 cache %cache[%arg0] expand %kv_b_proj_weight heads 4 key_dim 16 value_dim 16 scale 0.20412414523193154 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<latent 1x40xf32>, !transformer.scope, tensor<128x32xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_3 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_proj_weight = transformer.parameter %arg0 "mlp.gate_proj.weight" of ffn : tensor<176x64xf32>
    %up_proj_weight = transformer.parameter %arg0 "mlp.up_proj.weight" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %arg0 "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_3 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_4 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_4, %cache : tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>
  }
  func.func private @layer_mixture(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<latent 1x40xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<96x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<96x64xf32>) -> tensor<?x96xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 4 from 16 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x96xf32>
    %kv_a_proj_with_mqa_weight = transformer.parameter %arg0 "self_attn.kv_a_proj_with_mqa.weight" of attention : tensor<40x64xf32>
    %kv_a_proj_with_mqa = transformer.linear %normed, %kv_a_proj_with_mqa_weight : (tensor<?x64xf32>, tensor<40x64xf32>) -> tensor<?x40xf32>
    %columns = transformer.columns %kv_a_proj_with_mqa from 0 : (tensor<?x40xf32>) -> tensor<?x32xf32>
    %kv_a_layernorm_weight = transformer.parameter %arg0 "self_attn.kv_a_layernorm.weight" of norm : tensor<32xf32>
    %normed_0 = transformer.rms_norm %columns, %kv_a_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %columns_1 = transformer.columns %kv_a_proj_with_mqa from 32 : (tensor<?x40xf32>) -> tensor<?x8xf32>
    %rotated_2 = transformer.rope %columns_1, %arg1 heads 1 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x8xf32>
    %cache = transformer.latent_append %arg2[%arg0], %arg1 latent %normed_0 rotated %rotated_2 : (!transformer.cache<latent 1x40xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xf32>
    %kv_b_proj_weight = transformer.parameter %arg0 "self_attn.kv_b_proj.weight" of attention : tensor<128x32xf32>
    %attended = transformer.latent_attention %rotated, %arg1 cache %cache[%arg0] expand %kv_b_proj_weight heads 4 key_dim 16 value_dim 16 scale 0.20412414523193154 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<latent 1x40xf32>, !transformer.scope, tensor<128x32xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_3 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_weight = transformer.parameter %arg0 "mlp.gate.weight" of ffn : tensor<8x64xf32>
    %gate = transformer.linear %normed_3, %gate_weight : (tensor<?x64xf32>, tensor<8x64xf32>) -> tensor<?x8xf32>
    %gate_proj_weight = transformer.parameter %arg0 "mlp.experts.*.gate_proj.weight" of ffn : tensor<8x48x64xf32>
    %up_proj_weight = transformer.parameter %arg0 "mlp.experts.*.up_proj.weight" of ffn : tensor<8x48x64xf32>
    %down_proj_weight = transformer.parameter %arg0 "mlp.experts.*.down_proj.weight" of ffn : tensor<8x64x48xf32>
    %mixture = transformer.mixture silu %normed_3, %gate <softmax, top = 2> gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<?x8xf32>, tensor<8x48x64xf32>, tensor<8x48x64xf32>, tensor<8x64x48xf32>) -> tensor<?x64xf32>
    %gate_proj_weight_4 = transformer.parameter %arg0 "mlp.shared_experts.gate_proj.weight" of ffn : tensor<96x64xf32>
    %up_proj_weight_5 = transformer.parameter %arg0 "mlp.shared_experts.up_proj.weight" of ffn : tensor<96x64xf32>
    %down_proj_weight_6 = transformer.parameter %arg0 "mlp.shared_experts.down_proj.weight" of ffn : tensor<64x96xf32>
    %ffn = transformer.gated_feed_forward silu %normed_3 gate %gate_proj_weight_4 up %up_proj_weight_5 down %down_proj_weight_6 : (tensor<?x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>, tensor<64x96xf32>) -> tensor<?x64xf32>
    %sum_7 = transformer.residual %mixture, %ffn : tensor<?x64xf32>
    %sum_8 = transformer.residual %sum, %sum_7 : tensor<?x64xf32>
    return %sum_8, %cache : tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x64xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %arg0 "norm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %norm_weight eps 9.9999999999999995E-7 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %lm_head_weight = transformer.parameter %arg1 "lm_head.weight" of head : tensor<1000x64xf32>
    %logits = transformer.lm_head %normed, %arg2, %lm_head_weight : (tensor<?x64xf32>, !transformer.batch, tensor<1000x64xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<latent 1x40xf32>) -> (tensor<?x1000xf32>, !transformer.cache<latent 1x40xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %0 = call @embed(%model, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x64xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<latent 1x40xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer_mixture(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<latent 1x40xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>)
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %3 = call @head(%model_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<latent 1x40xf32>
  }
}

