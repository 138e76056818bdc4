module attributes {transformer.family = "mpt", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x60xf32> {
    %wte_weight = transformer.parameter %arg0 "wte.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg1, %wte_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    return %embedding : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<3x20xf32>, %arg3: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %norm_1_weight = transformer.parameter %arg0 "norm_1.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg3, %norm_1_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wqkv_weight = transformer.parameter %arg0 "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %arg0 "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %arg0 "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %normed, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %capped = transformer.clamp %linear at 6.000000e+00 : tensor<?x60xf32>
    %linear_2 = transformer.linear %normed, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %capped_3 = transformer.clamp %linear_2 at 6.000000e+00 : tensor<?x60xf32>
    %linear_4 = transformer.linear %normed, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %capped_5 = transformer.clamp %linear_4 at 6.000000e+00 : tensor<?x60xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %capped_3 values %capped_5 : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %capped, %arg1 cache %cache[%arg0] heads 3 kv_heads 3 scale 0.22360679774997896 alibi <max = 8.0> : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %arg0 "attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg3, %out_proj : tensor<?x60xf32>
    %norm_2_weight = transformer.parameter %arg0 "norm_2.weight" of norm : tensor<60xf32>
    %normed_6 = transformer.layer_norm %sum, %norm_2_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %up_proj_weight = transformer.parameter %arg0 "ffn.up_proj.weight" of ffn : tensor<240x60xf32>
    %down_proj_weight = transformer.parameter %arg0 "ffn.down_proj.weight" of ffn : tensor<60x240xf32>
    %ffn = transformer.feed_forward gelu %normed_6 up %up_proj_weight down %down_proj_weight : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>) -> tensor<?x60xf32>
    %sum_7 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_7, %cache : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %norm_f_weight = transformer.parameter %arg0 "norm_f.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg3, %norm_f_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wte_weight = transformer.parameter %arg1 "transformer.wte.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %arg2, %wte_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %transformer = transformer.scope "transformer"
    %0 = call @embed(%transformer, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "transformer.blocks.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %l1 = transformer.scope "transformer.blocks.1" layer 1
    %2:2 = call @layer(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %transformer_0 = transformer.scope "transformer"
    %root = transformer.scope ""
    %3 = call @head(%transformer_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>
  }
}

