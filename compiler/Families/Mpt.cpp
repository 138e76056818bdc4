//===- Mpt.cpp - MPT, of Transformers and of LLM Foundry ------------------===//
//
// Transformers' code knows one form: ALiBi, no biases, a feed-forward of four
// times the width. LLM Foundry writes the same model_type for more; its
// settings are read as it does.
//
//===----------------------------------------------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

#include <cmath>

using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Keys that Transformers writes into every object of settings.
constexpr const char *GenericKeys[] = {"_name_or_path",
                                       "architectures",
                                       "chunk_size_feed_forward",
                                       "dtype",
                                       "id2label",
                                       "is_encoder_decoder",
                                       "label2id",
                                       "model_type",
                                       "output_attentions",
                                       "output_hidden_states",
                                       "problem_type",
                                       "return_dict",
                                       "torch_dtype",
                                       "transformers_version",
                                       "attn_impl",
                                       "attn_pdrop",
                                       "attn_uses_sequence_id"};

void readAttention(ConfigReader &Attn, AttentionOptions &Attention,
                   bool &HasAlibi) {
  for (const char *Key : GenericKeys)
    Attn.ignore({Key});
  std::string Type = Attn.wordOr("attn_type", "multihead_attention");
  bool IsGrouped = Type == "grouped_query_attention";
  Attn.expect(IsGrouped || Type == "multihead_attention" ||
                  Type == "multiquery_attention",
              "attn_type",
              "multihead_attention, multiquery_attention or "
              "grouped_query_attention");
  // The other two say how many there are.
  int64_t Implied = Type == "multiquery_attention" ? 1 : Attention.Heads;
  int64_t KvHeads = IsGrouped
                        ? Attn.size({"kv_n_heads"}, Attention.Heads)
                        : Attn.sizeOr({"kv_n_heads"}, Implied, Attention.Heads);
  if (IsGrouped)
    Attn.expect(Attention.Heads % KvHeads == 0, "kv_n_heads",
                "a divisor of n_heads " + std::to_string(Attention.Heads));
  else
    Attn.expect(KvHeads == Implied, "kv_n_heads",
                std::to_string(Implied) + ", as attn_type says");
  Attention.KvHeads = KvHeads;
  HasAlibi = Attn.flagOr("alibi", true);
  auto MaxBias =
      static_cast<double>(Attn.sizeOr({"alibi_bias_max"}, 8, 1 << 10));
  if (HasAlibi)
    Attention.Alibi =
        AlibiAttr::get(&Attn.Input.Context, MaxBias, /*rounded=*/false);
  Attention.Clamp = Attn.optionalNumber("clip_qkv", 1e-6, 1e6);
  Attention.Scale = Attn.optionalNumber("softmax_scale", 1e-9, 1e9);
  // Whether queries, keys and values are one matmul: Wqkv.
  Attn.fixed("fused_qkv", true);
  Attn.fixed("prefix_lm", false);
  Attn.fixed("qk_gn", false);
  Attn.fixed("rope", false);
  Attn.ignore(
      {"rope_theta", "rope_impl", "rope_dail_config", "rope_hf_config"});
  Attn.expect(Attn.sizeOr({"sliding_window_size"}, -1, MaxContext, -1) == -1,
              "sliding_window_size", "-1, for none");
}

/// The feed-forward of `ffn_config`: the plain one, with exact GELU.
void expectPlainFeedForward(ConfigReader &Config) {
  auto Settings = Config.Settings.optionalObject("ffn_config");
  if (!Settings || !*Settings)
    return Settings ? void() : Config.fail(Settings.error());
  FamilyInput Input = {Config.Input.Context, **Settings, Config.Input.Weights};
  ConfigReader Ffn(Input);
  Ffn.expect(Ffn.wordOr("ffn_type", "mptmlp") == "mptmlp", "ffn_type",
             "mptmlp");
  Ffn.ignore({"fc_type"});
  if (Ffn.error())
    Config.fail(*Ffn.error());
}

} // namespace

