//===- DeepseekV3.cpp - Latent attention and sigmoid routers --------------===//

#include "compiler/Families/Deepseek.h"
#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readDeepseekV3Config(ConfigReader &Config) {
  Config.expect(Config.wordOr("topk_method", "noaux_tc") == "noaux_tc",
                "topk_method", "noaux_tc");
  Config.expect(Config.wordOr("scoring_func", "sigmoid") == "sigmoid",
                "scoring_func", "sigmoid");
  bool IsInterleaved = Config.flagOr("rope_interleave", true);
  DecoderModel Model =
      readDeepseek(Config, {.Style = IsInterleaved ? RopeStyle::Interleaved
                                                   : RopeStyle::Half,
                            .Score = RouterScore::Sigmoid,
                            .Normalize = Config.flagOr("norm_topk_prob", true),
                            .HasGroups = true,
                            .Pairs = true,
                            .Groups = 8,
                            .KeptGroups = 4,
                            .Top = 8,
                            .Experts = 256,
                            .SharedExperts = 1,
                            .Inner = 2048,
                            .DenseLayers = 3,
                            .Scale = 2.5});
  for (LayerOptions &Layer : Model.Stack.Layer)
    if (Layer.Moe)
      Layer.Moe->Correction = "mlp.gate.e_score_correction_bias";
  // Layers that predict further tokens lie behind those that run.
  int64_t Ahead = Config.sizeOr({"num_nextn_predict_layers", "num_mtp_layers"},
                                1, MaxLayers, 0);
  for (int64_t I = 0; I < Ahead; ++I)
    Model.UnusedTensors.push_back(
        Model.Stack.layerScope(Model.Sizes.Layers + I) + ".*");
  return Model;
}

const Family tenon::DeepseekV3Family = {
    "deepseek_v3",
    readDeepseekV3Config,
    {"deepseek2", readDeepseekGguf, isDeepseekV3Gguf}};
