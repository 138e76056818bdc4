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

/// What is done to queries or keys between their matmul and attention.
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
    SmallVector<OnlineAttentionOp> Attentions;
    getOperation().walk(
        [&](OnlineAttentionOp Op) { Attentions.push_back(Op); });
    for (OnlineAttentionOp Attention : Attentions) {
      std::string Why =
          Attention.getCache() ? fuseAppend(Attention) : fuseStage(Attention);
      if (!Why.empty())
        remarkMissed(Attention, "fusion", "FuseAttention", Why);
    }
  }

  static void erase(const HeadChain &Chain) {
    for (Operation *Op : Chain.Ops)
      Op->erase();
  }

  static void remark(OnlineAttentionOp Attention, const HeadChain &Query,
                     const HeadChain &Key, StringRef With) {
    std::string What = With.str();
    if (Query.Norm)
      What += ", norms";
    if (Query.Rope)
      What += ", rotations";
    remarkPassed(Attention, "fusion", "FuseAttention",
                 What + " are one pass over queries, keys and values");
    for (auto [Chain, Rows] : {std::pair(&Query, "queries"), {&Key, "keys"}})
      for (Operation *Op : Chain->Ops)
        remarkPassed(Op, "fusion", "FuseAttention",
                     Twine(Rows) + ": absorbed by " + With);
  }

  /// Why the append cannot become one op with what is done to queries and
  /// keys; empty when it can.
  static StringRef whyApart(OnlineAttentionOp Attention, CacheAppendOp Append) {
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

  /// Makes one split_append of append, norms and rotations, or says why not.
  static std::string fuseAppend(OnlineAttentionOp Attention) {
    auto Append = Attention.getCache().getDefiningOp<CacheAppendOp>();
    if (StringRef Why = whyApart(Attention, Append); !Why.empty())
      return Why.str();
    HeadChain Query = followHeads(Attention.getQuery(),
                                  static_cast<int64_t>(Attention.getHeads()));
    HeadChain Key = followHeads(Append.getKeys(),
                                static_cast<int64_t>(Attention.getKvHeads()));
    if (StringRef Why = mismatch(Query, Key); !Why.empty())
      return Why.str();
    OpBuilder Builder(Attention);
    auto Split = SplitAppendOp::create(
        Builder, Attention.getLoc(), Query.Source.getType(),
        Append.getCache().getType(),
        ValueRange{Query.Source, Key.Source, Append.getValues()},
        Append.getCache(), Append.getScope(), Append.getBatch(), Query.Norm,
        Key.Norm, Attention.getHeadsAttr(), Attention.getKvHeadsAttr(),
        Query.Rope, Query.Eps, Builder.getF64FloatAttr(Query.NormOffset));
    remark(Attention, Query, Key, "the append");
    Attention.getQueryMutable().assign(Split.getQuery());
    Append.getResult().replaceAllUsesWith(Split.getResult());
    Append->erase();
    erase(Query);
    erase(Key);
    return {};
  }

  /// Takes norms and rotations into the split_stage, or says why not.
  static std::string fuseStage(OnlineAttentionOp Attention) {
    auto Split = Attention.getStaged().getDefiningOp<SplitStageOp>();
    if (!Split || Split.getQkv().size() != 3)
      return "keys and values were not staged in this function";
    HeadChain Query =
        followHeads(Split.getQkv()[0], static_cast<int64_t>(Split.getHeads()));
    HeadChain Key = followHeads(Split.getQkv()[1],
                                static_cast<int64_t>(Split.getKvHeads()));
    if (StringRef Why = mismatch(Query, Key); !Why.empty())
      return Why.str();
    if (Query.Ops.empty())
      return {};
    OpBuilder Builder(Split);
    auto Fused = SplitStageOp::create(
        Builder, Split.getLoc(), Split.getResultTypes()[0],
        Split.getResultTypes()[1],
        ValueRange{Query.Source, Key.Source, Split.getQkv()[2]},
        Split.getBatch(), Query.Norm, Key.Norm, Split.getHeadsAttr(),
        Split.getKvHeadsAttr(), Query.Rope, Query.Eps,
        Builder.getF64FloatAttr(Query.NormOffset));
    remark(Attention, Query, Key, "staging");
    Split->replaceAllUsesWith(Fused);
    Split->erase();
    erase(Query);
    erase(Key);
    return {};
  }
};

} // namespace
