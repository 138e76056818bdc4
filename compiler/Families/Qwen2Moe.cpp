//===- Qwen2Moe.cpp - Qwen 2 with mixtures and a shared expert ------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/Qwen.h"

using namespace tenon;

static ModelDescription read(ConfigReader &Config) {
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

  MixtureOptions Mixture =
      readQwenMixture(Config, Model, {.Experts = 60, .Inner = 1408, .Top = 4});
  FeedForwardOptions &Shared = Mixture.Shared;
  Shared = {
      Mixture.Act,
      Config.sizeOr({"shared_expert_intermediate_size"}, 5632, MaxFeedForward),
      {"mlp.shared_expert.gate_proj"},
      {"mlp.shared_expert.up_proj"},
      {"mlp.shared_expert.down_proj"}};
  Mixture.SharedGate = {"mlp.shared_expert_gate"};
  setQwenMixture(Config, Model, Mixture);
  return Model;
}

const Family tenon::Qwen2MoeFamily = {"qwen2_moe", read};
