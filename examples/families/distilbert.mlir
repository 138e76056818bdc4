module attributes {transformer.family = "distilbert", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %word_embeddings_weight = transformer.parameter %scope "embeddings.word_embeddings.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %word_embeddings_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %position_embeddings_weight = transformer.parameter %scope "embeddings.position_embeddings.weight" of embedding : tensor<512x60xf32>
    %embedding_0 = transformer.embedding position %batch, %position_embeddings_weight : (!transformer.batch, tensor<512x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %embedding, %embedding_0 : tensor<?x60xf32>
    %LayerNorm_weight = transformer.parameter %scope "embeddings.LayerNorm.weight" of norm : tensor<60xf32>
    %LayerNorm_bias = transformer.parameter %scope "embeddings.LayerNorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %LayerNorm_weight, %LayerNorm_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %q_lin_weight = transformer.parameter %scope "attention.q_lin.weight" of attention : tensor<60x60xf32>
    %q_lin_bias = transformer.parameter %scope "attention.q_lin.bias" of attention : tensor<60xf32>
    %k_lin_weight = transformer.parameter %scope "attention.k_lin.weight" of attention : tensor<60x60xf32>
    %k_lin_bias = transformer.parameter %scope "attention.k_lin.bias" of attention : tensor<60xf32>
    %v_lin_weight = transformer.parameter %scope "attention.v_lin.weight" of attention : tensor<60x60xf32>
    %v_lin_bias = transformer.parameter %scope "attention.v_lin.bias" of attention : tensor<60xf32>
    %q_lin = transformer.linear %x, %q_lin_weight bias %q_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_lin = transformer.linear %x, %k_lin_weight bias %k_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_lin = transformer.linear %x, %v_lin_weight bias %v_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %q_lin, %batch keys %k_lin values %v_lin heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %out_lin_weight = transformer.parameter %scope "attention.out_lin.weight" of attention : tensor<60x60xf32>
    %out_lin_bias = transformer.parameter %scope "attention.out_lin.bias" of attention : tensor<60xf32>
    %out_lin = transformer.linear %attended, %out_lin_weight bias %out_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_lin : tensor<?x60xf32>
    %sa_layer_norm_weight = transformer.parameter %scope "sa_layer_norm.weight" of norm : tensor<60xf32>
    %sa_layer_norm_bias = transformer.parameter %scope "sa_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %sa_layer_norm_weight, %sa_layer_norm_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %lin1_weight = transformer.parameter %scope "ffn.lin1.weight" of ffn : tensor<176x60xf32>
    %lin1_bias = transformer.parameter %scope "ffn.lin1.bias" of ffn : tensor<176xf32>
    %lin2_weight = transformer.parameter %scope "ffn.lin2.weight" of ffn : tensor<60x176xf32>
    %lin2_bias = transformer.parameter %scope "ffn.lin2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu %normed up %lin1_weight bias %lin1_bias down %lin2_weight bias %lin2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_0 = transformer.residual %normed, %ffn : tensor<?x60xf32>
    %output_layer_norm_weight = transformer.parameter %scope "output_layer_norm.weight" of norm : tensor<60xf32>
    %output_layer_norm_bias = transformer.parameter %scope "output_layer_norm.bias" of norm : tensor<60xf32>
    %normed_1 = transformer.layer_norm %sum_0, %output_layer_norm_weight, %output_layer_norm_bias eps 1e-12 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_1 : tensor<?x60xf32>
  }
  func.func private @answer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>, %scope_0: !transformer.scope) -> tensor<?x2xf32> {
    %selected = transformer.select_output_rows %x, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %qa_outputs_weight = transformer.parameter %scope_0 "qa_outputs.weight" of head : tensor<2x60xf32>
    %qa_outputs_bias = transformer.parameter %scope_0 "qa_outputs.bias" of head : tensor<2xf32>
    %qa_outputs = transformer.linear %selected, %qa_outputs_weight bias %qa_outputs_bias : (tensor<?x60xf32>, tensor<2x60xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    return %qa_outputs : tensor<?x2xf32>
  }
  func.func @encode(%batch: !transformer.batch) -> tensor<?x2xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %distilbert = transformer.scope "distilbert"
    %x = call @embed(%distilbert, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %n0 = transformer.scope "distilbert.transformer.layer.0"
    %x_0 = call @layer(%n0, %batch, %x) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "distilbert.transformer.layer.1"
    %x_1 = call @layer(%n1, %batch, %x_0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %distilbert_2 = transformer.scope "distilbert"
    %root = transformer.scope ""
    %x_3 = call @answer(%distilbert_2, %batch, %x_1, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x2xf32>
    return %x_3 : tensor<?x2xf32>
  }
}

