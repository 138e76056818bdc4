//===- Bloom.cpp - BLOOM --------------------------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

/// Positions are relative: a config may say how long training sequences were,
/// and nothing limits others.
static constexpr int64_t BloomDefaultSequence = 2048;

static ModelDescription readBloomConfig(ConfigReader &Config) {
  DecoderModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes.Vocabulary = Config.size({"vocab_size"}, MaxVocabulary);
  Sizes.Width = Config.size({"hidden_size", "n_embed"}, MaxWidth);
  Sizes.Layers = Config.size({"n_layer", "num_hidden_layers"}, MaxLayers);
  Sizes.Heads = Config.size({"n_head", "num_attention_heads"}, MaxWidth);
  Sizes.FeedForward = 4 * Sizes.Width;
  Sizes.MaxSequence =
      unlimitedSequence(Config, {"seq_length"}, BloomDefaultSequence);
  double Eps = Config.epsOr("layer_norm_epsilon", 1e-5);
  auto Norm = [&](const char *Key) {
    return NormOptions{NormKind::Layer, Eps, Key};
  };
  setStack(Config, Model, {"transformer", ""}, "h", "word_embeddings.weight");
  Model.Stack.Embedding.Norm = Norm("word_embeddings_layernorm");
  Model.Stack.FinalNorm = Norm("ln_f");
  // How other programs computed the same.
  Config.ignore({"attention_softmax_in_fp32", "bias_dropout_fusion",
                 "masked_softmax_fusion", "offset_alibi", "skip_bias_add",
                 "skip_bias_add_qkv", "slow_but_exact", "n_inner"});

  LayerOptions Layer;
  Layer.ResidualFromNorm =
      Config.flagOr("apply_residual_connection_post_layernorm", false);
  Layer.AttentionNorm = Norm("input_layernorm");
  Layer.FeedForwardNorm = Norm("post_attention_layernorm");
  setHeads(Config, Layer.Attention, Sizes, {"hidden_size", "n_embed"});
  Layer.Attention.Alibi = AlibiAttr::get(&Config.Input.Context, 8.0, false);
  setFusedByHead(Layer.Attention, "self_attention.query_key_value", true);
  Layer.Attention.Output = {"self_attention.dense", true};
  Layer.FeedForward = {Activation::GeluTanh,
                       Sizes.FeedForward,
                       {},
                       {"mlp.dense_h_to_4h", true},
                       {"mlp.dense_4h_to_h", true}};
  Model.Stack.Layer = repeat(Layer, Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true));
  return Model;
}

static void readBloomGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(T, {.Layers = "n_layer",
                      .Heads = "n_head",
                      .KvHeads = "",
                      .FeedForward = "",
                      .Context = "seq_length"});
  gguf::readNormEps(T, "layer_norm_epsilon");
  S.expectSize("feed_forward_length", 4 * S.size("embedding_length"),
               "four times the width");
  gguf::setNames(T, "transformer.h.", {gguf::BloomOuter}, {gguf::BloomLayer});
}

const Family tenon::BloomFamily = {
    "bloom", readBloomConfig, {"bloom", readBloomGguf}};
