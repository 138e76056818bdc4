module attributes {transformer.family = "bloom", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %word_embeddings_weight = transformer.parameter %scope "word_embeddings.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %word_embeddings_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %word_embeddings_layernorm_weight = transformer.parameter %scope "word_embeddings_layernorm.weight" of norm : tensor<60xf32>
    %word_embeddings_layernorm_bias = transformer.parameter %scope "word_embeddings_layernorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %embedding, %word_embeddings_layernorm_weight, %word_embeddings_layernorm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<60xf32>
    %input_layernorm_bias = transformer.parameter %scope "input_layernorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %input_layernorm_weight, %input_layernorm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %query_key_value_weight = transformer.parameter %scope "self_attention.query_key_value.weight[0::60/20]" of attention : tensor<60x60xf32>
    %query_key_value_bias = transformer.parameter %scope "self_attention.query_key_value.bias[0::60/20]" of attention : tensor<60xf32>
    %query_key_value_weight_0 = transformer.parameter %scope "self_attention.query_key_value.weight[20::60/20]" of attention : tensor<60x60xf32>
    %query_key_value_bias_1 = transformer.parameter %scope "self_attention.query_key_value.bias[20::60/20]" of attention : tensor<60xf32>
    %query_key_value_weight_2 = transformer.parameter %scope "self_attention.query_key_value.weight[40::60/20]" of attention : tensor<60x60xf32>
    %query_key_value_bias_3 = transformer.parameter %scope "self_attention.query_key_value.bias[40::60/20]" of attention : tensor<60xf32>
    %linear = transformer.linear %normed, %query_key_value_weight bias %query_key_value_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %linear_4 = transformer.linear %normed, %query_key_value_weight_0 bias %query_key_value_bias_1 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %linear_5 = transformer.linear %normed, %query_key_value_weight_2 bias %query_key_value_bias_3 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache_6 = transformer.cache_append %cache[%scope], %batch keys %linear_4 values %linear_5 : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %linear, %batch cache %cache_6[%scope] heads 3 kv_heads 3 scale 0.2236068 alibi <max = 8.0> : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %scope "self_attention.dense.weight" of attention : tensor<60x60xf32>
    %dense_bias = transformer.parameter %scope "self_attention.dense.bias" of attention : tensor<60xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %dense : tensor<?x60xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<60xf32>
    %post_attention_layernorm_bias = transformer.parameter %scope "post_attention_layernorm.bias" of norm : tensor<60xf32>
    %normed_7 = transformer.layer_norm %sum, %post_attention_layernorm_weight, %post_attention_layernorm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %dense_h_to_4h_weight = transformer.parameter %scope "mlp.dense_h_to_4h.weight" of ffn : tensor<240x60xf32>
    %dense_h_to_4h_bias = transformer.parameter %scope "mlp.dense_h_to_4h.bias" of ffn : tensor<240xf32>
    %dense_4h_to_h_weight = transformer.parameter %scope "mlp.dense_4h_to_h.weight" of ffn : tensor<60x240xf32>
    %dense_4h_to_h_bias = transformer.parameter %scope "mlp.dense_4h_to_h.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed_7 up %dense_h_to_4h_weight bias %dense_h_to_4h_bias down %dense_4h_to_h_weight bias %dense_4h_to_h_bias : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>, tensor<240xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_8, %cache_6 : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %scope "ln_f.weight" of norm : tensor<60xf32>
    %ln_f_bias = transformer.parameter %scope "ln_f.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %ln_f_weight, %ln_f_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %word_embeddings_weight = transformer.parameter %scope_0 "transformer.word_embeddings.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %batch, %word_embeddings_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
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

