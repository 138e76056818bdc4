module attributes {transformer.family = "gpt_oss", transformer.max_sequence = 4096 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %arg0 "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %arg1, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    return %embedding : tensor<?x64xf32>
  }
  func.func private @layer_window_mixture(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x16xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<64x64xf32>
    %q_proj_bias = transformer.parameter %arg0 "self_attn.q_proj.bias" of attention : tensor<64xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<32x64xf32>
    %k_proj_bias = transformer.parameter %arg0 "self_attn.k_proj.bias" of attention : tensor<32xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<32x64xf32>
    %v_proj_bias = transformer.parameter %arg0 "self_attn.v_proj.bias" of attention : tensor<32xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 4 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x64xf32>
    %rotated_0 = transformer.rope %k_proj, %arg1 heads 2 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x32xf32>
    %self_attn_sinks = transformer.parameter %arg0 "self_attn.sinks" of attention : tensor<4xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 4 kv_heads 2 scale 2.500000e-01 window 128 sinks %self_attn_sinks : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope, tensor<4xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj_bias = transformer.parameter %arg0 "self_attn.o_proj.bias" of attention : tensor<64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight bias %o_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_1 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %router_weight = transformer.parameter %arg0 "mlp.router.weight" of ffn : tensor<8x64xf32>
    %router_bias = transformer.parameter %arg0 "mlp.router.bias" of ffn : tensor<8xf32>
    %router = transformer.linear %normed_1, %router_weight bias %router_bias : (tensor<?x64xf32>, tensor<8x64xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %experts_gate_up_proj = transformer.parameter %arg0 "mlp.experts.gate_up_proj^T[0::2]" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_2 = transformer.parameter %arg0 "mlp.experts.gate_up_proj^T[1::2]" of ffn : tensor<8x64x64xf32>
    %experts_down_proj = transformer.parameter %arg0 "mlp.experts.down_proj^T" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_bias = transformer.parameter %arg0 "mlp.experts.gate_up_proj_bias[0::2]c" of ffn : tensor<8x64xf32>
    %experts_gate_up_proj_bias_3 = transformer.parameter %arg0 "mlp.experts.gate_up_proj_bias[1::2]c" of ffn : tensor<8x64xf32>
    %experts_down_proj_bias = transformer.parameter %arg0 "mlp.experts.down_proj_bias" of ffn : tensor<8x64xf32>
    %mixture = transformer.mixture quick_gelu %normed_1, %router <softmax, top = 2, normalize> gate %experts_gate_up_proj bias %experts_gate_up_proj_bias up %experts_gate_up_proj_2 bias %experts_gate_up_proj_bias_3 down %experts_down_proj bias %experts_down_proj_bias limit 7.000000e+00 up_offset 1.000000e+00 : (tensor<?x64xf32>, tensor<?x8xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<?x64xf32>
    %sum_4 = transformer.residual %sum, %mixture : tensor<?x64xf32>
    return %sum_4, %cache : tensor<?x64xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @layer_mixture(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x16xf32>, %arg3: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %arg3, %input_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<64x64xf32>
    %q_proj_bias = transformer.parameter %arg0 "self_attn.q_proj.bias" of attention : tensor<64xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<32x64xf32>
    %k_proj_bias = transformer.parameter %arg0 "self_attn.k_proj.bias" of attention : tensor<32xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<32x64xf32>
    %v_proj_bias = transformer.parameter %arg0 "self_attn.v_proj.bias" of attention : tensor<32xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 4 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x64xf32>
    %rotated_0 = transformer.rope %k_proj, %arg1 heads 2 <half, dim = 16, base = 1.5e+05, yarn(factor = 8.0, fast = 32.0, slow = 1.0, original = 512.0, truncate = 0.0, attention = 1.2079441541679836)> : tensor<?x32xf32>
    %self_attn_sinks = transformer.parameter %arg0 "self_attn.sinks" of attention : tensor<4xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 4 kv_heads 2 scale 2.500000e-01 sinks %self_attn_sinks : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope, tensor<4xf32>) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %arg0 "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj_bias = transformer.parameter %arg0 "self_attn.o_proj.bias" of attention : tensor<64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight bias %o_proj_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %arg3, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_1 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1.000000e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %router_weight = transformer.parameter %arg0 "mlp.router.weight" of ffn : tensor<8x64xf32>
    %router_bias = transformer.parameter %arg0 "mlp.router.bias" of ffn : tensor<8xf32>
    %router = transformer.linear %normed_1, %router_weight bias %router_bias : (tensor<?x64xf32>, tensor<8x64xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %experts_gate_up_proj = transformer.parameter %arg0 "mlp.experts.gate_up_proj^T[0::2]" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_2 = transformer.parameter %arg0 "mlp.experts.gate_up_proj^T[1::2]" of ffn : tensor<8x64x64xf32>
    %experts_down_proj = transformer.parameter %arg0 "mlp.experts.down_proj^T" of ffn : tensor<8x64x64xf32>
    %experts_gate_up_proj_bias = transformer.parameter %arg0 "mlp.experts.gate_up_proj_bias[0::2]c" of ffn : tensor<8x64xf32>
    %experts_gate_up_proj_bias_3 = transformer.parameter %arg0 "mlp.experts.gate_up_proj_bias[1::2]c" of ffn : tensor<8x64xf32>
    %experts_down_proj_bias = transformer.parameter %arg0 "mlp.experts.down_proj_bias" of ffn : tensor<8x64xf32>
    %mixture = transformer.mixture quick_gelu %normed_1, %router <softmax, top = 2, normalize> gate %experts_gate_up_proj bias %experts_gate_up_proj_bias up %experts_gate_up_proj_2 bias %experts_gate_up_proj_bias_3 down %experts_down_proj bias %experts_down_proj_bias limit 7.000000e+00 up_offset 1.000000e+00 : (tensor<?x64xf32>, tensor<?x8xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<?x64xf32>
    %sum_4 = transformer.residual %sum, %mixture : tensor<?x64xf32>
    return %sum_4, %cache : tensor<?x64xf32>, !transformer.cache<2x16xf32>
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
    %1:2 = call @layer_window_mixture(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %2:2 = call @layer_mixture(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %3 = call @head(%model_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

