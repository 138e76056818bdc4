//===- ProductEmitter.cpp - Rows times packed weights ---------------------===//

#include "passes/Codegen/ProductEmitter.h"

using namespace mlir;
using namespace tenon;

ProductEmitter::ProductEmitter(KernelBuilder &B, Value Input, int64_t Depth,
                               ValueRange Weights)
    : B(B), Input(Input), Depth(Depth) {
  for (Value Weight : Weights)
    Views.push_back(B.weightView(Weight));
  auto Packed = cast<dnn::PackedType>(Weights.front().getType());
  Features = Packed.getRows();
  WeightsAreBF16 = Packed.getElementType().isBF16();
  InputIsBF16 = cast<MemRefType>(Input.getType()).getElementType().isBF16();
}

int64_t ProductEmitter::panels() const {
  return llvm::divideCeil(Features, dnn::PackedType::PanelWidth);
}

/// Largest block of `Rows` rows of `Matrices` products whose sums leave
/// registers for the operands.
ProductEmitter::Block ProductEmitter::blockFor(int64_t Rows,
                                               int64_t Matrices) const {
  const CpuLevelInfo &Level = B.Level;
  // A vector of 16 lanes is one 512-bit register or two of 256 bits.
  int64_t Registers = Level.HasAVX512 ? 24 : 12;
  int64_t PerVector = Level.HasAVX512 ? 1 : 2;
  for (int64_t Columns = dnn::PackedType::PanelWidth; Columns > Lanes;
       Columns /= 2)
    if (Rows * Matrices * (Columns / Lanes) * PerVector <= Registers)
      return {Rows, Columns};
  return {Rows, Lanes};
}

/// Most rows of a block: as many as fit with the narrowest columns.
int64_t ProductEmitter::mostRows() const {
  if (B.Level.HasAVX512)
    return 4;
  return Views.size() == 1 ? 6 : 3;
}

void ProductEmitter::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                          llvm::function_ref<InputRow(Value)> RowOf,
                          Epilogue Finish) {
  int64_t Most = mostRows();
  auto Rows = [&](Value Row, int64_t Count) {
    SmallVector<InputRow> Inputs;
    for (int64_t I = 0; I < Count; ++I)
      Inputs.push_back(RowOf(B.add(Row, I)));
    emitRows(Panels, Row, Inputs, Finish);
  };
  Value Count = B.sub(Last, First);
  Value Full = B.add(First, B.mul(B.div(Count, Most), Most));
  B.loop(First, Full, Most, [&](Value Row) { Rows(Row, Most); });
  B.caseOf(B.sub(Last, Full), Most - 1,
           [&](int64_t Rest) { Rows(Full, Rest); });
}

/// All columns of `Panels` for the rows from `Row` on.
void ProductEmitter::emitRows(ArrayRef<Panel> Panels, Value Row,
                              ArrayRef<InputRow> Inputs, Epilogue Finish) {
  auto Matrices = static_cast<int64_t>(Views.size());
  auto Together = static_cast<int64_t>(Panels.size());
  auto Count = static_cast<int64_t>(Inputs.size());
  Block Wide = blockFor(Count, Matrices * Together);
  if (Wide.Columns == dnn::PackedType::PanelWidth)
    return emitBlock(Panels, Row, Inputs, Wide, Finish);
  for (const Panel &P : Panels)
    emitBlock(P, Row, Inputs, blockFor(Count, Matrices), Finish);
}

void ProductEmitter::emitBlock(ArrayRef<Panel> Panels, Value Row,
                               ArrayRef<InputRow> Inputs, Block Size,
                               Epilogue Finish) {
  SmallVector<Stream> Streams;
  for (const Panel &P : Panels)
    for (Value View : Views)
      Streams.push_back({View, P.Number});
  B.loop(B.index(0), B.index(dnn::PackedType::PanelWidth), Size.Columns,
         [&](Value Column) {
           Sums Result = multiply(Streams, Inputs, Column, Size);
           size_t PerPanel = Result.size() / Panels.size();
           for (auto [I, P] : llvm::enumerate(Panels))
             finishBlock(P, Row, Column, Size,
                         ArrayRef(Result).slice(I * PerPanel, PerPanel),
                         Finish);
         });
}

/// Sums of a block, by stream, row and group of 16 columns.
ProductEmitter::Sums ProductEmitter::multiply(ArrayRef<Stream> Streams,
                                              ArrayRef<InputRow> Inputs,
                                              Value Column, Block Size) {
  int64_t Groups = Size.Columns / Lanes;
  Sums Result(Streams.size() * Size.Rows * Groups, B.vecConst(0));
  constexpr int64_t Unroll = 4;
  // The K dimension counts pairs when elements are interleaved by two.
  int64_t Steps = WeightsAreBF16 ? Depth / 2 : Depth;
  int64_t Full = Steps / Unroll * Unroll;
  if (Full > 0)
    Result = B.loop(B.index(0), B.index(Full), Unroll, Result,
                    [&](Value Step, ValueRange Carried) {
                      Sums Next(Carried);
                      for (int64_t I = 0; I < Unroll; ++I)
                        Next = step(Streams, Inputs, Column, Size, Next,
                                    B.add(Step, I), /*OddEnd=*/false);
                      return Next;
                    });
  for (int64_t I = Full; I < Steps; ++I)
    Result = step(Streams, Inputs, Column, Size, Result, B.index(I), false);
  if (WeightsAreBF16 && Depth % 2 != 0)
    Result = step(Streams, Inputs, Column, Size, Result, B.index(Steps), true);
  return Result;
}

