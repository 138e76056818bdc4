module attributes {transformer.family = "opt", transformer.max_sequence = 512 : i64, transformer.vocabulary = 1000 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x60xf32> {
    %embed_tokens_weight = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<1000x36xf32>
    %embedding = transformer.embedding token %batch, %embed_tokens_weight : (!transformer.batch, tensor<1000x36xf32>) -> tensor<?x36xf32>
    %project_in_weight = transformer.parameter %scope "project_in.weight" of embedding : tensor<60x36xf32>
    %project_in = transformer.linear %embedding, %project_in_weight : (tensor<?x36xf32>, tensor<60x36xf32>) -> tensor<?x60xf32>
    %embed_positions_weight = transformer.parameter %scope "embed_positions.weight" of embedding : tensor<514x60xf32>
    %embedding_0 = transformer.embedding position %batch, %embed_positions_weight offset 2 : (!transformer.batch, tensor<514x60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %project_in, %embedding_0 : tensor<?x60xf32>
    return %sum : tensor<?x60xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>, %x: tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>) {
    %self_attn_layer_norm_weight = transformer.parameter %scope "self_attn_layer_norm.weight" of norm : tensor<60xf32>
    %self_attn_layer_norm_bias = transformer.parameter %scope "self_attn_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %self_attn_layer_norm_weight, %self_attn_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %q_proj_weight = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<60x60xf32>
    %q_proj_bias = transformer.parameter %scope "self_attn.q_proj.bias" of attention : tensor<60xf32>
    %k_proj_weight = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<60x60xf32>
    %k_proj_bias = transformer.parameter %scope "self_attn.k_proj.bias" of attention : tensor<60xf32>
    %v_proj_weight = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<60x60xf32>
    %v_proj_bias = transformer.parameter %scope "self_attn.v_proj.bias" of attention : tensor<60xf32>
    %q_proj = transformer.linear %normed, %q_proj_weight bias %q_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %k_proj = transformer.linear %normed, %k_proj_weight bias %k_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %v_proj = transformer.linear %normed, %v_proj_weight bias %v_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %cache_0 = transformer.cache_append %cache[%scope], %batch keys %k_proj values %v_proj : (!transformer.cache<3x20xf32>, !transformer.scope, !transformer.batch, tensor<?x60xf32>, tensor<?x60xf32>) -> !transformer.cache<3x20xf32>
    %attended = transformer.attention causal %q_proj, %batch cache %cache_0[%scope] heads 3 kv_heads 3 scale 0.2236068 : (tensor<?x60xf32>, !transformer.batch, !transformer.cache<3x20xf32>, !transformer.scope) -> tensor<?x60xf32>
    %out_proj_weight = transformer.parameter %scope "self_attn.out_proj.weight" of attention : tensor<60x60xf32>
    %out_proj_bias = transformer.parameter %scope "self_attn.out_proj.bias" of attention : tensor<60xf32>
    %out_proj = transformer.linear %attended, %out_proj_weight bias %out_proj_bias : (tensor<?x60xf32>, tensor<60x60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum = transformer.residual %x, %out_proj : tensor<?x60xf32>
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<60xf32>
    %final_layer_norm_bias = transformer.parameter %scope "final_layer_norm.bias" of norm : tensor<60xf32>
    %normed_1 = transformer.layer_norm %sum, %final_layer_norm_weight, %final_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %fc1_weight = transformer.parameter %scope "fc1.weight" of ffn : tensor<176x60xf32>
    %fc1_bias = transformer.parameter %scope "fc1.bias" of ffn : tensor<176xf32>
    %fc2_weight = transformer.parameter %scope "fc2.weight" of ffn : tensor<60x176xf32>
    %fc2_bias = transformer.parameter %scope "fc2.bias" of ffn : tensor<60xf32>
    %ffn = transformer.feed_forward relu %normed_1 up %fc1_weight bias %fc1_bias down %fc2_weight bias %fc2_bias : (tensor<?x60xf32>, tensor<176x60xf32>, tensor<60x176xf32>, tensor<176xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %sum_2 = transformer.residual %sum, %ffn : tensor<?x60xf32>
    return %sum_2, %cache_0 : tensor<?x60xf32>, !transformer.cache<3x20xf32>
  }
  func.func private @head(%scope: !transformer.scope, %scope_0: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x60xf32>) -> tensor<?x1000xf32> {
    %final_layer_norm_weight = transformer.parameter %scope "final_layer_norm.weight" of norm : tensor<60xf32>
    %final_layer_norm_bias = transformer.parameter %scope "final_layer_norm.bias" of norm : tensor<60xf32>
    %normed = transformer.layer_norm %x, %final_layer_norm_weight, %final_layer_norm_bias eps 1e-05 : (tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>) -> tensor<?x60xf32>
    %project_out_weight = transformer.parameter %scope "project_out.weight" of head : tensor<36x60xf32>
    %project_out = transformer.linear %normed, %project_out_weight : (tensor<?x60xf32>, tensor<36x60xf32>) -> tensor<?x36xf32>
    %embed_tokens_weight = transformer.parameter %scope_0 "model.decoder.embed_tokens.weight" of head : tensor<1000x36xf32>
    %logits = transformer.lm_head %project_out, %batch, %embed_tokens_weight : (tensor<?x36xf32>, !transformer.batch, tensor<1000x36xf32>) -> tensor<?x1000xf32>
    return %logits : tensor<?x1000xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x20xf32>) -> (tensor<?x1000xf32>, !transformer.cache<3x20xf32>) attributes {transformer.output = "logits", transformer.role = "step"} {
    %decoder = transformer.scope "model.decoder"
    %x = call @embed(%decoder, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x60xf32>
    %l0 = transformer.scope "model.decoder.layers.0" layer 0
    %x_0, %cache_1 = call @layer(%l0, %batch, %cache, %x) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %l1 = transformer.scope "model.decoder.layers.1" layer 1
    %x_2, %cache_3 = call @layer(%l1, %batch, %cache_1, %x_0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x20xf32>, tensor<?x60xf32>) -> (tensor<?x60xf32>, !transformer.cache<3x20xf32>)
    %decoder_4 = transformer.scope "model.decoder"
    %root = transformer.scope ""
    %x_5 = call @head(%decoder_4, %root, %batch, %x_2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x60xf32>) -> tensor<?x1000xf32>
    return %x_5, %cache_3 : tensor<?x1000xf32>, !transformer.cache<3x20xf32>
  }
}

