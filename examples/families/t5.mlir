module attributes {transformer.family = "t5", transformer.max_sequence = 512 : i64, transformer.max_source = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch) -> tensor<?x60xf32> {
    %shared_weight = transformer.parameter %arg1 "shared.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %arg2, %shared_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    return %embedding : tensor<?x60xf32>
  }
  func.func private @layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.scope, %arg3: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %layer_norm_weight = transformer.parameter %arg0 "layer.0.layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %arg3, %layer_norm_weight eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_weight = transformer.parameter %arg0 "layer.0.SelfAttention.q.weight" of attention : tensor<48x60xf32>
    %k_weight = transformer.parameter %arg0 "layer.0.SelfAttention.k.weight" of attention : tensor<48x60xf32>
    %v_weight = transformer.parameter %arg0 "layer.0.SelfAttention.v.weight" of attention : tensor<48x60xf32>
    %q = transformer.linear %normed, %q_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %k = transformer.linear %normed, %k_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %v = transformer.linear %normed, %v_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %relative_attention_bias_weight = transformer.parameter %arg2 "relative_attention_bias.weight" of attention : tensor<32x3xf32>
    %attended = transformer.attention bidirectional %q, %arg1 keys %k values %v heads 3 kv_heads 3 scale 1.000000e+00 bias %relative_attention_bias_weight buckets <32, max = 128, bidirectional> : (tensor<?x48xf32>, !transformer.batch, tensor<?x48xf32>, tensor<?x48xf32>, tensor<32x3xf32>) -> tensor<?x48xf32>
    %o_weight = transformer.parameter %arg0 "layer.0.SelfAttention.o.weight" of attention : tensor<60x48xf32>
    %o = transformer.linear %attended, %o_weight : (tensor<?x48xf32>, tensor<60x48xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg3, %o : tensor<?x60xf32>
    %layer_norm_weight_0 = transformer.parameter %arg0 "layer.1.layer_norm.weight" of norm : tensor<60xf32>
    %normed_1 = transformer.rms_norm %sum, %layer_norm_weight_0 eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wi_0_weight = transformer.parameter %arg0 "layer.1.DenseReluDense.wi_0.weight" of ffn : tensor<176x60xf32>
    %wi_1_weight = transformer.parameter %arg0 "layer.1.DenseReluDense.wi_1.weight" of ffn : tensor<176x60xf32>
    %wo_weight = transformer.parameter %arg0 "layer.1.DenseReluDense.wo.weight" of ffn : tensor<60x176xf32>
    %ffn = transformer.gated_feed_forward gelu_tanh %normed_1 gate %wi_0_weight up %wi_1_weight down %wo_weight : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>) -> tensor<?x60xf32>
    %sum_2 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_2 : tensor<?x60xf32>
  }
  func.func private @encoded(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %final_layer_norm_weight = transformer.parameter %arg0 "final_layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %arg2, %final_layer_norm_weight eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @memory(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<memory 3x16xf32>, %arg3: tensor<?x60xf32>) -> !transformer.cache<memory 3x16xf32> {
    %k_weight = transformer.parameter %arg0 "layer.1.EncDecAttention.k.weight" of attention : tensor<48x60xf32>
    %k = transformer.linear %arg3, %k_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %v_weight = transformer.parameter %arg0 "layer.1.EncDecAttention.v.weight" of attention : tensor<48x60xf32>
    %v = transformer.linear %arg3, %v_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %k values %v : (!transformer.cache<memory 3x16xf32>, !transformer.scope, !transformer.batch, tensor<?x48xf32>, tensor<?x48xf32>) -> !transformer.cache<memory 3x16xf32>
    return %cache : !transformer.cache<memory 3x16xf32>
  }
  func.func private @wanted_rows(%arg0: !transformer.batch, %arg1: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %wanted = transformer.select_rows %arg1, %arg0 : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    return %wanted : tensor<?x60xf32>
  }
  func.func private @decoder_layer(%arg0: !transformer.scope, %arg1: !transformer.batch, %arg2: !transformer.cache<3x16xf32>, %arg3: !transformer.cache<memory 3x16xf32>, %arg4: !transformer.scope, %arg5: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>) {
    %layer_norm_weight = transformer.parameter %arg0 "layer.0.layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %arg5, %layer_norm_weight eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_weight = transformer.parameter %arg0 "layer.0.SelfAttention.q.weight" of attention : tensor<48x60xf32>
    %k_weight = transformer.parameter %arg0 "layer.0.SelfAttention.k.weight" of attention : tensor<48x60xf32>
    %v_weight = transformer.parameter %arg0 "layer.0.SelfAttention.v.weight" of attention : tensor<48x60xf32>
    %q = transformer.linear %normed, %q_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %k = transformer.linear %normed, %k_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %v = transformer.linear %normed, %v_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %relative_attention_bias_weight = transformer.parameter %arg4 "relative_attention_bias.weight" of attention : tensor<32x3xf32>
    %cache = transformer.cache_append %arg2[%arg0], %arg1 keys %k values %v : (!transformer.cache<3x16xf32>, !transformer.scope, !transformer.batch, tensor<?x48xf32>, tensor<?x48xf32>) -> !transformer.cache<3x16xf32>
    %attended = transformer.attention causal %q, %arg1 cache %cache[%arg0] heads 3 kv_heads 3 scale 1.000000e+00 bias %relative_attention_bias_weight buckets <32, max = 128> : (tensor<?x48xf32>, !transformer.batch, !transformer.cache<3x16xf32>, !transformer.scope, tensor<32x3xf32>) -> tensor<?x48xf32>
    %o_weight = transformer.parameter %arg0 "layer.0.SelfAttention.o.weight" of attention : tensor<60x48xf32>
    %o = transformer.linear %attended, %o_weight : (tensor<?x48xf32>, tensor<60x48xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %arg5, %o : tensor<?x60xf32>
    %layer_norm_weight_0 = transformer.parameter %arg0 "layer.1.layer_norm.weight" of norm : tensor<60xf32>
    %normed_1 = transformer.rms_norm %sum, %layer_norm_weight_0 eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_weight_2 = transformer.parameter %arg0 "layer.1.EncDecAttention.q.weight" of attention : tensor<48x60xf32>
    %q_3 = transformer.linear %normed_1, %q_weight_2 : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %attended_4 = transformer.attention bidirectional %q_3, %arg1 cache %arg3[%arg0] heads 3 kv_heads 3 scale 1.000000e+00 : (tensor<?x48xf32>, !transformer.batch, !transformer.cache<memory 3x16xf32>, !transformer.scope) -> tensor<?x48xf32>
    %o_weight_5 = transformer.parameter %arg0 "layer.1.EncDecAttention.o.weight" of attention : tensor<60x48xf32>
    %o_6 = transformer.linear %attended_4, %o_weight_5 : (tensor<?x48xf32>, tensor<60x48xf32>) -> tensor<?x60xf32>
    %sum_7 = transformer.residual %sum, %o_6 : tensor<?x60xf32>
    %layer_norm_weight_8 = transformer.parameter %arg0 "layer.2.layer_norm.weight" of norm : tensor<60xf32>
    %normed_9 = transformer.rms_norm %sum_7, %layer_norm_weight_8 eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wi_0_weight = transformer.parameter %arg0 "layer.2.DenseReluDense.wi_0.weight" of ffn : tensor<176x60xf32>
    %wi_1_weight = transformer.parameter %arg0 "layer.2.DenseReluDense.wi_1.weight" of ffn : tensor<176x60xf32>
    %wo_weight = transformer.parameter %arg0 "layer.2.DenseReluDense.wo.weight" of ffn : tensor<60x176xf32>
    %ffn = transformer.gated_feed_forward gelu_tanh %normed_9 gate %wi_0_weight up %wi_1_weight down %wo_weight : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>) -> tensor<?x60xf32>
    %sum_10 = transformer.residual %sum_7, %ffn : tensor<?x60xf32>
    return %sum_10, %cache, %arg3 : tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>
  }
  func.func private @head(%arg0: !transformer.scope, %arg1: !transformer.scope, %arg2: !transformer.batch, %arg3: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %final_layer_norm_weight = transformer.parameter %arg0 "final_layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %arg3, %final_layer_norm_weight eps 9.9999999999999995E-7 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %lm_head_weight = transformer.parameter %arg1 "lm_head.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %arg2, %lm_head_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%arg0: !transformer.batch, %arg1: !transformer.cache<3x16xf32>, %arg2: !transformer.cache<memory 3x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %decoder = transformer.scope "decoder"
    %root = transformer.scope ""
    %0 = call @embed(%decoder, %root, %arg0) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %SelfAttention = transformer.scope "decoder.block.0.layer.0.SelfAttention"
    %l0 = transformer.scope "decoder.block.0" layer 0
    %1:3 = call @decoder_layer(%l0, %arg0, %arg1, %arg2, %SelfAttention, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>, !transformer.scope, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>)
    %l1 = transformer.scope "decoder.block.1" layer 1
    %2:3 = call @decoder_layer(%l1, %arg0, %1#1, %1#2, %SelfAttention, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>, !transformer.scope, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>)
    %decoder_0 = transformer.scope "decoder"
    %root_1 = transformer.scope ""
    %3 = call @head(%decoder_0, %root_1, %arg0, %2#0) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %3, %2#1, %2#2 : tensor<?x1000xf32>, !transformer.cache<3x16xf32>, !transformer.cache<memory 3x16xf32>
  }
  func.func @encode(%arg0: !transformer.batch, %arg1: !transformer.cache<memory 3x16xf32>) -> (tensor<?x60xf32>, !transformer.cache<memory 3x16xf32>) attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %encoder = transformer.scope "encoder"
    %root = transformer.scope ""
    %0 = call @embed(%encoder, %root, %arg0) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %SelfAttention = transformer.scope "encoder.block.0.layer.0.SelfAttention"
    %_0 = transformer.scope "encoder.block.0"
    %1 = call @layer(%_0, %arg0, %SelfAttention, %0) : (!transformer.scope, !transformer.batch, !transformer.scope, tensor<?x60xf32>) -> tensor<?x60xf32>
    %_1 = transformer.scope "encoder.block.1"
    %2 = call @layer(%_1, %arg0, %SelfAttention, %1) : (!transformer.scope, !transformer.batch, !transformer.scope, tensor<?x60xf32>) -> tensor<?x60xf32>
    %encoder_0 = transformer.scope "encoder"
    %3 = call @encoded(%encoder_0, %arg0, %2) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %l0 = transformer.scope "decoder.block.0" layer 0
    %4 = call @memory(%l0, %arg0, %arg1, %3) : (!transformer.scope, !transformer.batch, !transformer.cache<memory 3x16xf32>, tensor<?x60xf32>) -> !transformer.cache<memory 3x16xf32>
    %l1 = transformer.scope "decoder.block.1" layer 1
    %5 = call @memory(%l1, %arg0, %4, %3) : (!transformer.scope, !transformer.batch, !transformer.cache<memory 3x16xf32>, tensor<?x60xf32>) -> !transformer.cache<memory 3x16xf32>
    %6 = call @wanted_rows(%arg0, %3) : (!transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    return %6, %5 : tensor<?x60xf32>, !transformer.cache<memory 3x16xf32>
  }
}

