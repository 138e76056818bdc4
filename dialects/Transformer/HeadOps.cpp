//===- HeadOps.cpp - What comes after the layers -------------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult
SelectOutputRowsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                     Adaptor Operands,
                                     SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getInput().getType());
  return success();
}

LogicalResult LmHeadOp::inferReturnTypes(MLIRContext *Context,
                                         std::optional<Location>,
                                         Adaptor Operands,
                                         SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getWeight(), 0)));
  return success();
}

LogicalResult LmHeadOp::verify() {
  return checkWeight(*this, "lm_head", "weight", getWeight(), getBias(),
                     widthOf(getInput()));
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor Operands,
                                       SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getInput().getType());
  return success();
}

CountKind SelectOutputRowsOp::getResultCount(unsigned) {
  return CountKind::OutputRows;
}
CountKind LmHeadOp::getResultCount(unsigned) { return CountKind::OutputRows; }
CountKind PoolOp::getResultCount(unsigned) { return CountKind::Sequences; }

SmallVector<WeightUse> LmHeadOp::getWeightUses() {
  WeightUse Use = matmulWith(getWeightMutable());
  Use.OfOutputRows = true;
  return {Use};
}
