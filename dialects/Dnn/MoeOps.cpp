//===- MoeOps.cpp - Verifiers of MoeOps.td --------------------------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

/// `Bias` [experts, output features] belongs to `Weight`.
static LogicalResult checkExpertBias(Operation *Op, const Twine &Constraint,
                                     StringRef Name, Value Weight, Value Bias) {
  if (!Bias)
    return success();
  if (failed(checkEqual(Op, Constraint, "rows of " + Name,
                        packedTypeOf(Weight).getCount(), elementsOf(Bias))))
    return failure();
  return checkEqual(Op, Constraint, "columns of " + Name, elementsOf(Weight),
                    packedTypeOf(Bias).getInFeatures());
}

LogicalResult MoeRouteOp::verify() {
  int64_t Experts = widthOf(getLogits());
  if (getCorrection() &&
      failed(checkEqual(*this, "dnn_moe_route_c1", "correction elements",
                        Experts, elementsOf(getCorrection()))))
    return failure();
  if (failed(checkRouter(*this, "dnn_moe_route_c2", "dnn_moe_route_c3",
                         getRouter(), Experts)))
    return failure();
  return checkWidths(
      *this, "dnn_moe_route_c4", getRouter().getTop(),
      {{"choices", getChoicesOut()}, {"weights", getWeightsOut()}});
}

LogicalResult MoeGroupOp::verify() {
  if (failed(checkWidths(*this, "dnn_moe_group_c1", widthOf(getChoices()),
                         {{"order", getOrderOut()}})))
    return failure();
  return checkAtLeast(*this, "dnn_moe_group_c2", "width of offsets", 2,
                      widthOf(getOffsetsOut()));
}

LogicalResult MoeGateUpOp::verify() {
  PackedType Gate = getGate().getType(), Up = getUp().getType();
  if (failed(checkEqual(*this, "dnn_moe_gate_up_c1", "gate input features",
                        widthOf(getInput()), Gate.getInFeatures())) ||
      failed(checkEqual(*this, "dnn_moe_gate_up_c1", "up input features",
                        widthOf(getInput()), Up.getInFeatures())) ||
      failed(checkEqual(*this, "dnn_moe_gate_up_c2", "up experts",
                        Gate.getCount(), Up.getCount())) ||
      failed(checkEqual(*this, "dnn_moe_gate_up_c2", "up output features",
                        Gate.getOutFeatures(), Up.getOutFeatures())) ||
      failed(checkExpertBias(*this, "dnn_moe_gate_up_c3", "gate bias",
                             getGate(), getGateBias())) ||
      failed(checkExpertBias(*this, "dnn_moe_gate_up_c3", "up bias", getUp(),
                             getUpBias())) ||
      failed(
          checkOffsets(*this, "dnn_moe_gate_up_c4", getOffsets(), getGate())) ||
      failed(checkWidths(*this, "dnn_moe_gate_up_c5",
                         widthOf(getOrder()) * Gate.getOutFeatures(),
                         {{"the destination", getOuts()}})))
    return failure();
  if (failed(
          checkGate(*this, "dnn_moe_gate_up_c6", getLimit(), getUpOffset())) ||
      failed(
          checkFormat(*this, "dnn_moe_gate_up_c7", "up", getGate(), getUp())))
    return failure();
  return checkGrouped(*this, "dnn_moe_gate_up_c8", getInput(), getUp());
}

LogicalResult MoeDownOp::verify() {
  PackedType Down = getDown().getType();
  int64_t Choices = widthOf(getOrder());
  if (failed(checkWidths(*this, "dnn_moe_down_c1",
                         Choices * Down.getInFeatures(),
                         {{"the input", getInput()}})) ||
      failed(checkOffsets(*this, "dnn_moe_down_c2", getOffsets(), getDown())) ||
      failed(checkExpertBias(*this, "dnn_moe_down_c3", "down bias", getDown(),
                             getDownBias())))
    return failure();
  if (failed(checkWidths(*this, "dnn_moe_down_c4",
                         Choices * Down.getOutFeatures(),
                         {{"the destination", getOuts()}})) ||
      failed(checkGrouped(*this, "dnn_moe_down_c5", getInput(), getDown())))
    return failure();
  // Each choice of a token begins with a group.
  if (groupedTypeOf(getInput()) &&
      !partsBeginWithGroups(widthOf(getInput()), Choices))
    return emitOpError() << "dnn_moe_down_c6: input of grouped integers: "
                            "expected a multiple of "
                         << GroupValues << " input features, got "
                         << Down.getInFeatures();
  return success();
}

LogicalResult MoeCombineOp::verify() {
  return checkWidths(*this, "dnn_moe_combine_c1",
                     widthOf(getWeights()) * widthOf(getOuts()),
                     {{"the input", getInput()}});
}
