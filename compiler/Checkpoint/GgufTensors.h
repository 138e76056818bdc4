//===- GgufTensors.h - GGUF tensors as a checkpoint's -----------*- C++ -*-===//
//
// Undoes what llama.cpp's converter does to a checkpoint's tensors: names, the
// order of rows, transposition, stacking, splitting. Nothing is copied: each
// reading goes to the mapped file.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUFTENSORS_H
#define TENON_COMPILER_CHECKPOINT_GGUFTENSORS_H

#include "compiler/Checkpoint/Gguf.h"

#include <span>
#include <string_view>

namespace tenon {

/// How a stored tensor differs from the checkpoint's.
enum class GgufForm {
  /// Not at all.
  Same,
  /// The rows of each head [2, D/2] are stored as [D/2, 2], of query heads or
  /// key-value heads: rotation then takes neighbours in pairs.
  QueryPairs,
  KeyPairs,
  /// Stored [N, K], the checkpoint's is [K, N].
  Transposed,
  /// Rows of all query heads, then all key heads, then all value heads; the
  /// checkpoint has them by key-value head: its query heads, key, value.
  FusedByHead,
  /// Rows of all query heads, then all key heads, then all value heads; the
  /// checkpoint has three tensors, with 'q', 'k' and 'v' in place of the name's
  /// '*'. The first two are then in pairs.
  QueryKeyValue,
  /// One of [E, ...], the checkpoint has one tensor for each index; the name
  /// has '*' in its place.
  Numbered,
  /// A vector that the checkpoint has as a matrix of one row.
  OneRow,
  /// Of no use: what it says is in the metadata too, or has been read there.
  Dropped,
};

/// The checkpoint's name of a stored tensor. A name without '.' at its end's
/// ".weight" or ".bias" stands for both, and the suffix is carried over.
struct GgufName {
  std::string_view Stored;
  std::string_view Name;
  GgufForm Form = GgufForm::Same;
};

/// How an architecture's tensors become a checkpoint's.
struct GgufNaming {
  /// Before the number of a layer: "model.layers.".
  std::string_view LayerPrefix;
  /// Looked up in order: of tensors outside of layers, and of "blk.N.".
  std::vector<std::span<const GgufName>> Globals, Layers;
  int64_t LayerCount = 0, Heads = 0, KvHeads = 0;
  /// What is added to all norms' weights that are stored.
  float NormOffset = 0;
  /// True when QueryPairs and KeyPairs are in force; otherwise they are Same.
  bool Pairs = false;
};

/// The checkpoint's tensors, without what takes several stored ones to make.
/// `Skip` names stored tensors to leave out. An error names a stored tensor
/// that is not known, or has a shape that its form cannot have.
Result<std::vector<TensorInfo>>
nameGgufTensors(const GgufFile &File, const GgufNaming &Naming,
                const std::function<bool(const std::string &)> &Skip);

/// n stored tensors of one shape as one of `Shape`, whose rows of `Columns`
/// elements are theirs in turn: row r is row r / n of the (r mod n)-th.
TensorInfo interleaveRows(std::string Name,
                          const std::vector<const GgufTensor *> &Parts,
                          int64_t Columns, std::vector<int64_t> Shape);

/// [E × (A + B), K] out of stored [E, K, A], transposed, and [E, B, K]: for
/// each e, A rows of the first and B of the second.
TensorInfo alternateRows(std::string Name, const GgufTensor &First,
                         const GgufTensor &Second);

/// All elements of a tensor that has at most a million of them.
Result<std::vector<double>> readGgufVector(const GgufFile &File,
                                           const GgufTensor &Tensor);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUFTENSORS_H
