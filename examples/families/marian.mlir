module attributes {transformer.family = "marian", transformer.max_sequence = 512 : i64, transformer.max_source = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch) -> tensor<?x60xf32> {
    %shared_weight = transformer.parameter %arg1 "shared.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg2, %shared_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    %scaled = transformer.scale %embedding by 7.745966692414834 : tensor<?x60xf32>
    %positions = transformer.sinusoid half %arg2 : tensor<?x60xf32>
    %sum = transformer.residual %scaled, %positions : tensor<?x60xf32>
    return %sum : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias = transformer.parameter %arg0 "self_attn.q_proj.bias" of attention : tensor<60xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %arg0 "self_attn.k_proj.bias" of attention : tensor<60xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %arg0 "self_attn.v_proj.bias" of attention : tensor<60xf32>
    %q_proj = transformer.linear %arg2, %q_proj_weight bias %q_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %arg2, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %arg2, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended = transformer.attention bidirectional %q_proj, %arg1 keys %k_proj values %v_proj heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %arg0 "self_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias = transformer.parameter %arg0 "self_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight bias %out_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg2, %out_proj : tensor<?x60xf32>
    %self_attn_layer_norm_weight = transformer.parameter %arg0 "self_attn_layer_norm.weight" of norm : tensor<60xf32>
    %self_attn_layer_norm_bias = transformer.parameter %arg0 "self_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %self_attn_layer_norm_weight, %self_attn_layer_norm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %fc1_weight = transformer.parameter %arg0 "fc1.weight" of ffn : tensor<176x60xf32>
    %fc1_bias = transformer.parameter %arg0 "fc1.bias" of ffn : tensor<176xf32>
    %fc2_weight = transformer.parameter %arg0 "fc2.weight" of ffn : tensor<60x176xf32>
    %fc2_bias = transformer.parameter %arg0 "fc2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward silu %normed up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_0 = transformer.residual %normed, %ffn : tensor<?x60xf32>
    %final_layer_norm_weight = transformer.parameter %arg0 "final_layer_norm.weight" of norm : tensor<60xf32>
    %final_layer_norm_bias = transformer.parameter %arg0 "final_layer_norm.bias" of norm : tensor<60xf32>
    %normed_1 = transformer.layer_norm %sum_0, %final_layer_norm_weight, %final_layer_norm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_1 : tensor<?x60xf32>
  }
  func.func private @memory(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<memory 3x20xf32>, %arg3: tensor<?x60xf32>) -> !transformer.cache<memory 3x20xf32> {
    %k_proj_weight = transformer.parameter %arg0 "encoder_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %arg0 "encoder_attn.k_proj.bias" of attention : tensor<60xf32>
    %k_proj = transformer.linear %arg3, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj_weight = transformer.parameter %arg0 "encoder_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %arg0 "encoder_attn.v_proj.bias" of attention : tensor<60xf32>
    %v_proj = transformer.linear %arg3, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %k_proj values %v_proj : (!transformer.cache<memory 3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<memory 3x20xf32>
    return %cache : !transformer.cache<memory 3x20xf32>
  }
  func.func private @wanted_rows(%arg0: !transformer.batch, %arg1: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %wanted = transformer.select_rows %arg1, %arg0 : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    return %wanted : tensor<?x60xf32>
  }
  func.func private @decoder_layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<3x20xf32>, %arg3: !transformer.cache<memory 3x20xf32>, %arg4: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>) {
    %q_proj_weight = transformer.parameter %arg0 "self_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias = transformer.parameter %arg0 "self_attn.q_proj.bias" of attention : tensor<60xf32>
    %k_proj_weight = transformer.parameter %arg0 "self_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %arg0 "self_attn.k_proj.bias" of attention : tensor<60xf32>
    %v_proj_weight = transformer.parameter %arg0 "self_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %arg0 "self_attn.v_proj.bias" of attention : tensor<60xf32>
    %q_proj = transformer.linear %arg4, %q_proj_weight bias %q_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %arg4, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %arg4, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %k_proj values %v_proj : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %q_proj, %arg1 cache %cache[%arg0] heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %arg0 "self_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias = transformer.parameter %arg0 "self_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight bias %out_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg4, %out_proj : tensor<?x60xf32>
    %self_attn_layer_norm_weight = transformer.parameter %arg0 "self_attn_layer_norm.weight" of norm : tensor<60xf32>
    %self_attn_layer_norm_bias = transformer.parameter %arg0 "self_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %sum, %self_attn_layer_norm_weight, %self_attn_layer_norm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_proj_weight_0 = transformer.parameter %arg0 "encoder_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias_1 = transformer.parameter %arg0 "encoder_attn.q_proj.bias" of attention : tensor<60xf32>
    %q_proj_2 = transformer.linear %normed, %q_proj_weight_0 bias %q_proj_bias_1 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %attended_3 = transformer.attention bidirectional %q_proj_2, %arg1 cache %arg3[%arg0] heads 3 kv_heads 3 scale 0.22360679774997896 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<memory 3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight_4 = transformer.parameter %arg0 "encoder_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias_5 = transformer.parameter %arg0 "encoder_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj_6 = transformer.linear %attended_3, %out_proj_weight_4 bias %out_proj_bias_5 : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_7 = transformer.residual %normed, %out_proj_6 : tensor<?x60xf32>
    %encoder_attn_layer_norm_weight = transformer.parameter %arg0 "encoder_attn_layer_norm.weight" of norm : tensor<60xf32>
    %encoder_attn_layer_norm_bias = transformer.parameter %arg0 "encoder_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed_8 = transformer.layer_norm %sum_7, %encoder_attn_layer_norm_weight, %encoder_attn_layer_norm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %fc1_weight = transformer.parameter %arg0 "fc1.weight" of ffn : tensor<176x60xf32>
    %fc1_bias = transformer.parameter %arg0 "fc1.bias" of ffn : tensor<176xf32>
    %fc2_weight = transformer.parameter %arg0 "fc2.weight" of ffn : tensor<60x176xf32>
    %fc2_bias = transformer.parameter %arg0 "fc2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward silu %normed_8 up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_9 = transformer.residual %normed_8, %ffn : tensor<?x60xf32>
    %final_layer_norm_weight = transformer.parameter %arg0 "final_layer_norm.weight" of norm : tensor<60xf32>
    %final_layer_norm_bias = transformer.parameter %arg0 "final_layer_norm.bias" of norm : tensor<60xf32>
    %normed_10 = transformer.layer_norm %sum_9, %final_layer_norm_weight, %final_layer_norm_bias eps 1.000000e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed_10, %cache, %arg3 : tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %shared_weight = transformer.parameter %arg1 "model.shared.weight" of head : tensor<1000x60xf32>
    %final_logits_bias = transformer.parameter %arg1 "final_logits_bias^flat" of head : tensor<1000xf32>
    %logits = transformer.lm_head %arg3, %arg2, %shared_weight bias %final_logits_bias : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<3x20xf32>, %arg2: !transformer.cache<memory 3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %decoder = transformer.scope "model.decoder"
    %model = transformer.scope "model"
    %0 = call @embed(%decoder, %model, %arg0) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "model.decoder.layers.0" layer 0
    %1:3 = call @decoder_layer(%l0, %arg0, %arg1, %arg2, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>)
    %l1 = transformer.scope "model.decoder.layers.1" layer 1
    %2:3 = call @decoder_layer(%l1, %arg0, %1#1, %1#2, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>)
    %decoder_0 = transformer.scope "model.decoder"
    %root = transformer.scope ""
    %3 = call @head(%decoder_0, %root, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %3, %2#1, %2#2 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>, !transformer.cache<memory 3x20xf32>
  }
  func.func @encode(%arg0: !transformer.batch, %arg1: !transformer.cache<memory 3x20xf32>) -> (tensor<?x60xf32>, !transformer.cache<memory 3x20xf32>) attributes {transformer.output = "hidden", transformer.role = "encode", transformer.vocabulary = 1000 : i64} {
    %encoder = transformer.scope "model.encoder"
    %model = transformer.scope "model"
    %0 = call @embed(%encoder, %model, %arg0) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %_0 = transformer.scope "model.encoder.layers.0"
    %1 = call @layer(%_0, %arg0, %0) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_1 = transformer.scope "model.encoder.layers.1"
    %2 = call @layer(%_1, %arg0, %1) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %l0 = transformer.scope "model.decoder.layers.0" layer 0
    %3 = call @memory(%l0, %arg0, %arg1, %2) : (!transformer.scope, !transformer.batch, !transformer.cache<memory 3x20xf32>, tensor<?x60xf32>) -> !transformer.cache<memory 3x20xf32>
    %l1 = transformer.scope "model.decoder.layers.1" layer 1
    %4 = call @memory(%l1, %arg0, %3, %2) : (!transformer.scope, !transformer.batch, !transformer.cache<memory 3x20xf32>, tensor<?x60xf32>) -> !transformer.cache<memory 3x20xf32>
    %5 = call @wanted_rows(%arg0, %2) : (!transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    return %5, %4 : tensor<?x60xf32>, !transformer.cache<memory 3x20xf32>
  }
}

