//===- EvaluateTransformer.cpp - Ops that only the model level has --------===//

#include "compiler/Evaluator/OpOverloads.h"

using namespace mlir;
using namespace tenon;

namespace tenon {

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static Status evaluateOp(tr::ParameterOp Op, Frame &F) {
  auto Type = cast<RankedTensorType>(Op.getType());
  auto Values = F.parameter(F.scope(Op.getScope()), Op.getKey(),
                            Type.getShape(), tr::storageFormatOf(Type));
  if (!Values)
    return Values.error();
  // Matrices of experts lie one below another.
  Tensor2D Stored(Type.getNumElements() / Type.getShape().back(),
                  Type.getShape().back());
  Stored.Data = std::move(*Values);
  roundToType(Type, Stored);
  F.bind(Op, std::move(Stored));
  return {};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static Status evaluateOp(tr::SinusoidOp Op, Frame &F) {
  return F.set(Op, evaluate::sinusoid(F.batch().Positions, resultWidth(Op),
                                      Op.getStyle()));
}

static Status evaluateOp(tr::LinearOp Op, Frame &F) {
  return F.set(Op, evaluate::linear(F.tensor(Op.getInput()),
                                    F.tensor(Op.getWeight()),
                                    F.optional(Op.getBias())));
}

static Status evaluateOp(tr::MatmulOp Op, Frame &F) {
  return F.set(
      Op, evaluate::matmul(
              F.tensor(Op.getInput()), spanOf(F.tensors(Op.getWeights())),
              spanOf(F.tensors(Op.getBiases())), Op.getActivation(),
              F.optional(Op.getMultiplier()), F.optional(Op.getResidual())));
}

static Status evaluateOp(tr::FeedForwardOp Op, Frame &F) {
  return F.set(Op, evaluate::feedForward(
                       Op.getActivation(), F.tensor(Op.getInput()),
                       F.tensor(Op.getUp()), F.optional(Op.getUpBias()),
                       F.tensor(Op.getDown()), F.optional(Op.getDownBias())));
}

static Status evaluateOp(tr::GatedFeedForwardOp Op, Frame &F) {
  return F.set(Op, evaluate::gatedFeedForward(
                       Op.getActivation(), F.tensor(Op.getInput()),
                       F.tensor(Op.getGate()), F.optional(Op.getGateBias()),
                       F.tensor(Op.getUp()), F.optional(Op.getUpBias()),
                       F.tensor(Op.getDown()), F.optional(Op.getDownBias())));
}

static Status evaluateOp(tr::MoeOp Op, Frame &F) {
  return F.set(Op, evaluate::moe(Op.getActivation(), F.tensor(Op.getInput()),
                                 F.tensor(Op.getLogits()),
                                 F.optional(Op.getCorrection()),
                                 expertsOf(Op, F), Op.getRouter()));
}

static Status evaluateOp(tr::LmHeadOp Op, Frame &F) {
  return F.set(Op, evaluate::lmHead(F.tensor(Op.getInput()), F.batch(),
                                    F.tensor(Op.getWeight()),
                                    F.optional(Op.getBias())));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// With biases by position.
template <typename OpTy>
static evaluate::AttentionShape shapeOf(OpTy Op, const Frame &F) {
  evaluate::AttentionShape Shape = attentionShapeOf(Op, F);
  Shape.Alibi = Op.getAlibiAttr();
  Shape.Buckets = Op.getBucketsAttr();
  Shape.Bias = F.optional(Op.getBias());
  return Shape;
}

static Status evaluateOp(tr::AttentionOp Op, Frame &F) {
  const Tensor2D &Query = F.tensor(Op.getQuery());
  if (Op.getKeys())
    return F.set(Op,
                 evaluate::attention(Query, F.batch(), F.tensor(Op.getKeys()),
                                     F.tensor(Op.getValues()), shapeOf(Op, F)));
  auto From = F.cacheLayer(Op.getCache(), Op.getScope());
  if (!From)
    return From.error();
  return F.set(Op, evaluate::cachedAttention(Query, F.batch(), *From->Cache,
                                             From->Layer, shapeOf(Op, F)));
}

static Status evaluateOp(tr::OnlineAttentionOp Op, Frame &F) {
  return evaluateOnline(Op, shapeOf(Op, F), F);
}

} // namespace tenon

//===----------------------------------------------------------------------===//
// All operations of the dialect
//===----------------------------------------------------------------------===//

Status tenon::evaluateTransformer(Operation *Op, Frame &F) {
  return evaluateAs<
#define GET_OP_LIST
#include "dialects/Transformer/TransformerOps.cpp.inc"
      >(Op, [&](auto Typed) { return evaluateOp(Typed, F); });
}
