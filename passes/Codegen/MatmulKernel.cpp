//===- MatmulKernel.cpp - Matmuls of rows -------------------------------===//

#include "passes/Codegen/MatmulEmitter.h"

using namespace mlir;
using namespace tenon;

/// Multiplies all rows of `Input`, panels shared out among threads.
static void emitAllRows(KernelBuilder &B, Value Input, ValueRange Weights,
                        MatmulEmitter::Epilogue Finish) {
  std::unique_ptr<MatmulEmitter> Matmul =
      MatmulEmitter::create(B, Input, widthOf(Input), Weights);
  int64_t Panels = Matmul->panels(), PerUnit = Matmul->panelsAtOnce();
  Value Rows = B.dim0(Input), Zero = B.index(0);
  auto PanelOf = [&](Value Number) {
    return MatmulEmitter::Panel{Number, B.mul(Number, PanelWidth)};
  };
  auto RowOf = [&](Value Row) { return MatmulEmitter::InputRow{Row, Zero}; };
  Matmul->prepare(Zero, Rows, RowOf);
  B.share(B.index(llvm::divideCeil(Panels, PerUnit)), [&](Value Unit) {
    Value First = B.mul(Unit, PerUnit);
    SmallVector<MatmulEmitter::Panel> Mine;
    // Where the last unit has fewer, its last panel is simply done again.
    for (int64_t I = 0; I < PerUnit; ++I)
      Mine.push_back(PanelOf(
          Panels % PerUnit == 0 ? B.add(First, I)
                                : B.min(B.add(First, I), B.index(Panels - 1))));
    Matmul->emit(Mine, Zero, Rows, RowOf, Finish);
  });
}

/// Vectors are padded to whole panels: no mask.
static Value addBias(KernelBuilder &B, Value Sum, Value Bias, Value Column) {
  return Bias ? B.addf(Sum, B.load(Bias, {Column})) : Sum;
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MatmulOp Op) {
  Value Bias = Op.getBias() ? B.weightView(Op.getBias()) : Value();
  emitAllRows(B, Op.getInput(), Op.getWeight(),
              [&](Value Row, Value Column, Value Mask, ArrayRef<Value> Sums) {
                Value Result = addBias(B, Sums[0], Bias, Column);
                Result = B.activate(Result, Op.getActivation());
                if (Value Multiplier = Op.getMultiplier())
                  Result = B.mulf(Result, loadMaybeMasked(B, Multiplier,
                                                          {Row, Column}, Mask));
                if (Value Residual = Op.getResidual())
                  Result = B.addf(Result, loadMaybeMasked(B, Residual,
                                                          {Row, Column}, Mask));
                storeMaybeMasked(B, Result, Op.getOuts(), {Row, Column}, Mask);
              });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::GatedMatmulOp Op) {
  Value GateBias = Op.getGateBias() ? B.weightView(Op.getGateBias()) : Value();
  Value UpBias = Op.getUpBias() ? B.weightView(Op.getUpBias()) : Value();
  emitAllRows(B, Op.getInput(), {Op.getGate(), Op.getUp()},
              [&](Value Row, Value Column, Value Mask, ArrayRef<Value> Sums) {
                Value Gate = B.activate(addBias(B, Sums[0], GateBias, Column),
                                        Op.getActivation());
                Value Result =
                    B.mulf(Gate, addBias(B, Sums[1], UpBias, Column));
                storeMaybeMasked(B, Result, Op.getOuts(), {Row, Column}, Mask);
              });
}
