module attributes {transformer.family = "llava", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x64xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x64xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x64xf32>) -> tensor<?x64xf32>
    %merged = transformer.merge_features %embedding, %batch token 900 : tensor<?x64xf32>
    return %merged : tensor<?x64xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>, %x: tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>) {
    %input_layernorm_weight = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %input_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<64x64xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<32x64xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<32x64xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    %rotated = transformer.rope %q_proj, %batch heads 4 <half, dim = 16, base = 10000.0> : tensor<?x64xf32>
    %rotated_0 = transformer.rope %k_proj, %batch heads 2 <half, dim = 16, base = 10000.0> : tensor<?x32xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %rotated_0 values %v_proj : (!transformer.cache<2x16xf32>, !transformer.scope, !transformer.batch, tensor<?x32xf32>, tensor<?x32xf32>) -> !transformer.cache<2x16xf32>
    %attended = transformer.attention causal %rotated, %batch cache %cache_1[%scope] heads 4 kv_heads 2 scale 0.25 : (tensor<?x64xf32>, !transformer.batch, !transformer.cache<2x16xf32>, !transformer.scope) -> tensor<?x64xf32>
    %o_proj_weight = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<64x64xf32>
    %o_proj = transformer.linear %attended, %o_proj_weight : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %sum = transformer.residual %x, %o_proj : tensor<?x64xf32>
    %post_attention_layernorm_weight = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<64xf32>
    %normed_2 = transformer.rms_norm %sum, %post_attention_layernorm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %gate_proj_weight = transformer.parameter %scope "mlp.gate_proj.weight" of ffn : tensor<176x64xf32>
    %up_proj_weight = transformer.parameter %scope "mlp.up_proj.weight" of ffn : tensor<176x64xf32>
    %down_proj_weight = transformer.parameter %scope "mlp.down_proj.weight" of ffn : tensor<64x176xf32>
    %ffn = transformer.gated_feed_forward silu %normed_2 gate %gate_proj_weight up %up_proj_weight down %down_proj_weight : (tensor<?x64xf32>, tensor<176x64xf32>, tensor<176x64xf32>, tensor<64x176xf32>) -> tensor<?x64xf32>
    %sum_3 = transformer.residual %sum, %ffn : tensor<?x64xf32>
    return %sum_3, %cache_1 : tensor<?x64xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x64xf32>) -> tensor<?x1000xf32> {
    %norm_weight = transformer.parameter %scope "norm.weight" of norm : tensor<64xf32>
    %normed = transformer.rms_norm %x, %norm_weight eps 1e-05 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %lm_head_weight = transformer.parameter %scope_0 "language_model.lm_head.weight" of head : tensor<1000x64xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight : (tensor<?x64xf32>, !transformer.batch, tensor<1000x64xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<2x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<2x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %model = transformer.scope "language_model.model"
    %x = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x64xf32>
    %l0 = transformer.scope "language_model.model.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %l1 = transformer.scope "language_model.model.layers.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<2x16xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, !transformer.cache<2x16xf32>)
    %model_4 = transformer.scope "language_model.model"
    %root = transformer.scope ""
    %x_5 = call @head(%model_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x64xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<2x16xf32>
  }
  func.func private @embed_image(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %features = transformer.input_features %batch : tensor<?x192xf32>
    %patch_embedding_weight = transformer.parameter %scope "embeddings.patch_embedding.weight^flat" of embedding : tensor<60x192xf32>
    %patch_embedding = transformer.linear %features, %patch_embedding_weight : (tensor<?x192xf32>, tensor<60x192xf32>) -> tensor<?x60xf32>
    %embeddings_class_embedding = transformer.parameter %scope "embeddings.class_embedding" of embedding : tensor<60xf32>
    %tokens = transformer.class_token %patch_embedding, %batch, %embeddings_class_embedding : (tensor<?x60xf32>, !transformer.batch, tensor<60xf32>) -> tensor<?x60xf32>
    %position_embedding_weight = transformer.parameter %scope "embeddings.position_embedding.weight" of embedding : tensor<37x60xf32>
    %embedding = transformer.embedding position %batch, %position_embedding_weight : (!transformer.batch, tensor<37x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %tokens, %embedding : tensor<?x60xf32>
    %pre_layrnorm_weight = transformer.parameter %scope "pre_layrnorm.weight" of norm : tensor<60xf32>
    %pre_layrnorm_bias = transformer.parameter %scope "pre_layrnorm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %pre_layrnorm_weight, %pre_layrnorm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @layer_1(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %layer_norm1_weight = transformer.parameter %scope "layer_norm1.weight" of norm : tensor<60xf32>
    %layer_norm1_bias = transformer.parameter %scope "layer_norm1.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %layer_norm1_weight, %layer_norm1_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<60xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<60xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<60xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %q_proj, %batch keys %k_proj values %v_proj heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %scope "self_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias = transformer.parameter %scope "self_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight bias %out_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_proj : tensor<?x60xf32>
    %layer_norm2_weight = transformer.parameter %scope "layer_norm2.weight" of norm : tensor<60xf32>
    %layer_norm2_bias = transformer.parameter %scope "layer_norm2.bias" of norm : tensor<60xf32>
    %normed_0 = transformer.layer_norm %sum, %layer_norm2_weight, %layer_norm2_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %fc1_weight = transformer.parameter %scope "mlp.fc1.weight" of ffn : tensor<176x60xf32>
    %fc1_bias = transformer.parameter %scope "mlp.fc1.bias" of ffn : tensor<176xf32>
    %fc2_weight = transformer.parameter %scope "mlp.fc2.weight" of ffn : tensor<60x176xf32>
    %fc2_bias = transformer.parameter %scope "mlp.fc2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward quick_gelu %normed_0 up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_1 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_1 : tensor<?x60xf32>
  }
  func.func private @project(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>, %scope_0: !transformer.scope) -> tensor<?x64xf32> {
    %selected = transformer.select_output_rows %x, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    %linear_1_weight = transformer.parameter %scope_0 "multi_modal_projector.linear_1.weight" of head : tensor<64x60xf32>
    %linear_1_bias = transformer.parameter %scope_0 "multi_modal_projector.linear_1.bias" of head : tensor<64xf32>
    %linear_1 = transformer.linear %selected, %linear_1_weight bias %linear_1_bias : (tensor<?x60xf32>, tensor<64x60xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    %activation = transformer.activation gelu %linear_1 : tensor<?x64xf32>
    %linear_2_weight = transformer.parameter %scope_0 "multi_modal_projector.linear_2.weight" of head : tensor<64x64xf32>
    %linear_2_bias = transformer.parameter %scope_0 "multi_modal_projector.linear_2.bias" of head : tensor<64xf32>
    %linear_2 = transformer.linear %activation, %linear_2_weight bias %linear_2_bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    return %linear_2 : tensor<?x64xf32>
  }
  func.func @encode_image(%batch: !transformer.batch) -> tensor<?x64xf32> attributes {transformer.max_sequence = 37 : i64, transformer.output = "hidden", transformer.role = "encode_image"} {
    %vision_model = transformer.scope "vision_tower.vision_model"
    %x = call @embed_image(%vision_model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %n0 = transformer.scope "vision_tower.vision_model.encoder.layers.0"
    %x_0 = call @layer_1(%n0, %batch, %x) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "vision_tower.vision_model.encoder.layers.1"
    %x_1 = call @layer_1(%n1, %batch, %x_0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %vision_model_2 = transformer.scope "vision_tower.vision_model"
    %root = transformer.scope ""
    %x_3 = call @project(%vision_model_2, %batch, %x_1, %root) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>, !transformer.scope) -> tensor<?x64xf32>
    return %x_3 : tensor<?x64xf32>
  }
}

