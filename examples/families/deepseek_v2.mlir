module attributes {transformer.family = "deepseek_v2", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<latent 1x40xf32>, %x: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-06 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<96x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<96x64xf32>) -> tensor<?x96xf32>
    %rotated = transformer.rope %q_proj, %batch heads 4 from 16 <interleaved, dim = 8, base = 10000.0> : tensor<?x96xf32>
    %kv_a_proj_with_mqa_weight = transformer.parameter %scope "self_attn.kv_a_proj_with_mqa.weight" of attention : tensor<40x64xf32>
    %kv_a_proj_with_mqa = transformer.linear %normed, %kv_a_proj_with_mqa_weight : (tensor<?x64xf32>, tensor<40x64xf32>) -> tensor<?x40xf32>
    %slice = transformer.slice %kv_a_proj_with_mqa from 0 : (tensor<?x40xf32>) -> tensor<?x32xf32>
    %kv_a_layernorm_weight = transformer.parameter %scope "self_attn.kv_a_layernorm.weight" of norm : tensor<32xf32>
    %normed_0 = transformer.rms_norm %slice, %kv_a_layernorm_weight eps 1e-06 : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %slice_1 = transformer.slice %kv_a_proj_with_mqa from 32 : (tensor<?x40xf32>) -> tensor<?x8xf32>
    %rotated_2 = transformer.rope %slice_1, %batch heads 1 <interleaved, dim = 8, base = 10000.0> : tensor<?x8xf32>
    %cache_3 = transformer.latent_append %cache[%scope], %batch latent %normed_0 rotated %rotated_2 : (!transformer.cache<latent 1x40xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xf32>
    %kv_b_proj_weight = transformer.parameter %scope "self_attn.kv_b_proj.weight" of attention : tensor<128x32xf32>
    %attended = transformer.latent_attention %rotated, %batch cache %cache_3[%scope] expand %kv_b_proj_weight heads 4 key_dim 16 value_dim 16 scale 0.20412415 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<latent 1x40xf32>, !transformer.scope, tensor<128x32xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_4 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-06 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_proj_weight = transformer.parameter %scope "mlp.gate_proj.weight" of ffn : tensor<176x64xf32>
    %up_proj_weight = transformer.parameter %scope "mlp.up_proj.weight" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %scope "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_4 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_5 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_5, %cache_3 : tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>
  }
  func.func private @layer_moe(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<latent 1x40xf32>, %x: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-06 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<96x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<96x64xf32>) -> tensor<?x96xf32>
    %rotated = transformer.rope %q_proj, %batch heads 4 from 16 <interleaved, dim = 8, base = 10000.0> : tensor<?x96xf32>
    %kv_a_proj_with_mqa_weight = transformer.parameter %scope "self_attn.kv_a_proj_with_mqa.weight" of attention : tensor<40x64xf32>
    %kv_a_proj_with_mqa = transformer.linear %normed, %kv_a_proj_with_mqa_weight : (tensor<?x64xf32>, tensor<40x64xf32>) -> tensor<?x40xf32>
    %slice = transformer.slice %kv_a_proj_with_mqa from 0 : (tensor<?x40xf32>) -> tensor<?x32xf32>
    %kv_a_layernorm_weight = transformer.parameter %scope "self_attn.kv_a_layernorm.weight" of norm : tensor<32xf32>
    %normed_0 = transformer.rms_norm %slice, %kv_a_layernorm_weight eps 1e-06 : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %slice_1 = transformer.slice %kv_a_proj_with_mqa from 32 : (tensor<?x40xf32>) -> tensor<?x8xf32>
    %rotated_2 = transformer.rope %slice_1, %batch heads 1 <interleaved, dim = 8, base = 10000.0> : tensor<?x8xf32>
    %cache_3 = transformer.latent_append %cache[%scope], %batch latent %normed_0 rotated %rotated_2 : (!transformer.cache<latent 1x40xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>) -> !transformer.cache<latent 1x40xf32>
    %kv_b_proj_weight = transformer.parameter %scope "self_attn.kv_b_proj.weight" of attention : tensor<128x32xf32>
    %attended = transformer.latent_attention %rotated, %batch cache %cache_3[%scope] expand %kv_b_proj_weight heads 4 key_dim 16 value_dim 16 scale 0.20412415 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<latent 1x40xf32>, !transformer.scope, tensor<128x32xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_4 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-06 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_weight = transformer.parameter %scope "mlp.gate.weight" of ffn : tensor<8x64xf32>
    %gate = transformer.linear %normed_4, %gate_weight : (tensor<?x64xf32>, tensor<8x64xf32>) -> tensor<?x8xf32>
    %gate_proj_weight = transformer.parameter %scope "mlp.experts.*.gate_proj.weight" of ffn : tensor<8x48x64xf32>
    %up_proj_weight = transformer.parameter %scope "mlp.experts.*.up_proj.weight" of ffn : tensor<8x48x64xf32>
    %down_proj_weight = transformer.parameter %scope "mlp.experts.*.down_proj.weight" of ffn : tensor<8x64x48xf32>
    %moe = transformer.moe silu %normed_4, %gate <softmax, top = 2> gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<?x8xf32>, tensor<8x48x64xf32>, tensor<8x48x64xf32>, tensor<8x64x48xf32>) -> tensor<?x64xf32>
    %gate_proj_weight_5 = transformer.parameter %scope "mlp.shared_experts.gate_proj.weight" of ffn : tensor<96x64xf32>
    %up_proj_weight_6 = transformer.parameter %scope "mlp.shared_experts.up_proj.weight" of ffn : tensor<96x64xf32>
    %down_proj_weight_7 = transformer.parameter %scope "mlp.shared_experts.down_proj.weight" of ffn : tensor<64x96xf32>
    %ffn = transformer.gated_feed_forward silu %normed_4 gate %gate_proj_weight_5 up %up_proj_weight_6 down %down_proj_weight_7 : (tensor<?x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>, tensor<64x96xf32>) -> tensor<?x64xf32>
    %sum_8 = transformer.residual %moe, %ffn : tensor<?x64xf32>
    %sum_9 = transformer.residual %sum, %sum_8 : tensor<?x64xf32>
    return %sum_9, %cache_3 : tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x64xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %norm_weight eps 1e-06 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %lm_head_weight = transformer.parameter %scope_0 "lm_head.weight" of head : tensor<1000x64xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight : (tensor<?x64xf32>, !transformer.batch, tensor<1000x64xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<latent 1x40xf32>) -> (tensor<?x1000xf32>, !transformer.cache<latent 1x40xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x64xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<latent 1x40xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x_2, %cache_3 = call @layer_moe(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<latent 1x40xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<latent 1x40xf32>)
    %model_4 = transformer.scope "model"
    %root = transformer.scope ""
    %x_5 = call @head(%model_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<latent 1x40xf32>
  }
}

