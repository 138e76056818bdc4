//===- ConvertMatmuls.cpp - Matmuls and mixtures of experts ---------------===//

#include "passes/Placement/DnnConverter.h"

#include "passes/Support/Functions.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

StorageFormat DnnConverter::formatOfWeight(Value Weight) {
  if (auto Packed = dyn_cast<dnn::PackedType>(Weight.getType()))
    return Packed.getFormat();
  return storageFormatOf(Weight.getType());
}

Type DnnConverter::inputType(Value Weight, bool IsExact) {
  return Module.Target.getInputType(formatOfWeight(Weight), Module.Compute,
                                    IsExact, isDecodeSized(Function));
}

Value DnnConverter::castFor(Value Old, Value Weight) {
  Value Rows = mapped(Old);
  Type InputType = inputType(Weight, Module.IsExact);
  if (getElementTypeOrSelf(Rows) == InputType)
    return Rows;
  return castInto(Rows, emptyLike(Old, InputType));
}

Value DnnConverter::castInto(Value Rows, Value Out) {
  return dnn::CastOp::create(Builder, Rows.getLoc(), Out.getType(), Rows, Out)
      .getResults();
}

Value DnnConverter::matmul(Location Loc, Value Old, Value OldInput,
                           ValueRange Weights, ValueRange Biases,
                           Activation Act, Value Multiplier, Value Residual,
                           Type Element) {
  Value Weight = packed(Weights);
  Value Bias = Biases.empty() ? Value() : packed(Biases);
  if (!Weight)
    return {};
  Value Input = castFor(OldInput, Weight);
  Value Out = emptyLike(Old, Element);
  return dnn::MatmulOp::create(Builder, Loc, Out.getType(), Input, Weight, Bias,
                               Multiplier, Residual, Out,
                               ActivationAttr::get(Builder.getContext(), Act),
                               /*primitive=*/IntegerAttr())
      .getResults();
}

LogicalResult DnnConverter::convert(transformer::MatmulOp Op) {
  Value Result = matmul(Op.getLoc(), Op.getResult(), Op.getInput(),
                        Op.getWeights(), Op.getBiases(), Op.getActivation(),
                        mapped(Op.getMultiplier()), mapped(Op.getResidual()));
  map(Op, Result);
  return success(static_cast<bool>(Result));
}

/// Two library matmuls, the second of which multiplies with the first, or one
/// kernel.
LogicalResult DnnConverter::convert(GatedMatmulOp Op) {
  // Of both weights; the first matmul writes what they read.
  StorageFormat Format = formatOfWeight(Op.getUp());
  if (!isDecodeSized(Op) &&
      Module.Target.libraryServes(Format, Format, Format) &&
      Module.Target.libraryServes(Format, Format, StorageFormat::F32)) {
    auto Biases = [](Value Bias) {
      return Bias ? SmallVector<Value>{Bias} : SmallVector<Value>();
    };
    Value Up =
        matmul(Op.getLoc(), Op.getResult(), Op.getInput(), Value(Op.getUp()),
               Biases(Op.getUpBias()), Activation::None, {}, {},
               inputType(Op.getUp(), Module.IsExact));
    map(Op,
        matmul(Op.getLoc(), Op.getResult(), Op.getInput(), Value(Op.getGate()),
               Biases(Op.getGateBias()), Op.getActivation(), Up, {}));
    return success();
  }
  Value Gate = packed(Op.getGate()), Up = packed(Op.getUp());
  Value Out = emptyLike(Op.getResult());
  map(Op, dnn::GatedMatmulOp::create(
              Builder, Op.getLoc(), Out.getType(), Op.getActivationAttr(),
              castFor(Op.getInput(), Up), Gate, Up, packed(Op.getGateBias()),
              packed(Op.getUpBias()), Out)
              .getResults());
  return success();
}

/// Router, grouping, the two matmuls of all experts, and the sum.
LogicalResult DnnConverter::convert(MoeOp Op) {
  Location Loc = Op.getLoc();
  CountKind Count = Module.Rows.of(Op.getInput());
  int64_t Top = Op.getRouter().getTop();
  Type I32 = Builder.getI32Type(), F32 = Builder.getF32Type();
  int64_t HiddenWidth = Top * Op.getInner();
  Value Choices = emptyRows(Loc, Count, Top, I32);
  Value Weights = emptyRows(Loc, Count, Top, F32);
  auto Route = dnn::MoeRouteOp::create(
      Builder, Loc, TypeRange{Choices.getType(), Weights.getType()},
      mapped(Op.getLogits()), packed(Op.getCorrection()), Choices, Weights,
      Op.getRouter());
  Value Order = emptyRows(Loc, Count, Top, I32);
  Value Offsets = tensor::EmptyOp::create(
      Builder, Loc, ArrayRef<int64_t>{1, Op.getExperts() + 1}, I32);
  auto Group = dnn::MoeGroupOp::create(
      Builder, Loc, TypeRange{Order.getType(), Offsets.getType()},
      Route.getResults()[0], Order, Offsets);
  Value Gate = packed(Op.getGate()), Down = packed(Op.getDown());
  // Each choice of a token would have to begin with a group.
  bool IsExact = Module.IsExact || !dnn::partsBeginWithGroups(HiddenWidth, Top);
  Value Hidden =
      emptyRows(Loc, Count, HiddenWidth, inputType(Op.getDown(), IsExact));
  Hidden = dnn::MoeGateUpOp::create(
               Builder, Loc, Hidden.getType(), Op.getActivationAttr(),
               castFor(Op.getInput(), Gate), Group.getResults()[0],
               Group.getResults()[1], Gate, packed(Op.getUp()),
               packed(Op.getGateBias()), packed(Op.getUpBias()), Hidden,
               Op.getLimitAttr(), Op.getUpOffsetAttr())
               .getResults();
  Value Out = emptyLike(Op.getResult());
  int64_t Width = cast<RankedTensorType>(Out.getType()).getDimSize(1);
  Value Parts = emptyRows(Loc, Count, Top * Width, F32);
  Parts = dnn::MoeDownOp::create(Builder, Loc, Parts.getType(), Hidden,
                                 Group.getResults()[0], Group.getResults()[1],
                                 Down, packed(Op.getDownBias()), Parts)
              .getResults();
  map(Op, dnn::MoeCombineOp::create(Builder, Loc, Out.getType(), Parts,
                                    Route.getResults()[1], Out)
              .getResults());
  return success();
}
