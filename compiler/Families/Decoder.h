//===- Decoder.h - Decoders of the LLaMA kind -------------------*- C++ -*-===//
//
// Pre-norm layers with rotary positions, grouped-query attention over a cache
// and a gated feed-forward; final norm; tied or untied head.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_DECODER_H
#define TENON_COMPILER_FAMILIES_DECODER_H

#include "compiler/Families/FamilyInput.h"

#include <string>
#include <vector>

namespace tenon {

/// One decoder, ready to build.
struct DecoderModel {
  ModelSizes Sizes;
  LayerOptions Layer;
  /// Of each layer; none sees the whole sequence.
  std::vector<std::optional<int64_t>> Windows;
  NormOptions FinalNorm;
  bool TiedHead = false;
  /// Tensors that checkpoints may hold and that the model does not need.
  std::vector<std::string> UnusedTensors;
};

/// A yes or no that a config key decides, or that the family fixes.
struct Switch {
  bool Default = false;
  /// Empty when it is fixed.
  std::string_view Key;
};

/// Which layers see only a window of the sequence.
enum class WindowRule {
  None,
  /// All layers, when sliding_window is not null.
  EveryLayer,
  /// As use_sliding_window, max_window_layers and layer_types say.
  PerLayer,
};

/// What tells one family of these decoders from another.
struct DecoderTraits {
  Switch QkvBias = {};
  Switch OutputBias = {};
  Switch FeedForwardBias = {};
  /// RMS norms of query and key heads.
  bool HeadNorms = false;
  WindowRule Windows = WindowRule::None;
  /// head_dim and key-value heads when the config does not say; by default the
  /// width divided by the heads, and as many as query heads.
  std::optional<int64_t> DefaultHeadDim = {};
  std::optional<int64_t> DefaultKvHeads = {};
};

/// Reads a decoder's config.
Result<DecoderModel> readDecoder(const FamilyInput &Input,
                                 const DecoderTraits &Traits);

/// Builds the entry "step" and its functions, with a cache of `CacheElement`.
void buildDecoder(ModelBuilder &Model, const DecoderModel &Decoder,
                  ElementType CacheElement);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_DECODER_H
