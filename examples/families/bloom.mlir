module attributes {transformer.family = "bloom", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x60xf32> {
    %word_embeddings_weight = transformer.parameter %arg0 "word_embeddings.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg1, %word_embeddings_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %word_embeddings_layernorm_weight = transformer.parameter %arg0 "word_embeddings_layernorm.weight" of norm : tensor<60xf32>
    %word_embeddings_layernorm_bias = transformer.parameter %arg0 "word_embeddings_layernorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %embedding, %word_embeddings_layernorm_weight, %word_embeddings_layernorm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<3x20xf32>, %arg3: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %input_layernorm_weight = transformer.parameter %arg0 "input_layernorm.weight" of norm : tensor<60xf32>
    %input_layernorm_bias = transformer.parameter %arg0 "input_layernorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg3, %input_layernorm_weight, %input_layernorm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %query_key_value_weight = transformer.parameter %arg0 "self_attention.query_key_value.weight[0::60/20]" of attention : tensor<60x60xf32>
    %query_key_value_bias = transformer.parameter %arg0 "self_attention.query_key_value.bias[0::60/20]" of attention : tensor<60xf32>
    %query_key_value_weight_0 = transformer.parameter %arg0 "self_attention.query_key_value.weight[20::60/20]" of attention : tensor<60x60xf32>
    %query_key_value_bias_1 = transformer.parameter %arg0 "self_attention.query_key_value.bias[20::60/20]" of attention : tensor<60xf32>
    %query_key_value_weight_2 = transformer.parameter %arg0 "self_attention.query_key_value.weight[40::60/20]" of attention : tensor<60x60xf32>
    %query_key_value_bias_3 = transformer.parameter %arg0 "self_attention.query_key_value.bias[40::60/20]" of attention : tensor<60xf32>
    %linear = transformer.linear %normed, %query_key_value_weight bias %query_key_value_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %linear_4 = transformer.linear %normed, %query_key_value_weight_0 bias %query_key_value_bias_1 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %linear_5 = transformer.linear %normed, %query_key_value_weight_2 bias %query_key_value_bias_3 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %linear_4 values %linear_5 : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %linear, %arg1 cache %cache[%arg0] heads 3 kv_heads 3 scale 0.22360679774997896 alibi <max = 8.0> : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %arg0 "self_attention.dense.weight" of attention : tensor<60x60xf32>
    %dense_bias = transformer.parameter %arg0 "self_attention.dense.bias" of attention : tensor<60xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg3, %dense : tensor<?x60xf32>
    %post_attention_layernorm_weight = transformer.parameter %arg0 "post_attention_layernorm.weight" of norm : tensor<60xf32>
    %post_attention_layernorm_bias = transformer.parameter %arg0 "post_attention_layernorm.bias" of norm : tensor<60xf32>
    %normed_6 = transformer.layer_norm %sum, %post_attention_layernorm_weight, %post_attention_layernorm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %dense_h_to_4h_weight = transformer.parameter %arg0 "mlp.dense_h_to_4h.weight" of ffn : tensor<240x60xf32>
    %dense_h_to_4h_bias = transformer.parameter %arg0 "mlp.dense_h_to_4h.bias" of ffn : tensor<240xf32>
    %dense_4h_to_h_weight = transformer.parameter %arg0 "mlp.dense_4h_to_h.weight" of ffn : tensor<60x240xf32>
    %dense_4h_to_h_bias = transformer.parameter %arg0 "mlp.dense_4h_to_h.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu_tanh %normed_6 up %dense_h_to_4h_weight bias %dense_h_to_4h_bias down %dense_4h_to_h_weight bias %dense_4h_to_h_bias : (tensor<?x60xf32>, tensor<240x60xf32>, tensor<60x240xf32>, tensor<240xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_7 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_7, %cache : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %ln_f_weight = transformer.parameter %arg0 "ln_f.weight" of norm : tensor<60xf32>
    %ln_f_bias = transformer.parameter %arg0 "ln_f.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg3, %ln_f_weight, %ln_f_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %word_embeddings_weight = transformer.parameter %arg1 "transformer.word_embeddings.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %arg2, %word_embeddings_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
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

