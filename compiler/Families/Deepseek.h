//===- Deepseek.h - What the DeepSeek families share ------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_DEEPSEEK_H
#define TENON_COMPILER_FAMILIES_DEEPSEEK_H

#include "compiler/Checkpoint/GgufArchitectures.h"
#include "compiler/Families/Moe.h"

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

/// Reads a LLaMA with latent attention, and MoE layers after some dense layers.
DecoderModel readDeepseek(ConfigReader &Config, const DeepseekTraits &Traits);

/// Whether a GGUF file of "deepseek2" is of the third version or later.
bool isDeepseekV3Gguf(GgufSettings &S);
/// Reads a GGUF file of any version.
void readDeepseekGguf(GgufTranslation &T);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_DEEPSEEK_H
