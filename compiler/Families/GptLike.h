//===- GptLike.h - What decoders of the GPT kind share ----------*- C++ -*-===//
//
// Layer norms, plain feed-forwards, fused projections, and configs in the
// spelling of GPT-2.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_GPTLIKE_H
#define TENON_COMPILER_FAMILIES_GPTLIKE_H

#include "compiler/Families/Decoder.h"

namespace tenon {

/// Sizes (n_embd, n_layer, n_head, n_positions, n_inner), and a stack as
/// setStack makes it, with layers "h".
DecoderModel readGptLike(ConfigReader &Config);

/// As many key-value heads as heads, which divide the width; `WidthKeys` are
/// its spellings. For families that have no head_dim.
void setHeads(ConfigReader &Config, AttentionOptions &Attention,
              const ModelSizes &Sizes,
              ConfigReader::Keys WidthKeys = {"hidden_size"});

/// 1 / sqrt(head_dim).
double headScale(const AttentionOptions &Attention);

/// The longest sequence of a model without a table of positions: what one of
/// `Names` says, else `Default`, or what was asked for, which may be more.
int64_t unlimitedSequence(ConfigReader &Config, ConfigReader::Keys Names,
                          int64_t Default);

/// "[first:last]".
std::string rangeOf(int64_t First, int64_t Last);

/// Part of a fused projection: from row `First` on, of every `Step` rows the
/// first `Block`.
LinearOptions fusedPart(const std::string &Key, bool Bias, int64_t First,
                        int64_t Step, int64_t Block);

/// Queries, keys and values of a projection whose rows are those of each head,
/// one after another.
void setFusedByHead(AttentionOptions &Attention, const std::string &Key,
                    bool Bias);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_GPTLIKE_H
