//===- Phi.cpp - Phi-1, Phi-1.5 and Phi-2 ---------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readPhiConfig(ConfigReader &Config) {
  DecoderModel Model;
  Model.Sizes = Config.sizes();
  double Eps = Config.epsOr("layer_norm_eps", 1e-5);
  setStack(Config, Model, {"model", ""}, "layers", "embed_tokens.weight");
  Model.Stack.FinalNorm = {NormKind::Layer, Eps, "final_layernorm"};

  LayerOptions Layer;
  Layer.Form = LayerForm::Parallel;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "input_layernorm"};
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Model.Sizes.Heads;
  Attention.HeadDim = Config.headDim(Model.Sizes.Width, Attention.Heads);
  Attention.KvHeads = Config.kvHeads(Model.Sizes.Heads, Model.Sizes.Heads);
  Attention.Rope =
      Config.rope(Attention.HeadDim, {.Partial = 0.5, .ReadsPartial = true});
  Attention.Query = {"self_attn.q_proj", true};
  Attention.Key = {"self_attn.k_proj", true};
  Attention.Value = {"self_attn.v_proj", true};
  Attention.Output = {"self_attn.dense", true};
  if (Config.flagOr("qk_layernorm", false)) {
    HeadNormOptions Norm{NormKind::Layer, HeadNormOptions::Extent::Head, Eps};
    Norm.Weight = "self_attn.q_layernorm.weight";
    Norm.Bias = "self_attn.q_layernorm.bias";
    Attention.QueryNorm = Norm;
    Norm.Weight = "self_attn.k_layernorm.weight";
    Norm.Bias = "self_attn.k_layernorm.bias";
    Attention.KeyNorm = Norm;
  }
  Layer.FeedForward = {Config.activation("hidden_act", "gelu_new"),
                       Model.Sizes.FeedForward,
                       {},
                       {"mlp.fc1", true},
                       {"mlp.fc2", true}};
  Model.Stack.Layer = repeat(Layer, Model.Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", false));
  Model.Head.Bias = "lm_head.bias";
  return Model;
}

static constexpr GgufName PhiGgufOuter[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.final_layernorm"},
    {"output", "lm_head"}};
static constexpr GgufName PhiGgufLayer[] = {{"attn_norm", "input_layernorm"},
                                            {"attn_output", "self_attn.dense"},
                                            {"ffn_up", "mlp.fc1"},
                                            {"ffn_down", "mlp.fc2"}};

static void readPhiGguf(GgufTranslation &T) {
  gguf::readSizes(T);
  gguf::readNormEps(T, "layer_norm_eps");
  gguf::readRope(T, "partial_rotary_factor");
  T.Settings.Config["hidden_act"] = "gelu_new";
  gguf::setNames(T, "model.layers.", {PhiGgufOuter},
                 {PhiGgufLayer, gguf::Attention});
}

const Family tenon::PhiFamily = {"phi", readPhiConfig, {"phi2", readPhiGguf}};