/// One K step (f32) or pair of them (bf16); `OddEnd` is a pair whose second
/// element lies beyond the row.
ProductEmitter::Sums ProductEmitter::step(ArrayRef<Stream> Streams,
                                          ArrayRef<InputRow> Inputs,
                                          Value Column, Block Size,
                                          Sums Carried, Value Step,
                                          bool OddEnd) {
  int64_t Groups = Size.Columns / Lanes;
  SmallVector<Operands> Loaded;
  for (const InputRow &Row : Inputs)
    Loaded.push_back(loadInput(Row, Step, OddEnd));
  for (auto [I, S] : llvm::enumerate(Streams))
    for (int64_t G = 0; G < Groups; ++G) {
      Operands Weight =
          loadWeight(S.View, S.Panel, Step, B.add(Column, G * Lanes));
      for (int64_t R = 0; R < Size.Rows; ++R) {
        Value &Sum = Carried[(I * Size.Rows + R) * Groups + G];
        Sum = accumulate(Sum, Loaded[R], Weight);
      }
    }
  return Carried;
}

/// The input's element or pair, in every lane.
ProductEmitter::Operands ProductEmitter::loadInput(const InputRow &Row,
                                                   Value Step, bool OddEnd) {
  auto At = [&](Value K) {
    return SmallVector<Value, 2>{Row.Row, B.add(Row.Column, K)};
  };
  if (!WeightsAreBF16)
    return {B.splat(B.loadScalar(Input, At(Step)))};
  Value K = B.mul(Step, 2);
  if (!InputIsBF16) {
    Operands Pair = {B.splat(B.loadScalar(Input, At(K)))};
    if (!OddEnd)
      Pair.push_back(B.splat(B.loadScalar(Input, At(B.add(K, 1)))));
    return Pair;
  }
  Type BF16 = B.getBF16Type();
  Value Both;
  if (OddEnd) {
    Value Element = memref::LoadOp::create(B, Input, At(K));
    Value Zero =
        arith::ConstantOp::create(B, B.getZeroAttr(B.vecType(BF16, 2)));
    Both = vector::InsertOp::create(B, Element, Zero, 0);
  } else {
    Both = vector::LoadOp::create(B, B.vecType(BF16, 2), Input, At(K));
  }
  // A pair is one 32-bit lane; broadcasting it repeats the pair.
  Value Word = vector::ExtractOp::create(
      B, vector::BitCastOp::create(B, B.vecType(B.getI32Type(), 1), Both), 0);
  return {
      vector::BitCastOp::create(B, B.vecType(BF16, 2 * Lanes), B.splat(Word))};
}

/// 16 columns of one K step; of a pair, interleaved or as two vectors.
ProductEmitter::Operands ProductEmitter::loadWeight(Value View, Value Panel,
                                                    Value Step, Value Column) {
  if (!WeightsAreBF16)
    return {vector::LoadOp::create(B, B.vecType(), View,
                                   ValueRange{Panel, Step, Column})};
  Value Pairs =
      vector::LoadOp::create(B, B.vecType(B.getBF16Type(), 2 * Lanes), View,
                             ValueRange{Panel, Step, B.mul(Column, 2)});
  if (InputIsBF16)
    return {Pairs};
  // bf16 is the high half of f32: the even element moves up, the odd one
  // only loses its neighbour.
  auto Words = B.vecType(B.getI32Type());
  Value Bits = vector::BitCastOp::create(B, Words, Pairs);
  auto Splat = [&](int32_t Number) -> Value {
    return arith::ConstantOp::create(B, DenseElementsAttr::get(Words, Number));
  };
  Value Even = arith::ShLIOp::create(B, Bits, Splat(16));
  Value Odd =
      arith::AndIOp::create(B, Bits, Splat(static_cast<int32_t>(0xffff0000u)));
  return {arith::BitcastOp::create(B, B.vecType(), Even),
          arith::BitcastOp::create(B, B.vecType(), Odd)};
}

Value ProductEmitter::accumulate(Value Sum, ArrayRef<Value> Inputs,
                                 ArrayRef<Value> Weight) {
  if (WeightsAreBF16 && InputIsBF16)
    return x86vector::DotBF16Op::create(B, B.vecType(), Sum, Inputs[0],
                                        Weight[0]);
  for (auto [In, W] : llvm::zip(Inputs, Weight))
    Sum = B.fma(In, W, Sum);
  return Sum;
}

void ProductEmitter::finishBlock(const Panel &P, Value Row, Value Column,
                                 Block Size, ArrayRef<Value> Result,
                                 Epilogue Finish) {
  int64_t Groups = Size.Columns / Lanes;
  for (int64_t G = 0; G < Groups; ++G) {
    Value At = B.add(P.Feature, B.add(Column, G * Lanes));
    Value Mask;
    if (Features % dnn::PackedType::PanelWidth != 0)
      Mask = B.maskOf(B.sub(B.index(Features), At));
    for (int64_t R = 0; R < Size.Rows; ++R) {
      Sums PerMatrix;
      for (size_t Matrix = 0; Matrix < Views.size(); ++Matrix)
        PerMatrix.push_back(Result[(Matrix * Size.Rows + R) * Groups + G]);
      Finish(B.add(Row, R), At, Mask, PerMatrix);
    }
  }
}

Value tenon::loadMaybeMasked(KernelBuilder &B, Value Buffer, ValueRange At,
                             Value Mask) {
  return Mask ? B.load(Buffer, At, Mask) : B.load(Buffer, At);
}

void tenon::storeMaybeMasked(KernelBuilder &B, Value Vector, Value Buffer,
                             ValueRange At, Value Mask) {
  if (Mask)
    B.store(Vector, Buffer, At, Mask);
  else
    B.store(Vector, Buffer, At);
}
