//===- NormOps.cpp - Normalisation ---------------------------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult LayerNormOp::verify() {
  return checkNorm(*this, "layer_norm", widthOf(getInput()), getGroups(),
                   sizeOf(getWeight(), 0), sizeIfAny(getBias()), getEps());
}

LogicalResult RmsNormOp::verify() {
  if (failed(checkNorm(*this, "rms_norm", widthOf(getInput()), getGroups(),
                       sizeOf(getWeight(), 0), /*Bias=*/std::nullopt,
                       getEps())))
    return failure();
  return checkFinite(*this, "rms_norm_c4", "offset", getOffset());
}
