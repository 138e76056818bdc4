//===- FuseAttention.cpp - Norms, rotations and appends into attention ----===//

#include "passes/Fusion/Passes.h"

#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// What is done to queries or keys between their product and attention.
struct HeadChain {
  Value Source;
  RopeAttr Rope;
  Value Norm;
  FloatAttr Eps;
  double NormOffset = 0;
  /// Ops that the fused op replaces, last first.
  SmallVector<Operation *> Ops;
};

/// Follows `Heads` back through a rotation and a per-head norm of `Count`
/// heads as far as nothing else uses the values between.
HeadChain followHeads(Value Heads, int64_t Count) {
  HeadChain Chain;
  Chain.Source = Heads;
  if (auto Rope = Heads.getDefiningOp<RopeOp>();
      Rope && Rope->hasOneUse() && Rope.getOffset() == 0 &&
      static_cast<int64_t>(Rope.getHeads()) == Count) {
    Chain.Rope = Rope.getRope();
    Chain.Source = Rope.getInput();
    Chain.Ops.push_back(Rope);
  }
  if (auto Norm = Chain.Source.getDefiningOp<RmsNormOp>();
      Norm && Norm->hasOneUse() &&
      static_cast<int64_t>(Norm.getGroups()) == Count &&
      cast<ShapedType>(Norm.getInput().getType()).getDimSize(1) / Count ==
          cast<ShapedType>(Norm.getWeight().getType()).getDimSize(0)) {
    // One head's norm equals a norm of the whole row: with one head both
    // readings are the same.
    Chain.Norm = Norm.getWeight();
    Chain.Eps = Norm.getEpsAttr();
    Chain.NormOffset = Norm.getOffset().convertToDouble();
    Chain.Source = Norm.getInput();
    Chain.Ops.push_back(Norm);
  }
  return Chain;
}

/// Why queries and keys cannot share one split; empty when they can.
StringRef mismatch(const HeadChain &Query, const HeadChain &Key) {
  if (Query.Rope != Key.Rope)
    return "queries and keys are rotated differently";
  if (static_cast<bool>(Query.Norm) != static_cast<bool>(Key.Norm) ||
      Query.Eps != Key.Eps || Query.NormOffset != Key.NormOffset)
    return "queries and keys are normalised differently";
  return {};
}

struct FuseAttention : public tenon::impl::FuseAttentionBase<FuseAttention> {
  void runOnOperation() override {
    SmallVector<AttentionOp> Attentions;
    getOperation().walk([&](AttentionOp Op) { Attentions.push_back(Op); });
    for (AttentionOp Attention : Attentions)
      if (Attention.getCache() ? fuseCached(Attention) : fuseStaged(Attention))
        ++NumFused;
  }

  /// Replaces attention by its online form over `Staged` or `Cache`.
  static void replaceAttention(OpBuilder &Builder, AttentionOp Attention,
                               Value Query, Value Staged, Value Cache) {
    Value Result = OnlineAttentionOp::create(
        Builder, Attention.getLoc(), Query.getType(), Query,
        Attention.getBatch(), Staged, Cache, Attention.getScope(),
        Attention.getBias(), Attention.getSinks(), Attention.getMaskAttr(),
        Attention.getHeadsAttr(), Attention.getKvHeadsAttr(),
        Attention.getScaleAttr(), Attention.getWindowAttr(),
        Attention.getSoftCapAttr(), Attention.getAlibiAttr(),
        Attention.getBucketsAttr());
    remarkPassed(Attention, "fusion", "FuseAttention",
                 "attention goes page by page and stores no scores");
    Attention.getResult().replaceAllUsesWith(Result);
    Attention->erase();
  }

  static void eraseChains(HeadChain &Query, HeadChain &Key) {
    for (Operation *Op : Query.Ops)
      Op->erase();
    for (Operation *Op : Key.Ops)
      Op->erase();
  }

