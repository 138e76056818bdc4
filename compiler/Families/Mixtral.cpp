//===- Mixtral.cpp - Mistral with a mixture in every layer ----------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/Mixture.h"

using namespace tenon;

static ModelDescription read(ConfigReader &Config) {
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
  MixtureOptions Mixture =
      readMixture(Config, Model, Experts, Model.Sizes.FeedForward,
                  {.Normalize = true, .DefaultTop = 2});
  Mixture.Routing = {"block_sparse_moe.gate"};
  Mixture.Gate = "block_sparse_moe.experts.*.w1.weight";
  Mixture.Up = "block_sparse_moe.experts.*.w3.weight";
  Mixture.Down = "block_sparse_moe.experts.*.w2.weight";
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.Attention.Window = Window;
    Layer.Mixture = Mixture;
  }
  return Model;
}

const Family tenon::MixtralFamily = {"mixtral", read};
