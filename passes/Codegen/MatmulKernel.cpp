//===- MatmulKernel.cpp - Matmuls of rows -------------------------------===//

#include "passes/Codegen/MatmulEmitter.h"

using namespace mlir;
using namespace tenon;

/// Multiplies all rows of `Input`, panels shared out among threads.
static void emitAllRows(KernelBuilder &B, Value Input, ValueRange Weights,
                        MatmulEmitter::Epilogue Finish) {
  std::unique_ptr<MatmulEmitter> Matmul =
      MatmulEmitter::create(B, Input, widthOf(Input), Weights);
  Value Rows = B.dim0(Input), Zero = B.index(0);
  auto RowOf = [&](Value Row) { return MatmulEmitter::InputRow{Row, Zero}; };
  Matmul->prepare(Zero, Rows, RowOf);
  Matmul->emitShare(Zero, Rows, RowOf, Finish);
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
