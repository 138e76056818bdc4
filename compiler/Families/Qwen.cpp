//===- Qwen.cpp - What the Qwen families share ----------------------------===//

#include "compiler/Families/Qwen.h"

using namespace tenon;

void tenon::setQwenWindows(ConfigReader &Config, DecoderModel &Model) {
  bool IsUsed = Config.flagOr("use_sliding_window", false);
  std::optional<int64_t> Window = readWindow(Config, 4096);
  int64_t First = Config.sizeOr({"max_window_layers"}, 28, MaxLayers, 0);
  auto Types = Config.layerTypes(Model.Sizes.Layers,
                                 {"full_attention", "sliding_attention"});
  if (!IsUsed)
    Window = std::nullopt;
  for (size_t I = 0; I < Model.Stack.Layer.size() && !Config.error(); ++I) {
    bool IsSliding = Types.empty() ? static_cast<int64_t>(I) >= First
                                   : Types[I] == "sliding_attention";
    if (!Types.empty() && IsSliding)
      Config.expect(Window.has_value(), "layer_types",
                    "full_attention without a sliding window");
    if (IsSliding)
      Model.Stack.Layer[I].Attention.Window = Window;
  }
}
