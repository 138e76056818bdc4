module attributes {transformer.family = "gptj", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x60xf32> {
    %wte_weight = transformer.parameter %arg0 "wte.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg1, %wte_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    return %embedding : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<3x20xf32>, %arg3: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %ln_1_weight = transformer.parameter %arg0 "ln_1.weight" of norm : tensor<60xf32>
    %ln_1_bias = transformer.parameter %arg0 "ln_1.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg3, %ln_1_weight, %ln_1_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_proj_weight = transformer.parameter %arg0 "attn.q_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_weight = transformer.parameter %arg0 "attn.k_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_weight = transformer.parameter %arg0 "attn.v_proj.weight" of attention : tensor<60x60xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %q_proj, %arg1 heads 3 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x60xf32>
    %rotated_0 = transformer.rope %k_proj, %arg1 heads 3 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x60xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_0 values %v_proj : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %arg0 "attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %fc_in_weight = transformer.parameter %arg0 "mlp.fc_in.weight" of ffn : tensor<240x60xf32>
    %fc_in_bias = transformer.parameter %arg0 "mlp.fc_in.bias" of ffn : tensor<240xf32>
    %fc_out_weight = transformer.parameter %arg0 "mlp.fc_out.weight" of ffn : tensor<60x240xf32>
    %fc_out_bias = transformer.parameter %arg0 "mlp.fc_out.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed up %fc_in_weight bias %fc_in_bias down %fc_out_weight bias %fc_out_bias : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>, tensor<240xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg3, %out_proj : tensor<?x60xf32>
    %sum_1 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_1, %cache : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %arg0 "ln_f.weight" of norm : tensor<60xf32>
    %ln_f_bias = transformer.parameter %arg0 "ln_f.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg3, %ln_f_weight, %ln_f_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %lm_head_weight = transformer.parameter %arg1 "lm_head.weight" of head : tensor<1000x60xf32>
    %lm_head_bias = transformer.parameter %arg1 "lm_head.bias" of head : tensor<1000xf32>
    %logits = transformer.lm_head %normed, %arg2, %lm_head_weight bias %lm_head_bias : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %transformer = transformer.scope "transformer"
    %0 = call @embed(%transformer, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "transformer.h.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %l1 = transformer.scope "transformer.h.1" layer 1
    %2:2 = call @layer(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %transformer_0 = transformer.scope "transformer"
    %root = transformer.scope ""
    %3 = call @head(%transformer_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>
  }
}

