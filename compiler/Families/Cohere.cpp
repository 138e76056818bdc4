//===- Cohere.cpp - Parallel blocks, norms without bias, scaled logits ----===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readCohereConfig(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  RopeTraits Rope;
  Rope.Style = RopeStyle::Interleaved;
  Rope.Base = 500000;
  DecoderModel Model = readLlama(
      Config, {.QkvBias = Bias,
               .OutputBias = Bias,
               .Norm = {.Kind = NormKind::Layer, .Eps = 1e-5, .Bias = false},
               .EpsKey = "layer_norm_eps",
               .Rope = Rope,
               .DefaultAct = "silu",
               .DefaultTied = true});
  Config.expect(!Config.Settings.isNull("logit_scale"), "logit_scale",
                "a number");
  Model.Head.Scale = Config.numberOr("logit_scale", 0.0625, 1e-6, 1e6);
  bool HasHeadNorms = Config.flagOr("use_qk_norm", false);
  // The longest text that its tokenizer was made for.
  Config.ignore({"model_max_length"});
  auto HeadNorm = [&](const std::string &Name) {
    HeadNormOptions Norm{NormKind::Layer, HeadNormOptions::Extent::OwnHead,
                         Model.Stack.FinalNorm.Eps};
    Norm.Weight = "self_attn." + Name + ".weight^flat";
    return Norm;
  };
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.Form = LayerForm::Parallel;
    Layer.FeedForwardNorm = {};
    if (HasHeadNorms) {
      Layer.Attention.QueryNorm = HeadNorm("q_norm");
      Layer.Attention.KeyNorm = HeadNorm("k_norm");
    }
  }
  return Model;
}

static void readCohereGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(T);
  gguf::readNormEps(T, "layer_norm_eps");
  gguf::readRope(T);
  S.Config["hidden_act"] = "silu";
  S.Config["logit_scale"] = S.number("logit_scale");
  S.Config["use_qk_norm"] = S.hasTensor("blk.0.attn_q_norm.weight");
  gguf::setLlamaNames(T);
}

const Family tenon::CohereFamily = {
    "cohere", readCohereConfig, {"command-r", readCohereGguf}};
