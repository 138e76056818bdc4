//===- MergeQkv.cpp - Queries, keys and values by one matmul -------------===//

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
    if (!Why.empty())
      remarkMissed(Split, "fusion", "MergeQkv", Why);
  }

  /// Merges, or says why not.
  template <typename SplitTy> StringRef merge(SplitTy Split) {
    SmallVector<MatmulOp> Matmuls;
    for (Value Part : Split.getQkv()) {
      auto Matmul = Part.getDefiningOp<MatmulOp>();
      if (!Matmul)
        return "queries, keys and values are not all matmuls";
      if (!Matmul->hasOneUse())
        return "a matmul has another use";
      if (Matmul.getMultiplier() || Matmul.getResidual() ||
          Matmul.getActivation() != Activation::None)
        return "a matmul applies more than a bias";
      Matmuls.push_back(Matmul);
    }
    SmallVector<Value> Weights, Biases;
    Type Element = elementOf(Matmuls.front().getWeights().front());
    for (MatmulOp Matmul : Matmuls) {
      if (Matmul.getInput() != Matmuls.front().getInput())
        return "the matmuls have different inputs";
      if (Matmul.getBiases().empty() != Matmuls.front().getBiases().empty())
        return "only some of the matmuls have a bias";
      for (Value Weight : Matmul.getWeights()) {
        if (elementOf(Weight) != Element)
          return "the weights are stored in different types";
        if (scopeOf(Weight) != scopeOf(Matmuls.front().getWeights().front()))
          return "the weights belong to different scopes";
      }
      for (Value Bias : Matmul.getBiases())
        if (scopeOf(Bias) != scopeOf(Matmuls.front().getBiases().front()))
          return "the biases belong to different scopes";
      llvm::append_range(Weights, Matmul.getWeights());
      llvm::append_range(Biases, Matmul.getBiases());
    }

    OpBuilder Builder(Split);
    Value Merged = MatmulOp::create(Builder, Matmuls.front().getLoc(),
                                    Matmuls.front().getInput(), Weights, Biases,
                                    /*multiplier=*/Value(),
                                    /*residual=*/Value(), Activation::None);
    remarkPassed(Split, "fusion", "MergeQkv",
                 "queries, keys and values are one matmul");
    Split.getQkvMutable().assign(Merged);
    for (MatmulOp Matmul : Matmuls)
      Matmul->erase();
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
