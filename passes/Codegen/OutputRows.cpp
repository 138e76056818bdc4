//===- OutputRows.cpp - Rows that a kernel writes -------------------------===//

#include "passes/Codegen/OutputRows.h"

using namespace mlir;
using namespace tenon;

OutputRows::OutputRows(KernelBuilder &B, Value Buffer) : B(B), Buffer(Buffer) {
  if (dnn::groupedTypeOf(Buffer))
    Grouped.emplace(B, Buffer);
}

void OutputRows::columns(
    Value Row, Value First, int64_t Width,
    llvm::function_ref<Value(Value Column, int64_t Valid)> Make) {
  if (!Grouped) {
    B.columns(Width, [&](Value Column, int64_t Valid) {
      B.store(Make(Column, Valid), Buffer, {Row, B.add(Column, First)}, Valid);
    });
    return;
  }
  auto Write = [&](Value Column, int64_t Valid) {
    SmallVector<Value> Halves, Masks;
    for (int64_t From = 0; From < GroupValues; From += Lanes) {
      int64_t Count = std::clamp<int64_t>(Valid - From, 0, Lanes);
      Halves.push_back(Count > 0 ? Make(B.add(Column, From), Count)
                                 : B.vecConst(0));
      Masks.push_back(Count > 0 && Count < Lanes ? B.maskOf(B.index(Count))
                                                 : Value());
    }
    store(Row, B.add(Column, First), Halves, Masks);
  };
  int64_t Full = Width / GroupValues * GroupValues;
  if (Full > 0)
    B.loop(B.index(0), B.index(Full), GroupValues,
           [&](Value Column) { Write(Column, GroupValues); });
  if (Full != Width)
    Write(B.index(Full), Width - Full);
}

void OutputRows::store(Value Row, Value Column, ArrayRef<Value> Vectors,
                       ArrayRef<Value> Masks) {
  if (!Grouped) {
    if (Masks[0])
      B.store(Vectors[0], Buffer, {Row, Column}, Masks[0]);
    else
      B.store(Vectors[0], Buffer, {Row, Column});
    return;
  }
  SmallVector<Value> Padded;
  for (auto [Vector, Mask] : llvm::zip(Vectors, Masks))
    Padded.push_back(
        Mask ? arith::SelectOp::create(B, Mask, Vector, B.vecConst(0))
             : Vector);
  Grouped->store(Row, B.div(Column, GroupValues), Padded[0], Padded[1]);
}
