module attributes {transformer.family = "falcon", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x96xf32> {
    %word_embeddings_weight = transformer.parameter %arg0 "word_embeddings.weight" of embedding : tensor<1000x96xf32>
    %embedding = transformer.embedding token %arg1, %word_embeddings_weight : (!transformer.batch, tensor<1000x96xf32>) -> tensor<?x96xf32>
    return %embedding : tensor<?x96xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<2x16xf32>, %arg3: tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>) {
    %ln_attn_weight = transformer.parameter %arg0 "ln_attn.weight" of norm : tensor<96xf32>
    %ln_attn_bias = transformer.parameter %arg0 "ln_attn.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %arg3, %ln_attn_weight, %ln_attn_bias eps 1.000000e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %ln_mlp_weight = transformer.parameter %arg0 "ln_mlp.weight" of norm : tensor<96xf32>
    %ln_mlp_bias = transformer.parameter %arg0 "ln_mlp.bias" of norm : tensor<96xf32>
    %normed_0 = transformer.layer_norm %arg3, %ln_mlp_weight, %ln_mlp_bias eps 1.000000e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %query_key_value_weight = transformer.parameter %arg0 "self_attention.query_key_value.weight[0::80/48]" of attention : tensor<96x96xf32>
    %query_key_value_weight_1 = transformer.parameter %arg0 "self_attention.query_key_value.weight[48::80/16]" of attention : tensor<32x96xf32>
    %query_key_value_weight_2 = transformer.parameter %arg0 "self_attention.query_key_value.weight[64::80/16]" of attention : tensor<32x96xf32>
    %linear = transformer.linear %normed, %query_key_value_weight : (tensor<?x96xf32>, tensor<96x96xf32>) -> tensor<?x96xf32>
    %linear_3 = transformer.linear %normed, %query_key_value_weight_1 : (tensor<?x96xf32>, tensor<32x96xf32>) -> tensor<?x32xf32>
    %linear_4 = transformer.linear %normed, %query_key_value_weight_2 : (tensor<?x96xf32>, tensor<32x96xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %linear, %arg1 heads 6 <half, dim = 16, base = 1.0e+04> : tensor<?x96xf32>
    %rotated_5 = transformer.rope %linear_3, %arg1 heads 2 <half, dim = 16, base = 1.0e+04> : tensor<?x32xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %rotated_5 values %linear_4 : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %arg1 cache %cache[%arg0] heads 6 kv_heads 2 scale 2.500000e-01 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x96xf32>
    %dense_weight = transformer.parameter %arg0 "self_attention.dense.weight" of attention : tensor<96x96xf32>
    %dense = transformer.linear %attended, %dense_weight : (tensor<?x96xf32>, tensor<96x96xf32>) -> tensor<?x96xf32>
    %dense_h_to_4h_weight = transformer.parameter %arg0 "mlp.dense_h_to_4h.weight" of ffn : tensor<384x96xf32>
    %dense_4h_to_h_weight = transformer.parameter %arg0 "mlp.dense_4h_to_h.weight" of ffn : tensor<96x384xf32>
    %ffn = transformer.feed_forward gelu %normed_0 up %dense_h_to_4h_weight down %dense_4h_to_h_weight : (tensor<?x96xf32>, tensor<384x96xf32>, tensor<96x384xf32>) -> tensor<?x96xf32>
    %sum = transformer.residual %arg3, %dense : tensor<?x96xf32>
    %sum_6 = transformer.residual %sum, %ffn : tensor<?x96xf32>
    return %sum_6, %cache : tensor<?x96xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x96xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %arg0 "ln_f.weight" of norm : tensor<96xf32>
    %ln_f_bias = transformer.parameter %arg0 "ln_f.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %arg3, %ln_f_weight, %ln_f_bias eps 1.000000e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %word_embeddings_weight = transformer.parameter %arg1 "transformer.word_embeddings.weight" of head : tensor<1000x96xf32>
    %logits = transformer.lm_head %normed, %arg2, %word_embeddings_weight : (tensor<?x96xf32>, !transformer.batch, tensor<1000x96xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %transformer = transformer.scope "transformer"
    %0 = call @embed(%transformer, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x96xf32>
    %l0 = transformer.scope "transformer.h.0" layer 0
    %1:2 = call @layer(%l0, %arg0, %arg1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "transformer.h.1" layer 1
    %2:2 = call @layer(%l1, %arg0, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %transformer_0 = transformer.scope "transformer"
    %root = transformer.scope ""
    %3 = call @head(%transformer_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x96xf32>) -> tensor<?x1000xf32>
    return %3, %2#1 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

