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

AttentionCost LatentAttentionOp::getAttentionCost() {
  auto Heads = static_cast<int64_t>(getHeads());
  int64_t Expanded = static_cast<int64_t>(getKeyDim()) + getRopeDim() +
                     static_cast<int64_t>(getValueDim());
  AttentionCost Cost;
  // A token alone has K absorbed into its query; a prompt expands the cache.
  Cost.DecodeFlopsPerKey = 2 * Heads * (2 * getRank() + getRopeDim());
  Cost.PrefillFlopsPerKey = 2 * Heads * Expanded;
  return Cost;
}
