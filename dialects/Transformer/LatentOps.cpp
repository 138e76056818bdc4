//===- LatentOps.cpp - Multi-head latent attention -----------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult LatentAppendOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor Operands,
                                               SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getCache().getType());
  return success();
}

LogicalResult LatentAppendOp::verify() {
  return checkLatentCache(*this, "latent_append", getCache().getType(),
                          widthOf(getLatent()) + widthOf(getRotated()));
}

LogicalResult LatentAttentionOp::verify() {
  return checkLatentAttention(*this, "latent_attention", getCache().getType(),
                              {getHeads(), getKeyDim(), getValueDim(),
                               widthOf(getQuery()), widthOf(getResult()),
                               sizeOf(getExpand(), 0), getRank(), getScale()});
}

SmallVector<WeightUse> LatentAttentionOp::getWeightUses() {
  // The kernel reads it row by row, whichever form it computes.
  WeightUse Use = {&getExpandMutable(), LayoutKind::RowMajor};
  Use.IsMatmul = true;
  return {Use};
}

AttentionCost tenon::latentAttentionCost(int64_t Heads, int64_t KeyDim,
                                         int64_t ValueDim, int64_t Rank,
                                         int64_t RopeDim) {
  AttentionCost Cost;
  // A token alone has K absorbed into its query; a prompt expands the cache.
  Cost.DecodeFlopsPerKey = 2 * Heads * (2 * Rank + RopeDim);
  Cost.PrefillFlopsPerKey = 2 * Heads * (KeyDim + RopeDim + ValueDim);
  return Cost;
}

AttentionCost LatentAttentionOp::getAttentionCost() {
  return latentAttentionCost(
      static_cast<int64_t>(getHeads()), static_cast<int64_t>(getKeyDim()),
      static_cast<int64_t>(getValueDim()), getRank(), getRopeDim());
}
