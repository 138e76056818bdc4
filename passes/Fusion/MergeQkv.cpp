//===- MergeQkv.cpp - Queries, keys and values by one product -------------===//

#include "passes/Fusion/Passes.h"

#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_MERGEQKV
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct MergeQkv : public tenon::impl::MergeQkvBase<MergeQkv> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *Op) {
      if (auto Split = dyn_cast<SplitAppendOp>(Op))
        visit(Split);
      else if (auto Split = dyn_cast<SplitStageOp>(Op))
        visit(Split);
    });
  }

  template <typename SplitTy> void visit(SplitTy Split) {
    if (Split.getQkv().size() != 3)
      return;
    StringRef Why = merge(Split);
    if (Why.empty())
      NumMerged += 2;
    else
      remarkMissed(Split, "fusion", "MergeQkv", Why);
  }

  /// Merges, or says why not.
  template <typename SplitTy> StringRef merge(SplitTy Split) {
    SmallVector<ProductOp> Products;
    for (Value Part : Split.getQkv()) {
      auto Product = Part.getDefiningOp<ProductOp>();
      if (!Product)
        return "queries, keys and values are not all products";
      if (!Product->hasOneUse())
        return "a product has another use";
      if (Product.getMultiplier() || Product.getResidual() ||
          Product.getActivation() != Activation::None)
        return "a product applies more than a bias";
      Products.push_back(Product);
    }
    SmallVector<Value> Weights, Biases;
    Type Element = elementOf(Products.front().getWeights().front());
    for (ProductOp Product : Products) {
      if (Product.getInput() != Products.front().getInput())
        return "the products have different inputs";
      if (Product.getBiases().empty() != Products.front().getBiases().empty())
        return "only some of the products have a bias";
      for (Value Weight : Product.getWeights()) {
        if (elementOf(Weight) != Element)
          return "the weights are stored in different types";
        if (scopeOf(Weight) != scopeOf(Products.front().getWeights().front()))
          return "the weights belong to different scopes";
      }
      for (Value Bias : Product.getBiases())
        if (scopeOf(Bias) != scopeOf(Products.front().getBiases().front()))
          return "the biases belong to different scopes";
      llvm::append_range(Weights, Product.getWeights());
      llvm::append_range(Biases, Product.getBiases());
    }

    OpBuilder Builder(Split);
    Value Merged = ProductOp::create(Builder, Products.front().getLoc(),
                                     Products.front().getInput(), Weights,
                                     Biases, /*multiplier=*/Value(),
                                     /*residual=*/Value(), Activation::None);
    remarkPassed(Split, "fusion", "MergeQkv",
                 "queries, keys and values are one product");
    Split.getQkvMutable().assign(Merged);
    for (ProductOp Product : Products)
      Product->erase();
    return {};
  }

  static Type elementOf(Value Weight) {
    return cast<ShapedType>(Weight.getType()).getElementType();
  }

  static Value scopeOf(Value Weight) {
    auto Parameter = Weight.getDefiningOp<ParameterOp>();
    return Parameter ? Parameter.getScope() : Value();
  }
};

} // namespace
