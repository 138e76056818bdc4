//===- LowerAttention.cpp - Attention page by page ------------------------===//

#include "passes/Fusion/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_LOWERATTENTION
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct LowerAttention : public tenon::impl::LowerAttentionBase<LowerAttention> {
  void runOnOperation() override {
    SmallVector<AttentionOp> Attentions;
    getOperation().walk([&](AttentionOp Op) { Attentions.push_back(Op); });
    for (AttentionOp Op : Attentions) {
      OpBuilder Builder(Op);
      Value Query = Op.getQuery(), Staged;
      if (Op.getKeys()) {
        SplitStageOp Split = stage(Builder, Op);
        Query = Split.getQuery();
        Staged = Split.getStaged();
      }
      Value Result = OnlineAttentionOp::create(
          Builder, Op.getLoc(), Query.getType(), Query, Op.getBatch(), Staged,
          Op.getCache(), Op.getScope(), Op.getBias(), Op.getSinks(),
          Op.getMaskAttr(), Op.getHeadsAttr(), Op.getKvHeadsAttr(),
          Op.getScaleAttr(), Op.getWindowAttr(), Op.getSoftCapAttr(),
          Op.getAlibiAttr(), Op.getBucketsAttr());
      Op.getResult().replaceAllUsesWith(Result);
      Op->erase();
    }
  }

  /// This step's keys and values in the layout of cache pages.
  static SplitStageOp stage(OpBuilder &Builder, AttentionOp Op) {
    auto QueryType = cast<RankedTensorType>(Op.getQuery().getType());
    int64_t HeadDim =
        QueryType.getDimSize(1) / static_cast<int64_t>(Op.getHeads());
    auto StagedType = RankedTensorType::get(
        {ShapedType::kDynamic,
         PageLayout{static_cast<int64_t>(Op.getKvHeads()), HeadDim}.elements()},
        Builder.getF32Type());
    return SplitStageOp::create(
        Builder, Op.getLoc(), QueryType, StagedType,
        ValueRange{Op.getQuery(), Op.getKeys(), Op.getValues()}, Op.getBatch(),
        /*queryNorm=*/Value(), /*keyNorm=*/Value(), Op.getHeadsAttr(),
        Op.getKvHeadsAttr(), RopeAttr(), /*eps=*/FloatAttr(),
        Builder.getF64FloatAttr(0));
  }
};

} // namespace
