//===- FeedForwardOps.cpp - Linear layers, feed-forwards, element by element
//===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult LinearOp::inferReturnTypes(MLIRContext *Context,
                                         std::optional<Location>,
                                         Adaptor Operands,
                                         SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getWeight(), 0)));
  return success();
}

LogicalResult LinearOp::verify() {
  return checkWeight(*this, "linear", "weight", getWeight(), getBias(),
                     widthOf(getInput()));
}

LogicalResult FeedForwardOp::inferReturnTypes(MLIRContext *Context,
                                              std::optional<Location>,
                                              Adaptor Operands,
                                              SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getDown(), 0)));
  return success();
}

LogicalResult FeedForwardOp::verify() {
  if (failed(checkWeight(*this, "feed_forward", "up", getUp(), getUpBias(),
                         widthOf(getInput()))))
    return failure();
  return checkWeight(*this, "feed_forward", "down", getDown(), getDownBias(),
                     sizeOf(getUp(), 0));
}

LogicalResult
GatedFeedForwardOp::inferReturnTypes(MLIRContext *Context,
                                     std::optional<Location>, Adaptor Operands,
                                     SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getDown(), 0)));
  return success();
}

LogicalResult GatedFeedForwardOp::verify() {
  int64_t Width = widthOf(getInput());
  if (failed(checkWeight(*this, "gated_feed_forward", "gate", getGate(),
                         getGateBias(), Width)) ||
      failed(checkWeight(*this, "gated_feed_forward", "up", getUp(),
                         getUpBias(), Width)) ||
      failed(checkEqual(*this, "gated_feed_forward_c3", "up output features",
                        sizeOf(getGate(), 0), sizeOf(getUp(), 0))))
    return failure();
  return checkWeight(*this, "gated_feed_forward", "down", getDown(),
                     getDownBias(), sizeOf(getUp(), 0));
}

LogicalResult ScaleOp::verify() {
  return checkFinite(*this, "scale_c1", "factor", getFactor());
}

LogicalResult SoftCapOp::verify() {
  return checkPositive(*this, "soft_cap_c1", "bound", getBound());
}

LogicalResult ClampOp::verify() {
  return checkPositive(*this, "clamp_c1", "bound", getBound());
}

LogicalResult SigmoidGateOp::verify() {
  return checkEqual(*this, "sigmoid_gate_c1", "width of gate", 1,
                    widthOf(getGate()));
}

LogicalResult SliceOp::verify() {
  return checkSlice(*this, "slice", widthOf(getInput()), getFirst(),
                    widthOf(getResult()));
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

SmallVector<WeightUse> LinearOp::getWeightUses() {
  return {matmulWith(getWeightMutable())};
}

SmallVector<WeightUse> FeedForwardOp::getWeightUses() {
  return {matmulWith(getUpMutable()), matmulWith(getDownMutable())};
}

SmallVector<WeightUse> GatedFeedForwardOp::getWeightUses() {
  return {matmulWith(getGateMutable()), matmulWith(getUpMutable()),
          matmulWith(getDownMutable())};
}
