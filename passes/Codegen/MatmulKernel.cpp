//===- MatmulKernel.cpp - Matmuls of rows -------------------------------===//

#include "passes/Codegen/MatmulEmitter.h"

using namespace mlir;
using namespace tenon;

using Finished = MatmulEmitter::Finished;

/// Multiplies all rows of `Input`, panels shared out among threads, and writes
/// what `Make` computes of the sums.
static void
emitAllRows(KernelBuilder &B, Value Input, ValueRange Weights, Value Output,
            llvm::function_ref<Value(Value Row, const Finished &Each)> Make) {
  OutputRows Out(B, Output);
  std::unique_ptr<MatmulEmitter> Matmul =
      MatmulEmitter::create(B, Input, widthOf(Input), Weights);
  Value Rows = B.dim0(Input), Zero = B.index(0);
  auto RowOf = [&](Value Row) { return MatmulEmitter::InputRow{Row, Zero}; };
  Matmul->prepare(Zero, Rows, RowOf);
  Matmul->emitShare(
      Zero, Rows, RowOf,
      {Out.vectors(), [&](Value Row, ArrayRef<Finished> Features) {
         storeFinished(B, Out, Row, Zero, Features,
                       [&](const Finished &Each) { return Make(Row, Each); });
       }});
}

/// Vectors are padded to whole panels: no mask.
static Value addBias(KernelBuilder &B, Value Sum, Value Bias, Value Feature) {
  return Bias ? B.addf(Sum, B.load(Bias, {Feature})) : Sum;
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MatmulOp Op) {
  Value Bias = Op.getBias() ? B.weightView(Op.getBias()) : Value();
  emitAllRows(
      B, Op.getInput(), Op.getWeight(), Op.getOuts(),
      [&](Value Row, const Finished &Each) {
        Value Result = addBias(B, Each.PerWeight[0], Bias, Each.Feature);
        Result = B.activate(Result, Op.getActivation());
        auto Load = [&](Value Rows) {
          return loadMaybeMasked(B, Rows, {Row, Each.Feature}, Each.Mask);
        };
        if (Value Multiplier = Op.getMultiplier())
          Result = B.mulf(Result, Load(Multiplier));
        if (Value Residual = Op.getResidual())
          Result = B.addf(Result, Load(Residual));
        return Result;
      });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::GatedMatmulOp Op) {
  Value GateBias = Op.getGateBias() ? B.weightView(Op.getGateBias()) : Value();
  Value UpBias = Op.getUpBias() ? B.weightView(Op.getUpBias()) : Value();
  emitAllRows(B, Op.getInput(), {Op.getGate(), Op.getUp()}, Op.getOuts(),
              [&](Value, const Finished &Each) {
                Value Gate = B.activate(
                    addBias(B, Each.PerWeight[0], GateBias, Each.Feature),
                    Op.getActivation());
                return B.mulf(
                    Gate, addBias(B, Each.PerWeight[1], UpBias, Each.Feature));
              });
}
