//===- Falcon.cpp - Falcon in its three forms -----------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

static constexpr int64_t FalconDefaultSequence = 2048;

/// Rows of query_key_value: of each group of queries these, a key and a value
/// (40B); all queries, a key and a value (7B); or head by head (RW).
static void setProjections(AttentionOptions &Attention, bool IsNew,
                           bool IsMultiQuery, bool Bias) {
  const std::string Key = "self_attention.query_key_value";
  int64_t D = Attention.HeadDim, Group = Attention.Heads / Attention.KvHeads;
  if (IsNew || IsMultiQuery) {
    int64_t Step = (Group + 2) * D;
    Attention.Query = fusedPart(Key, Bias, 0, Step, Group * D);
    Attention.Key = fusedPart(Key, Bias, Group * D, Step, D);
    Attention.Value = fusedPart(Key, Bias, (Group + 1) * D, Step, D);
    return;
  }
  setFusedByHead(Attention, Key, Bias);
}

static ModelDescription readFalconConfig(ConfigReader &Config) {
  DecoderModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes.Vocabulary = Config.size({"vocab_size"}, MaxVocabulary);
  Sizes.Width = Config.size({"hidden_size", "n_embed"}, MaxWidth);
  Sizes.Layers = Config.size({"num_hidden_layers", "n_layer"}, MaxLayers);
  Sizes.Heads = Config.size({"num_attention_heads", "n_head"}, MaxWidth);
  Sizes.FeedForward =
      Config.sizeOr({"ffn_hidden_size"}, 4 * Sizes.Width, MaxFeedForward);
  Sizes.MaxSequence = unlimitedSequence(Config, {"max_position_embeddings"},
                                        FalconDefaultSequence);
  double Eps = Config.epsOr("layer_norm_epsilon", 1e-5);
  bool IsNew = Config.flagOr("new_decoder_architecture", false);
  bool IsMultiQuery = Config.flagOr("multi_query", true);
  bool IsParallel = Config.flagOr("parallel_attn", true);
  bool Bias = Config.flagOr("bias", false);
  int64_t Norms = Config.sizeOr({"num_ln_in_parallel_attn"}, IsNew ? 2 : 1, 2);
  Config.expect(IsNew || Norms == 1, "num_ln_in_parallel_attn",
                "1 without new_decoder_architecture");
  Config.expect(!IsNew || IsParallel, "parallel_attn",
                "true with new_decoder_architecture");
  auto Norm = [&](const char *Key) {
    return NormOptions{NormKind::Layer, Eps, Key};
  };
  setStack(Config, Model, {"transformer", ""}, "h", "word_embeddings.weight");
  Model.Stack.FinalNorm = Norm("ln_f");

  LayerOptions Layer;
  Layer.Form = IsParallel ? LayerForm::Parallel : LayerForm::PreNorm;
  if (IsParallel && Norms == 2) {
    Layer.AttentionNorm = Norm("ln_attn");
    Layer.FeedForwardNorm = Norm("ln_mlp");
  } else {
    Layer.AttentionNorm = Norm("input_layernorm");
    if (!IsParallel)
      Layer.FeedForwardNorm = Norm("post_attention_layernorm");
  }
  AttentionOptions &Attention = Layer.Attention;
  setHeads(Config, Attention, Sizes, {"hidden_size", "n_embed"});
  int64_t KvHeads =
      Config.kvHeads(Sizes.Heads, Sizes.Heads, {"num_kv_heads", "n_head_kv"});
  if (IsNew)
    Attention.KvHeads = KvHeads;
  else if (IsMultiQuery)
    Attention.KvHeads = 1;
  else
    Config.expect(KvHeads == Sizes.Heads, "num_kv_heads",
                  "the number of attention heads");
  if (Config.flagOr("alibi", false)) {
    Attention.Alibi = AlibiAttr::get(&Config.Input.Context, 8.0, true);
    Config.ignore({"rope_parameters", "rope_scaling", "rope_theta"});
  } else {
    Attention.Rope = Config.rope(Attention.HeadDim);
  }
  // Of an older layout; this one never read it.
  Config.ignore({"apply_residual_connection_post_layernorm"});
  setProjections(Attention, IsNew, IsMultiQuery, Bias);
  Attention.Output = {"self_attention.dense", Bias};
  Layer.FeedForward = {Config.activation("activation", "gelu"),
                       Sizes.FeedForward,
                       {},
                       {"mlp.dense_h_to_4h", Bias},
                       {"mlp.dense_4h_to_h", Bias}};
  Model.Stack.Layer = repeat(Layer, Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true));
  return Model;
}

/// With two norms; with one, its attn_norm is as BLOOM's.
static constexpr GgufName GgufNorms[] = {{"attn_norm", "ln_mlp"},
                                         {"attn_norm_2", "ln_attn"}};

static void readFalconGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(
      T, {.KvHeads = "num_kv_heads", .FeedForward = "ffn_hidden_size"});
  gguf::readNormEps(T, "layer_norm_epsilon");
  gguf::readRope(T);
  bool HasTwoNorms = S.hasTensor("blk.0.attn_norm_2.weight");
  bool IsNewer = HasTwoNorms || T.Naming.KvHeads > 1;
  S.Config["new_decoder_architecture"] = IsNewer;
  if (IsNewer)
    S.Config["num_ln_in_parallel_attn"] = HasTwoNorms ? 2 : 1;
  S.Config["multi_query"] = T.Naming.KvHeads == 1;
  S.Config["parallel_attn"] = true;
  S.Config["alibi"] = false;
  S.Config["bias"] = gguf::hasBias(T, "attn_qkv");
  if (HasTwoNorms)
    gguf::setNames(T, "transformer.h.", {gguf::BloomOuter},
                   {GgufNorms, gguf::BloomLayer});
  else
    gguf::setNames(T, "transformer.h.", {gguf::BloomOuter}, {gguf::BloomLayer});
}

const Family tenon::FalconFamily = {
    "falcon", readFalconConfig, {"falcon", readFalconGguf}};
