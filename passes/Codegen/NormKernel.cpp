//===- NormKernel.cpp - LayerNorm and RMSNorm -----------------------------===//

#include "passes/Codegen/OutputRows.h"

using namespace mlir;
using namespace tenon;

namespace {
/// What the norms have in common.
struct NormShape {
  bool IsLayer;
  Value Input;
  /// With a residual the norm is that of the sum, which is a result too.
  Value Residual, Sum;
  TypedValue<dnn::PackedType> Weight;
  Value Bias;
  Value Out;
  int64_t Groups;
  double Eps, Offset;
};
} // namespace

/// Each row, or each of its groups, is read three times: for the mean, for the
/// spread around it, and to be written. It stays in the nearest cache.
static void emitNorm(KernelBuilder &B, const NormShape &N) {
  bool IsLayer = N.IsLayer;
  int64_t Width = cast<MemRefType>(N.Input.getType()).getDimSize(1);
  int64_t Groups = N.Groups;
  int64_t Size = Width / Groups;
  auto Eps = static_cast<float>(N.Eps);
  Value Weight = B.weightView(N.Weight);
  Value Bias = N.Bias ? B.weightView(N.Bias) : Value();
  auto Offset = static_cast<float>(N.Offset);
  // Every group has weights of its own, or all share them.
  bool IsShared = N.Weight.getType().getOutFeatures() == Size;
  OutputRows Out(B, N.Out);

  B.share(B.mul(B.dim0(N.Input), Groups), [&](Value Item) {
    Value Row = B.div(Item, Groups);
    Value Base = B.mul(B.rem(Item, Groups), Size);
    Value Source = N.Input;
    if (N.Residual) {
      // The norm reads the sum from where it is stored.
      B.columns(Size, [&](Value Column, int64_t Valid) {
        Value At = B.add(Base, Column);
        B.store(B.addf(B.load(Source, {Row, At}, Valid),
                       B.load(N.Residual, {Row, At}, Valid)),
                N.Sum, {Row, At}, Valid);
      });
      Source = N.Sum;
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
    Out.columns(Row, Base, Size, [&](Value Column, int64_t Valid) {
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
      return Result;
    });
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::LayerNormOp Op) {
  emitNorm(B, {true,
               Op.getInput(),
               {},
               {},
               Op.getWeight(),
               Op.getBias(),
               Op.getOuts(),
               static_cast<int64_t>(Op.getGroups()),
               Op.getEps().convertToDouble(),
               0});
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::RmsNormOp Op) {
  emitNorm(B, {false,
               Op.getInput(),
               {},
               {},
               Op.getWeight(),
               {},
               Op.getOuts(),
               static_cast<int64_t>(Op.getGroups()),
               Op.getEps().convertToDouble(),
               Op.getOffset().convertToDouble()});
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::AddNormOp Op) {
  emitNorm(B, {Op.getKind() == transformer::NormKind::Layer, Op.getLhs(),
               Op.getRhs(), Op.getSumOut(), Op.getWeight(), Op.getBias(),
               Op.getOut(), 1, Op.getEps().convertToDouble(),
               Op.getOffset().convertToDouble()});
}
