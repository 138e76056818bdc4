//===- Smollm3.cpp - LLaMA with layers that know no positions -------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;

static ModelDescription readSmollm3Config(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  RopeTraits Rope;
  Rope.Base = 2e6;
  DecoderModel Model =
      readLlama(Config, {.QkvBias = Bias,
                         .OutputBias = Bias,
                         .FeedForwardBias = Config.flagOr("mlp_bias", false),
                         .DefaultKvHeads = 4,
                         .Rope = Rope,
                         .DefaultAct = "silu",
                         .DefaultTied = true});
  bool HasWindows = Config.flagOr("use_sliding_window", false);
  std::optional<int64_t> Window = readWindow(Config, std::nullopt);
  // Of Qwen, whose code it grew from; nothing reads it.
  Config.ignore({"max_window_layers"});
  int64_t Interval = Config.sizeOr({"no_rope_layer_interval"}, 4, MaxLayers);
  std::vector<int64_t> Rotates;
  for (int64_t I = 0; I < Model.Sizes.Layers; ++I)
    Rotates.push_back((I + 1) % Interval != 0);
  Rotates = Config.integersOr("no_rope_layers", std::move(Rotates), 0, 1);
  Config.expect(static_cast<int64_t>(Rotates.size()) == Model.Sizes.Layers,
                "no_rope_layers",
                std::to_string(Model.Sizes.Layers) + " entries, one a layer");
  if (Config.error())
    return Model;
  for (auto [I, Layer] : llvm::enumerate(Model.Stack.Layer))
    if (!Rotates[I])
      Layer.Attention.Rope = {};
  setWindows(Config, Model, Window, [&](int64_t I) {
    return HasWindows && Window && !Rotates[static_cast<size_t>(I)];
  });
  return Model;
}

static void readSmollm3Gguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  T.Naming.Pairs = true;
  T.Settings.Config["no_rope_layer_interval"] = 4;
  gguf::setLlamaNames(T);
}

const Family tenon::Smollm3Family = {
    "smollm3", readSmollm3Config, {"smollm3", readSmollm3Gguf}};
