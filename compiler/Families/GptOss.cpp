//===- GptOss.cpp - Moe with sinks, windows and a bounded gate -------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Moe.h"

using namespace tenon;
using namespace tenon::transformer;

/// The rotation of configs that say nothing of it.
static constexpr std::string_view DefaultRope =
    R"({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1,
        "truncate": false, "original_max_position_embeddings": 4096})";

static ModelDescription readGptOssConfig(ConfigReader &Config) {
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
  MoeOptions Moe = readMoe(Config, Model, Experts, Model.Sizes.FeedForward,
                           {.Normalize = true, .DefaultTop = 4});
  Config.optionalSize({"num_experts_per_tok", "experts_per_token"},
                      MaxExpertCount);
  // Of the original rotation, which rope_scaling repeats.
  Config.ignore({"initial_context_length"});
  double Alpha = Config.numberOr("swiglu_alpha", 1.702, 1e-6, 1e6);
  Config.expect(Alpha == 1.702 || Alpha == 1, "swiglu_alpha", "1.702 or 1");
  // g * sigmoid(1.702 g), whatever hidden_act says.
  Moe.Act = Alpha == 1 ? Activation::Silu : Activation::QuickGelu;
  Moe.Limit = Config.numberOr("swiglu_limit", 7, 1e-6, 1e6);
  Moe.UpOffset = 1;
  Moe.Routing = {"mlp.router", true};
  // The columns of gates and ups alternate.
  Moe.Gate = "mlp.experts.gate_up_proj^T[0::2]";
  Moe.GateBias = "mlp.experts.gate_up_proj_bias[0::2]c";
  Moe.Up = "mlp.experts.gate_up_proj^T[1::2]";
  Moe.UpBias = "mlp.experts.gate_up_proj_bias[1::2]c";
  Moe.Down = "mlp.experts.down_proj^T";
  Moe.DownBias = "mlp.experts.down_proj_bias";
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.Attention.Sinks = "self_attn.sinks";
    Layer.Moe = Moe;
  }
  return Model;
}

static constexpr GgufName GptOssGgufLayer[] = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"attn_sinks.weight", "self_attn.sinks"},
    {"ffn_gate_inp", "mlp.router"},
    {"ffn_down_exps.bias", "mlp.experts.down_proj_bias"}};

/// The checkpoint has the experts' matrices as [E, K, N], gate and up columns
/// in turn.
static void joinGgufExperts(GgufTranslation &T, int64_t Experts, int64_t Inner,
                            int64_t Width) {
  GgufSettings &S = T.Settings;
  for (int64_t I = 0; I < T.Naming.LayerCount; ++I) {
    std::string Prefix = "model.layers." + std::to_string(I) + ".mlp.experts.";
    auto Take = [&](std::string_view Name,
                    const std::vector<int64_t> &Shape) -> const GgufTensor * {
      const GgufTensor *Tensor = S.tensor(gguf::inLayer(I, Name));
      if (Tensor && !gguf::expectShape(T, *Tensor, Shape))
        return nullptr;
      T.Taken.insert(gguf::inLayer(I, Name));
      return Tensor;
    };
    auto *Gate = Take("ffn_gate_exps.weight", {Experts, Inner, Width});
    auto *Up = Take("ffn_up_exps.weight", {Experts, Inner, Width});
    auto *Down = Take("ffn_down_exps.weight", {Experts, Width, Inner});
    auto *GateBias = Take("ffn_gate_exps.bias", {Experts, Inner});
    auto *UpBias = Take("ffn_up_exps.bias", {Experts, Inner});
    if (!Gate || !Up || !Down || !GateBias || !UpBias)
      return;
    T.Tensors.push_back(interleaveRows(Prefix + "gate_up_proj", {Gate, Up},
                                       Width, {Experts, Width, 2 * Inner}));
    T.Tensors.back().ColumnsFirst = true;
    T.Tensors.push_back(interleaveRows(Prefix + "gate_up_proj_bias",
                                       {GateBias, UpBias}, 1,
                                       {Experts, 2 * Inner}));
    T.Tensors.push_back(interleaveRows(Prefix + "down_proj", {Down}, Inner,
                                       {Experts, Inner, Width}));
    T.Tensors.back().ColumnsFirst = true;
  }
}

static void readGptOssGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readLlamaLike(T);
  int64_t Experts = S.size("expert_count");
  int64_t Inner = S.size("expert_feed_forward_length");
  S.Config["num_local_experts"] = Experts;
  S.Config["num_experts_per_tok"] = S.size("expert_used_count");
  S.Config["intermediate_size"] = Inner;
  S.Config["attention_bias"] = true;
  S.Config["sliding_window"] = S.size("attention.sliding_window");
  if (S.Config.contains("rope_scaling")) {
    // What the published models have beside the stored numbers.
    Json &Scaling = S.Config["rope_scaling"];
    Scaling["truncate"] = false;
    if (!Scaling.contains("beta_fast"))
      Scaling["beta_fast"] = 32.0;
    if (!Scaling.contains("beta_slow"))
      Scaling["beta_slow"] = 1.0;
  }
  gguf::setLlamaNames(T, {GptOssGgufLayer, gguf::PreNorms, gguf::Attention});
  joinGgufExperts(T, Experts, Inner, S.size("embedding_length"));
}

const Family tenon::GptOssFamily = {
    "gpt_oss", readGptOssConfig, {"gpt-oss", readGptOssGguf}};
