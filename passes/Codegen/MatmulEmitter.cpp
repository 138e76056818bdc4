//===- MatmulEmitter.cpp - Rows times packed weights ---------------------===//

#include "passes/Codegen/MatmulEmitter.h"

#include "passes/Codegen/Unpack.h"

using namespace mlir;
using namespace tenon;

MatmulEmitter::MatmulEmitter(KernelBuilder &B, Value Input, int64_t InFeatures,
                             ValueRange Weights)
    : B(B), Input(Input), InFeatures(InFeatures) {
  for (Value Weight : Weights)
    Views.push_back(B.weightView(Weight));
  auto Packed = cast<dnn::PackedType>(Weights.front().getType());
  OutFeatures = Packed.getOutFeatures();
  Format = Packed.getFormat();
  Interleave = infoOf(Format).Interleave;
  // Otherwise weights are widened to f32, as the input is.
  UsesDot = Format == StorageFormat::BF16 &&
            dnn::formatOf(Input) == StorageFormat::BF16 &&
            B.Target.hasDot(DotProduct::BF16);
}

int64_t MatmulEmitter::panels() const { return panelsOf(OutFeatures); }

/// Registers for sums: a quarter is left for operands.
int64_t MatmulEmitter::sumRegisters() const {
  return B.Target.getRegisters() * 3 / 4;
}

/// Registers that a vector of 16 lanes takes.
int64_t MatmulEmitter::perVector() const { return Lanes / B.Target.getLanes(); }

/// Largest block of `Rows` rows of `Matrices` matmuls whose sums leave
/// registers for the operands.
MatmulEmitter::Block MatmulEmitter::blockFor(int64_t Rows,
                                             int64_t Matrices) const {
  for (int64_t Columns = PanelWidth; Columns > Lanes; Columns /= 2)
    if (Rows * Matrices * (Columns / Lanes) * perVector() <= sumRegisters())
      return {Rows, Columns};
  return {Rows, Lanes};
}

/// Most rows of a block: as many as fit with the narrowest columns, but not
/// more than whole panels have room for where registers are many.
int64_t MatmulEmitter::mostRows() const {
  auto Matrices = static_cast<int64_t>(Views.size());
  int64_t Fit = sumRegisters() / (Matrices * perVector());
  constexpr int64_t MostOfWholePanels = 4;
  return perVector() == 1 ? std::min(Fit, MostOfWholePanels) : Fit;
}

void MatmulEmitter::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                         llvm::function_ref<InputRow(Value)> RowOf,
                         Epilogue Finish) {
  int64_t MostRows = mostRows();
  auto Rows = [&](Value Row, int64_t Count) {
    SmallVector<InputRow> Inputs;
    for (int64_t I = 0; I < Count; ++I)
      Inputs.push_back(RowOf(B.add(Row, I)));
    emitRows(Panels, Row, Inputs, Finish);
  };
  Value Count = B.sub(Last, First);
  Value Full = B.add(First, B.mul(B.div(Count, MostRows), MostRows));
  B.loop(First, Full, MostRows, [&](Value Row) { Rows(Row, MostRows); });
  B.caseOf(B.sub(Last, Full), MostRows - 1,
           [&](int64_t Rest) { Rows(Full, Rest); });
}

/// All columns of `Panels` for the rows from `Row` on.
void MatmulEmitter::emitRows(ArrayRef<Panel> Panels, Value Row,
                             ArrayRef<InputRow> Inputs, Epilogue Finish) {
  auto Matrices = static_cast<int64_t>(Views.size());
  auto PanelCount = static_cast<int64_t>(Panels.size());
  auto Count = static_cast<int64_t>(Inputs.size());
  Block Wide = blockFor(Count, Matrices * PanelCount);
  if (Wide.Columns == PanelWidth)
    return emitBlock(Panels, Row, Inputs, Wide, Finish);
  for (const Panel &P : Panels)
    emitBlock(P, Row, Inputs, blockFor(Count, Matrices), Finish);
}

void MatmulEmitter::emitBlock(ArrayRef<Panel> Panels, Value Row,
                              ArrayRef<InputRow> Inputs, Block Size,
                              Epilogue Finish) {
  SmallVector<Stream> Streams;
  for (const Panel &P : Panels)
    for (Value View : Views)
      Streams.push_back({View, P.Number});
  B.loop(B.index(0), B.index(PanelWidth), Size.Columns, [&](Value Column) {
    Sums Result = multiply(Streams, Inputs, Column, Size);
    size_t PerPanel = Result.size() / Panels.size();
    for (auto [I, P] : llvm::enumerate(Panels))
      finishBlock(P, Row, Column, Size,
                  ArrayRef(Result).slice(I * PerPanel, PerPanel), Finish);
  });
}

