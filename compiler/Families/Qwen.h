//===- Qwen.h - What the Qwen families share --------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_QWEN_H
#define TENON_COMPILER_FAMILIES_QWEN_H

#include "compiler/Checkpoint/GgufArchitectures.h"
#include "compiler/Families/Moe.h"

namespace tenon {

/// Windows of layers as use_sliding_window, max_window_layers and layer_types
/// say.
void setQwenWindows(ConfigReader &Config, DecoderModel &Model);

/// Counts of an MoE layer when the config does not say.
struct QwenMoeDefaults {
  int64_t Experts = 0;
  int64_t Inner = 0;
  int64_t Top = 0;
};

/// The MoE layer that num_experts, moe_intermediate_size and norm_topk_prob
/// say.
MoeOptions readQwenMoe(ConfigReader &Config, const DecoderModel &Model,
                       const QwenMoeDefaults &Defaults);

/// Puts it into the layers that decoder_sparse_step and mlp_only_layers say.
void setQwenMoe(ConfigReader &Config, DecoderModel &Model,
                const MoeOptions &Moe);

/// The number at `Key` of a GGUF file, which older ones lack: then the rows of
/// the matrices of the tensor `Name`.
int64_t ggufRowsOf(GgufTranslation &T, std::string_view Key,
                   const std::string &Name);
/// Counts and width of a GGUF file's experts, which all layers have.
void readQwenGgufExperts(GgufTranslation &T);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_QWEN_H
