//===- Moe.h - Reading mixtures of experts ------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_MOE_H
#define TENON_COMPILER_FAMILIES_MOE_H

#include "compiler/Families/Decoder.h"

namespace tenon {

/// How a family chooses experts, without groups.
struct RouterTraits {
  transformer::RouterScore Score = transformer::RouterScore::Softmax;
  /// Whether weights are divided by their sum.
  bool Normalize = false;
  double Scale = 1;
  /// num_experts_per_tok when the config does not say; it must without.
  std::optional<int64_t> DefaultTop = {};
};

/// A mixture of `Experts` of width `Inner`, with the keys of most families:
/// mlp.gate and mlp.experts.N.gate_proj, up_proj, down_proj. Its activation is
/// that of the dense layers. Reads num_experts_per_tok.
MoeOptions readMoe(ConfigReader &Config, const DecoderModel &Model,
                   int64_t Experts, int64_t Inner, const RouterTraits &Traits);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_MOE_H
