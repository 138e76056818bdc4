//===- MoeOps.cpp - Mixtures of experts ----------------------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult MoeOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor Operands,
                                      SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getInput().getType());
  return success();
}

LogicalResult MoeOp::verify() {
  int64_t Experts = getExperts(), Inner = getInner();
  int64_t Width = widthOf(getInput());
  auto CheckStack = [&](StringRef Name, Value Stack, ArrayRef<int64_t> Shape) {
    ArrayRef<int64_t> Got = cast<RankedTensorType>(Stack.getType()).getShape();
    if (Got == Shape)
      return success();
    auto Diag = emitOpError() << "moe_c1: " << Name << ": expected ";
    llvm::interleave(Shape, Diag, "x");
    Diag << ", got ";
    llvm::interleave(Got, Diag, "x");
    return LogicalResult(Diag);
  };
  if (failed(CheckStack("gate", getGate(), {Experts, Inner, Width})) ||
      failed(CheckStack("up", getUp(), {Experts, Inner, Width})) ||
      failed(CheckStack("down", getDown(), {Experts, Width, Inner})))
    return failure();
  for (auto [Name, Bias, Features] :
       {std::tuple("gate bias", getGateBias(), Inner),
        std::tuple("up bias", getUpBias(), Inner),
        std::tuple("down bias", getDownBias(), Width)})
    if (Bias && failed(CheckStack(Name, Bias, {Experts, Features})))
      return failure();
  if (failed(checkEqual(*this, "moe_c2", "width of logits", Experts,
                        widthOf(getLogits()))))
    return failure();
  if (getCorrection() &&
      failed(checkEqual(*this, "moe_c3", "correction elements", Experts,
                        sizeOf(getCorrection(), 0))))
    return failure();
  if (failed(checkRouter(*this, "moe_c4", "moe_c5", getRouter(), Experts)))
    return failure();
  if (failed(checkGate(*this, "moe_c6", getLimit(), getUpOffset())))
    return failure();
  return checkKeptType(*this, "moe_c7", "up", getGate(), getUp());
}

SmallVector<WeightUse> MoeOp::getWeightUses() {
  SmallVector<WeightUse> Uses;
  for (OpOperand *Stack :
       {&getGateMutable(), &getUpMutable(), &getDownMutable()})
    Uses.push_back(matmulWith(*Stack));
  for (MutableOperandRange Biases :
       {getGateBiasMutable(), getUpBiasMutable(), getDownBiasMutable()})
    for (OpOperand &Bias : Biases)
      Uses.push_back({&Bias, LayoutKind::RowMajor});
  for (WeightUse &Use : Uses) {
    Use.Used = getRouter().getTop();
    Use.Parts = getExperts();
  }
  return Uses;
}
