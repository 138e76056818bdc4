//===- LatentKernel.h - The two forms of latent attention -------*- C++ -*-===//
//
// With c the latent vector of a key and K, V a head's rows of the expansion, a
// score is q . (K c) = (K^T q) . c and the result V (sum of p c). With few
// queries K is absorbed into the query and V applied to the sum: each key costs
// 2 `rank` multiplications. With many, keys and values of a page are expanded
// once for all of them, and each costs `key_dim` and `value_dim` after that.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_LATENTKERNEL_H
#define TENON_PASSES_CODEGEN_LATENTKERNEL_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

/// What both forms share.
class LatentEmitter {
protected:
  using Value = mlir::Value;

  LatentEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op);

  static int64_t padded(int64_t Count) { return roundUp(Count, Lanes); }

  /// Two vectors of f32 as 16 words of pairs of bf16, neighbours side by side.
  Value pairsOf(Value First, Value Second);
  /// Such words as 32 bf16.
  Value asPairs(Value Words);
  float scale() { return static_cast<float>(Op.getScale().convertToDouble()); }

  /// Whether there are products of pairs of bf16, and whether in tiles; all is
  /// f32 otherwise.
  bool multipliesPairs();
  bool multipliesTiles();
  bool expandsInTiles();
  /// Whether a sequence has so few queries that expanding pages would cost more
  /// than it saves.
  Value isAbsorbed(Value Sequence);
  /// The latent vectors of a page of the sequence.
  Value page(Value Sequence, Value Number);
  /// Element `I` of a head's query, scaled.
  Value queryAt(Value Token, Value Head, Value I);
  /// The first of a head's rows of the expansion: those of K, then those of V.
  Value keyRows(Value Head) { return B.mul(Head, KeyDim + ValueDim); }
  Value valueRows(Value Head) { return B.add(keyRows(Head), KeyDim); }

  KernelBuilder &B;
  dnn::LatentAttentionOp Op;
  int64_t Heads, KeyDim, ValueDim, Rank, RopeDim;
  Value Expand, Positions, Starts;
};

/// Emits the share that one thread does of the sequences with many queries.
void emitExpandedLatent(KernelBuilder &B, dnn::LatentAttentionOp Op);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_LATENTKERNEL_H
