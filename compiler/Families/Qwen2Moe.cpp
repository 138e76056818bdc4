//===- Qwen2Moe.cpp - Qwen 2 with MoE layers and a shared expert
//------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Qwen.h"

using namespace tenon;

static ModelDescription readQwen2MoeConfig(ConfigReader &Config) {
  DecoderModel Model =
      readLlama(Config, {.QkvBias = Config.flagOr("qkv_bias", true),
                         .DefaultKvHeads = 16,
                         .DefaultAct = "silu"});
  bool HasWindows = Config.flagOr("use_sliding_window", false);
  std::optional<int64_t> Window = readWindow(Config, 4096);
  int64_t Windowed = Config.sizeOr({"max_window_layers"}, 28, MaxLayers, 0);
  setWindows(Config, Model, HasWindows ? Window : std::nullopt, [&](int64_t I) {
    return HasWindows && I < Windowed && I % 2 == 0;
  });

  MoeOptions Moe =
      readQwenMoe(Config, Model, {.Experts = 60, .Inner = 1408, .Top = 4});
  FeedForwardOptions &Shared = Moe.Shared;
  Shared = {
      Moe.Act,
      Config.sizeOr({"shared_expert_intermediate_size"}, 5632, MaxFeedForward),
      {"mlp.shared_expert.gate_proj"},
      {"mlp.shared_expert.up_proj"},
      {"mlp.shared_expert.down_proj"}};
  Moe.SharedGate = {"mlp.shared_expert_gate"};
  setQwenMoe(Config, Model, Moe);
  return Model;
}

static constexpr GgufName GgufSharedExpert[] = {
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate", GgufForm::OneRow},
    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    {"ffn_down_shexp", "mlp.shared_expert.down_proj"}};

static void readQwen2MoeGguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  readQwenGgufExperts(T);
  T.Settings.Config["norm_topk_prob"] = false;
  T.Settings.Config["shared_expert_intermediate_size"] = ggufRowsOf(
      T, "expert_shared_feed_forward_length", "blk.0.ffn_gate_shexp.weight");
  gguf::setLlamaNames(
      T, {gguf::PreNorms, gguf::Attention, gguf::Experts, GgufSharedExpert});
}

const Family tenon::Qwen2MoeFamily = {
    "qwen2_moe", readQwen2MoeConfig, {"qwen2moe", readQwen2MoeGguf}};
