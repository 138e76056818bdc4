module attributes {transformer.family = "vit", transformer.max_sequence = 25 : i64, transformer.vocabulary = 1 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %features = transformer.input_features %batch : tensor<?x192xf32>
    %projection_weight = transformer.parameter %scope "embeddings.patch_embeddings.projection.weight^flat" of embedding : tensor<60x192xf32>
    %projection_bias = transformer.parameter %scope "embeddings.patch_embeddings.projection.bias" of embedding : tensor<60xf32>
    %projection = transformer.linear %features, %projection_weight bias %projection_bias : (tensor<?x192xf32>, tensor<60x192xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %embeddings_cls_token = transformer.parameter %scope "embeddings.cls_token^flat" of embedding : tensor<60xf32>
    %tokens = transformer.class_token %projection, %batch, %embeddings_cls_token : (tensor<?x60xf32>, !transformer.batch, tensor<60xf32>) -> tensor<?x60xf32>
    %embeddings_position_embeddings = transformer.parameter %scope "embeddings.position_embeddings^flat" of embedding : tensor<25x60xf32>
    %embedding = transformer.embedding position %batch, %embeddings_position_embeddings : (!transformer.batch, tensor<25x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %tokens, %embedding : tensor<?x60xf32>
    return %sum : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %layernorm_before_weight = transformer.parameter %scope "layernorm_before.weight" of norm : tensor<60xf32>
    %layernorm_before_bias = transformer.parameter %scope "layernorm_before.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %layernorm_before_weight, %layernorm_before_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %query_weight = transformer.parameter %scope "attention.attention.query.weight" of attention : tensor<60x60xf32>
    %query_bias = transformer.parameter %scope "attention.attention.query.bias" of attention : tensor<60xf32>
    %key_weight = transformer.parameter %scope "attention.attention.key.weight" of attention : tensor<60x60xf32>
    %key_bias = transformer.parameter %scope "attention.attention.key.bias" of attention : tensor<60xf32>
    %value_weight = transformer.parameter %scope "attention.attention.value.weight" of attention : tensor<60x60xf32>
    %value_bias = transformer.parameter %scope "attention.attention.value.bias" of attention : tensor<60xf32>
    %query = transformer.linear %normed, %query_weight bias %query_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %key = transformer.linear %normed, %key_weight bias %key_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %value = transformer.linear %normed, %value_weight bias %value_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %query, %batch keys %key values %value heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %scope "attention.output.dense.weight" of attention : tensor<60x60xf32>
    %dense_bias = transformer.parameter %scope "attention.output.dense.bias" of attention : tensor<60xf32>
    %dense = transformer.linear %attended, %dense_weight bias %dense_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %dense : tensor<?x60xf32>
    %layernorm_after_weight = transformer.parameter %scope "layernorm_after.weight" of norm : tensor<60xf32>
    %layernorm_after_bias = transformer.parameter %scope "layernorm_after.bias" of norm : tensor<60xf32>
    %normed_0 = transformer.layer_norm %sum, %layernorm_after_weight, %layernorm_after_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %dense_weight_1 = transformer.parameter %scope "intermediate.dense.weight" of ffn : tensor<176x60xf32>
    %dense_bias_2 = transformer.parameter %scope "intermediate.dense.bias" of ffn : tensor<176xf32>
    %dense_weight_3 = transformer.parameter %scope "output.dense.weight" of ffn : tensor<60x176xf32>
    %dense_bias_4 = transformer.parameter %scope "output.dense.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu %normed_0 up %dense_weight_1 bias %dense_bias_2 down %dense_weight_3 bias %dense_bias_4 : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_5 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_5 : tensor<?x60xf32>
  }
  func.func private @answer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>, %scope_0: !transformer.scope) -> tensor<?x3xf32> {
    %layernorm_weight = transformer.parameter %scope "layernorm.weight" of norm : tensor<60xf32>
    %layernorm_bias = transformer.parameter %scope "layernorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %layernorm_weight, %layernorm_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %pooled = transformer.pool cls %normed, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %classifier_weight = transformer.parameter %scope_0 "classifier.weight" of head : tensor<3x60xf32>
    %classifier_bias = transformer.parameter %scope_0 "classifier.bias" of head : tensor<3xf32>
    %classifier = transformer.linear %pooled, %classifier_weight bias %classifier_bias : (tensor<?x60xf32>, tensor<3x60xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    return %classifier : tensor<?x3xf32>
  }
  func.func @encode_image(%batch: !transformer.batch) -> tensor<?x3xf32> attributes {transformer.output = "classes", transformer.role = "encode_image"} {
    %vit = transformer.scope "vit"
    %x = call @embed(%vit, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %n0 = transformer.scope "vit.encoder.layer.0"
    %x_0 = call @layer(%n0, %batch, %x) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "vit.encoder.layer.1"
    %x_1 = call @layer(%n1, %batch, %x_0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %vit_2 = transformer.scope "vit"
    %root = transformer.scope ""
    %x_3 = call @answer(%vit_2, %batch, %x_1, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x3xf32>
    return %x_3 : tensor<?x3xf32>
  }
}