/// Sums of a block, by stream, row and group of 16 columns.
MatmulEmitter::Sums MatmulEmitter::multiply(ArrayRef<Stream> Streams,
                                            ArrayRef<InputRow> Inputs,
                                            Value Column, Block Size) {
  int64_t Groups = Size.Columns / Lanes;
  Sums Result(Streams.size() * Size.Rows * Groups, B.vecConst(0));
  constexpr int64_t Unroll = 4;
  // A step takes the input features that lie side by side.
  int64_t Steps = InFeatures / Interleave;
  int64_t Full = Steps / Unroll * Unroll;
  if (Full > 0)
    Result = B.loop(B.index(0), B.index(Full), Unroll, Result,
                    [&](Value Step, ValueRange Carried) {
                      Sums Next(Carried);
                      for (int64_t I = 0; I < Unroll; ++I)
                        Next = step(Streams, Inputs, Column, Size, Next,
                                    B.add(Step, I), Interleave);
                      return Next;
                    });
  for (int64_t I = Full; I < Steps; ++I)
    Result =
        step(Streams, Inputs, Column, Size, Result, B.index(I), Interleave);
  if (int64_t Rest = InFeatures % Interleave)
    Result = step(Streams, Inputs, Column, Size, Result, B.index(Steps), Rest);
  return Result;
}

/// One step, of which the input has the first `Valid` features.
MatmulEmitter::Sums MatmulEmitter::step(ArrayRef<Stream> Streams,
                                        ArrayRef<InputRow> Inputs, Value Column,
                                        Block Size, Sums Carried, Value Step,
                                        int64_t Valid) {
  int64_t Groups = Size.Columns / Lanes;
  SmallVector<Operands> Loaded;
  for (const InputRow &Row : Inputs)
    Loaded.push_back(UsesDot ? Operands{loadForDot(Row, Step, Valid)}
                             : loadWidened(Row, Step, Valid));
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

/// Each of the input's features in every lane, as f32.
MatmulEmitter::Operands MatmulEmitter::loadWidened(const InputRow &Row,
                                                   Value Step, int64_t Valid) {
  Value First = B.add(Row.Column, B.mul(Step, Interleave));
  Operands Features;
  for (int64_t I = 0; I < Valid; ++I)
    Features.push_back(
        B.splat(B.loadScalar(Input, {Row.Row, B.add(First, I)})));
  return Features;
}

/// The input's pair of bf16 features in every lane.
Value MatmulEmitter::loadForDot(const InputRow &Row, Value Step,
                                int64_t Valid) {
  Value First = B.add(Row.Column, B.mul(Step, Interleave));
  auto PairType = B.vecType(B.getBF16Type(), Interleave);
  Value Pair;
  if (Valid == Interleave) {
    Pair =
        vector::LoadOp::create(B, PairType, Input, ValueRange{Row.Row, First});
  } else {
    // What lies behind the row is not the row's.
    Value Element =
        memref::LoadOp::create(B, Input, ValueRange{Row.Row, First});
    Value Zero = arith::ConstantOp::create(B, B.getZeroAttr(PairType));
    Pair = vector::InsertOp::create(B, Element, Zero, 0);
  }
  // A pair is one 32-bit lane; broadcasting it repeats the pair.
  Value Word = vector::ExtractOp::create(
      B, vector::BitCastOp::create(B, B.vecType(B.getI32Type(), 1), Pair), 0);
  return vector::BitCastOp::create(
      B, B.vecType(B.getBF16Type(), Interleave * Lanes), B.splat(Word));
}

/// 16 columns of one step: as stored for a dot product, otherwise a vector for
/// each input feature.
MatmulEmitter::Operands MatmulEmitter::loadWeight(Value View, Value Panel,
                                                  Value Step, Value Column) {
  Type Element = cast<MemRefType>(View.getType()).getElementType();
  Value Packed = vector::LoadOp::create(
      B, B.vecType(Element, Interleave * Lanes), View,
      ValueRange{Panel, Step, B.mul(Column, Interleave)});
  return UsesDot ? Operands{Packed} : Operands(unpack(B, Format, Packed));
}

Value MatmulEmitter::accumulate(Value Sum, ArrayRef<Value> Inputs,
                                ArrayRef<Value> Weight) {
  if (UsesDot)
    return x86vector::DotBF16Op::create(B, B.vecType(), Sum, Inputs[0],
                                        Weight[0]);
  for (auto [In, W] : llvm::zip(Inputs, Weight))
    Sum = B.fma(In, W, Sum);
  return Sum;
}

void MatmulEmitter::finishBlock(const Panel &P, Value Row, Value Column,
                                Block Size, ArrayRef<Value> Result,
                                Epilogue Finish) {
  int64_t Groups = Size.Columns / Lanes;
  for (int64_t G = 0; G < Groups; ++G) {
    Value At = B.add(P.Feature, B.add(Column, G * Lanes));
    Value Mask;
    if (OutFeatures % PanelWidth != 0)
      Mask = B.maskOf(B.sub(B.index(OutFeatures), At));
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
