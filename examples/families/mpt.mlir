module attributes {transformer.family = "mpt", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %wte_weight = transformer.parameter %scope "wte.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %wte_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    return %embedding : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %norm_1_weight = transformer.parameter %scope "norm_1.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %norm_1_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wqkv_weight = transformer.parameter %scope "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %scope "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %scope "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %normed, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %clamped = transformer.clamp %linear at 6.0 : tensor<?x60xf32>
    %linear_2 = transformer.linear %normed, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %clamped_3 = transformer.clamp %linear_2 at 6.0 : tensor<?x60xf32>
    %linear_4 = transformer.linear %normed, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %clamped_5 = transformer.clamp %linear_4 at 6.0 : tensor<?x60xf32>
    %cache_6 = transformer.cache_append %cache[%scope], %batch keys %clamped_3 values %clamped_5 : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %clamped, %batch cache %cache_6[%scope] heads 3 kv_heads 3 scale 0.2236068 alibi <max = 8.0> : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %scope "attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_proj : tensor<?x60xf32>
    %norm_2_weight = transformer.parameter %scope "norm_2.weight" of norm : tensor<60xf32>
    %normed_7 = transformer.layer_norm %sum, %norm_2_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %up_proj_weight = transformer.parameter %scope "ffn.up_proj.weight" of ffn : tensor<240x60xf32>
    %down_proj_weight = transformer.parameter %scope "ffn.down_proj.weight" of ffn : tensor<60x240xf32>
    %ffn = transformer.feed_forward gelu %normed_7 up %up_proj_weight down %down_proj_weight : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>) -> tensor<?x60xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_8, %cache_6 : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %norm_f_weight = transformer.parameter %scope "norm_f.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %norm_f_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wte_weight = transformer.parameter %scope_0 "transformer.wte.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %batch, %wte_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %transformer = transformer.scope "transformer"
    %x = call @embed(%transformer, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "transformer.blocks.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %l1 = transformer.scope "transformer.blocks.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %transformer_4 = transformer.scope "transformer"
    %root = transformer.scope ""
    %x_5 = call @head(%transformer_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>
  }
}

