//===- Mixtral.cpp - Mistral with an MoE layer in every layer
//----------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Moe.h"

using namespace tenon;

static ModelDescription readMixtralConfig(ConfigReader &Config) {
  RopeTraits Rope;
  Rope.Base = 1e6;
  DecoderModel Model = readLlama(Config, {.DefaultKvHeads = 8,
                                          .Norm = {.Eps = 1e-5},
                                          .Rope = Rope,
                                          .DefaultAct = "silu"});
  std::optional<int64_t> Window = readWindow(Config, std::nullopt);
  // Noise of training.
  Config.ignore({"router_jitter_noise"});
  int64_t Experts =
      Config.sizeOr({"num_local_experts", "num_experts"}, 8, MaxExpertCount);
  MoeOptions Moe = readMoe(Config, Model, Experts, Model.Sizes.FeedForward,
                           {.Normalize = true, .DefaultTop = 2});
  Moe.Routing = {"block_sparse_moe.gate"};
  Moe.Gate = "block_sparse_moe.experts.*.w1.weight";
  Moe.Up = "block_sparse_moe.experts.*.w3.weight";
  Moe.Down = "block_sparse_moe.experts.*.w2.weight";
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.Attention.Window = Window;
    Layer.Moe = Moe;
  }
  return Model;
}

static constexpr GgufName GgufExperts[] = {
    {"ffn_gate_inp", "block_sparse_moe.gate"},
    {"ffn_gate_exps", "block_sparse_moe.experts.*.w1", GgufForm::Numbered},
    {"ffn_down_exps", "block_sparse_moe.experts.*.w2", GgufForm::Numbered},
    {"ffn_up_exps", "block_sparse_moe.experts.*.w3", GgufForm::Numbered}};

static void readMixtralGguf(GgufTranslation &T) {
  int64_t Experts = T.Settings.size("expert_count");
  int64_t Used = T.Settings.optionalSize("expert_used_count", 0).value_or(0);
  gguf::readLlamaLike(T);
  T.Naming.Pairs = true;
  T.Settings.Config["num_local_experts"] = Experts;
  T.Settings.Config["num_experts_per_tok"] = Used;
  gguf::setLlamaNames(T, {gguf::PreNorms, gguf::Attention, GgufExperts});
}

const Family tenon::MixtralFamily = {
    "mixtral", readMixtralConfig, {"llama", readMixtralGguf, gguf::hasExperts}};
