//===- ComputeOps.cpp - Verifiers of ComputeOps.td ------------------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

/// The destination is as wide as the input.
template <typename OpTy>
static LogicalResult checkDestination(OpTy Op, const Twine &Constraint) {
  return checkWidths(Op, Constraint, widthOf(Op.getInput()),
                     {{"the destination", Op.getOuts()}});
}

LogicalResult EmbeddingOp::verify() {
  auto Offset = static_cast<int64_t>(getOffset());
  if (Offset < 0 || Offset >= elementsOf(getTable()))
    return emitOpError()
           << "dnn_embedding_c1: offset: expected a row of the table of "
           << elementsOf(getTable()) << ", got " << Offset;
  return checkWidths(*this, "dnn_embedding_c2",
                     getTable().getType().getInFeatures(),
                     {{"the destination", getOuts()}});
}

// Any width will do: the caller's rows are checked against the manifest.
LogicalResult InputFeaturesOp::verify() { return success(); }

LogicalResult ClassTokenOp::verify() {
  if (failed(checkEqual(*this, "dnn_class_token_c1", "elements of the token",
                        widthOf(getInput()), elementsOf(getToken()))))
    return failure();
  return checkDestination(*this, "dnn_class_token_c2");
}

LogicalResult MergeFeaturesOp::verify() {
  if (failed(checkToken(*this, "dnn_merge_features_c1", getToken())))
    return failure();
  return checkDestination(*this, "dnn_merge_features_c2");
}

LogicalResult RopeOp::verify() {
  if (failed(checkRotation(*this, "dnn_rope", widthOf(getInput()), getHeads(),
                           getOffset(), getRope())) ||
      failed(checkRopeTable(*this, "dnn_rope_c4", getRope(), getTable())))
    return failure();
  return checkDestination(*this, "dnn_rope_c5");
}

LogicalResult LayerNormOp::verify() {
  if (failed(checkNorm(*this, "dnn_layer_norm", widthOf(getInput()),
                       getGroups(), elementsOf(getWeight()),
                       elementsIfAny(getBias()), getEps())))
    return failure();
  return checkDestination(*this, "dnn_layer_norm_c5");
}

LogicalResult RmsNormOp::verify() {
  if (failed(checkNorm(*this, "dnn_rms_norm", widthOf(getInput()), getGroups(),
                       elementsOf(getWeight()), /*Bias=*/std::nullopt,
                       getEps())) ||
      failed(checkFinite(*this, "dnn_rms_norm_c5", "offset", getOffset())))
    return failure();
  return checkDestination(*this, "dnn_rms_norm_c4");
}

LogicalResult AddNormOp::verify() {
  int64_t Width = widthOf(getLhs());
  if (failed(checkAddNorm(*this, "dnn_add_norm", Width, getKind(),
                          elementsOf(getWeight()), elementsIfAny(getBias()),
                          getEps())) ||
      failed(checkNormOffset(*this, "dnn_add_norm_c6", getKind(), getOffset())))
    return failure();
  return checkWidths(*this, "dnn_add_norm_c5", Width,
                     {{"rhs", getRhs()},
                      {"the sum", getSumOut()},
                      {"the destination", getOut()}});
}

LogicalResult ResidualOp::verify() {
  return checkWidths(*this, "dnn_residual_c1", widthOf(getLhs()),
                     {{"rhs", getRhs()}, {"the destination", getOuts()}});
}

LogicalResult ActivationOp::verify() {
  return checkDestination(*this, "dnn_activation_c1");
}

LogicalResult ScaleOp::verify() {
  if (failed(checkFinite(*this, "dnn_scale_c1", "factor", getFactor())))
    return failure();
  return checkDestination(*this, "dnn_scale_c2");
}

LogicalResult SoftCapOp::verify() {
  if (failed(checkPositive(*this, "dnn_soft_cap_c1", "bound", getBound())))
    return failure();
  return checkDestination(*this, "dnn_soft_cap_c2");
}

LogicalResult ClampOp::verify() {
  if (failed(checkPositive(*this, "dnn_clamp_c1", "bound", getBound())))
    return failure();
  return checkDestination(*this, "dnn_clamp_c2");
}

LogicalResult SigmoidGateOp::verify() {
  if (failed(
          checkWidths(*this, "dnn_sigmoid_gate_c1", 1, {{"gate", getGate()}})))
    return failure();
  return checkDestination(*this, "dnn_sigmoid_gate_c2");
}

LogicalResult SliceOp::verify() {
  return checkSlice(*this, "dnn_slice", widthOf(getInput()), getFirst(),
                    widthOf(getOuts()));
}

LogicalResult CastOp::verify() {
  return checkDestination(*this, "dnn_cast_c1");
}

LogicalResult SelectOutputRowsOp::verify() {
  return checkDestination(*this, "dnn_select_output_rows_c1");
}

transformer::CountKind SelectOutputRowsOp::getOperandCount(unsigned Operand) {
  return Operand == getOutsMutable().getOperandNumber()
             ? transformer::CountKind::OutputRows
             : transformer::CountKind::Tokens;
}

LogicalResult PoolOp::verify() {
  return checkDestination(*this, "dnn_pool_c1");
}

transformer::CountKind PoolOp::getOperandCount(unsigned Operand) {
  return Operand == getOutsMutable().getOperandNumber()
             ? transformer::CountKind::Sequences
             : transformer::CountKind::Tokens;
}
