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
