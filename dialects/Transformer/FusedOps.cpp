//===- FusedOps.cpp - Operations that fusion forms -----------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *Context,
                                         std::optional<Location>,
                                         Adaptor Operands,
                                         SmallVectorImpl<Type> &Results) {
  int64_t Width = 0;
  for (Value Weight : Operands.getWeights())
    Width += sizeOf(Weight, 0);
  Results.push_back(rowsType(Context, Width));
  return success();
}

LogicalResult MatmulOp::verify() {
  if (getWeights().empty())
    return emitOpError() << "matmul_c3: weights: expected at least one";
  if (!getBiases().empty() && getBiases().size() != getWeights().size())
    return emitOpError() << "matmul_c4: biases: expected none or "
                         << getWeights().size() << ", got "
                         << getBiases().size();
  for (auto [Index, Weight] : llvm::enumerate(getWeights()))
    if (failed(checkWeight(*this, "matmul", "weight " + Twine(Index), Weight,
                           getBiases().empty() ? Value() : getBiases()[Index],
                           widthOf(getInput()))))
      return failure();
  for (Value Other : {getMultiplier(), getResidual()})
    if (Other && failed(checkEqual(*this, "matmul_c5",
                                   "width of multiplier and residual",
                                   widthOf(getResult()), widthOf(Other))))
      return failure();
  for (auto [Index, Weight] : llvm::enumerate(getWeights()))
    if (failed(checkKeptType(*this, "matmul_c6", "weight " + Twine(Index),
                             getWeights().front(), Weight)))
      return failure();
  return success();
}

LogicalResult GatedMatmulOp::inferReturnTypes(MLIRContext *Context,
                                              std::optional<Location>,
                                              Adaptor Operands,
                                              SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getUp(), 0)));
  return success();
}

LogicalResult GatedMatmulOp::verify() {
  int64_t Width = widthOf(getInput());
  if (failed(checkWeight(*this, "gated_matmul", "gate", getGate(),
                         getGateBias(), Width)) ||
      failed(checkWeight(*this, "gated_matmul", "up", getUp(), getUpBias(),
                         Width)) ||
      failed(checkEqual(*this, "gated_matmul_c3", "up output features",
                        sizeOf(getGate(), 0), sizeOf(getUp(), 0))))
    return failure();
  return checkKeptType(*this, "gated_matmul_c4", "up", getGate(), getUp());
}

LogicalResult AddNormOp::verify() {
  if (failed(checkAddNorm(*this, "add_norm", widthOf(getLhs()), getKind(),
                          sizeOf(getWeight(), 0), sizeIfAny(getBias()),
                          getEps())))
    return failure();
  return checkNormOffset(*this, "add_norm_c5", getKind(), getOffset());
}

static int64_t elementsOf(Value Vector) { return sizeOf(Vector, 0); }

LogicalResult SplitAppendOp::verify() {
  int64_t Width = widthOf(getQuery());
  if (failed(checkSplit(*this, "split_append", Width, elementsOf)) ||
      failed(checkSplitCache(*this, "split_append", Width)))
    return failure();
  if (getResult().getType() != getCache().getType())
    return emitOpError() << "split_append_c9: result: expected "
                         << getCache().getType() << ", got "
                         << getResult().getType();
  return success();
}

LogicalResult SplitStageOp::verify() {
  int64_t Width = widthOf(getQuery());
  if (failed(checkSplit(*this, "split_stage", Width, elementsOf)))
    return failure();
  return checkEqual(*this, "split_stage_c8", "width of staged",
                    PageLayout{static_cast<int64_t>(getKvHeads()),
                               Width / static_cast<int64_t>(getHeads())}
                        .elements(),
                    widthOf(getStaged()));
}

SmallVector<WeightUse> MatmulOp::getWeightUses() {
  SmallVector<WeightUse> Uses;
  for (OpOperand &Weight : getWeightsMutable())
    Uses.push_back(matmulWith(Weight));
  return Uses;
}

SmallVector<WeightUse> GatedMatmulOp::getWeightUses() {
  return {matmulWith(getGateMutable()), matmulWith(getUpMutable())};
}

CountKind SplitStageOp::getResultCount(unsigned Result) {
  return Result == 0 ? CountKind::Tokens : CountKind::StagedPages;
}
