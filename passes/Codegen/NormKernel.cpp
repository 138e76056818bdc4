//===- NormKernel.cpp - LayerNorm and RMSNorm -----------------------------===//

#include "passes/Codegen/KernelBuilder.h"

using namespace mlir;
using namespace tenon;

/// Each row, or each of its groups, is read three times: for the mean, for the
/// spread around it, and to be written. It stays in the nearest cache.
void tenon::emitNorm(KernelBuilder &B, dnn::NormOp Op) {
  bool IsLayer = Op.getKind() == transformer::NormKind::Layer;
  int64_t Width = cast<MemRefType>(Op.getInput().getType()).getDimSize(1);
  auto Groups = static_cast<int64_t>(Op.getGroups());
  int64_t Size = Width / Groups;
  auto Eps = static_cast<float>(Op.getEps().convertToDouble());
  Value Weight = B.weightView(Op.getWeight());
  Value Bias = Op.getBias() ? B.weightView(Op.getBias()) : Value();
  auto Offset = static_cast<float>(Op.getOffset().convertToDouble());
  // Every group has weights of its own, or all share them.
  bool IsShared = Op.getWeight().getType().getRows() == Size;
  Value Out = Op.getOuts()[0];

  B.share(B.mul(B.dim0(Op.getInput()), Groups), [&](Value Item) {
    Value Row = B.div(Item, Groups);
    Value Base = B.mul(B.rem(Item, Groups), Size);
    Value Source = Op.getInput();
    if (Value Residual = Op.getResidual()) {
      // The sum is a result of its own; the norm reads it from there.
      Value Sum = Op.getOuts()[1];
      B.columns(Size, [&](Value Column, int64_t Valid) {
        Value At = B.add(Base, Column);
        B.store(B.addf(B.load(Source, {Row, At}, Valid),
                       B.load(Residual, {Row, At}, Valid)),
                Sum, {Row, At}, Valid);
      });
      Source = Sum;
    }
    auto MeanOf = [&](llvm::function_ref<Value(Value, Value)> Accumulate,
                      Value Center) {
      Value Total = B.columns(
          Size, B.vecConst(0),
          [&](Value Column, int64_t Valid, ValueRange Carried) {
            Value X = B.load(Source, {Row, B.add(Base, Column)}, Valid);
            if (Center) {
              X = B.subf(X, Center);
              // Lanes beyond the row hold zeros, not the mean.
              if (Valid != Lanes)
                X = arith::SelectOp::create(B, B.maskOf(B.index(Valid)), X,
                                            B.vecConst(0));
            }
            return SmallVector<Value>{Accumulate(X, Carried[0])};
          })[0];
      return B.divf(B.sum(Total), B.f32(static_cast<float>(Size)));
    };
    Value Mean;
    if (IsLayer)
      Mean = B.splat(MeanOf(
          [&](Value X, Value Carried) { return B.addf(Carried, X); }, {}));
    Value Square = MeanOf(
        [&](Value X, Value Carried) { return B.fma(X, X, Carried); }, Mean);
    Value Root = math::SqrtOp::create(B, B.addf(Square, B.f32(Eps)));
    Value Scale = B.splat(B.divf(B.f32(1), Root));
    B.columns(Size, [&](Value Column, int64_t Valid) {
      Value At = B.add(Base, Column);
      Value X = B.load(Source, {Row, At}, Valid);
      if (Mean)
        X = B.subf(X, Mean);
      // Vectors have room behind their last element, not behind each group.
      auto Parameter = [&](Value Vector) {
        return IsShared ? B.load(Vector, {Column})
                        : B.load(Vector, {At}, Valid);
      };
      Value W = Parameter(Weight);
      if (Offset != 0)
        W = B.addf(W, B.vecConst(Offset));
      Value Result = B.mulf(B.mulf(X, Scale), W);
      if (Bias)
        Result = B.addf(Result, Parameter(Bias));
      B.store(Result, Out, {Row, At}, Valid);
    });
  });
}
