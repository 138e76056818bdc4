//===- Qwen.cpp - What the Qwen families share ----------------------------===//

#include "compiler/Families/Qwen.h"

using namespace tenon;

void tenon::setQwenWindows(ConfigReader &Config, DecoderModel &Model) {
  bool IsUsed = Config.flagOr("use_sliding_window", false);
  std::optional<int64_t> Window = readWindow(Config, 4096);
  int64_t First = Config.sizeOr({"max_window_layers"}, 28, MaxLayers, 0);
  if (!IsUsed)
    Window = std::nullopt;
  setWindows(Config, Model, Window,
             [&](int64_t I) { return Window && I >= First; });
}

MixtureOptions tenon::readQwenMixture(ConfigReader &Config,
                                      const DecoderModel &Model,
                                      const QwenMixtureDefaults &Defaults) {
  // Newer files spell it num_local_experts.
  int64_t Experts = Config.sizeOr({"num_experts", "num_local_experts"},
                                  Defaults.Experts, MaxExpertCount);
  int64_t Inner =
      Config.sizeOr({"moe_intermediate_size"}, Defaults.Inner, MaxFeedForward);
  return readMixture(Config, Model, Experts, Inner,
                     {.Normalize = Config.flagOr("norm_topk_prob", false),
                      .DefaultTop = Defaults.Top});
}

void tenon::setQwenMixture(ConfigReader &Config, DecoderModel &Model,
                           const MixtureOptions &Mixture) {
  int64_t Step = Config.sizeOr({"decoder_sparse_step"}, 1, MaxLayers);
  auto Dense = Config.integersOr("mlp_only_layers", {}, 0, MaxLayers);
  for (auto [I, Layer] : llvm::enumerate(Model.Stack.Layer)) {
    auto Number = static_cast<int64_t>(I);
    if ((Number + 1) % Step == 0 && !llvm::is_contained(Dense, Number))
      Layer.Mixture = Mixture;
  }
}
