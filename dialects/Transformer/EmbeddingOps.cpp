//===- EmbeddingOps.cpp - Embeddings and positions -----------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *Context,
                                            std::optional<Location>,
                                            Adaptor Operands,
                                            SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getTable(), 1)));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  auto Offset = static_cast<int64_t>(getOffset());
  if (Offset >= 0 && Offset < sizeOf(getTable(), 0))
    return success();
  return emitOpError()
         << "embedding_c1: offset: expected a row of the table of "
         << sizeOf(getTable(), 0) << ", got " << Offset;
}

LogicalResult SinusoidOp::verify() {
  if (widthOf(getResult()) >= 2)
    return success();
  return emitOpError() << "sinusoid_c1: width: expected at least 2, got "
                       << widthOf(getResult());
}

LogicalResult ClassTokenOp::verify() {
  return checkEqual(*this, "class_token_c1", "elements of the token",
                    widthOf(getInput()), sizeOf(getToken(), 0));
}

LogicalResult MergeFeaturesOp::verify() {
  return checkToken(*this, "merge_features_c1", getToken());
}

LogicalResult RopeOp::verify() {
  return checkRotation(*this, "rope", widthOf(getInput()), getHeads(),
                       getOffset(), getRope());
}

SmallVector<WeightUse> EmbeddingOp::getWeightUses() {
  return {{&getTableMutable(), LayoutKind::RowMajor, /*ReadsPanels=*/true}};
}

CountKind EmbeddingOp::getResultCount(unsigned) { return CountKind::Tokens; }
CountKind SinusoidOp::getResultCount(unsigned) { return CountKind::Tokens; }
CountKind InputFeaturesOp::getResultCount(unsigned) {
  return CountKind::Tokens;
}
