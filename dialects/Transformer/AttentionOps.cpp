//===- AttentionOps.cpp - Attention and its cache ------------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult CacheAppendOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor Operands,
                                              SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getCache().getType());
  return success();
}

LogicalResult CacheAppendOp::verify() {
  return checkCacheAppend(*this, "cache_append", getCache().getType(),
                          getKeys(), getValues());
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor Operands,
                                            SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getQuery().getType());
  return success();
}

/// What attention in both its forms has in common.
template <typename OpTy>
static LogicalResult checkBiasedAttention(OpTy Op, StringRef Prefix) {
  if (failed(checkAttention(Op, Prefix, Op.getAlibiAttr(),
                            [](Value V) { return sizeOf(V, 0); })))
    return failure();
  if (static_cast<bool>(Op.getBias()) != static_cast<bool>(Op.getBuckets()))
    return Op.emitOpError()
           << Prefix << "_c11: expected a bias with its buckets";
  if (!Op.getBias())
    return success();
  if (Op.getAlibi())
    return Op.emitOpError()
           << Prefix << "_c13: expected alibi or a bias, not both";
  if (failed(checkEqual(Op, Prefix + "_c12", "rows of bias",
                        Op.getBuckets()->getCount(), sizeOf(Op.getBias(), 0))))
    return failure();
  return checkEqual(Op, Prefix + "_c12", "columns of bias",
                    static_cast<int64_t>(Op.getHeads()),
                    sizeOf(Op.getBias(), 1));
}

LogicalResult AttentionOp::verify() {
  if (failed(checkBiasedAttention(*this, "attention")))
    return failure();
  if (static_cast<bool>(getKeys()) != static_cast<bool>(getValues()) ||
      static_cast<bool>(getKeys()) == static_cast<bool>(getCache()))
    return emitOpError()
           << "attention_c8: expected keys and values, or a cache";
  if (!getKeys())
    return success();
  int64_t Width = widthOf(getQuery()) / static_cast<int64_t>(getHeads()) *
                  static_cast<int64_t>(getKvHeads());
  if (failed(checkEqual(*this, "attention_c9", "width of keys", Width,
                        widthOf(getKeys()))))
    return failure();
  return checkEqual(*this, "attention_c9", "width of values", Width,
                    widthOf(getValues()));
}

LogicalResult OnlineAttentionOp::verify() {
  if (failed(checkBiasedAttention(*this, "online_attention")))
    return failure();
  return checkStaged(*this, "online_attention",
                     [](Value) { return CacheFormat::F32; });
}

/// Biases by bucket are read for a table, not multiplied with.
static SmallVector<WeightUse> biasUses(MutableOperandRange Bias) {
  SmallVector<WeightUse> Uses;
  for (OpOperand &Operand : Bias)
    Uses.push_back({&Operand, LayoutKind::RowMajor});
  return Uses;
}

SmallVector<WeightUse> AttentionOp::getWeightUses() {
  return biasUses(getBiasMutable());
}

SmallVector<WeightUse> OnlineAttentionOp::getWeightUses() {
  return biasUses(getBiasMutable());
}

CountKind OnlineAttentionOp::getOperandCount(unsigned Operand) {
  return getOperand(Operand) == getStaged() ? CountKind::StagedPages
                                            : CountKind::Tokens;
}

AttentionCost tenon::attentionCost(int64_t QueryWidth,
                                   std::optional<uint64_t> Window,
                                   bool IsCausal, bool IsCross) {
  AttentionCost Cost;
  // Scores and their weighted sum: 2 + 2 operations per query element and key.
  Cost.DecodeFlopsPerKey = Cost.PrefillFlopsPerKey = 4 * QueryWidth;
  if (Window)
    Cost.Window = static_cast<int64_t>(*Window);
  Cost.IsCausal = IsCausal;
  Cost.IsCross = IsCross;
  return Cost;
}

AttentionCost AttentionOp::getAttentionCost() {
  return attentionCost(
      widthOf(getQuery()), getWindow(), getMask() != MaskKind::Bidirectional,
      getCache() && cast<CacheType>(getCache().getType()).isCross());
}
