// A LLaMA model of two layers: every layer is one call of @layer.
module attributes {transformer.family = "llama", transformer.vocabulary = 97 : i64, transformer.max_sequence = 128 : i64} {
  func.func private @embed(%scope: !transformer.scope, %batch: !transformer.batch) -> tensor<?x72xf32> {
    %table = transformer.parameter %scope "embed_tokens.weight" of embedding : tensor<97x72xf32>
    %x = transformer.embedding token %batch, %table : (!transformer.batch, tensor<97x72xf32>) -> tensor<?x72xf32>
    return %x : tensor<?x72xf32>
  }
  func.func private @layer(%scope: !transformer.scope, %batch: !transformer.batch, %cache: !transformer.cache<3x24xf32>, %x: tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>) {
    %n1w = transformer.parameter %scope "input_layernorm.weight" of norm : tensor<72xf32>
    %n1 = transformer.rms_norm %x, %n1w eps 1.0e-5 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %wq = transformer.parameter %scope "self_attn.q_proj.weight" of attention : tensor<144x72xf32>
    %wk = transformer.parameter %scope "self_attn.k_proj.weight" of attention : tensor<72x72xf32>
    %wv = transformer.parameter %scope "self_attn.v_proj.weight" of attention : tensor<72x72xf32>
    %q = transformer.linear %n1, %wq : (tensor<?x72xf32>, tensor<144x72xf32>) -> tensor<?x144xf32>
    %k = transformer.linear %n1, %wk : (tensor<?x72xf32>, tensor<72x72xf32>) -> tensor<?x72xf32>
    %v = transformer.linear %n1, %wv : (tensor<?x72xf32>, tensor<72x72xf32>) -> tensor<?x72xf32>
    %qr = transformer.rope %q, %batch heads 6 <half, dim = 24, base = 10000.0> : tensor<?x144xf32>
    %kr = transformer.rope %k, %batch heads 3 <half, dim = 24, base = 10000.0> : tensor<?x72xf32>
    %c1 = transformer.cache_append %cache[%scope], %batch keys %kr values %v : (!transformer.cache<3x24xf32>, !transformer.scope, !transformer.batch, tensor<?x72xf32>, tensor<?x72xf32>) -> !transformer.cache<3x24xf32>
    %a = transformer.attention causal %qr, %batch cache %c1[%scope] heads 6 kv_heads 3 scale 0.20412414523193154 : (tensor<?x144xf32>, !transformer.batch, !transformer.cache<3x24xf32>, !transformer.scope) -> tensor<?x144xf32>
    %wo = transformer.parameter %scope "self_attn.o_proj.weight" of attention : tensor<72x144xf32>
    %o = transformer.linear %a, %wo : (tensor<?x144xf32>, tensor<72x144xf32>) -> tensor<?x72xf32>
    %h = transformer.residual %x, %o : tensor<?x72xf32>
    %n2w = transformer.parameter %scope "post_attention_layernorm.weight" of norm : tensor<72xf32>
    %n2 = transformer.rms_norm %h, %n2w eps 1.0e-5 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %wg = transformer.parameter %scope "mlp.gate_proj.weight" of ffn : tensor<264x72xf32>
    %wu = transformer.parameter %scope "mlp.up_proj.weight" of ffn : tensor<264x72xf32>
    %wd = transformer.parameter %scope "mlp.down_proj.weight" of ffn : tensor<72x264xf32>
    %f = transformer.gated_feed_forward silu %n2 gate %wg up %wu down %wd : (tensor<?x72xf32>, tensor<264x72xf32>, tensor<264x72xf32>, tensor<72x264xf32>) -> tensor<?x72xf32>
    %y = transformer.residual %h, %f : tensor<?x72xf32>
    return %y, %c1 : tensor<?x72xf32>, !transformer.cache<3x24xf32>
  }
  func.func private @head(%scope: !transformer.scope, %root: !transformer.scope, %batch: !transformer.batch, %x: tensor<?x72xf32>) -> tensor<?x97xf32> {
    %nw = transformer.parameter %scope "norm.weight" of norm : tensor<72xf32>
    %n = transformer.rms_norm %x, %nw eps 1.0e-5 : (tensor<?x72xf32>, tensor<72xf32>) -> tensor<?x72xf32>
    %w = transformer.parameter %root "lm_head.weight" of head : tensor<97x72xf32>
    %l = transformer.lm_head %n, %batch, %w : (tensor<?x72xf32>, !transformer.batch, tensor<97x72xf32>) -> tensor<?x97xf32>
    return %l : tensor<?x97xf32>
  }
  func.func @step(%batch: !transformer.batch, %cache: !transformer.cache<3x24xf32>) -> (tensor<?x97xf32>, !transformer.cache<3x24xf32>) attributes {transformer.role = "step", transformer.output = "logits"} {
    %root = transformer.scope ""
    %model = transformer.scope "model"
    %x0 = call @embed(%model, %batch) : (!transformer.scope, !transformer.batch) -> tensor<?x72xf32>
    %l0 = transformer.scope "model.layers.0" layer 0
    %x1, %c1 = call @layer(%l0, %batch, %cache, %x0) : (!transformer.scope, !transformer.batch, !transformer.cache<3x24xf32>, tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>)
    %l1 = transformer.scope "model.layers.1" layer 1
    %x2, %c2 = call @layer(%l1, %batch, %c1, %x1) : (!transformer.scope, !transformer.batch, !transformer.cache<3x24xf32>, tensor<?x72xf32>) -> (tensor<?x72xf32>, !transformer.cache<3x24xf32>)
    %y = call @head(%model, %root, %batch, %x2) : (!transformer.scope, !transformer.scope, !transformer.batch, tensor<?x72xf32>) -> tensor<?x97xf32>
    return %y, %c2 : tensor<?x97xf32>, !transformer.cache<3x24xf32>
  }
}