static ModelDescription readMptConfig(ConfigReader &Config) {
  DecoderModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes.Vocabulary = Config.size({"vocab_size"}, MaxVocabulary);
  Sizes.Width = Config.size({"d_model"}, MaxWidth);
  Sizes.Layers = Config.size({"n_layers"}, MaxLayers);
  Sizes.Heads = Config.size({"n_heads"}, MaxWidth);
  double Ratio = Config.numberOr("expansion_ratio", 4, 1e-3, 1e3);
  double Inner = static_cast<double>(Sizes.Width) * Ratio;
  Config.expect(Inner == std::floor(Inner) && Inner >= 1 &&
                    Inner <= static_cast<double>(MaxFeedForward),
                "expansion_ratio",
                "one that makes d_model a whole number up to " +
                    std::to_string(MaxFeedForward));
  Sizes.FeedForward = std::max<int64_t>(static_cast<int64_t>(Inner), 1);
  expectPlainFeedForward(Config);
  Config.ignore({"emb_pdrop", "embedding_fraction", "init_config",
                 "init_device", "fc_type", "tokenizer_name", "verbose",
                 "use_pad_tok_in_ffn"});

  LayerOptions Layer;
  setHeads(Config, Layer.Attention, Sizes, {"d_model"});
  bool HasAlibi = true;
  auto Nested = Config.Settings.optionalObject("attn_config");
  if (!Nested) {
    Config.fail(Nested.error());
  } else if (*Nested) {
    FamilyInput Input = {Config.Input.Context, **Nested, Config.Input.Weights};
    ConfigReader Attn(Input);
    readAttention(Attn, Layer.Attention, HasAlibi);
    if (Attn.flagOr("qk_ln", false)) {
      // Of this kind and epsilon whatever norm_type and norm_eps are.
      HeadNormOptions Norm{NormKind::Layer, HeadNormOptions::Extent::Row, 1e-5};
      Norm.Weight = "attn.q_ln.weight";
      Layer.Attention.QueryNorm = Norm;
      Norm.Weight = "attn.k_ln.weight";
      Layer.Attention.KeyNorm = Norm;
    }
    if (Attn.error())
      Config.fail(*Attn.error());
  } else {
    Layer.Attention.Alibi = AlibiAttr::get(&Config.Input.Context, 8.0, false);
  }

  // With a table of positions sequences end where it does.
  bool HasTable = Config.flagOr("learned_pos_emb", true) && !HasAlibi;
  Sizes.MaxSequence = HasTable
                          ? Config.maxSequence({"max_seq_len"})
                          : unlimitedSequence(Config, {"max_seq_len"}, 2048);
  double Eps = Config.epsOr(
      Config.Settings.has("norm_eps") ? "norm_eps" : "layer_norm_epsilon",
      1e-5);
  bool Bias = !Config.flagOr("no_bias", true);
  std::string NormType = Config.wordOr("norm_type", "low_precision_layernorm");
  bool IsRms = NormType == "rmsnorm" || NormType == "low_precision_rmsnorm";
  Config.expect(IsRms || NormType == "layernorm" ||
                    NormType == "low_precision_layernorm",
                "norm_type",
                "layernorm, low_precision_layernorm, rmsnorm or "
                "low_precision_rmsnorm");
  auto Norm = [&](const char *Key) {
    return NormOptions{IsRms ? NormKind::Rms : NormKind::Layer, Eps, Key, Bias};
  };
  if (Bias && Layer.Attention.QueryNorm) {
    Layer.Attention.QueryNorm->Bias = "attn.q_ln.bias";
    Layer.Attention.KeyNorm->Bias = "attn.k_ln.bias";
  }

  setStack(Config, Model, {"transformer", ""}, "blocks", "wte.weight");
  if (HasTable)
    Model.Stack.Embedding.Positions = {
        "wpe.weight", Config.size({"max_seq_len"}, MaxContext)};
  Model.Stack.FinalNorm = Norm("norm_f");
  Layer.AttentionNorm = Norm("norm_1");
  Layer.FeedForwardNorm = Norm("norm_2");
  AttentionOptions &Attention = Layer.Attention;
  int64_t First = 0;
  auto Part = [&](int64_t Heads) {
    int64_t Last = First + Heads * Attention.HeadDim;
    std::string Range = rangeOf(First, Last);
    First = Last;
    return LinearOptions{"attn.Wqkv", Bias, Range, Range};
  };
  Attention.Query = Part(Attention.Heads);
  Attention.Key = Part(Attention.KvHeads);
  Attention.Value = Part(Attention.KvHeads);
  Attention.Output = {"attn.out_proj", Bias};
  Layer.FeedForward = {Activation::Gelu,
                       Sizes.FeedForward,
                       {},
                       {"ffn.up_proj", Bias},
                       {"ffn.down_proj", Bias}};
  Model.Stack.Layer = repeat(Layer, Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true));
  if (Config.Settings.has("logit_scale")) {
    auto Word = Config.Settings.string("logit_scale");
    Model.Head.Scale = Word && *Word == "inv_sqrt_d_model"
                           ? 1 / std::sqrt(static_cast<double>(Sizes.Width))
                           : Config.numberOr("logit_scale", 1, 1e-9, 1e9);
  }
  return Model;
}

static constexpr GgufName MptGgufOuter[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.norm_f"},
    {"output", "lm_head"}};
static constexpr GgufName MptGgufLayer[] = {
    {"attn_norm", "norm_1"},          {"attn_qkv", "attn.Wqkv"},
    {"attn_output", "attn.out_proj"}, {"attn_q_norm", "attn.q_ln"},
    {"attn_k_norm", "attn.k_ln"},     {"ffn_norm", "norm_2"},
    {"ffn_up", "ffn.up_proj"},        {"ffn_down", "ffn.down_proj"}};

static void readMptGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(T, {.Width = "d_model",
                      .Layers = "n_layers",
                      .Heads = "n_heads",
                      .KvHeads = "num_key_value_heads",
                      .FeedForward = "",
                      .Context = "max_seq_len"});
  S.Config.erase("num_key_value_heads");
  gguf::readNormEps(T, "layer_norm_epsilon");
  S.expectSize("feed_forward_length", 4 * S.size("embedding_length"),
               "four times the width");
  S.Config["expansion_ratio"] = 4;
  S.Config["no_bias"] = !gguf::hasBias(T, "attn_output");
  double Bias = S.optionalNumber("attention.max_alibi_bias").value_or(0);
  Json Attention = {{"alibi", Bias != 0}};
  if (Bias == std::floor(Bias) && Bias > 0 && Bias < INT32_MAX)
    Attention["alibi_bias_max"] = static_cast<int64_t>(Bias);
  else if (Bias != 0)
    S.refuse("attention.max_alibi_bias", "a whole number");
  if (auto Clip = S.optionalNumber("attention.clamp_kqv"); Clip && *Clip > 0)
    Attention["clip_qkv"] = *Clip;
  if (T.Naming.KvHeads != T.Naming.Heads)
    Attention["kv_n_heads"] = T.Naming.KvHeads;
  if (S.hasTensor("blk.0.attn_q_norm.weight"))
    Attention["qk_ln"] = true;
  S.Config["attn_config"] = std::move(Attention);
  S.Config["learned_pos_emb"] = S.hasTensor("position_embd.weight");
  gguf::setNames(T, "transformer.blocks.", {MptGgufOuter}, {MptGgufLayer});
}

const Family tenon::MptFamily = {"mpt", readMptConfig, {"mpt", readMptGguf}};
