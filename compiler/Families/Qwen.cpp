//===- Qwen.cpp - What the Qwen families share ----------------------------===//

#include "compiler/Families/Qwen.h"

using namespace tenon;

/// Attention in chunks, which other programs have for sequences that are longer
/// than one.
static void ignoreChunks(ConfigReader &Config, const DecoderModel &Model) {
  auto Chunks = Config.optionalObject("dual_chunk_attention_config");
  if (!Chunks)
    return;
  auto Size = Chunks->integer("chunk_size", 1, MaxContext);
  if (!Size)
    Config.fail(Size.error());
  else if (Model.Sizes.MaxSequence > *Size && Config.Input.Notes)
    Config.Input.Notes->push_back(
        Config.Settings.file() +
        ": field 'dual_chunk_attention_config' is left out, as Transformers "
        "does: beyond " +
        std::to_string(*Size) +
        " tokens, attention is not that of the published model");
  Config.ignore({"dual_chunk_attention_config"});
}

void tenon::setQwenWindows(ConfigReader &Config, DecoderModel &Model) {
  ignoreChunks(Config, Model);
  bool IsUsed = Config.flagOr("use_sliding_window", false);
  std::optional<int64_t> Window = readWindow(Config, 4096);
  int64_t First = Config.sizeOr({"max_window_layers"}, 28, MaxLayers, 0);
  if (!IsUsed)
    Window = std::nullopt;
  setWindows(Config, Model, Window,
             [&](int64_t I) { return Window && I >= First; });
}

MoeOptions tenon::readQwenMoe(ConfigReader &Config, const DecoderModel &Model,
                              const QwenMoeDefaults &Defaults) {
  // Newer files spell it num_local_experts.
  int64_t Experts = Config.sizeOr({"num_experts", "num_local_experts"},
                                  Defaults.Experts, MaxExpertCount);
  int64_t Inner =
      Config.sizeOr({"moe_intermediate_size"}, Defaults.Inner, MaxFeedForward);
  return readMoe(Config, Model, Experts, Inner,
                 {.Normalize = Config.flagOr("norm_topk_prob", false),
                  .DefaultTop = Defaults.Top});
}

void tenon::setQwenMoe(ConfigReader &Config, DecoderModel &Model,
                       const MoeOptions &Moe) {
  int64_t Step = Config.sizeOr({"decoder_sparse_step"}, 1, MaxLayers);
  auto Dense = Config.integersOr("mlp_only_layers", {}, 0, MaxLayers);
  for (auto [I, Layer] : llvm::enumerate(Model.Stack.Layer)) {
    auto Number = static_cast<int64_t>(I);
    if ((Number + 1) % Step == 0 && !llvm::is_contained(Dense, Number))
      Layer.Moe = Moe;
  }
}

int64_t tenon::ggufRowsOf(GgufTranslation &T, std::string_view Key,
                          const std::string &Name) {
  if (auto Rows = T.Settings.optionalSize(Key))
    return *Rows;
  const GgufTensor *Tensor = T.Settings.tensor(Name);
  return Tensor && Tensor->Shape.size() > 1
             ? Tensor->Shape[Tensor->Shape.size() - 2]
             : 1;
}

void tenon::readQwenGgufExperts(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  S.Config["num_experts"] = S.size("expert_count");
  S.Config["num_experts_per_tok"] = S.size("expert_used_count");
  S.Config["moe_intermediate_size"] =
      ggufRowsOf(T, "expert_feed_forward_length", "blk.0.ffn_gate_exps.weight");
  S.Config["decoder_sparse_step"] = 1;
  S.Config["mlp_only_layers"] = Json::array();
}
