//===- FuseAddNorm.cpp - A residual and its norm in one pass --------------===//

#include "passes/Fusion/Passes.h"

#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_FUSEADDNORM
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct FuseAddNorm : public tenon::impl::FuseAddNormBase<FuseAddNorm> {
  void runOnOperation() override {
    SmallVector<Operation *> Norms;
    getOperation().walk([&](Operation *Op) {
      if (isa<LayerNormOp, RmsNormOp>(Op))
        Norms.push_back(Op);
    });
    for (Operation *Norm : Norms) {
      auto Residual = Norm->getOperand(0).getDefiningOp<ResidualOp>();
      if (!Residual)
        continue;
      StringRef Why = fuse(Norm, Residual);
      if (!Why.empty())
        remarkMissed(Norm, "fusion", "FuseAddNorm", Why);
    }
  }

  static StringRef fuse(Operation *Norm, ResidualOp Residual) {
    auto Rms = dyn_cast<RmsNormOp>(Norm);
    auto Layer = dyn_cast<LayerNormOp>(Norm);
    if ((Rms ? Rms.getGroups() : Layer.getGroups()) != 1)
      return "the norm is one of parts of the row";
    for (Operation *User : Residual->getUsers())
      if (User != Norm &&
          (User->getBlock() != Norm->getBlock() || User->isBeforeInBlock(Norm)))
        return "the sum is used before the norm";
    OpBuilder Builder(Norm);
    auto Fused = AddNormOp::create(
        Builder, Norm->getLoc(), Residual.getType(), Residual.getType(),
        NormKindAttr::get(Norm->getContext(),
                          Rms ? NormKind::Rms : NormKind::Layer),
        Residual.getLhs(), Residual.getRhs(),
        Rms ? Rms.getWeight() : Layer.getWeight(),
        Rms ? Value() : Layer.getBias(),
        Rms ? Rms.getEpsAttr() : Layer.getEpsAttr(),
        Builder.getF64FloatAttr(Rms ? Rms.getOffset().convertToDouble() : 0));
    remarkPassed(Norm, "fusion", "FuseAddNorm",
                 "residual and norm are one pass over the rows");
    Norm->getResult(0).replaceAllUsesWith(Fused.getResult());
    Norm->erase();
    Residual.getResult().replaceAllUsesWith(Fused.getSum());
    Residual->erase();
    return {};
  }
};

} // namespace
