module attributes {transformer.family = "falcon", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x96xf32> {
    %word_embeddings_weight = transformer.parameter %scope "word_embeddings.weight" of embedding : tensor<1000x96xf32>
    %embedding = transformer.embedding token %batch, %word_embeddings_weight : (!transformer.batch, tensor<1000x96xf32>) -> tensor<?x96xf32>
    return %embedding : tensor<?x96xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>, %x: tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>) {
    %ln_attn_weight = transformer.parameter %scope "ln_attn.weight" of norm : tensor<96xf32>
    %ln_attn_bias = transformer.parameter %scope "ln_attn.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %ln_attn_weight, %ln_attn_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %ln_mlp_weight = transformer.parameter %scope "ln_mlp.weight" of norm : tensor<96xf32>
    %ln_mlp_bias = transformer.parameter %scope "ln_mlp.bias" of norm : tensor<96xf32>
    %normed_0 = transformer.layer_norm %x, %ln_mlp_weight, %ln_mlp_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %query_key_value_weight = transformer.parameter %scope "self_attention.query_key_value.weight[0::80/48]" of attention : tensor<96x96xf32>
    %query_key_value_weight_1 = transformer.parameter %scope "self_attention.query_key_value.weight[48::80/16]" of attention : tensor<32x96xf32>
    %query_key_value_weight_2 = transformer.parameter %scope "self_attention.query_key_value.weight[64::80/16]" of attention : tensor<32x96xf32>
    %linear = transformer.linear %normed, %query_key_value_weight : (tensor<?x96xf32>, tensor<96x96xf32>) -> tensor<?x96xf32>
    %linear_3 = transformer.linear %normed, %query_key_value_weight_1 : (tensor<?x96xf32>, tensor<32x96xf32>) -> tensor<?x32xf32>
    %linear_4 = transformer.linear %normed, %query_key_value_weight_2 : (tensor<?x96xf32>, tensor<32x96xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %linear, %batch heads 6 <half, dim = 16, base = 10000.0> : tensor<?x96xf32>
    %rotated_5 = transformer.rope %linear_3, %batch heads 2 <half, dim = 16, base = 10000.0> : tensor<?x32xf32>
    %cache_6 = transformer.cache_append %cache[%scope], %batch keys %rotated_5 values %linear_4 : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_6[%scope] heads 6 kv_heads 2 scale 0.25 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x96xf32>
    %dense_weight = transformer.parameter %scope "self_attention.dense.weight" of attention : tensor<96x96xf32>
    %dense = transformer.linear %attended, %dense_weight : (tensor<?x96xf32>, tensor<96x96xf32>) -> tensor<?x96xf32>
    %dense_h_to_4h_weight = transformer.parameter %scope "mlp.dense_h_to_4h.weight" of ffn : tensor<384x96xf32>
    %dense_4h_to_h_weight = transformer.parameter %scope "mlp.dense_4h_to_h.weight" of ffn : tensor<96x384xf32>
    %ffn = transformer.feed_forward gelu %normed_0 up %dense_h_to_4h_weight down %dense_4h_to_h_weight : (tensor<?x96xf32>, tensor<384x96xf32>, tensor<96x384xf32>) -> tensor<?x96xf32>
    %sum = transformer.residual %x, %dense : tensor<?x96xf32>
    %sum_7 = transformer.residual %sum, %ffn : tensor<?x96xf32>
    return %sum_7, %cache_6 : tensor<?x96xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x96xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %scope "ln_f.weight" of norm : tensor<96xf32>
    %ln_f_bias = transformer.parameter %scope "ln_f.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %ln_f_weight, %ln_f_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %word_embeddings_weight = transformer.parameter %scope_0 "transformer.word_embeddings.weight" of head : tensor<1000x96xf32>
    %logits = transformer.lm_head %normed, %batch, %word_embeddings_weight : (tensor<?x96xf32>, !transformer.batch, tensor<1000x96xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %transformer = transformer.scope "transformer"
    %x = call @embed(%transformer, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x96xf32>
    %l0 = transformer.scope "transformer.h.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "transformer.h.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<2x16xf32>)
    %transformer_4 = transformer.scope "transformer"
    %root = transformer.scope ""
    %x_5 = call @head(%transformer_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x96xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
}

