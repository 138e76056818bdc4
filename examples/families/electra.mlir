module attributes {transformer.family = "electra", transformer.max_sequence = 512 : i64, transformer.token_types = 2 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %word_embeddings_weight = transformer.parameter %scope "embeddings.word_embeddings.weight" of embedding : tensor<1000x36xf32>
    %embedding = transformer.embedding token %batch, %word_embeddings_weight : (!transformer.batch, tensor<1000x36xf32>) -> tensor<?x36xf32>
    %token_type_embeddings_weight = transformer.parameter %scope "embeddings.token_type_embeddings.weight" of embedding : tensor<2x36xf32>
    %embedding_0 = transformer.embedding token_type %batch, %token_type_embeddings_weight : (!transformer.batch, tensor<2x36xf32>) -> tensor<?x36xf32>
    %sum = transformer.residual %embedding, %embedding_0 : tensor<?x36xf32>
    %position_embeddings_weight = transformer.parameter %scope "embeddings.position_embeddings.weight" of embedding : tensor<512x36xf32>
    %embedding_1 = transformer.embedding position %batch, %position_embeddings_weight : (!transformer.batch, tensor<512x36xf32>) -> tensor<?x36xf32>
    %sum_2 = transformer.residual %sum, %embedding_1 : tensor<?x36xf32>
    %LayerNorm_weight = transformer.parameter %scope "embeddings.LayerNorm.weight" of norm : tensor<36xf32>
    %LayerNorm_bias = transformer.parameter %scope "embeddings.LayerNorm.bias" of norm : tensor<36xf32>
    %normed = transformer.layer_norm %sum_2, %LayerNorm_weight, %LayerNorm_bias eps 1e-12 : (tensor<?x36xf32>, tensor<36xf32>, tensor<36xf32>) -> tensor<?x36xf32>
    %embeddings_project_weight = transformer.parameter %scope "embeddings_project.weight" of embedding : tensor<60x36xf32>
    %embeddings_project_bias = transformer.parameter %scope "embeddings_project.bias" of embedding : tensor<60xf32>
    %embeddings_project = transformer.linear %normed, %embeddings_project_weight bias %embeddings_project_bias : (tensor<?x36xf32>, tensor<60x36xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %embeddings_project : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %query_weight = transformer.parameter %scope "attention.self.query.weight" of attention : tensor<60x60xf32>
    %query_bias = transformer.parameter %scope "attention.self.query.bias" of attention : tensor<60xf32>
    %key_weight = transformer.parameter %scope "attention.self.key.weight" of attention : tensor<60x60xf32>
    %key_bias = transformer.parameter %scope "attention.self.key.bias" of attention : tensor<60xf32>
    %value_weight = transformer.parameter %scope "attention.self.value.weight" of attention : tensor<60x60xf32>
    %value_bias = transformer.parameter %scope "attention.self.value.bias" of attention : tensor<60xf32>
    %query = transformer.linear %x, %query_weight bias %query_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %key = transformer.linear %x, %key_weight bias %key_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %value = transformer.linear %x, %value_weight bias %value_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %query, %batch keys %key values %value heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %scope "attention.output.dense.weight" of attention : tensor<60x60xf32>
    %dense_bias = transformer.parameter %scope "attention.output.dense.bias" of attention : tensor<60xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %dense : tensor<?x60xf32>
    %LayerNorm_weight = transformer.parameter %scope "attention.output.LayerNorm.weight" of norm : tensor<60xf32>
    %LayerNorm_bias = transformer.parameter %scope "attention.output.LayerNorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %LayerNorm_weight, %LayerNorm_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %dense_weight_0 = transformer.parameter %scope "intermediate.dense.weight" of ffn : tensor<176x60xf32>
    %dense_bias_1 = transformer.parameter %scope "intermediate.dense.bias" of ffn : tensor<176xf32>
    %dense_weight_2 = transformer.parameter %scope "output.dense.weight" of ffn : tensor<60x176xf32>
    %dense_bias_3 = transformer.parameter %scope "output.dense.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu %normed up %dense_weight_0 bias %dense_bias_1 down %dense_weight_2 bias %dense_bias_3 : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_4 = transformer.residual %normed, %ffn : tensor<?x60xf32>
    %LayerNorm_weight_5 = transformer.parameter %scope "output.LayerNorm.weight" of norm : tensor<60xf32>
    %LayerNorm_bias_6 = transformer.parameter %scope "output.LayerNorm.bias" of norm : tensor<60xf32>
    %normed_7 = transformer.layer_norm %sum_4, %LayerNorm_weight_5, %LayerNorm_bias_6 eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_7 : tensor<?x60xf32>
  }
  func.func private @answer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>, %scope_0: !transformer.scope) -> tensor<?x1xf32> {
    %selected = transformer.select_output_rows %x, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %scope_0 "discriminator_predictions.dense.weight" of head : tensor<60x60xf32>
    %dense_bias = transformer.parameter %scope_0 "discriminator_predictions.dense.bias" of head : tensor<60xf32>
    %dense = transformer.linear %selected, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %activation = transformer.activation gelu %dense : tensor<?x60xf32>
    %dense_prediction_weight = transformer.parameter %scope_0 "discriminator_predictions.dense_prediction.weight" of head : tensor<1x60xf32>
    %dense_prediction_bias = transformer.parameter %scope_0 "discriminator_predictions.dense_prediction.bias" of head : tensor<1xf32>
    %dense_prediction = transformer.linear %activation, %dense_prediction_weight bias %dense_prediction_bias : (tensor<?x60xf32>, tensor<1x60xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    return %dense_prediction : tensor<?x1xf32>
  }
  func.func @encode(%batch: !transformer.batch) -> tensor<?x1xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %electra = transformer.scope "electra"
    %x = call @embed(%electra, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %n0 = transformer.scope "electra.encoder.layer.0"
    %x_0 = call @layer(%n0, %batch, %x) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "electra.encoder.layer.1"
    %x_1 = call @layer(%n1, %batch, %x_0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %electra_2 = transformer.scope "electra"
    %root = transformer.scope ""
    %x_3 = call @answer(%electra_2, %batch, %x_1, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x1xf32>
    return %x_3 : tensor<?x1xf32>
  }
}

