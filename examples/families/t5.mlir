module attributes {transformer.family = "t5", transformer.max_sequence = 512 : i64, transformer.max_source = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %shared_weight = transformer.parameter %scope_0 "shared.weight" of embedding : tensor<1000x60xf32>
    %embedding = transformer.embedding token %batch, %shared_weight : (!transformer.batch, tensor<1000x60xf32>) -> tensor<?x60xf32>
    return %embedding : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %scope_0: !transformer.scope, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %layer_norm_weight = transformer.parameter %scope "layer.0.layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %x, %layer_norm_weight eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_weight = transformer.parameter %scope "layer.0.SelfAttention.q.weight" of attention : tensor<48x60xf32>
    %k_weight = transformer.parameter %scope "layer.0.SelfAttention.k.weight" of attention : tensor<48x60xf32>
    %v_weight = transformer.parameter %scope "layer.0.SelfAttention.v.weight" of attention : tensor<48x60xf32>
    %q = transformer.linear %normed, %q_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %k = transformer.linear %normed, %k_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %v = transformer.linear %normed, %v_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %relative_attention_bias_weight = transformer.parameter %scope_0 "relative_attention_bias.weight" of attention : tensor<32x3xf32>
    %attended = transformer.attention bidirectional %q, %batch keys %k values %v heads 3 kv_heads 3 scale 1.0 bias %relative_attention_bias_weight buckets <32, max = 128, bidirectional> : (tensor<?x48xf32>, !transformer.batch, tensor<?x48xf32>, tensor<?x48xf32>, tensor<32x3xf32>) -> tensor<?x48xf32>
    %o_weight = transformer.parameter %scope "layer.0.SelfAttention.o.weight" of attention : tensor<60x48xf32>
    %o = transformer.linear %attended, %o_weight : (tensor<?x48xf32>, tensor<60x48xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %o : tensor<?x60xf32>
    %layer_norm_weight_1 = transformer.parameter %scope "layer.1.layer_norm.weight" of norm : tensor<60xf32>
    %normed_2 = transformer.rms_norm %sum, %layer_norm_weight_1 eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wi_0_weight = transformer.parameter %scope "layer.1.DenseReluDense.wi_0.weight" of ffn : tensor<176x60xf32>
    %wi_1_weight = transformer.parameter %scope "layer.1.DenseReluDense.wi_1.weight" of ffn : tensor<176x60xf32>
    %wo_weight = transformer.parameter %scope "layer.1.DenseReluDense.wo.weight" of ffn : tensor<60x176xf32>
    %ffn = transformer.gated_feed_forward gelu_tanh %normed_2 gate %wi_0_weight up %wi_1_weight down %wo_weight : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>) -> tensor<?x60xf32>
    %sum_3 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_3 : tensor<?x60xf32>
  }
  func.func private @encoded(%scope: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %x, %final_layer_norm_weight eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    return %normed : tensor<?x60xf32>
  }
  func.func private @cross_cache(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<cross 3x16xf32>, %x: tensor<?x60xf32>) -> !transformer.cache<cross 3x16xf32> {
    %k_weight = transformer.parameter %scope "layer.1.EncDecAttention.k.weight" of attention : tensor<48x60xf32>
    %k = transformer.linear %x, %k_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %v_weight = transformer.parameter %scope "layer.1.EncDecAttention.v.weight" of attention : tensor<48x60xf32>
    %v = transformer.linear %x, %v_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %cache_0 = transformer.cache_append %cache[%scope], %batch keys %k values %v : (!transformer.cache<cross 3x16xf32>, !transformer.scope, !transformer.batch, tensor<?x48xf32>, tensor<?x48xf32>) -> !transformer.cache<cross 3x16xf32>
    return %cache_0 : !transformer.cache<cross 3x16xf32>
  }
  func.func private @output_rows(%batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x60xf32> {
    %selected = transformer.select_output_rows %x, %batch : (tensor<?x60xf32>, !transformer.batch) -> tensor<?x60xf32>
    return %selected : tensor<?x60xf32>
  }
  func.func private @decoder_layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x16xf32>, %cache_0: !transformer.cache<cross 3x16xf32>, %scope_1: !transformer.scope, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>) {
    %layer_norm_weight = transformer.parameter %scope "layer.0.layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %x, %layer_norm_weight eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_weight = transformer.parameter %scope "layer.0.SelfAttention.q.weight" of attention : tensor<48x60xf32>
    %k_weight = transformer.parameter %scope "layer.0.SelfAttention.k.weight" of attention : tensor<48x60xf32>
    %v_weight = transformer.parameter %scope "layer.0.SelfAttention.v.weight" of attention : tensor<48x60xf32>
    %q = transformer.linear %normed, %q_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %k = transformer.linear %normed, %k_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %v = transformer.linear %normed, %v_weight : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %relative_attention_bias_weight = transformer.parameter %scope_1 "relative_attention_bias.weight" of attention : tensor<32x3xf32>
    %cache_2 = transformer.cache_append %cache[%scope], %batch keys %k values %v : (!transformer.cache<3x16xf32>, !transformer.scope, !transformer.batch, tensor<?x48xf32>, tensor<?x48xf32>) -> !transformer.cache<3x16xf32>
    %attended = transformer.attention causal %q, %batch cache %cache_2[%scope] heads 3 kv_heads 3 scale 1.0 bias %relative_attention_bias_weight buckets <32, max = 128> : (tensor<?x48xf32>, !transformer.batch, !transformer.cache<3x16xf32>, !transformer.scope, tensor<32x3xf32>) -> tensor<?x48xf32>
    %o_weight = transformer.parameter %scope "layer.0.SelfAttention.o.weight" of attention : tensor<60x48xf32>
    %o = transformer.linear %attended, %o_weight : (tensor<?x48xf32>, tensor<60x48xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %o : tensor<?x60xf32>
    %layer_norm_weight_3 = transformer.parameter %scope "layer.1.layer_norm.weight" of norm : tensor<60xf32>
    %normed_4 = transformer.rms_norm %sum, %layer_norm_weight_3 eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_weight_5 = transformer.parameter %scope "layer.1.EncDecAttention.q.weight" of attention : tensor<48x60xf32>
    %q_6 = transformer.linear %normed_4, %q_weight_5 : (tensor<?x60xf32>, tensor<48x60xf32>) -> tensor<?x48xf32>
    %attended_7 = transformer.attention bidirectional %q_6, %batch cache %cache_0[%scope] heads 3 kv_heads 3 scale 1.0 : (tensor<?x48xf32>, !transformer.batch, !transformer.cache<cross 3x16xf32>, !transformer.scope) -> tensor<?x48xf32>
    %o_weight_8 = transformer.parameter %scope "layer.1.EncDecAttention.o.weight" of attention : tensor<60x48xf32>
    %o_9 = transformer.linear %attended_7, %o_weight_8 : (tensor<?x48xf32>, tensor<60x48xf32>) -> tensor<?x60xf32>
    %sum_10 = transformer.residual %sum, %o_9 : tensor<?x60xf32>
    %layer_norm_weight_11 = transformer.parameter %scope "layer.2.layer_norm.weight" of norm : tensor<60xf32>
    %normed_12 = transformer.rms_norm %sum_10, %layer_norm_weight_11 eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %wi_0_weight = transformer.parameter %scope "layer.2.DenseReluDense.wi_0.weight" of ffn : tensor<176x60xf32>
    %wi_1_weight = transformer.parameter %scope "layer.2.DenseReluDense.wi_1.weight" of ffn : tensor<176x60xf32>
    %wo_weight = transformer.parameter %scope "layer.2.DenseReluDense.wo.weight" of ffn : tensor<60x176xf32>
    %ffn = transformer.gated_feed_forward gelu_tanh %normed_12 gate %wi_0_weight up %wi_1_weight down %wo_weight : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>) -> tensor<?x60xf32>
    %sum_13 = transformer.residual %sum_10, %ffn : tensor<?x60xf32>
    return %sum_13, %cache_2, %cache_0 : tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<60xf32>
    %normed = transformer.rms_norm %x, %final_layer_norm_weight eps 1e-06 : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %lm_head_weight = transformer.parameter %scope_0 "lm_head.weight" of head : tensor<1000x60xf32>
    %logits = transformer.lm_head %normed, %batch, %lm_head_weight : (tensor<?x60xf32>, !transformer.batch, tensor<1000x60xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x16xf32>, %cache_0: !transformer.cache<cross 3x16xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %decoder = transformer.scope "decoder"
    %root = transformer.scope ""
    %x = call @embed(%decoder, %root, %batch) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %SelfAttention = transformer.scope "decoder.block.0.layer.0.SelfAttention"
    %l0 = transformer.scope "decoder.block.0" layer 0
    %x_1, %cache_2, %cache_3 = call @decoder_layer(%l0, %batch, %cache, %cache_0, %SelfAttention, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>, !transformer.scope, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>)
    %l1 = transformer.scope "decoder.block.1" layer 1
    %x_4, %cache_5, %cache_6 = call @decoder_layer(%l1, %batch, %cache_2, %cache_3, %SelfAttention, %x_1) : (!transformer.scope, !transformer.batch, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>, !transformer.scope, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>)
    %decoder_7 = transformer.scope "decoder"
    %root_8 = transformer.scope ""
    %x_9 = call @head(%decoder_7, %root_8, %batch, %x_4) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %x_9, %cache_5, %cache_6 : tensor<?x1000xf32>, !transformer.cache<3x16xf32>, !transformer.cache<cross 3x16xf32>
  }
  func.func @encode(%batch: !transformer.batch, %cache: !transformer.cache<cross 3x16xf32>) -> (tensor<?x60xf32>, !transformer.cache<cross 3x16xf32>) attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %encoder = transformer.scope "encoder"
    %root = transformer.scope ""
    %x = call @embed(%encoder, %root, %batch) : (!transformer.scope, !transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %SelfAttention = transformer.scope "encoder.block.0.layer.0.SelfAttention"
    %n0 = transformer.scope "encoder.block.0"
    %x_0 = call @layer(%n0, %batch, %SelfAttention, %x) : (!transformer.scope, !transformer.batch, !transformer.scope, tensor<?x60xf32>) -> tensor<?x60xf32>
    %n1 = transformer.scope "encoder.block.1"
    %x_1 = call @layer(%n1, %batch, %SelfAttention, %x_0) : (!transformer.scope, !transformer.batch, !transformer.scope, tensor<?x60xf32>) -> tensor<?x60xf32>
    %encoder_2 = transformer.scope "encoder"
    %x_3 = call @encoded(%encoder_2, %batch, %x_1) : (!transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    %l0 = transformer.scope "decoder.block.0" layer 0
    %cache_4 = call @cross_cache(%l0, %batch, %cache, %x_3) : (!transformer.scope, !transformer.batch, !transformer.cache<cross 3x16xf32>, tensor<?x60xf32>) -> !transformer.cache<cross 3x16xf32>
    %l1 = transformer.scope "decoder.block.1" layer 1
    %cache_5 = call @cross_cache(%l1, %batch, %cache_4, %x_3) : (!transformer.scope, !transformer.batch, !transformer.cache<cross 3x16xf32>, tensor<?x60xf32>) -> !transformer.cache<cross 3x16xf32>
    %x_6 = call @output_rows(%batch, %x_3) : (!transformer.batch, tensor<?x60xf32>) -> tensor<?x60xf32>
    return %x_6, %cache_5 : tensor<?x60xf32>, !transformer.cache<cross 3x16xf32>
  }
}

