//===- Moe.cpp - Reading mixtures of experts --------------------------===//

#include "compiler/Families/Moe.h"

using namespace tenon;
using namespace tenon::transformer;

MoeOptions tenon::readMoe(ConfigReader &Config, const DecoderModel &Model,
                          int64_t Experts, int64_t Inner,
                          const RouterTraits &Traits) {
  constexpr std::string_view Key = "num_experts_per_tok";
  int64_t Top = Traits.DefaultTop
                    ? Config.sizeOr({Key}, *Traits.DefaultTop, MaxExpertCount)
                    : Config.size({Key}, MaxExpertCount);
  Config.expect(Top <= Experts, Key,
                "at most the " + std::to_string(Experts) + " experts");
  MoeOptions Moe;
  Moe.Act = Model.Stack.Layer.front().FeedForward.Act;
  Moe.Router = RouterAttr::get(&Config.Input.Context, Traits.Score, Top,
                               Traits.Normalize, Traits.Scale,
                               /*Groups=*/1, /*KeptGroups=*/1,
                               /*Pairs=*/false);
  Moe.Experts = Experts;
  Moe.Inner = Inner;
  Moe.Routing = {"mlp.gate"};
  Moe.Gate = "mlp.experts.*.gate_proj.weight";
  Moe.Up = "mlp.experts.*.up_proj.weight";
  Moe.Down = "mlp.experts.*.down_proj.weight";
  return Moe;
}
