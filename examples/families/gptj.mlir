module attributes {transformer.family = "gptj", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %wte_weight = transformer.parameter %scope "wte.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %wte_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    return %embedding : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %ln_1_weight = transformer.parameter %scope "ln_1.weight" of norm : tensor<60xf32>
    %ln_1_bias = transformer.parameter %scope "ln_1.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %ln_1_weight, %ln_1_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_proj_weight = transformer.parameter %scope "attn.q_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_weight = transformer.parameter %scope "attn.k_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_weight = transformer.parameter %scope "attn.v_proj.weight" of attention : tensor<60x60xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %q_proj, %batch heads 3 <interleaved, dim = 8, base = 10000.0> : tensor<?x60xf32>
    %rotated_0 = transformer.rope %k_proj, %batch heads 3 <interleaved, dim = 8, base = 10000.0> : tensor<?x60xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %rotated_0 values %v_proj : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_1[%scope] heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %scope "attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %fc_in_weight = transformer.parameter %scope "mlp.fc_in.weight" of ffn : tensor<240x60xf32>
    %fc_in_bias = transformer.parameter %scope "mlp.fc_in.bias" of ffn : tensor<240xf32>
    %fc_out_weight = transformer.parameter %scope "mlp.fc_out.weight" of ffn : tensor<60x240xf32>
    %fc_out_bias = transformer.parameter %scope "mlp.fc_out.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed up %fc_in_weight bias %fc_in_bias down %fc_out_weight bias %fc_out_bias : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>, tensor<240xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_proj : tensor<?x60xf32>
    %sum_2 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_2, %cache_1 : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %scope "ln_f.weight" of norm : tensor<60xf32>
    %ln_f_bias = transformer.parameter %scope "ln_f.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %ln_f_weight, %ln_f_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %lm_head_weight = transformer.parameter %scope_0 "lm_head.weight" of head : tensor<1000x60xf32>
    %lm_head_bias = transformer.parameter %scope_0 "lm_head.bias" of head : tensor<1000xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight bias %lm_head_bias : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %transformer = transformer.scope "transformer"
    %x = call @embed(%transformer, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "transformer.h.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %l1 = transformer.scope "transformer.h.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %transformer_4 = transformer.scope "transformer"
    %root = transformer.scope ""
    %x_5 = call @head(%transformer_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>
  }
}

