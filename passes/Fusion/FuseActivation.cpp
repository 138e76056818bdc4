//===- FuseActivation.cpp - Activations applied by a matmul ---------------===//

#include "passes/Fusion/Passes.h"

#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_FUSEACTIVATION
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct FuseActivation : public tenon::impl::FuseActivationBase<FuseActivation> {
  void runOnOperation() override {
    getOperation().walk([&](ActivationOp Act) {
      StringRef Why = fuse(Act);
      if (!Why.empty())
        remarkMissed(Act, "fusion", "FuseActivation", Why);
    });
  }

  /// Applies it to the matmul, or says why not.
  static StringRef fuse(ActivationOp Act) {
    auto Matmul = Act.getInput().getDefiningOp<MatmulOp>();
    if (!Matmul)
      return "the input is no matmul";
    if (!Matmul->hasOneUse())
      return "the matmul has another use";
    if (Matmul.getActivation() != Activation::None || Matmul.getMultiplier() ||
        Matmul.getResidual())
      return "the matmul already applies something";
    Matmul.setActivation(Act.getKind());
    remarkPassed(Act, "fusion", "FuseActivation",
                 "applied while the matmul is written");
    Act.getResult().replaceAllUsesWith(Matmul.getResult());
    Act->erase();
    return {};
  }
};

} // namespace