  /// Why the append cannot become one op with what is done to queries and
  /// keys; empty when it can.
  static StringRef whyApart(AttentionOp Attention, CacheAppendOp Append) {
    if (!Append || Append->getBlock() != Attention->getBlock())
      return "the cache was not appended to in this function";
    if (Append.getScope() != Attention.getScope() ||
        Append.getBatch() != Attention.getBatch())
      return "append and attention have different scopes";
    for (Operation *User : Append->getUsers())
      if (User != Attention && User->isBeforeInBlock(Attention))
        return "the appended cache is used before attention";
    return {};
  }

  /// Whether norms, rotations and the append are taken in, or a remark says why
  /// not; attention is replaced all the same.
  static bool fuseCached(AttentionOp Attention) {
    OpBuilder Builder(Attention);
    auto Append = Attention.getCache().getDefiningOp<CacheAppendOp>();
    std::string Why = whyApart(Attention, Append).str();
    HeadChain Query, Key;
    if (Why.empty()) {
      Query = followHeads(Attention.getQuery(),
                          static_cast<int64_t>(Attention.getHeads()));
      Key = followHeads(Append.getKeys(),
                        static_cast<int64_t>(Attention.getKvHeads()));
      Why = mismatch(Query, Key).str();
    }
    if (!Why.empty()) {
      remarkMissed(Attention, "fusion", "FuseAttention", Why);
      replaceAttention(Builder, Attention, Attention.getQuery(),
                       /*Staged=*/Value(), Attention.getCache());
      return false;
    }
    auto Split = SplitAppendOp::create(
        Builder, Attention.getLoc(), Query.Source.getType(),
        Append.getCache().getType(),
        ValueRange{Query.Source, Key.Source, Append.getValues()},
        Append.getCache(), Append.getScope(), Append.getBatch(), Query.Norm,
        Key.Norm, Attention.getHeadsAttr(), Attention.getKvHeadsAttr(),
        Query.Rope, Query.Eps, Builder.getF64FloatAttr(Query.NormOffset));
    Append.getResult().replaceAllUsesExcept(Split.getResult(), Attention);
    replaceAttention(Builder, Attention, Split.getQuery(), /*Staged=*/Value(),
                     Split.getResult());
    Append->erase();
    eraseChains(Query, Key);
    return true;
  }

  static bool fuseStaged(AttentionOp Attention) {
    auto Heads = static_cast<int64_t>(Attention.getHeads());
    auto KvHeads = static_cast<int64_t>(Attention.getKvHeads());
    HeadChain Query = followHeads(Attention.getQuery(), Heads);
    HeadChain Key = followHeads(Attention.getKeys(), KvHeads);
    StringRef Why = mismatch(Query, Key);
    if (!Why.empty()) {
      remarkMissed(Attention, "fusion", "FuseAttention", Why);
      // As they are: norms and rotations stay before the split.
      Query = Key = HeadChain();
      Query.Source = Attention.getQuery();
      Key.Source = Attention.getKeys();
    }

    OpBuilder Builder(Attention);
    auto QueryType = cast<RankedTensorType>(Query.Source.getType());
    auto StagedType = RankedTensorType::get(
        {ShapedType::kDynamic,
         pageElements(KvHeads, QueryType.getDimSize(1) / Heads)},
        Builder.getF32Type());
    auto Split = SplitStageOp::create(
        Builder, Attention.getLoc(), QueryType, StagedType,
        ValueRange{Query.Source, Key.Source, Attention.getValues()},
        Attention.getBatch(), Query.Norm, Key.Norm, Attention.getHeadsAttr(),
        Attention.getKvHeadsAttr(), Query.Rope, Query.Eps,
        Builder.getF64FloatAttr(Query.NormOffset));
    replaceAttention(Builder, Attention, Split.getQuery(), Split.getStaged(),
                     /*Cache=*/Value());
    eraseChains(Query, Key);
    return Why.empty();
  }
};

} // namespace
