//===- AttentionOps.cpp - Verifiers of AttentionOps.td --------------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

LogicalResult SplitAppendOp::verify() {
  int64_t Width = widthOf(getOuts());
  if (failed(checkSplit(*this, "dnn_split_append", Width, elementsOf)) ||
      failed(checkSplitCache(*this, "dnn_split_append", Width)))
    return failure();
  return checkRopeTable(*this, "dnn_split_append_c9", getRopeAttr(),
                        getTable());
}

LogicalResult SplitStageOp::verify() {
  int64_t Width = widthOf(getOut());
  if (failed(checkSplit(*this, "dnn_split_stage", Width, elementsOf)) ||
      failed(checkEqual(*this, "dnn_split_stage_c8", "width of staged",
                        PageLayout{static_cast<int64_t>(getKvHeads()),
                                   Width / static_cast<int64_t>(getHeads()),
                                   stagedFormat(getStagedOut())}
                            .elements(),
                        widthOf(getStagedOut()))))
    return failure();
  return checkRopeTable(*this, "dnn_split_stage_c9", getRopeAttr(), getTable());
}

LogicalResult CacheAppendOp::verify() {
  return checkCacheAppend(*this, "dnn_cache_append", getCache().getType(),
                          getKeys(), getValues());
}

LogicalResult LatentAppendOp::verify() {
  return checkLatentCache(*this, "dnn_latent_append", getCache().getType(),
                          widthOf(getLatent()) + widthOf(getRotated()));
}

LogicalResult AttentionOp::verify() {
  transformer::TableAttrInterface Content = getContentAttr();
  if (failed(checkAttention(
          *this, "dnn_attention",
          dyn_cast_or_null<transformer::AlibiAttr>(Attribute(Content)),
          elementsOf)) ||
      failed(checkStaged(*this, "dnn_attention", stagedFormat)))
    return failure();
  if (static_cast<bool>(getBias()) != static_cast<bool>(Content))
    return emitOpError() << "dnn_attention_c11: expected a bias with its "
                            "content";
  if (Content) {
    if (Content.isByPosition())
      return emitOpError() << "dnn_attention_c13: content: expected a table "
                              "by head, got "
                           << Content;
    PackedType Bias = getBias().getType();
    if (failed(checkEqual(*this, "dnn_attention_c12", "rows of bias",
                          static_cast<int64_t>(getHeads()),
                          Bias.getOutFeatures())) ||
        failed(
            checkEqual(*this, "dnn_attention_c12", "columns of bias",
                       Content.getTableWidth().value_or(Bias.getInFeatures()),
                       Bias.getInFeatures())))
      return failure();
  }
  return checkWidths(*this, "dnn_attention_c16", widthOf(getQuery()),
                     {{"the destination", getOuts()}});
}

LogicalResult LatentAttentionOp::verify() {
  PackedType Expand = getExpand().getType();
  if (failed(checkLatentAttention(
          *this, "dnn_latent_attention", getCache().getType(),
          {getHeads(), getKeyDim(), getValueDim(), widthOf(getQuery()),
           widthOf(getOut()), Expand.getOutFeatures(), Expand.getInFeatures(),
           getScale()})))
    return failure();
  return checkWidths(*this, "dnn_latent_attention_c7",
                     static_cast<int64_t>(getHeads() * (getValueDim() + 2)),
                     {{"the state", getStateOut()}});
}

transformer::CountKind AttentionOp::getOperandCount(unsigned Operand) {
  return getOperand(Operand) == getStaged() ? transformer::CountKind::Chunks
                                            : transformer::CountKind::Tokens;
}
