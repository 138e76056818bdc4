module attributes {transformer.family = "modernbert", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %tok_embeddings_weight = transformer.parameter %scope "embeddings.tok_embeddings.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %tok_embeddings_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %norm_weight = transformer.parameter %scope "embeddings.norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %embedding, %norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %Wqkv_weight = transformer.parameter %scope "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %scope "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %scope "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %x, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_2 = transformer.linear %x, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_3 = transformer.linear %x, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %linear, %batch heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %rotated_4 = transformer.rope %linear_2, %batch heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %attended = transformer.attention bidirectional %rotated, %batch keys %rotated_4 values %linear_3 heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %Wo_weight = transformer.parameter %scope "attn.Wo.weight" of attention : tensor<60x60xf32>
    %Wo = transformer.linear %attended, %Wo_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %Wo : tensor<?x60xf32>
    %mlp_norm_weight = transformer.parameter %scope "mlp_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %mlp_norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wi_weight = transformer.parameter %scope "mlp.Wi.weight[0:88]" of ffn : tensor<88x60xf32>
    %Wi_weight_5 = transformer.parameter %scope "mlp.Wi.weight[88:176]" of ffn : tensor<88x60xf32>
    %Wo_weight_6 = transformer.parameter %scope "mlp.Wo.weight" of ffn : tensor<60x88xf32>
    %ffn = transformer.gated_feed_forward gelu %normed gate %Wi_weight up %Wi_weight_5 down %Wo_weight_6 : (tensor<?x60xf32>, tensor<88x60xf32>, tensor<88x60xf32>, tensor<60x88xf32>) -> tensor<?x60xf32>
    %sum_7 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_7 : tensor<?x60xf32>
  }
  func.func private @layer_window(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %attn_norm_weight = transformer.parameter %scope "attn_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %attn_norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wqkv_weight = transformer.parameter %scope "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %scope "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %scope "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %normed, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_2 = transformer.linear %normed, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_3 = transformer.linear %normed, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %linear, %batch heads 3 <half, dim = 20, base = 10000.0> : tensor<?x60xf32>
    %rotated_4 = transformer.rope %linear_2, %batch heads 3 <half, dim = 20, base = 10000.0> : tensor<?x60xf32>
    %attended = transformer.attention bidirectional %rotated, %batch keys %rotated_4 values %linear_3 heads 3 kv_heads 3 scale 0.2236068 window 65 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %Wo_weight = transformer.parameter %scope "attn.Wo.weight" of attention : tensor<60x60xf32>
    %Wo = transformer.linear %attended, %Wo_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %Wo : tensor<?x60xf32>
    %mlp_norm_weight = transformer.parameter %scope "mlp_norm.weight" of norm : tensor<60xf32>
    %normed_5 = transformer.layer_norm %sum, %mlp_norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wi_weight = transformer.parameter %scope "mlp.Wi.weight[0:88]" of ffn : tensor<88x60xf32>
    %Wi_weight_6 = transformer.parameter %scope "mlp.Wi.weight[88:176]" of ffn : tensor<88x60xf32>
    %Wo_weight_7 = transformer.parameter %scope "mlp.Wo.weight" of ffn : tensor<60x88xf32>
    %ffn = transformer.gated_feed_forward gelu %normed_5 gate %Wi_weight up %Wi_weight_6 down %Wo_weight_7 : (tensor<?x60xf32>, tensor<88x60xf32>, tensor<88x60xf32>, tensor<60x88xf32>) -> tensor<?x60xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_8 : tensor<?x60xf32>
  }
  func.func private @layer_1(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %attn_norm_weight = transformer.parameter %scope "attn_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %attn_norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wqkv_weight = transformer.parameter %scope "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %scope "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %scope "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %normed, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_2 = transformer.linear %normed, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_3 = transformer.linear %normed, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %linear, %batch heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %rotated_4 = transformer.rope %linear_2, %batch heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %attended = transformer.attention bidirectional %rotated, %batch keys %rotated_4 values %linear_3 heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %Wo_weight = transformer.parameter %scope "attn.Wo.weight" of attention : tensor<60x60xf32>
    %Wo = transformer.linear %attended, %Wo_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %Wo : tensor<?x60xf32>
    %mlp_norm_weight = transformer.parameter %scope "mlp_norm.weight" of norm : tensor<60xf32>
    %normed_5 = transformer.layer_norm %sum, %mlp_norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wi_weight = transformer.parameter %scope "mlp.Wi.weight[0:88]" of ffn : tensor<88x60xf32>
    %Wi_weight_6 = transformer.parameter %scope "mlp.Wi.weight[88:176]" of ffn : tensor<88x60xf32>
    %Wo_weight_7 = transformer.parameter %scope "mlp.Wo.weight" of ffn : tensor<60x88xf32>
    %ffn = transformer.gated_feed_forward gelu %normed_5 gate %Wi_weight up %Wi_weight_6 down %Wo_weight_7 : (tensor<?x60xf32>, tensor<88x60xf32>, tensor<88x60xf32>, tensor<60x88xf32>) -> tensor<?x60xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_8 : tensor<?x60xf32>
  }
  func.func private @answer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>, %scope_0: !transformer.scope) -> tensor<?x1000xf32> {
    %final_norm_weight = transformer.parameter %scope "final_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %final_norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %selected = transformer.select_output_rows %normed, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %scope_0 "head.dense.weight" of head : tensor<60x60xf32>
    %dense = transformer.linear %selected, %dense_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %activation = transformer.activation gelu %dense : tensor<?x60xf32>
    %norm_weight = transformer.parameter %scope_0 "head.norm.weight" of norm : tensor<60xf32>
    %normed_1 = transformer.layer_norm %activation, %norm_weight eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %tok_embeddings_weight = transformer.parameter %scope_0 "model.embeddings.tok_embeddings.weight" of head : tensor<1000x60xf32>
    %decoder_bias = transformer.parameter %scope_0 "decoder.bias" of head : tensor<1000xf32>
    %tok_embeddings = transformer.linear %normed_1, %tok_embeddings_weight bias %decoder_bias : (tensor<?x60xf32>, tensor<1000x60xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %tok_embeddings : tensor<?x1000xf32>
  }
  func.func @encode(%batch: !transformer.batch) -> tensor<?x1000xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %model = transformer.scope "model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %n0 = transformer.scope "model.layers.0"
    %x_0 = call @layer(%n0, %batch, %x) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "model.layers.1"
    %x_1 = call @layer_window(%n1, %batch, %x_0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n2 = transformer.scope "model.layers.2"
    %x_2 = call @layer_window(%n2, %batch, %x_1) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n3 = transformer.scope "model.layers.3"
    %x_3 = call @layer_1(%n3, %batch, %x_2) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %model_4 = transformer.scope "model"
    %root = transformer.scope ""
    %x_5 = call @answer(%model_4, %batch, %x_3, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x1000xf32>
    return %x_5 : tensor<?x1000xf32>
  }
}

