//===- Qwen3Moe.cpp - Qwen 3 with MoE layers
//--------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Qwen.h"

using namespace tenon;

static ModelDescription readQwen3MoeConfig(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  DecoderModel Model = readLlama(Config, {.QkvBias = Bias,
                                          .OutputBias = Bias,
                                          .HeadNorms = true,
                                          .DefaultKvHeads = 4,
                                          .DefaultAct = "silu"});
  std::optional<int64_t> Window = readWindow(Config, 4096);
  if (!Config.flagOr("use_sliding_window", false))
    Window = std::nullopt;
  // All layers have the window, whatever this says.
  Config.ignore({"max_window_layers"});
  // Said by published configs, and what the model always does.
  Config.fixed("use_qk_norm", true);
  Config.fixed("qkv_bias", false);
  constexpr std::string_view Shared = "shared_expert_intermediate_size";
  Config.expect(Config.sizeOr({Shared}, 0, MaxFeedForward, 0) == 0, Shared,
                "0");
  for (LayerOptions &Layer : Model.Stack.Layer)
    Layer.Attention.Window = Window;
  setQwenMoe(
      Config, Model,
      readQwenMoe(Config, Model, {.Experts = 128, .Inner = 768, .Top = 8}));
  return Model;
}

static void readQwen3MoeGguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  readQwenGgufExperts(T);
  T.Settings.Config["norm_topk_prob"] = true;
  T.Settings.Config["attention_bias"] = gguf::hasQueryBias(T);
  gguf::setLlamaNames(T, {gguf::PreNorms, gguf::Attention, gguf::Experts});
}

const Family tenon::Qwen3MoeFamily = {
    "qwen3_moe", readQwen3MoeConfig, {"qwen3moe", readQwen3MoeGguf}};
