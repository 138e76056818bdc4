module attributes {transformer.family = "gpt_neox", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x96xf32> {
    %embed_in_weight = transformer.parameter %scope "embed_in.weight" of embedding : tensor<1000x96xf32>
    %embedding = transformer.embedding token %batch, %embed_in_weight : (!transformer.batch, tensor<1000x96xf32>) -> tensor<?x96xf32>
    return %embedding : tensor<?x96xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x32xf32>, %x: tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<3x32xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<96xf32>
    %input_layernorm_bias = transformer.parameter %scope "input_layernorm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %input_layernorm_weight, %input_layernorm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<96xf32>
    %post_attention_layernorm_bias = transformer.parameter %scope "post_attention_layernorm.bias" of norm : tensor<96xf32>
    %normed_0 = transformer.layer_norm %x, %post_attention_layernorm_weight, %post_attention_layernorm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %query_key_value_weight = transformer.parameter %scope "attention.query_key_value.weight[0::96/32]" of attention : tensor<96x96xf32>
    %query_key_value_bias = transformer.parameter %scope "attention.query_key_value.bias[0::96/32]" of attention : tensor<96xf32>
    %query_key_value_weight_1 = transformer.parameter %scope "attention.query_key_value.weight[32::96/32]" of attention : tensor<96x96xf32>
    %query_key_value_bias_2 = transformer.parameter %scope "attention.query_key_value.bias[32::96/32]" of attention : tensor<96xf32>
    %query_key_value_weight_3 = transformer.parameter %scope "attention.query_key_value.weight[64::96/32]" of attention : tensor<96x96xf32>
    %query_key_value_bias_4 = transformer.parameter %scope "attention.query_key_value.bias[64::96/32]" of attention : tensor<96xf32>
    %linear = transformer.linear %normed, %query_key_value_weight bias %query_key_value_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %linear_5 = transformer.linear %normed, %query_key_value_weight_1 bias %query_key_value_bias_2 : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %linear_6 = transformer.linear %normed, %query_key_value_weight_3 bias %query_key_value_bias_4 : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %rotated = transformer.rope %linear, %batch heads 3 <half, dim = 8, base = 10000.0> : tensor<?x96xf32>
    %rotated_7 = transformer.rope %linear_5, %batch heads 3 <half, dim = 8, base = 10000.0> : tensor<?x96xf32>
    %cache_8 = transformer.cache_append %cache[%scope], %batch keys %rotated_7 values %linear_6 : (!transformer.cache<3x32xf32>, !transformer.scope, !transformer.batch, tensor<?x96xf32>, tensor<?x96xf32>) -> !transformer.cache<3x32xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_8[%scope] heads 3 kv_heads 3 scale 0.17677669 : (tensor<?x96xf32>, !transformer.batch, !transformer.cache<3x32xf32>, !transformer.scope) -> tensor<?x96xf32>
    %dense_weight = transformer.parameter %scope "attention.dense.weight" of attention : tensor<96x96xf32>
    %dense_bias = transformer.parameter %scope "attention.dense.bias" of attention : tensor<96xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x96xf32>, tensor<96x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %dense_h_to_4h_weight = transformer.parameter %scope "mlp.dense_h_to_4h.weight" of ffn : tensor<264x96xf32>
    %dense_h_to_4h_bias = transformer.parameter %scope "mlp.dense_h_to_4h.bias" of ffn : tensor<264xf32>
    %dense_4h_to_h_weight = transformer.parameter %scope "mlp.dense_4h_to_h.weight" of ffn : tensor<96x264xf32>
    %dense_4h_to_h_bias = transformer.parameter %scope "mlp.dense_4h_to_h.bias" of ffn : tensor<96xf32>
    %ffn = transformer.feed_forward gelu %normed_0 up %dense_h_to_4h_weight bias %dense_h_to_4h_bias down %dense_4h_to_h_weight bias %dense_4h_to_h_bias : (tensor<?x96xf32>, tensor<264x96xf32>, tensor<96x264xf32>, tensor<264xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %sum = transformer.residual %x, %dense : tensor<?x96xf32>
    %sum_9 = transformer.residual %sum, %ffn : tensor<?x96xf32>
    return %sum_9, %cache_8 : tensor<?x96xf32>, !transformer.cache<3x32xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x96xf32>) -> tensor<?x1000xf32> {
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<96xf32>
    %final_layer_norm_bias = transformer.parameter %scope "final_layer_norm.bias" of norm : tensor<96xf32>
    %normed = transformer.layer_norm %x, %final_layer_norm_weight, %final_layer_norm_bias eps 1e-05 : (tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
    %embed_out_weight = transformer.parameter %scope_0 "embed_out.weight" of head : tensor<1000x96xf32>
    %logits = transformer.lm_head %normed, %batch, %embed_out_weight : (tensor<?x96xf32>, !transformer.batch, tensor<1000x96xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x32xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x32xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %gpt_neox = transformer.scope "gpt_neox"
    %x = call @embed(%gpt_neox, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x96xf32>
    %l0 = transformer.scope "gpt_neox.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x32xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<3x32xf32>)
    %l1 = transformer.scope "gpt_neox.layers.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x32xf32>, tensor<?x96xf32>) -> (tensor<?x96xf32>, !transformer.cache<3x32xf32>)
    %gpt_neox_4 = transformer.scope "gpt_neox"
    %root = transformer.scope ""
    %x_5 = call @head(%gpt_neox_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x96xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<3x32xf32>
  }
}

