module attributes {transformer.family = "gpt_oss", transformer.max_sequence = 4096 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer_window_moe(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>, %x: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<64x64xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<64xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<32x64xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<32xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<32x64xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<32xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %batch heads 4 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x64xf32>
    %rotated_0 = transformer.rope %k_proj, %batch heads 2 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x32xf32>
    %self_attn_sinks = transformer.parameter %scope "self_attn.sinks" of attention : tensor<4xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_1[%scope] heads 4 kv_heads 2 scale 0.25 window 128 sinks %self_attn_sinks : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope, tensor<4xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj_bias = transformer.parameter %scope "self_attn.o_proj.bias" of attention : tensor<64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight bias %o_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_2 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %router_weight = transformer.parameter %scope "mlp.router.weight" of ffn : tensor<8x64xf32>
    %router_bias = transformer.parameter %scope "mlp.router.bias" of ffn : tensor<8xf32>
    %router = transformer.linear %normed_2, %router_weight bias %router_bias : (tensor<?x64xf32>, tensor<8x64xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %experts_gate_up_proj = transformer.parameter %scope "mlp.experts.gate_up_proj^T[0::2]" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_3 = transformer.parameter %scope "mlp.experts.gate_up_proj^T[1::2]" of ffn : tensor<8x64x64xf32>
    %experts_down_proj = transformer.parameter %scope "mlp.experts.down_proj^T" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_bias = transformer.parameter %scope "mlp.experts.gate_up_proj_bias[0::2]c" of ffn : tensor<8x64xf32>
    %experts_gate_up_proj_bias_4 = transformer.parameter %scope "mlp.experts.gate_up_proj_bias[1::2]c" of ffn : tensor<8x64xf32>
    %experts_down_proj_bias = transformer.parameter %scope "mlp.experts.down_proj_bias" of ffn : tensor<8x64xf32>
    %moe = transformer.moe quick_gelu %normed_2, %router <softmax, top = 2, normalize> gate %experts_gate_up_proj bias %experts_gate_up_proj_bias up %experts_gate_up_proj_3 bias %experts_gate_up_proj_bias_4 down %experts_down_proj bias %experts_down_proj_bias limit 7.0 up_offset 1.0 : (tensor<?x64xf32>, tensor<?x8xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<?x64xf32>
    %sum_5 = transformer.residual %sum, %moe : tensor<?x64xf32>
    return %sum_5, %cache_1 : tensor<?x64xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @layer_moe(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>, %x: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<64x64xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<64xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<32x64xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<32xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<32x64xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<32xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %batch heads 4 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x64xf32>
    %rotated_0 = transformer.rope %k_proj, %batch heads 2 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x32xf32>
    %self_attn_sinks = transformer.parameter %scope "self_attn.sinks" of attention : tensor<4xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_1[%scope] heads 4 kv_heads 2 scale 0.25 sinks %self_attn_sinks : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope, tensor<4xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj_bias = transformer.parameter %scope "self_attn.o_proj.bias" of attention : tensor<64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight bias %o_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_2 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %router_weight = transformer.parameter %scope "mlp.router.weight" of ffn : tensor<8x64xf32>
    %router_bias = transformer.parameter %scope "mlp.router.bias" of ffn : tensor<8xf32>
    %router = transformer.linear %normed_2, %router_weight bias %router_bias : (tensor<?x64xf32>, tensor<8x64xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %experts_gate_up_proj = transformer.parameter %scope "mlp.experts.gate_up_proj^T[0::2]" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_3 = transformer.parameter %scope "mlp.experts.gate_up_proj^T[1::2]" of ffn : tensor<8x64x64xf32>
    %experts_down_proj = transformer.parameter %scope "mlp.experts.down_proj^T" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_bias = transformer.parameter %scope "mlp.experts.gate_up_proj_bias[0::2]c" of ffn : tensor<8x64xf32>
    %experts_gate_up_proj_bias_4 = transformer.parameter %scope "mlp.experts.gate_up_proj_bias[1::2]c" of ffn : tensor<8x64xf32>
    %experts_down_proj_bias = transformer.parameter %scope "mlp.experts.down_proj_bias" of ffn : tensor<8x64xf32>
    %moe = transformer.moe quick_gelu %normed_2, %router <softmax, top = 2, normalize> gate %experts_gate_up_proj bias %experts_gate_up_proj_bias up %experts_gate_up_proj_3 bias %experts_gate_up_proj_bias_4 down %experts_down_proj bias %experts_down_proj_bias limit 7.0 up_offset 1.0 : (tensor<?x64xf32>, tensor<?x8xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<?x64xf32>
    %sum_5 = transformer.residual %sum, %moe : tensor<?x64xf32>
    return %sum_5, %cache_1 : tensor<?x64xf32>, !transformer.cache<2x16xf32>
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
    %x_0, %cache_1 = call @layer_window_moe(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x_2, %cache_3 = call @layer_moe(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %model_4 = transformer.scope "model"
    %root = transformer.scope ""
    %x_5 = call @head(%model_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

