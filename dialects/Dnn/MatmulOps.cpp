//===- MatmulOps.cpp - Verifiers of MatmulOps.td --------------------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

LogicalResult MatmulOp::verify() {
  return checkMatmul(*this, "dnn_matmul", getOuts(), getPrimitive());
}

LogicalResult GatedMatmulOp::verify() {
  int64_t Width = widthOf(getInput());
  if (failed(checkWeight(*this, "dnn_gated_matmul", "gate", getGate(),
                         getGateBias(), Width)) ||
      failed(checkWeight(*this, "dnn_gated_matmul", "up", getUp(), getUpBias(),
                         Width)) ||
      failed(checkEqual(*this, "dnn_gated_matmul_c3", "up output features",
                        elementsOf(getGate()), elementsOf(getUp()))))
    return failure();
  if (failed(checkWidths(*this, "dnn_gated_matmul_c4", elementsOf(getUp()),
                         {{"the destination", getOuts()}})))
    return failure();
  if (failed(
          checkFormat(*this, "dnn_gated_matmul_c5", "up", getGate(), getUp())))
    return failure();
  return checkGrouped(*this, "dnn_gated_matmul_c6", getInput(), getUp());
}
