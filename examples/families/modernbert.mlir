module attributes {transformer.family = "modernbert", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.batch) -> tensor<?x60xf32> {
    %tok_embeddings_weight = transformer.parameter %arg0 "embeddings.tok_embeddings.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg1, %tok_embeddings_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %norm_weight = transformer.parameter %arg0 "embeddings.norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %embedding, %norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %Wqkv_weight = transformer.parameter %arg0 "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %arg0 "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %arg0 "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %arg2, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_2 = transformer.linear %arg2, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_3 = transformer.linear %arg2, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %linear, %arg1 heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %rotated_4 = transformer.rope %linear_2, %arg1 heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %attended = transformer.attention bidirectional %rotated, %arg1 keys %rotated_4 values %linear_3 heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %Wo_weight = transformer.parameter %arg0 "attn.Wo.weight" of attention : tensor<60x60xf32>
    %Wo = transformer.linear %attended, %Wo_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg2, %Wo : tensor<?x60xf32>
    %mlp_norm_weight = transformer.parameter %arg0 "mlp_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %mlp_norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wi_weight = transformer.parameter %arg0 "mlp.Wi.weight[0:88]" of ffn : tensor<88x60xf32>
    %Wi_weight_5 = transformer.parameter %arg0 "mlp.Wi.weight[88:176]" of ffn : tensor<88x60xf32>
    %Wo_weight_6 = transformer.parameter %arg0 "mlp.Wo.weight" of ffn : tensor<60x88xf32>
    %ffn = transformer.gated_feed_forward gelu %normed gate %Wi_weight up %Wi_weight_5 down %Wo_weight_6 : (tensor<?x60xf32>, tensor<88x60xf32>, tensor<88x60xf32>, tensor<60x88xf32>) -> tensor<?x60xf32>
    %sum_7 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_7 : tensor<?x60xf32>
  }
  func.func private @layer_window(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %attn_norm_weight = transformer.parameter %arg0 "attn_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg2, %attn_norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wqkv_weight = transformer.parameter %arg0 "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %arg0 "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %arg0 "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %normed, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_2 = transformer.linear %normed, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_3 = transformer.linear %normed, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %linear, %arg1 heads 3 <half, dim = 20, base = 1.0e+04> : tensor<?x60xf32>
    %rotated_4 = transformer.rope %linear_2, %arg1 heads 3 <half, dim = 20, base = 1.0e+04> : tensor<?x60xf32>
    %attended = transformer.attention bidirectional %rotated, %arg1 keys %rotated_4 values %linear_3 heads 3 kv_heads 3 scale 0.22360679774997896 window 65 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %Wo_weight = transformer.parameter %arg0 "attn.Wo.weight" of attention : tensor<60x60xf32>
    %Wo = transformer.linear %attended, %Wo_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg2, %Wo : tensor<?x60xf32>
    %mlp_norm_weight = transformer.parameter %arg0 "mlp_norm.weight" of norm : tensor<60xf32>
    %normed_5 = transformer.layer_norm %sum, %mlp_norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wi_weight = transformer.parameter %arg0 "mlp.Wi.weight[0:88]" of ffn : tensor<88x60xf32>
    %Wi_weight_6 = transformer.parameter %arg0 "mlp.Wi.weight[88:176]" of ffn : tensor<88x60xf32>
    %Wo_weight_7 = transformer.parameter %arg0 "mlp.Wo.weight" of ffn : tensor<60x88xf32>
    %ffn = transformer.gated_feed_forward gelu %normed_5 gate %Wi_weight up %Wi_weight_6 down %Wo_weight_7 : (tensor<?x60xf32>, tensor<88x60xf32>, tensor<88x60xf32>, tensor<60x88xf32>) -> tensor<?x60xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_8 : tensor<?x60xf32>
  }
  func.func private @layer_1(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %attn_norm_weight = transformer.parameter %arg0 "attn_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg2, %attn_norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wqkv_weight = transformer.parameter %arg0 "attn.Wqkv.weight[0:60]" of attention : tensor<60x60xf32>
    %Wqkv_weight_0 = transformer.parameter %arg0 "attn.Wqkv.weight[60:120]" of attention : tensor<60x60xf32>
    %Wqkv_weight_1 = transformer.parameter %arg0 "attn.Wqkv.weight[120:180]" of attention : tensor<60x60xf32>
    %linear = transformer.linear %normed, %Wqkv_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_2 = transformer.linear %normed, %Wqkv_weight_0 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %linear_3 = transformer.linear %normed, %Wqkv_weight_1 : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %rotated = transformer.rope %linear, %arg1 heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %rotated_4 = transformer.rope %linear_2, %arg1 heads 3 <half, dim = 20, base = 1.6e+05> : tensor<?x60xf32>
    %attended = transformer.attention bidirectional %rotated, %arg1 keys %rotated_4 values %linear_3 heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %Wo_weight = transformer.parameter %arg0 "attn.Wo.weight" of attention : tensor<60x60xf32>
    %Wo = transformer.linear %attended, %Wo_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg2, %Wo : tensor<?x60xf32>
    %mlp_norm_weight = transformer.parameter %arg0 "mlp_norm.weight" of norm : tensor<60xf32>
    %normed_5 = transformer.layer_norm %sum, %mlp_norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %Wi_weight = transformer.parameter %arg0 "mlp.Wi.weight[0:88]" of ffn : tensor<88x60xf32>
    %Wi_weight_6 = transformer.parameter %arg0 "mlp.Wi.weight[88:176]" of ffn : tensor<88x60xf32>
    %Wo_weight_7 = transformer.parameter %arg0 "mlp.Wo.weight" of ffn : tensor<60x88xf32>
    %ffn = transformer.gated_feed_forward gelu %normed_5 gate %Wi_weight up %Wi_weight_6 down %Wo_weight_7 : (tensor<?x60xf32>, tensor<88x60xf32>, tensor<88x60xf32>, tensor<60x88xf32>) -> tensor<?x60xf32>
    %sum_8 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_8 : tensor<?x60xf32>
  }
  func.func private @answer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>, %arg3: !transformer.scope) -> tensor<?x1000xf32> {
    %final_norm_weight = transformer.parameter %arg0 "final_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %arg2, %final_norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wanted = transformer.select_rows %normed, %arg1 : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %dense_weight = transformer.parameter %arg3 "head.dense.weight" of head : tensor<60x60xf32>
    %dense = transformer.linear %wanted, %dense_weight : (tensor<?x60xf32>, tensor<60x60xf32>) -> tensor<?x60xf32>
    %activation = transformer.activation gelu %dense : tensor<?x60xf32>
    %norm_weight = transformer.parameter %arg3 "head.norm.weight" of norm : tensor<60xf32>
    %normed_0 = transformer.layer_norm %activation, %norm_weight eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %tok_embeddings_weight = transformer.parameter %arg3 "model.embeddings.tok_embeddings.weight" of head : tensor<1000x60xf32>
    %decoder_bias = transformer.parameter %arg3 "decoder.bias" of head : tensor<1000xf32>
    %tok_embeddings = transformer.linear %normed_0, %tok_embeddings_weight bias %decoder_bias : (tensor<?x60xf32>, tensor<1000x60xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %tok_embeddings : tensor<?x1000xf32>
  }
  func.func @encode(%arg0: !transformer.batch) -> tensor<?x1000xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %model = transformer.scope "model"
    %0 = call @embed(%model, %arg0) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %_0 = transformer.scope "model.layers.0"
    %1 = call @layer(%_0, %arg0, %0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_1 = transformer.scope "model.layers.1"
    %2 = call @layer_window(%_1, %arg0, %1) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_2 = transformer.scope "model.layers.2"
    %3 = call @layer_window(%_2, %arg0, %2) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_3 = transformer.scope "model.layers.3"
    %4 = call @layer_1(%_3, %arg0, %3) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %model_0 = transformer.scope "model"
    %root = transformer.scope ""
    %5 = call @answer(%model_0, %arg0, %4, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x1000xf32>
    return %5 : tensor<?x1000xf32>
  }
}

