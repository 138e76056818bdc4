//===- Encoder.h - Encoders of the BERT kind --------------------*- C++ -*-===//
//
// Learned positions, post-norm layers with bidirectional attention and a plain
// feed-forward; hidden states, and pooled embeddings for sentence models.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_ENCODER_H
#define TENON_COMPILER_FAMILIES_ENCODER_H

#include "compiler/Families/FamilyInput.h"

#include <string>
#include <vector>

namespace tenon {

/// One encoder, ready to build.
struct EncoderModel {
  ModelSizes Sizes;
  int64_t TokenTypes = 0;
  /// Positions in the checkpoint: its table's rows, of which a shorter maximum
  /// sequence uses the first.
  int64_t Positions = 0;
  /// Begins every tensor's name: "bert", or empty.
  std::string Prefix;
  NormOptions EmbeddingNorm;
  LayerOptions Layer;
  /// Tensors that checkpoints may hold and that hidden states do not need.
  std::vector<std::string> UnusedTensors;
};

/// What tells one family of these encoders from another: names of tensors, all
/// relative to the prefix.
struct EncoderTraits {
  /// The prefix that models with a head give the encoder.
  const char *Prefix = "";
  /// Never needed for hidden states.
  std::vector<const char *> Unused;
  /// Heads beside the encoder, whose names have no prefix. They only occur in
  /// checkpoints with one.
  std::vector<const char *> UnusedHeads;
};

/// Reads an encoder's config.
Result<EncoderModel> readEncoder(const FamilyInput &Input,
                                 const EncoderTraits &Traits);

/// How the rows of a text become its embedding.
struct PoolingOptions {
  transformer::PoolKind Kind = transformer::PoolKind::Mean;
  bool Normalize = false;
};

/// Builds the entry "encode" and, with `Pooling`, the entry "embed", which
/// share their functions.
void buildEncoder(ModelBuilder &Model, const EncoderModel &Encoder,
                  const std::optional<PoolingOptions> &Pooling);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_ENCODER_H
