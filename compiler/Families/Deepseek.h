//===- Deepseek.h - What the DeepSeek families share ------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_DEEPSEEK_H
#define TENON_COMPILER_FAMILIES_DEEPSEEK_H

#include "compiler/Families/Mixture.h"

namespace tenon {

/// What tells one DeepSeek family from another; numbers are those of configs
/// that do not say.
struct DeepseekTraits {
  bool FeedForwardBias = false;
  transformer::RopeStyle Style = transformer::RopeStyle::Interleaved;
  transformer::RouterScore Score = transformer::RouterScore::Softmax;
  bool Normalize = false;
  /// Experts are chosen by group; a group is as good as its best two.
  bool HasGroups = false;
  bool Pairs = false;
  std::optional<int64_t> Groups = {};
  std::optional<int64_t> KeptGroups = {};
  std::optional<int64_t> Top = {};
  int64_t Experts = 0;
  int64_t SharedExperts = 0;
  int64_t Inner = 0;
  int64_t DenseLayers = 0;
  double Scale = 1;
};

/// Reads a LLaMA with latent attention, and mixtures after some dense layers.
DecoderModel readDeepseek(ConfigReader &Config, const DeepseekTraits &Traits);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_DEEPSEEK_H
