//===- FormProducts.cpp - Linear layers and feed-forwards as products -----===//

#include "passes/Fusion/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace tenon {
#define GEN_PASS_DEF_FORMPRODUCTS
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon::transformer;

/// One weight, an optional bias, an activation; nothing else.
static Value createProduct(OpBuilder &Builder, Location Loc, Value Input,
                           Value Weight, Value Bias,
                           Activation Act = Activation::None) {
  return ProductOp::create(Builder, Loc, Input, ValueRange(Weight),
                           Bias ? ValueRange(Bias) : ValueRange(),
                           /*multiplier=*/Value(), /*residual=*/Value(), Act);
}

/// What `Op` computes, as products; null when it is no such op.
static Value lower(OpBuilder &Builder, Operation *Op, int64_t &Products) {
  Location Loc = Op->getLoc();
  if (auto Linear = dyn_cast<LinearOp>(Op)) {
    Products += 1;
    return createProduct(Builder, Loc, Linear.getInput(), Linear.getWeight(),
                         Linear.getBias());
  }
  if (auto Head = dyn_cast<LmHeadOp>(Op)) {
    Products += 1;
    Value Rows =
        SelectRowsOp::create(Builder, Loc, Head.getInput(), Head.getBatch());
    return createProduct(Builder, Loc, Rows, Head.getWeight(), Head.getBias());
  }
  if (auto Ffn = dyn_cast<FeedForwardOp>(Op)) {
    Products += 2;
    Value Hidden = createProduct(Builder, Loc, Ffn.getInput(), Ffn.getUp(),
                                 Ffn.getUpBias(), Ffn.getActivation());
    return createProduct(Builder, Loc, Hidden, Ffn.getDown(),
                         Ffn.getDownBias());
  }
  if (auto Ffn = dyn_cast<GatedFeedForwardOp>(Op)) {
    Products += 2;
    Value Hidden = GatedProductOp::create(
        Builder, Loc, Ffn.getInput(), Ffn.getGate(), Ffn.getUp(),
        Ffn.getGateBias(), Ffn.getUpBias(), Ffn.getActivation());
    return createProduct(Builder, Loc, Hidden, Ffn.getDown(),
                         Ffn.getDownBias());
  }
  if (auto Act = dyn_cast<ActivationOp>(Op)) {
    // On the product that it is applied to, if nothing else reads that.
    auto Product = Act.getInput().getDefiningOp<ProductOp>();
    if (!Product || !Product->hasOneUse() ||
        Product.getActivation() != Activation::None ||
        Product.getMultiplier() || Product.getResidual())
      return {};
    Product.setActivation(Act.getKind());
    return Product.getResult();
  }
  return {};
}

namespace {
struct FormProducts : public tenon::impl::FormProductsBase<FormProducts> {
  void runOnOperation() override {
    int64_t Products = 0;
    getOperation().walk([&](Operation *Op) {
      OpBuilder Builder(Op);
      if (Value Result = lower(Builder, Op, Products)) {
        Op->getResult(0).replaceAllUsesWith(Result);
        Op->erase();
      }
    });
    NumProducts += Products;
  }
};
} // namespace
