module attributes {transformer.family = "gpt2", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %wte_weight = transformer.parameter %scope "wte.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %wte_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %wpe_weight = transformer.parameter %scope "wpe.weight" of embedding : tensor<512x60xf32>
    %embedding_0 = transformer.embedding position %batch, %wpe_weight : (!transformer.batch, tensor<512x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %embedding, %embedding_0 : tensor<?x60xf32>
    return %sum : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %ln_1_weight = transformer.parameter %scope "ln_1.weight" of norm : tensor<60xf32>
    %ln_1_bias = transformer.parameter %scope "ln_1.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %ln_1_weight, %ln_1_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %c_attn_weight = transformer.parameter %scope "attn.c_attn.weight^T[0:60]" of attention : tensor<60x60xf32>
    %c_attn_bias = transformer.parameter %scope "attn.c_attn.bias[0:60]" of attention : tensor<60xf32>
    %c_attn_weight_0 = transformer.parameter %scope "attn.c_attn.weight^T[60:120]" of attention : tensor<60x60xf32>
    %c_attn_bias_1 = transformer.parameter %scope "attn.c_attn.bias[60:120]" of attention : tensor<60xf32>
    %c_attn_weight_2 = transformer.parameter %scope "attn.c_attn.weight^T[120:180]" of attention : tensor<60x60xf32>
    %c_attn_bias_3 = transformer.parameter %scope "attn.c_attn.bias[120:180]" of attention : tensor<60xf32>
    %linear = transformer.linear %normed, %c_attn_weight bias %c_attn_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %linear_4 = transformer.linear %normed, %c_attn_weight_0 bias %c_attn_bias_1 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %linear_5 = transformer.linear %normed, %c_attn_weight_2 bias %c_attn_bias_3 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache_6 = transformer.cache_append %cache[%scope], %batch keys %linear_4 values %linear_5 : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %linear, %batch cache %cache_6[%scope] heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %c_proj_weight = transformer.parameter %scope "attn.c_proj.weight^T" of attention : tensor<60x60xf32>
    %c_proj_bias = transformer.parameter %scope "attn.c_proj.bias" of attention : tensor<60xf32>
    %c_proj = transformer.linear %attended, %c_proj_weight bias %c_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %c_proj : tensor<?x60xf32>
    %ln_2_weight = transformer.parameter %scope "ln_2.weight" of norm : tensor<60xf32>
    %ln_2_bias = transformer.parameter %scope "ln_2.bias" of norm : tensor<60xf32>
    %normed_7 = transformer.layer_norm %sum, %ln_2_weight, %ln_2_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %c_fc_weight = transformer.parameter %scope "mlp.c_fc.weight^T" of ffn : tensor<240x60xf32>
    %c_fc_bias = transformer.parameter %scope "mlp.c_fc.bias" of ffn : tensor<240xf32>
    %c_proj_weight_8 = transformer.parameter %scope "mlp.c_proj.weight^T" of ffn : tensor<60x240xf32>
    %c_proj_bias_9 = transformer.parameter %scope "mlp.c_proj.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed_7 up %c_fc_weight bias %c_fc_bias down %c_proj_weight_8 bias %c_proj_bias_9 : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>, tensor<240xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_10 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_10, %cache_6 : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %scope "ln_f.weight" of norm : tensor<60xf32>
    %ln_f_bias = transformer.parameter %scope "ln_f.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %ln_f_weight, %ln_f_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wte_weight = transformer.parameter %scope_0 "transformer.wte.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %batch, %wte_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
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

