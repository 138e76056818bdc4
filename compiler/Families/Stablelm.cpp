//===- Stablelm.cpp - LLaMA with layer norms and partial rotation ---------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readStablelmConfig(ConfigReader &Config) {
  RopeTraits Rope;
  Rope.Partial = 0.25;
  Rope.ReadsPartial = true;
  DecoderModel Model =
      readLlama(Config, {.QkvBias = Config.flagOr("use_qkv_bias", false),
                         .DefaultKvHeads = 32,
                         .Norm = {NormKind::Layer, 1e-5},
                         .EpsKey = "layer_norm_eps",
                         .Rope = Rope,
                         .DefaultAct = "silu"});
  bool HasHeadNorms = Config.flagOr("qk_layernorm", false);
  bool IsParallel = Config.flagOr("use_parallel_residual", false);
  // Nothing reads these.
  Config.ignore({"norm_eps", "rotary_scaling_factor"});
  auto HeadNorm = [&](const std::string &Name) {
    HeadNormOptions Norm{NormKind::Layer, HeadNormOptions::Extent::OwnHead,
                         Model.Stack.FinalNorm.Eps};
    Norm.Weight = "self_attn." + Name + ".norms.*.weight^flat";
    return Norm;
  };
  for (LayerOptions &Layer : Model.Stack.Layer) {
    if (HasHeadNorms) {
      Layer.Attention.QueryNorm = HeadNorm("q_layernorm");
      Layer.Attention.KeyNorm = HeadNorm("k_layernorm");
    }
    if (IsParallel) {
      Layer.Form = LayerForm::Parallel;
      Layer.FeedForwardNorm = {};
    }
  }
  return Model;
}

static constexpr GgufName StablelmGgufLayer[] = {
    {"attn_q_norm.weight", "self_attn.q_layernorm.norms.*.weight",
     GgufForm::Numbered},
    {"attn_k_norm.weight", "self_attn.k_layernorm.norms.*.weight",
     GgufForm::Numbered}};

static void readStablelmGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(T);
  gguf::readNormEps(T, "layer_norm_eps");
  gguf::readRope(T, "partial_rotary_factor");
  S.Config["hidden_act"] = "silu";
  S.Config["use_qkv_bias"] = gguf::hasQueryBias(T);
  S.Config["qk_layernorm"] = S.hasTensor("blk.0.attn_q_norm.weight");
  S.Config["use_parallel_residual"] =
      S.optionalFlag("use_parallel_residual").value_or(false);
  gguf::setLlamaNames(T, {StablelmGgufLayer, gguf::PreNorms, gguf::Attention,
                          gguf::GatedFeedForward});
}

const Family tenon::StablelmFamily = {
    "stablelm", readStablelmConfig, {"stablelm", readStablelmGguf}};
