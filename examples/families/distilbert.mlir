module attributes {transformer.family = "distilbert", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x60xf32> {
    %word_embeddings_weight = transformer.parameter %arg0 "embeddings.word_embeddings.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg1, %word_embeddings_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %position_embeddings_weight = transformer.parameter %arg0 "embeddings.position_embeddings.weight" of embedding : tensor<512x60xf32>
    %embedding_0 = transformer.embedding position %arg1, %position_embeddings_weight : (!transformer.batch, tensor<512x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %embedding, %embedding_0 : tensor<?x60xf32>
    %LayerNorm_weight = transformer.parameter %arg0 "embeddings.LayerNorm.weight" of norm : tensor<60xf32>
    %LayerNorm_bias = transformer.parameter %arg0 "embeddings.LayerNorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %LayerNorm_weight, %LayerNorm_bias eps 9.9999999999999998E-13 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %q_lin_weight = transformer.parameter %arg0 "attention.q_lin.weight" of attention : tensor<60x60xf32>
    %q_lin_bias = transformer.parameter %arg0 "attention.q_lin.bias" of attention : tensor<60xf32>
    %k_lin_weight = transformer.parameter %arg0 "attention.k_lin.weight" of attention : tensor<60x60xf32>
    %k_lin_bias = transformer.parameter %arg0 "attention.k_lin.bias" of attention : tensor<60xf32>
    %v_lin_weight = transformer.parameter %arg0 "attention.v_lin.weight" of attention : tensor<60x60xf32>
    %v_lin_bias = transformer.parameter %arg0 "attention.v_lin.bias" of attention : tensor<60xf32>
    %q_lin = transformer.linear %arg2, %q_lin_weight bias %q_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_lin = transformer.linear %arg2, %k_lin_weight bias %k_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_lin = transformer.linear %arg2, %v_lin_weight bias %v_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %q_lin, %arg1 keys %k_lin values %v_lin heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %out_lin_weight = transformer.parameter %arg0 "attention.out_lin.weight" of attention : tensor<60x60xf32>
    %out_lin_bias = transformer.parameter %arg0 "attention.out_lin.bias" of attention : tensor<60xf32>
    %out_lin = transformer.linear %attended, %out_lin_weight bias %out_lin_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg2, %out_lin : tensor<?x60xf32>
    %sa_layer_norm_weight = transformer.parameter %arg0 "sa_layer_norm.weight" of norm : tensor<60xf32>
    %sa_layer_norm_bias = transformer.parameter %arg0 "sa_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %sa_layer_norm_weight, %sa_layer_norm_bias eps 9.9999999999999998E-13 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %lin1_weight = transformer.parameter %arg0 "ffn.lin1.weight" of ffn : tensor<176x60xf32>
    %lin1_bias = transformer.parameter %arg0 "ffn.lin1.bias" of ffn : tensor<176xf32>
    %lin2_weight = transformer.parameter %arg0 "ffn.lin2.weight" of ffn : tensor<60x176xf32>
    %lin2_bias = transformer.parameter %arg0 "ffn.lin2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward gelu %normed up %lin1_weight bias %lin1_bias down %lin2_weight bias %lin2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_0 = transformer.residual %normed, %ffn : tensor<?x60xf32>
    %output_layer_norm_weight = transformer.parameter %arg0 "output_layer_norm.weight" of norm : tensor<60xf32>
    %output_layer_norm_bias = transformer.parameter %arg0 "output_layer_norm.bias" of norm : tensor<60xf32>
    %normed_1 = transformer.layer_norm %sum_0, %output_layer_norm_weight, %output_layer_norm_bias eps 9.9999999999999998E-13 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_1 : tensor<?x60xf32>
  }
  func.func private @answer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>, %arg3: !transformer.scope) -> tensor<?x2xf32> {
    %wanted = transformer.select_rows %arg2, %arg1 : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %qa_outputs_weight = transformer.parameter %arg3 "qa_outputs.weight" of head : tensor<2x60xf32>
    %qa_outputs_bias = transformer.parameter %arg3 "qa_outputs.bias" of head : tensor<2xf32>
    %qa_outputs = transformer.linear %wanted, %qa_outputs_weight bias %qa_outputs_bias : (tensor<?x60xf32>, tensor<2x60xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    return %qa_outputs : tensor<?x2xf32>
  }
  func.func @encode(%arg0: !transformer.batch) -> tensor<?x2xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %distilbert = transformer.scope "distilbert"
    %0 = call @embed(%distilbert, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %_0 = transformer.scope "distilbert.transformer.layer.0"
    %1 = call @layer(%_0, %arg0, %0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_1 = transformer.scope "distilbert.transformer.layer.1"
    %2 = call @layer(%_1, %arg0, %1) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %distilbert_0 = transformer.scope "distilbert"
    %root = transformer.scope ""
    %3 = call @answer(%distilbert_0, %arg0, %2, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x2xf32>
    return %3 : tensor<?x2xf32>
  }
}

