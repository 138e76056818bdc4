//===- Granite.cpp - LLaMA with multipliers -------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;

static ModelDescription readGraniteConfig(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  DecoderModel Model =
      readLlama(Config, {.QkvBias = Bias,
                         .OutputBias = Bias,
                         .FeedForwardBias = Config.flagOr("mlp_bias", false),
                         .DefaultAct = "silu"});
  auto Factor = [&](std::string_view Key) {
    return Config.numberOr(Key, 1, 1e-6, 1e6);
  };
  Model.Stack.Embedding.Scale = Factor("embedding_multiplier");
  Model.Head.Scale = 1 / Factor("logits_scaling");
  double Residual = Factor("residual_multiplier");
  double Attention = Factor("attention_multiplier");
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.ResidualScale = Residual;
    Layer.Attention.Scale = Attention;
  }
  return Model;
}

static void readGraniteGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readLlamaLike(T);
  T.Naming.Pairs = true;
  if (auto Rotates = S.optionalFlag("rope.scaling.finetuned");
      Rotates && !*Rotates)
    S.refuse("rope.scaling.finetuned",
             "true, for layers without rotation are not handled");
  S.expectSize("expert_count", 0, "for experts are not handled");
  S.expectSize("expert_used_count", 0, "for experts are not handled");
  // Of models that could have state space layers and a shared expert, and have
  // neither.
  for (const char *Key :
       {"ssm.conv_kernel", "ssm.state_size", "ssm.group_count",
        "ssm.inner_size", "ssm.time_step_rank",
        "expert_shared_feed_forward_length"})
    S.ignore(Key);
  S.Config["attention_bias"] = gguf::hasQueryBias(T);
  S.Config["mlp_bias"] = gguf::hasBias(T, "ffn_gate");
  for (auto [Key, Name] : {std::pair("attention.scale", "attention_multiplier"),
                           {"embedding_scale", "embedding_multiplier"},
                           {"residual_scale", "residual_multiplier"},
                           {"logit_scale", "logits_scaling"}})
    if (auto Value = S.optionalNumber(Key))
      S.Config[Name] = *Value;
  gguf::setLlamaNames(T);
}

const Family tenon::GraniteFamily = {
    "granite", readGraniteConfig, {"granite", readGraniteGguf}};
