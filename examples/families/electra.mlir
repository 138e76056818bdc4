module attributes {transformer.family = "electra", transformer.max_sequence = 512 : i64, transformer.token_types = 2 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x60xf32> {
    %word_embeddings_weight = transformer.parameter %arg0 "embeddings.word_embeddings.weight" of embedding : tensor<1000x36xf32>
    %embedding = transformer.embedding token %arg1, %word_embeddings_weight : (!transformer.batch, tensor<1000x36xf32>) -> tensor<?x36xf32>
    %token_type_embeddings_weight = transformer.parameter %arg0 "embeddings.token_type_embeddings.weight" of embedding : tensor<2x36xf32>
    %embedding_0 = transformer.embedding token_type %arg1, %token_type_embeddings_weight : (!transformer.batch, tensor<2x36xf32>) -> tensor<?x36xf32>
    %sum = transformer.residual %embedding, %embedding_0 : tensor<?x36xf32>
    %position_embeddings_weight = transformer.parameter %arg0 "embeddings.position_embeddings.weight" of embedding : tensor<512x36xf32>
    %embedding_1 = transformer.embedding position %arg1, %position_embeddings_weight : (!transformer.batch, tensor<512x36xf32>) -> tensor<?x36xf32>
    %sum_2 = transformer.residual %sum, %embedding_1 : tensor<?x36xf32>
    %LayerNorm_weight = transformer.parameter %arg0 "embeddings.LayerNorm.weight" of norm : tensor<36xf32>
    %LayerNorm_bias = transformer.parameter %arg0 "embeddings.LayerNorm.bias" of norm : tensor<36xf32>
    %normed = transformer.layer_norm %sum_2, %LayerNorm_weight, %LayerNorm_bias eps 9.9999999999999998E-13 : (tensor<?x36xf32>, tensor<36xf32>, tensor<36xf32>) -> tensor<?x36xf32>
    %embeddings_project_weight = transformer.parameter %arg0 "embeddings_project.weight" of embedding : tensor<60x36xf32>
    %embeddings_project_bias = transformer.parameter %arg0 "embeddings_project.bias" of embedding : tensor<60xf32>
    %embeddings_project = transformer.linear %normed, %embeddings_project_weight bias %embeddings_project_bias : (tensor<?x36xf32>, tensor<60x36xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %embeddings_project : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %query_weight = transformer.parameter %arg0 "attention.self.query.weight" of attention : tensor<60x60xf32>
    %query_bias = transformer.parameter %arg0 "attention.self.query.bias" of attention : tensor<60xf32>
    %key_weight = transformer.parameter %arg0 "attention.self.key.weight" of attention : tensor<60x60xf32>
    %key_bias = transformer.parameter %arg0 "attention.self.key.bias" of attention : tensor<60xf32>
    %value_weight = transformer.parameter %arg0 "attention.self.value.weight" of attention : tensor<60x60xf32>
    %value_bias = transformer.parameter %arg0 "attention.self.value.bias" of attention : tensor<60xf32>
    %query = transformer.linear %arg2, %query_weight bias %query_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %key = transformer.linear %arg2, %key_weight bias %key_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %value = transformer.linear %arg2, %value_weight bias %value_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %query, %arg1 keys %key values %value heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %arg0 "attention.output.dense.weight" of attention : tensor<60x60xf32>
    %dense_bias = transformer.parameter %arg0 "attention.output.dense.bias" of attention : tensor<60xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg2, %dense : tensor<?x60xf32>
    %LayerNorm_weight = transformer.parameter %arg0 "attention.output.LayerNorm.weight" of norm : tensor<60xf32>
    %LayerNorm_bias = transformer.parameter %arg0 "attention.output.LayerNorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %LayerNorm_weight, %LayerNorm_bias eps 9.9999999999999998E-13 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %dense_weight_0 = transformer.parameter %arg0 "intermediate.dense.weight" of ffn : tensor<176x60xf32>
    %dense_bias_1 = transformer.parameter %arg0 "intermediate.dense.bias" of ffn : tensor<176xf32>
    %dense_weight_2 = transformer.parameter %arg0 "output.dense.weight" of ffn : tensor<60x176xf32>
    %dense_bias_3 = transformer.parameter %arg0 "output.dense.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu %normed up %dense_weight_0 bias %dense_bias_1 down %dense_weight_2 bias %dense_bias_3 : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_4 = transformer.residual %normed, %ffn : tensor<?x60xf32>
    %LayerNorm_weight_5 = transformer.parameter %arg0 "output.LayerNorm.weight" of norm : tensor<60xf32>
    %LayerNorm_bias_6 = transformer.parameter %arg0 "output.LayerNorm.bias" of norm : tensor<60xf32>
    %normed_7 = transformer.layer_norm %sum_4, %LayerNorm_weight_5, %LayerNorm_bias_6 eps 9.9999999999999998E-13 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_7 : tensor<?x60xf32>
  }
  func.func private @answer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>, %arg3: !transformer.scope) -> tensor<?x1xf32> {
    %wanted = transformer.select_rows %arg2, %arg1 : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %arg3 "discriminator_predictions.dense.weight" of head : tensor<60x60xf32>
    %dense_bias = transformer.parameter %arg3 "discriminator_predictions.dense.bias" of head : tensor<60xf32>
    %dense = transformer.linear %wanted, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %activation = transformer.activation gelu %dense : tensor<?x60xf32>
    %dense_prediction_weight = transformer.parameter %arg3 "discriminator_predictions.dense_prediction.weight" of head : tensor<1x60xf32>
    %dense_prediction_bias = transformer.parameter %arg3 "discriminator_predictions.dense_prediction.bias" of head : tensor<1xf32>
    %dense_prediction = transformer.linear %activation, %dense_prediction_weight bias %dense_prediction_bias : (tensor<?x60xf32>, tensor<1x60xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    return %dense_prediction : tensor<?x1xf32>
  }
  func.func @encode(%arg0: !transformer.batch) -> tensor<?x1xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %electra = transformer.scope "electra"
    %0 = call @embed(%electra, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %_0 = transformer.scope "electra.encoder.layer.0"
    %1 = call @layer(%_0, %arg0, %0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_1 = transformer.scope "electra.encoder.layer.1"
    %2 = call @layer(%_1, %arg0, %1) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %electra_0 = transformer.scope "electra"
    %root = transformer.scope ""
    %3 = call @answer(%electra_0, %arg0, %2, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x1xf32>
    return %3 : tensor<?x1xf32>
  }
}

