//===- Mixture.cpp - Reading mixtures of experts --------------------------===//

#include "compiler/Families/Mixture.h"

using namespace tenon;
using namespace tenon::transformer;

MixtureOptions tenon::readMixture(ConfigReader &Config,
                                  const DecoderModel &Model, int64_t Experts,
                                  int64_t Inner, const RouterTraits &Traits) {
  constexpr std::string_view Key = "num_experts_per_tok";
  int64_t Top = Traits.DefaultTop
                    ? Config.sizeOr({Key}, *Traits.DefaultTop, MaxExpertCount)
                    : Config.size({Key}, MaxExpertCount);
  Config.expect(Top <= Experts, Key,
                "at most the " + std::to_string(Experts) + " experts");
  MixtureOptions Mixture;
  Mixture.Act = Model.Stack.Layer.front().FeedForward.Act;
  Mixture.Router = RouterAttr::get(&Config.Input.Context, Traits.Score, Top,
                                   Traits.Normalize, Traits.Scale,
                                   /*Groups=*/1, /*KeptGroups=*/1,
                                   /*Pairs=*/false);
  Mixture.Experts = Experts;
  Mixture.Inner = Inner;
  Mixture.Routing = {"mlp.gate"};
  Mixture.Gate = "mlp.experts.*.gate_proj.weight";
  Mixture.Up = "mlp.experts.*.up_proj.weight";
  Mixture.Down = "mlp.experts.*.down_proj.weight";
  return Mixture;
}
