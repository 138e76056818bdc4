//===- Decoder.h - Models that continue text --------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_DECODER_H
#define TENON_COMPILER_FAMILIES_DECODER_H

#include "compiler/Families/ConfigReader.h"
#include "compiler/Families/Encoder.h"
#include "compiler/Families/Stack.h"

namespace tenon {

/// One decoder, ready to build.
struct DecoderModel {
  ModelSizes Sizes;
  StackOptions Stack;
  HeadOptions Head;
  /// Tensors that checkpoints may hold and that the model does not need; '*'
  /// stands for anything.
  std::vector<std::string> UnusedTensors;
};

/// Builds the entry "step" and its functions, with a cache of `CacheElement`.
void buildDecoder(ModelBuilder &Model, const DecoderModel &Decoder,
                  ElementType CacheElement);

/// Sets a stack of the model's sizes, without its embedding's particulars,
/// norms and layers. Names begin with the first of `Scopes` that the checkpoint
/// has `Tokens` in: bodies alone are published with shorter names.
void setStack(ConfigReader &Config, DecoderModel &Model,
              ConfigReader::Keys Scopes, const std::string &Layers,
              const std::string &Tokens);

/// The decoder without its head and cache, whose rows see what is before them:
/// for embeddings. Nothing for one whose attention needs a cache.
std::optional<EncoderModel> withoutHead(const DecoderModel &Decoder);

/// What tells one family of the LLaMA kind from another: pre-norm layers with
/// RMS norms, rotary positions, a gated feed-forward, and LLaMA's names.
struct LlamaTraits {
  /// Of queries, keys and values; of the output; of the feed-forward.
  bool QkvBias = false;
  bool OutputBias = false;
  bool FeedForwardBias = false;
  /// RMS norms of query and key heads, q_norm and k_norm.
  bool HeadNorms = false;
  /// num_key_value_heads and head_dim when the config does not say; by default
  /// as many as query heads, and the width divided by these.
  std::optional<int64_t> DefaultKvHeads = {};
  std::optional<int64_t> DefaultHeadDim = {};
  /// What all norms are; the Eps when the config does not say.
  NormOptions Norm = {};
  std::string_view EpsKey = "rms_norm_eps";
  /// None where a family reads rotations itself.
  std::optional<RopeTraits> Rope = RopeTraits();
  std::string_view ActKey = "hidden_act";
  /// What this is when the config does not say; it must without.
  std::string_view DefaultAct = {};
  bool DefaultTied = false;
};

/// Reads a decoder of the LLaMA kind. All layers are alike and see everything;
/// families change what they differ in.
DecoderModel readLlama(ConfigReader &Config, const LlamaTraits &Traits);
/// The same without attention.
DecoderModel readLlamaBody(ConfigReader &Config, const LlamaTraits &Traits);

/// sliding_window: null is none, and an absent key `Default`.
std::optional<int64_t> readWindow(ConfigReader &Config,
                                  std::optional<int64_t> Default);

/// Gives layers a window: those that layer_types calls sliding_attention, or,
/// without it, those that `IsSliding` holds for. These must not be any when
/// there is no window.
void setWindows(ConfigReader &Config, DecoderModel &Model,
                std::optional<int64_t> Window,
                llvm::function_ref<bool(int64_t Layer)> IsSliding);

/// The head's matrix: `Own` ("lm_head.weight"), or the embedding's table when
/// `IsTied`. A tied head's equal copy is not needed. Refuses checkpoints of
/// other heads, or of none where one is needed.
void setHead(ConfigReader &Config, DecoderModel &Model, bool IsTied,
             const std::string &Own = "lm_head.weight");

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_DECODER_H
