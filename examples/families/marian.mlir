module attributes {transformer.family = "marian", transformer.max_sequence = 512 : i64, transformer.max_source = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %shared_weight = transformer.parameter %scope_0 "shared.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %shared_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %scaled = transformer.scale %embedding by 7.745967 : tensor<?x60xf32>
    %positions = transformer.sinusoid half %batch : tensor<?x60xf32>
    %sum = transformer.residual %scaled, %positions : tensor<?x60xf32>
    return %sum : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<60xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<60xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<60xf32>
    %q_proj = transformer.linear %x, %q_proj_weight bias %q_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %x, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %x, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %q_proj, %batch keys %k_proj values %v_proj heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %scope "self_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias = transformer.parameter %scope "self_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight bias %out_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_proj : tensor<?x60xf32>
    %self_attn_layer_norm_weight = transformer.parameter %scope "self_attn_layer_norm.weight" of norm : tensor<60xf32>
    %self_attn_layer_norm_bias = transformer.parameter %scope "self_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %self_attn_layer_norm_weight, %self_attn_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %fc1_weight = transformer.parameter %scope "fc1.weight" of ffn : tensor<176x60xf32>
    %fc1_bias = transformer.parameter %scope "fc1.bias" of ffn : tensor<176xf32>
    %fc2_weight = transformer.parameter %scope "fc2.weight" of ffn : tensor<60x176xf32>
    %fc2_bias = transformer.parameter %scope "fc2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward silu %normed up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_0 = transformer.residual %normed, %ffn : tensor<?x60xf32>
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<60xf32>
    %final_layer_norm_bias = transformer.parameter %scope "final_layer_norm.bias" of norm : tensor<60xf32>
    %normed_1 = transformer.layer_norm %sum_0, %final_layer_norm_weight, %final_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_1 : tensor<?x60xf32>
  }
  func.func private @cross_cache(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<cross 3x20xf32>, %x: tensor<?x60xf32>) -> !transformer.cache<cross 3x20xf32> {
    %k_proj_weight = transformer.parameter %scope "encoder_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %scope "encoder_attn.k_proj.bias" of attention : tensor<60xf32>
    %k_proj = transformer.linear %x, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj_weight = transformer.parameter %scope "encoder_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %scope "encoder_attn.v_proj.bias" of attention : tensor<60xf32>
    %v_proj = transformer.linear %x, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache_0 = transformer.cache_append %cache[%scope], %batch keys %k_proj values %v_proj : (!transformer.cache<cross 3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<cross 3x20xf32>
    return %cache_0 : !transformer.cache<cross 3x20xf32>
  }
  func.func private @output_rows(%batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %selected = transformer.select_output_rows %x, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    return %selected : tensor<?x60xf32>
  }
  func.func private @decoder_layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %cache_0: !transformer.cache<cross 3x20xf32>, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>) {
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<60xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<60xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<60xf32>
    %q_proj = transformer.linear %x, %q_proj_weight bias %q_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %x, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %x, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache_1 = transformer.cache_append %cache[%scope], %batch keys %k_proj values %v_proj : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %q_proj, %batch cache %cache_1[%scope] heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %scope "self_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias = transformer.parameter %scope "self_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight bias %out_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_proj : tensor<?x60xf32>
    %self_attn_layer_norm_weight = transformer.parameter %scope "self_attn_layer_norm.weight" of norm : tensor<60xf32>
    %self_attn_layer_norm_bias = transformer.parameter %scope "self_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %self_attn_layer_norm_weight, %self_attn_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_proj_weight_2 = transformer.parameter %scope "encoder_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias_3 = transformer.parameter %scope "encoder_attn.q_proj.bias" of attention : tensor<60xf32>
    %q_proj_4 = transformer.linear %normed, %q_proj_weight_2 bias %q_proj_bias_3 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended_5 = transformer.attention bidirectional %q_proj_4, %batch cache %cache_0[%scope] heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<cross 3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight_6 = transformer.parameter %scope "encoder_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias_7 = transformer.parameter %scope "encoder_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj_8 = transformer.linear %attended_5, %out_proj_weight_6 bias %out_proj_bias_7 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_9 = transformer.residual %normed, %out_proj_8 : tensor<?x60xf32>
    %encoder_attn_layer_norm_weight = transformer.parameter %scope "encoder_attn_layer_norm.weight" of norm : tensor<60xf32>
    %encoder_attn_layer_norm_bias = transformer.parameter %scope "encoder_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed_10 = transformer.layer_norm %sum_9, %encoder_attn_layer_norm_weight, %encoder_attn_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %fc1_weight = transformer.parameter %scope "fc1.weight" of ffn : tensor<176x60xf32>
    %fc1_bias = transformer.parameter %scope "fc1.bias" of ffn : tensor<176xf32>
    %fc2_weight = transformer.parameter %scope "fc2.weight" of ffn : tensor<60x176xf32>
    %fc2_bias = transformer.parameter %scope "fc2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward silu %normed_10 up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_11 = transformer.residual %normed_10, %ffn : tensor<?x60xf32>
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<60xf32>
    %final_layer_norm_bias = transformer.parameter %scope "final_layer_norm.bias" of norm : tensor<60xf32>
    %normed_12 = transformer.layer_norm %sum_11, %final_layer_norm_weight, %final_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_12, %cache_1, %cache_0 : tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %shared_weight = transformer.parameter %scope_0 "model.shared.weight" of head : tensor<1000x60xf32>
    %final_logits_bias = transformer.parameter %scope_0 "final_logits_bias^flat" of head : tensor<1000xf32>
    %logits = transformer.lm_head %x, %batch, %shared_weight bias %final_logits_bias : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %cache_0: !transformer.cache<cross 3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %decoder = transformer.scope "model.decoder"
    %model = transformer.scope "model"
    %x = call @embed(%decoder, %model, %batch) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "model.decoder.layers.0" layer 0
    %x_1, %cache_2, %cache_3 = call @decoder_layer(%l0, %batch, %cache, %cache_0, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>)
    %l1 = transformer.scope "model.decoder.layers.1" layer 1
    %x_4, %cache_5, %cache_6 = call @decoder_layer(%l1, %batch, %cache_2, %cache_3, %x_1) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>)
    %decoder_7 = transformer.scope "model.decoder"
    %root = transformer.scope ""
    %x_8 = call @head(%decoder_7, %root, %batch, %x_4) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %x_8, %cache_5, %cache_6 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>, !transformer.cache<cross 3x20xf32>
  }
  func.func @encode(%batch: !transformer.batch, %cache: !transformer.cache<cross 3x20xf32>) -> (tensor<?x60xf32>, !transformer.cache<cross 3x20xf32>) attributes {transformer.output = "hidden", transformer.role = "encode", transformer.vocabulary = 1000 : i64} {
    %encoder = transformer.scope "model.encoder"
    %model = transformer.scope "model"
    %x = call @embed(%encoder, %model, %batch) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %n0 = transformer.scope "model.encoder.layers.0"
    %x_0 = call @layer(%n0, %batch, %x) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "model.encoder.layers.1"
    %x_1 = call @layer(%n1, %batch, %x_0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %l0 = transformer.scope "model.decoder.layers.0" layer 0
    %cache_2 = call @cross_cache(%l0, %batch, %cache, %x_1) : (!transformer.scope, !transformer.batch, !transformer.cache<cross 3x20xf32>, tensor<?x60xf32>) -> !transformer.cache<cross 3x20xf32>
    %l1 = transformer.scope "model.decoder.layers.1" layer 1
    %cache_3 = call @cross_cache(%l1, %batch, %cache_2, %x_1) : (!transformer.scope, !transformer.batch, !transformer.cache<cross 3x20xf32>, tensor<?x60xf32>) -> !transformer.cache<cross 3x20xf32>
    %x_4 = call @output_rows(%batch, %x_1) : (!transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    return %x_4, %cache_3 : tensor<?x60xf32>, !transformer.cache<cross 3x20xf32>
  }
}

