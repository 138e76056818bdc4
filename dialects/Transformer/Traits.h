//===- Traits.h - What operations say of themselves -------------*- C++ -*-===//
//
// Facts that passes ask any operation for, instead of keeping lists. Both
// dialects use them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_TRAITS_H
#define TENON_DIALECTS_TRANSFORMER_TRAITS_H

#include "runtime/Abi/Types.h"

#include "mlir/IR/OpDefinition.h"

namespace tenon {

/// The operand of `Op` that is a cache; null without one.
mlir::OpOperand *cacheOperandOf(mlir::Operation *Op);

/// Fails unless `Op` has exactly one cache operand.
llvm::LogicalResult verifyOneCache(mlir::Operation *Op);

namespace trait {

/// Stays as it is until it is converted to the dnn dialect: fusion has nothing
/// to do with it any more.
template <typename ConcreteType>
class Fused : public mlir::OpTrait::TraitBase<ConcreteType, Fused> {};

/// Row t of each result depends on row t of the row operands alone, not on the
/// batch: rows may be left out before instead of after it.
template <typename ConcreteType>
class RowWise : public mlir::OpTrait::TraitBase<ConcreteType, RowWise> {};

/// Writes to the cache that it has a handle of, and so takes the handle.
template <typename ConcreteType>
class AppendsToCache
    : public mlir::OpTrait::TraitBase<ConcreteType, AppendsToCache> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *Op) {
    return verifyOneCache(Op);
  }
};

/// Reads the cache, if it has a handle of one.
template <typename ConcreteType>
class ReadsCache : public mlir::OpTrait::TraitBase<ConcreteType, ReadsCache> {};

} // namespace trait

/// How an operation uses one of its weights of two or more dimensions. Vectors
/// need no word: they are always stored as such.
struct WeightUse {
  mlir::OpOperand *Operand;
  /// The layout that it reads.
  LayoutKind Layout;
  /// Whether it also reads panels.
  bool ReadsPanels = false;
  /// Whether activations are multiplied with it.
  bool IsMatmul = false;
  /// Whether that is done for the output rows only.
  bool OfOutputRows = false;
  /// A token uses `Used` of `Parts` equal parts: chosen experts of all.
  int64_t Used = 1;
  int64_t Parts = 1;
};

/// What attention costs beside its matmuls.
struct AttentionCost {
  /// Floating-point operations per key that a token sees, when it is decoded
  /// alone and as the mean over a prompt.
  int64_t DecodeFlopsPerKey = 0;
  int64_t PrefillFlopsPerKey = 0;
  /// A token sees this many keys at most.
  std::optional<int64_t> Window;
  bool IsCausal = true;
  /// The keys are those of the source text.
  bool IsCross = false;
};

/// Of queries of `QueryWidth` columns, all heads together.
AttentionCost attentionCost(int64_t QueryWidth, std::optional<uint64_t> Window,
                            bool IsCausal, bool IsCross);

/// Of latent attention (MLA) with vectors of `Rank` and `RopeDim` elements.
AttentionCost latentAttentionCost(int64_t Heads, int64_t KeyDim,
                                  int64_t ValueDim, int64_t Rank,
                                  int64_t RopeDim);

} // namespace tenon

#endif // TENON_DIALECTS_TRANSFORMER_TRAITS_H
