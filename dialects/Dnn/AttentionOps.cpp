//===- AttentionOps.cpp - Verifiers of AttentionOps.td --------------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

/// PREFIX_c`Number` and the two behind it: partitions of a cache's pages come
/// with scratch of `Fixed` columns and `OfPartition` for each.
template <typename OpTy>
static LogicalResult checkPartitions(OpTy Op, StringRef Prefix, int64_t Number,
                                     int64_t Fixed, int64_t OfPartition) {
  auto Constraint = [&](int64_t Behind) {
    return (Prefix + "_c" + Twine(Number + Behind)).str();
  };
  std::optional<uint64_t> Pages = Op.getPartitionPages();
  Value Partials = Op.getPartialsOut();
  if (Pages.has_value() != static_cast<bool>(Partials))
    return Op.emitOpError() << Constraint(0)
                            << ": expected partition_pages with a destination "
                               "of partials";
  if (!Pages)
    return success();
  if (failed(checkAtLeast(Op, Constraint(1), "partition_pages", 1,
                          static_cast<int64_t>(*Pages))))
    return failure();
  int64_t Rest = widthOf(Partials) - Fixed;
  if (Rest < OfPartition || Rest % OfPartition != 0) {
    InFlightDiagnostic Wrong = Op.emitOpError()
                               << Constraint(2)
                               << ": width of the partials: expected ";
    if (Fixed != 0)
      Wrong << Fixed << " and ";
    return Wrong << "a multiple of " << OfPartition << ", got "
                 << widthOf(Partials);
  }
  return success();
}

bool dnn::multipliesCachedIntegers(AttentionOp Op) {
  if (!Op.getCache() || formatOf(Op.getQuery()) != StorageFormat::BF16)
    return false;
  bool HasOneToken =
      Op.getPartialsOut() ||
      transformer::variantOf(Op->getParentOfType<FunctionOpInterface>()) ==
          transformer::Variant::Few;
  auto Cache = cast<transformer::CacheType>(Op.getCache().getType());
  auto Target =
      Op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(attr::Target);
  return HasOneToken && Cache.getFormat() == CacheFormat::I8 && Target &&
         Target.multipliesCachedIntegers();
}

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

/// Columns of all heads' partials of one partition.
static int64_t partialWidth(AttentionOp Op) {
  return widthOf(Op.getQuery()) + 2 * static_cast<int64_t>(Op.getHeads());
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
  if (failed(checkWidths(*this, "dnn_attention_c16", widthOf(getQuery()),
                         {{"the destination", getOuts()}})) ||
      failed(checkPartitions(*this, "dnn_attention", 17, /*Fixed=*/0,
                             partialWidth(*this))))
    return failure();
  if (getPartialsOut() && !getCache())
    return emitOpError() << "dnn_attention_c20: partition_pages: expected "
                            "pages of a cache";
  return success();
}

int64_t AttentionOp::getMostPartitions() {
  return getPartialsOut() ? widthOf(getPartialsOut()) / partialWidth(*this) : 1;
}

/// Columns of the absorbed queries, and of all heads' partials of one
/// partition.
static std::pair<int64_t, int64_t> partialWidths(LatentAttentionOp Op) {
  auto Heads = static_cast<int64_t>(Op.getHeads());
  return {Heads * (Op.getRank() + Op.getRopeDim()), Heads * (Op.getRank() + 2)};
}

int64_t LatentAttentionOp::getRopeDim() {
  return widthOf(getQuery()) / static_cast<int64_t>(getHeads()) -
         static_cast<int64_t>(getKeyDim());
}

int64_t LatentAttentionOp::getMostPartitions() {
  if (!getPartialsOut())
    return 1;
  auto [Queries, OfPartition] = partialWidths(*this);
  return (widthOf(getPartialsOut()) - Queries) / OfPartition;
}

LogicalResult LatentAttentionOp::verify() {
  PackedType Expand = getExpand().getType();
  if (failed(checkLatentAttention(
          *this, "dnn_latent_attention", getCache().getType(),
          {getHeads(), getKeyDim(), getValueDim(), widthOf(getQuery()),
           widthOf(getOut()), Expand.getOutFeatures(), Expand.getInFeatures(),
           getScale()})))
    return failure();
  if (failed(checkWidths(*this, "dnn_latent_attention_c7",
                         static_cast<int64_t>(getHeads() * (getValueDim() + 2)),
                         {{"the state", getStateOut()}})))
    return failure();
  auto [Queries, OfPartition] = partialWidths(*this);
  return checkPartitions(*this, "dnn_latent_attention", 8, Queries,
                         OfPartition);
}

transformer::CountKind AttentionOp::getOperandCount(unsigned Operand) {
  return getOperand(Operand) == getStaged()
             ? transformer::CountKind::StagedPages
             : transformer::CountKind::Tokens;
}

transformer::CountKind SplitStageOp::getOperandCount(unsigned Operand) {
  return Operand == getStagedOutMutable().getOperandNumber()
             ? transformer::CountKind::StagedPages
             : transformer::CountKind::Tokens;
}
