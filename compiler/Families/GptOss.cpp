//===- GptOss.cpp - Mixtures with sinks, windows and a bounded gate -------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/Mixture.h"

using namespace tenon;
using namespace tenon::transformer;

/// The rotation of configs that say nothing of it.
static constexpr std::string_view DefaultRope =
    R"({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1,
        "truncate": false, "original_max_position_embeddings": 4096})";

static ModelDescription read(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", true);
  RopeTraits Rope;
  Rope.Base = 150000;
  LlamaTraits Traits{.QkvBias = Bias,
                     .OutputBias = Bias,
                     .DefaultKvHeads = 8,
                     .DefaultHeadDim = 64,
                     .Norm = {.Eps = 1e-5},
                     .Rope = Rope,
                     .DefaultAct = "silu"};
  bool HasRope = Config.Settings.has("rope_parameters") ||
                 Config.Settings.has("rope_scaling");
  if (!HasRope)
    Traits.Rope = std::nullopt;
  DecoderModel Model = readLlama(Config, Traits);
  if (!HasRope) {
    Rope.Base = Config.numberOr("rope_theta", Rope.Base, 1e-6, 1e12);
    auto Settings = Config::parse(DefaultRope, Config.Settings.file());
    RopeAttr Default = Config.ropeOf(
        *Settings, Model.Stack.Layer.front().Attention.HeadDim, Rope);
    for (LayerOptions &Layer : Model.Stack.Layer)
      Layer.Attention.Rope = Default;
  }
  setWindows(Config, Model, readWindow(Config, 128),
             [](int64_t I) { return I % 2 == 0; });

  int64_t Experts =
      Config.sizeOr({"num_local_experts", "num_experts"}, 128, MaxExpertCount);
  MixtureOptions Mixture =
      readMixture(Config, Model, Experts, Model.Sizes.FeedForward,
                  {.Normalize = true, .DefaultTop = 4});
  Config.optionalSize({"num_experts_per_tok", "experts_per_token"},
                      MaxExpertCount);
  // Of the original rotation, which rope_scaling repeats.
  Config.ignore({"initial_context_length"});
  double Alpha = Config.numberOr("swiglu_alpha", 1.702, 1e-6, 1e6);
  Config.expect(Alpha == 1.702 || Alpha == 1, "swiglu_alpha", "1.702 or 1");
  // g * sigmoid(1.702 g), whatever hidden_act says.
  Mixture.Act = Alpha == 1 ? Activation::Silu : Activation::QuickGelu;
  Mixture.Limit = Config.numberOr("swiglu_limit", 7, 1e-6, 1e6);
  Mixture.UpOffset = 1;
  Mixture.Routing = {"mlp.router", true};
  // The columns of gates and ups alternate.
  Mixture.Gate = "mlp.experts.gate_up_proj^T[0::2]";
  Mixture.GateBias = "mlp.experts.gate_up_proj_bias[0::2]c";
  Mixture.Up = "mlp.experts.gate_up_proj^T[1::2]";
  Mixture.UpBias = "mlp.experts.gate_up_proj_bias[1::2]c";
  Mixture.Down = "mlp.experts.down_proj^T";
  Mixture.DownBias = "mlp.experts.down_proj_bias";
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.Attention.Sinks = "self_attn.sinks";
    Layer.Mixture = Mixture;
  }
  return Model;
}

const Family tenon::GptOssFamily = {"gpt_oss", read};
