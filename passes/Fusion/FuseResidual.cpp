//===- FuseResidual.cpp - Residuals added while a matmul is written ------===//

#include "passes/Fusion/Passes.h"

#include "passes/Support/Describe.h"
#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_FUSERESIDUAL
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct FuseResidual : public tenon::impl::FuseResidualBase<FuseResidual> {
  void runOnOperation() override {
    SmallVector<ResidualOp> Residuals;
    getOperation().walk([&](ResidualOp Op) { Residuals.push_back(Op); });
    for (ResidualOp Residual : Residuals) {
      // The block's result comes second; a residual of two matmuls keeps the
      // first as the operand.
      bool RightIsMatmul = Residual.getRhs().getDefiningOp<MatmulOp>();
      StringRef Why = fuse(Residual, Residual.getRhs(), Residual.getLhs());
      if (!Why.empty()) {
        StringRef Other = fuse(Residual, Residual.getLhs(), Residual.getRhs());
        // What kept a matmul from taking it says more than that the other
        // operand is none.
        if (Other.empty() || !RightIsMatmul)
          Why = Other;
      }
      if (!Why.empty())
        remarkMissed(Residual, "fusion", "FuseResidual", Why);
    }
  }

  /// Makes `Other` the residual of `Block`, or says why not.
  static StringRef fuse(ResidualOp Residual, Value Block, Value Other) {
    auto Matmul = Block.getDefiningOp<MatmulOp>();
    if (!Matmul)
      return "no operand is a matmul";
    if (!Matmul->hasOneUse())
      return "the matmul has another use";
    if (Matmul.getResidual())
      return "the matmul already has a residual";
    OpBuilder Builder(Residual);
    auto Fused =
        MatmulOp::create(Builder, Matmul.getLoc(), Matmul.getInput(),
                         Matmul.getWeights(), Matmul.getBiases(),
                         Matmul.getMultiplier(), Other, Matmul.getActivation());
    remarkPassed(Residual, "fusion", "FuseResidual",
                 "fused into " + describeOperation(Fused));
    Residual.getResult().replaceAllUsesWith(Fused.getResult());
    Residual->erase();
    Matmul->erase();
    return {};
  }
};

} // namespace
