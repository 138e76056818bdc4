//===- FuseResidual.cpp - Residuals added while a product is written ------===//

#include "passes/Fusion/Passes.h"

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
      // The block's result comes second; a residual of two products keeps the
      // first as the operand.
      bool RightIsProduct = Residual.getRhs().getDefiningOp<ProductOp>();
      StringRef Why = fuse(Residual, Residual.getRhs(), Residual.getLhs());
      if (!Why.empty()) {
        StringRef Other = fuse(Residual, Residual.getLhs(), Residual.getRhs());
        // What kept a product from taking it says more than that the other
        // operand is none.
        if (Other.empty() || !RightIsProduct)
          Why = Other;
      }
      if (Why.empty())
        ++NumFused;
      else
        remarkMissed(Residual, "fusion", "FuseResidual", Why);
    }
  }

  /// Makes `Other` the residual of `Block`, or says why not.
  static StringRef fuse(ResidualOp Residual, Value Block, Value Other) {
    auto Product = Block.getDefiningOp<ProductOp>();
    if (!Product)
      return "no operand is a product";
    if (!Product->hasOneUse())
      return "the product has another use";
    if (Product.getResidual())
      return "the product already has a residual";
    OpBuilder Builder(Residual);
    Value Result = ProductOp::create(
        Builder, Product.getLoc(), Product.getInput(), Product.getWeights(),
        Product.getBiases(), Product.getMultiplier(), Other,
        Product.getActivation());
    remarkPassed(Residual, "fusion", "FuseResidual",
                 "added while the product is written");
    Residual.getResult().replaceAllUsesWith(Result);
    Residual->erase();
    Product->erase();
    return {};
  }
};

} // namespace
