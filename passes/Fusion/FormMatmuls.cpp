//===- FormMatmuls.cpp - Linear layers and feed-forwards as matmuls -----===//

#include "passes/Fusion/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace tenon {
#define GEN_PASS_DEF_FORMMATMULS
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon::transformer;

/// One weight, an optional bias, an activation, and what its result is
/// multiplied by.
static Value createMatmul(OpBuilder &Builder, Location Loc, Value Input,
                          Value Weight, Value Bias,
                          Activation Act = Activation::None,
                          Value Multiplier = {}) {
  return MatmulOp::create(Builder, Loc, Input, ValueRange(Weight),
                          Bias ? ValueRange(Bias) : ValueRange(), Multiplier,
                          /*residual=*/Value(), Act);
}

/// The activated gate times what is gated: one matmul where both weights are
/// stored in one type, as it reads them side by side.
static Value createGated(OpBuilder &Builder, GatedFeedForwardOp Ffn,
                         int64_t &Matmuls) {
  Location Loc = Ffn->getLoc();
  Matmuls += 1;
  if (getElementTypeOrSelf(Ffn.getGate()) == getElementTypeOrSelf(Ffn.getUp()))
    return GatedMatmulOp::create(Builder, Loc, Ffn.getInput(), Ffn.getGate(),
                                 Ffn.getUp(), Ffn.getGateBias(),
                                 Ffn.getUpBias(), Ffn.getActivation());
  Matmuls += 1;
  Value Gate = createMatmul(Builder, Loc, Ffn.getInput(), Ffn.getGate(),
                            Ffn.getGateBias(), Ffn.getActivation());
  return createMatmul(Builder, Loc, Ffn.getInput(), Ffn.getUp(),
                      Ffn.getUpBias(), Activation::None, Gate);
}

/// What `Op` computes, as matmuls; null when it is no such op.
static Value lower(OpBuilder &Builder, Operation *Op, int64_t &Matmuls) {
  Location Loc = Op->getLoc();
  if (auto Linear = dyn_cast<LinearOp>(Op)) {
    Matmuls += 1;
    return createMatmul(Builder, Loc, Linear.getInput(), Linear.getWeight(),
                        Linear.getBias());
  }
  if (auto Head = dyn_cast<LmHeadOp>(Op)) {
    Matmuls += 1;
    Value Rows = SelectOutputRowsOp::create(Builder, Loc, Head.getInput(),
                                            Head.getBatch());
    return createMatmul(Builder, Loc, Rows, Head.getWeight(), Head.getBias());
  }
  if (auto Ffn = dyn_cast<FeedForwardOp>(Op)) {
    Matmuls += 2;
    Value Hidden = createMatmul(Builder, Loc, Ffn.getInput(), Ffn.getUp(),
                                Ffn.getUpBias(), Ffn.getActivation());
    return createMatmul(Builder, Loc, Hidden, Ffn.getDown(), Ffn.getDownBias());
  }
  if (auto Ffn = dyn_cast<GatedFeedForwardOp>(Op)) {
    Matmuls += 1;
    Value Hidden = createGated(Builder, Ffn, Matmuls);
    return createMatmul(Builder, Loc, Hidden, Ffn.getDown(), Ffn.getDownBias());
  }
  return {};
}

namespace {
struct FormMatmuls : public tenon::impl::FormMatmulsBase<FormMatmuls> {
  void runOnOperation() override {
    int64_t Matmuls = 0;
    getOperation().walk([&](Operation *Op) {
      OpBuilder Builder(Op);
      if (Value Result = lower(Builder, Op, Matmuls)) {
        Op->getResult(0).replaceAllUsesWith(Result);
        Op->erase();
      }
    });
  }
};
} // namespace
