//===- Granite.cpp - LLaMA with multipliers -------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static ModelDescription read(ConfigReader &Config) {
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

const Family tenon::GraniteFamily = {"granite", read};
