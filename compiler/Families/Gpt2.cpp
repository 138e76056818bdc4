//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readGpt2Config(ConfigReader &Config) {
  DecoderModel Model = readGptLike(Config);
  int64_t H = Model.Sizes.Width;
  double Eps = Config.epsOr("layer_norm_epsilon", 1e-5);
  Model.Stack.Embedding.Positions = {
      "wpe.weight",
      Config.size({"n_positions", "max_position_embeddings"}, MaxContext)};
  Model.Stack.FinalNorm = {NormKind::Layer, Eps, "ln_f"};
  Config.fixed("add_cross_attention", false);
  // The last two are of GPT-1.
  Config.ignore({"n_ctx", "reorder_and_upcast_attn", "n_special",
                 "predict_special_tokens"});

  LayerOptions Layer;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "ln_1"};
  Layer.FeedForwardNorm = {NormKind::Layer, Eps, "ln_2"};
  setHeads(Config, Layer.Attention, Model.Sizes, {"n_embd", "hidden_size"});
  // Conv1D keeps matrices as [inputs, outputs].
  auto Part = [&](int64_t Number) {
    std::string Range = rangeOf(Number * H, (Number + 1) * H);
    return LinearOptions{"attn.c_attn", true, "^T" + Range, Range};
  };
  Layer.Attention.Query = Part(0);
  Layer.Attention.Key = Part(1);
  Layer.Attention.Value = Part(2);
  Layer.Attention.Output = {"attn.c_proj", true, "^T"};
  Layer.FeedForward = {Config.activation("activation_function", "gelu_new"),
                       Model.Sizes.FeedForward,
                       {},
                       {"mlp.c_fc", true, "^T"},
                       {"mlp.c_proj", true, "^T"}};
  bool IsScaled = Config.flagOr("scale_attn_weights", true);
  bool ByLayer = Config.flagOr("scale_attn_by_inverse_layer_idx", false);
  Model.Stack.Layer = repeat(Layer, Model.Sizes.Layers);
  for (size_t I = 0; I < Model.Stack.Layer.size(); ++I) {
    double Scale = IsScaled ? headScale(Layer.Attention) : 1;
    if (ByLayer)
      Scale /= static_cast<double>(I + 1);
    Model.Stack.Layer[I].Attention.Scale = Scale;
  }
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true));
  return Model;
}

static constexpr GgufName Gpt2GgufOuter[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"}};
static constexpr GgufName Gpt2GgufLayer[] = {
    {"attn_norm", "ln_1"},
    {"attn_qkv", "attn.c_attn", GgufForm::Transposed},
    {"attn_output", "attn.c_proj", GgufForm::Transposed},
    {"ffn_norm", "ln_2"},
    {"ffn_up", "mlp.c_fc", GgufForm::Transposed},
    {"ffn_down", "mlp.c_proj", GgufForm::Transposed}};

static void readGpt2Gguf(GgufTranslation &T) {
  gguf::readSizes(T, {.Width = "n_embd",
                      .Layers = "n_layer",
                      .Heads = "n_head",
                      .KvHeads = "",
                      .FeedForward = "n_inner",
                      .Context = "n_positions"});
  gguf::readNormEps(T, "layer_norm_epsilon");
  T.Settings.Config["activation_function"] = "gelu_new";
  gguf::setNames(T, "transformer.h.", {Gpt2GgufOuter}, {Gpt2GgufLayer});
}

const Family tenon::Gpt2Family = {
    "gpt2", readGpt2Config, {"gpt2", readGpt2Gguf}};
