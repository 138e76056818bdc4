//===- Qwen.h - What the Qwen families share --------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_QWEN_H
#define TENON_COMPILER_FAMILIES_QWEN_H

#include "compiler/Families/Mixture.h"

namespace tenon {

/// Windows of layers as use_sliding_window, max_window_layers and layer_types
/// say.
void setQwenWindows(ConfigReader &Config, DecoderModel &Model);

/// Counts of a mixture when the config does not say.
struct QwenMixtureDefaults {
  int64_t Experts = 0;
  int64_t Inner = 0;
  int64_t Top = 0;
};

/// The mixture that num_experts, moe_intermediate_size and norm_topk_prob say.
MixtureOptions readQwenMixture(ConfigReader &Config, const DecoderModel &Model,
                               const QwenMixtureDefaults &Defaults);

/// Puts it into the layers that decoder_sparse_step and mlp_only_layers say.
void setQwenMixture(ConfigReader &Config, DecoderModel &Model,
                    const MixtureOptions &Mixture);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_QWEN_H
