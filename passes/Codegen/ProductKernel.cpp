//===- ProductKernel.cpp - Products that stream packed weights ------------===//
//
// One thread takes whole panels of 64 output features. A block of a few rows
// is multiplied with a group of columns of the panel, sums in registers, the
// panel read once per block of rows. The same emitter writes the kernels of
// all element types and CPU levels; only the inner step differs.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/KernelBuilder.h"

using namespace mlir;
using namespace tenon;

namespace {

/// How many rows and columns of sums are kept in registers.
struct Block {
  int64_t Rows;
  int64_t Columns;
};

/// Largest block of `Rows` rows of `Matrices` products whose sums leave
/// registers for the operands.
Block blockFor(const CpuLevelInfo &Level, int64_t Rows, int64_t Matrices) {
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
int64_t mostRows(const CpuLevelInfo &Level, int64_t Matrices) {
  if (Level.HasAVX512)
    return 4;
  return Matrices == 1 ? 6 : 3;
}

/// Multiplies blocks of rows of one input with panels of weights.
class ProductEmitter {
public:
  ProductEmitter(KernelBuilder &B, Value Input, ValueRange Weights)
      : B(B), Input(Input),
        Depth(cast<MemRefType>(Input.getType()).getDimSize(1)),
        Rows(B.dim0(Input)) {
    for (Value Weight : Weights)
      Views.push_back(B.weightView(Weight));
    auto Packed = cast<dnn::PackedType>(Weights.front().getType());
    Features = Packed.getRows();
    WeightsAreBF16 = Packed.getElementType().isBF16();
    InputIsBF16 = cast<MemRefType>(Input.getType()).getElementType().isBF16();
  }

  using Sums = SmallVector<Value>;
  /// Given row, column, mask (null when all columns exist) and a vector of
  /// sums per matrix.
  using Epilogue =
      llvm::function_ref<void(Value Row, Value Column, Value Mask, Sums)>;

  void emit(Epilogue Finish) {
    auto Matrices = static_cast<int64_t>(Views.size());
    int64_t Most = mostRows(B.Level, Matrices);
    int64_t Panels = llvm::divideCeil(Features, dnn::PackedType::PanelWidth);
    // Two streams of one weight hide more of the memory's latency than one, if
    // there are panels enough for all threads.
    int64_t PerUnit = Matrices == 1 && Panels >= 16 ? 2 : 1;
    B.share(B.index(llvm::divideCeil(Panels, PerUnit)), [&](Value Unit) {
      SmallVector<Value> Mine = {B.mul(Unit, PerUnit)};
      // The last panel of an odd number is simply done twice.
      if (PerUnit == 2)
        Mine.push_back(B.min(B.add(Mine[0], 1), B.index(Panels - 1)));
      Value Full = B.mul(B.div(Rows, Most), Most);
      B.loop(B.index(0), Full, Most,
             [&](Value Row) { emitRows(Mine, Row, Most, Finish); });
      B.caseOf(B.sub(Rows, Full), Most - 1,
               [&](int64_t Rest) { emitRows(Mine, Full, Rest, Finish); });
    });
  }

private:
  /// What is streamed together: a weight and which of its panels.
  struct Stream {
    Value View;
    Value Panel;
  };

  /// All columns of `Panels` for `Count` rows; panels side by side when the
  /// sums of all of them fit into registers.
  void emitRows(ArrayRef<Value> Panels, Value Row, int64_t Count,
                Epilogue Finish) {
    auto Matrices = static_cast<int64_t>(Views.size());
    auto Together = static_cast<int64_t>(Panels.size());
    Block Wide = blockFor(B.Level, Count, Matrices * Together);
    if (Wide.Columns == dnn::PackedType::PanelWidth)
      return emitBlock(Panels, Row, Wide, Finish);
    for (Value Panel : Panels)
      emitBlock(Panel, Row, blockFor(B.Level, Count, Matrices), Finish);
  }

  void emitBlock(ArrayRef<Value> Panels, Value Row, Block Size,
                 Epilogue Finish) {
    SmallVector<Stream> Streams;
    for (Value Panel : Panels)
      for (Value View : Views)
        Streams.push_back({View, Panel});
    B.loop(B.index(0), B.index(dnn::PackedType::PanelWidth), Size.Columns,
           [&](Value Column) {
             Sums Result = multiply(Streams, Row, Column, Size);
             size_t PerPanel = Result.size() / Panels.size();
             for (auto [I, Panel] : llvm::enumerate(Panels))
               finishBlock(Panel, Row, Column, Size,
                           ArrayRef(Result).slice(I * PerPanel, PerPanel),
                           Finish);
           });
  }

  /// Sums of a block, by stream, row and group of 16 columns.
  Sums multiply(ArrayRef<Stream> Streams, Value Row, Value Column, Block Size) {
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
                          Next = step(Streams, Row, Column, Size, Next,
                                      B.add(Step, I), /*OddEnd=*/false);
                        return Next;
                      });
    for (int64_t I = Full; I < Steps; ++I)
      Result = step(Streams, Row, Column, Size, Result, B.index(I), false);
    if (WeightsAreBF16 && Depth % 2 != 0)
      Result = step(Streams, Row, Column, Size, Result, B.index(Steps), true);
    return Result;
  }

  /// One K step (f32) or pair of them (bf16); `OddEnd` is a pair whose second
  /// element lies beyond the row.
  Sums step(ArrayRef<Stream> Streams, Value Row, Value Column, Block Size,
            Sums Carried, Value Step, bool OddEnd) {
    int64_t Groups = Size.Columns / Lanes;
    SmallVector<SmallVector<Value, 2>> Inputs;
    for (int64_t R = 0; R < Size.Rows; ++R)
      Inputs.push_back(loadInput(B.add(Row, R), Step, OddEnd));
    for (auto [I, S] : llvm::enumerate(Streams))
      for (int64_t G = 0; G < Groups; ++G) {
        SmallVector<Value, 2> Weight =
            loadWeight(S.View, S.Panel, Step, B.add(Column, G * Lanes));
        for (int64_t R = 0; R < Size.Rows; ++R) {
          Value &Sum = Carried[(I * Size.Rows + R) * Groups + G];
          Sum = accumulate(Sum, Inputs[R], Weight);
        }
      }
    return Carried;
  }

  /// The input's element or pair, in every lane.
  SmallVector<Value, 2> loadInput(Value Row, Value Step, bool OddEnd) {
    if (!WeightsAreBF16)
      return {B.splat(B.loadScalar(Input, {Row, Step}))};
    Value K = B.mul(Step, 2);
    if (!InputIsBF16) {
      SmallVector<Value, 2> Pair = {B.splat(B.loadScalar(Input, {Row, K}))};
      if (!OddEnd)
        Pair.push_back(B.splat(B.loadScalar(Input, {Row, B.add(K, 1)})));
      return Pair;
    }
    Type BF16 = B.getBF16Type();
    Value Both;
    if (OddEnd) {
      Value Element = memref::LoadOp::create(B, Input, ValueRange{Row, K});
      Value Zero =
          arith::ConstantOp::create(B, B.getZeroAttr(B.vecType(BF16, 2)));
      Both = vector::InsertOp::create(B, Element, Zero, 0);
    } else {
      Both = vector::LoadOp::create(B, B.vecType(BF16, 2), Input,
                                    ValueRange{Row, K});
    }
    // A pair is one 32-bit lane; broadcasting it repeats the pair.
    Value Word = vector::ExtractOp::create(
        B, vector::BitCastOp::create(B, B.vecType(B.getI32Type(), 1), Both), 0);
    return {vector::BitCastOp::create(B, B.vecType(BF16, 2 * Lanes),
                                      B.splat(Word))};
  }

  /// 16 columns of one K step; of a pair, interleaved or as two vectors.
  SmallVector<Value, 2> loadWeight(Value View, Value Panel, Value Step,
                                   Value Column) {
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
      return arith::ConstantOp::create(B,
                                       DenseElementsAttr::get(Words, Number));
    };
    Value Even = arith::ShLIOp::create(B, Bits, Splat(16));
    Value Odd = arith::AndIOp::create(B, Bits,
                                      Splat(static_cast<int32_t>(0xffff0000u)));
    return {arith::BitcastOp::create(B, B.vecType(), Even),
            arith::BitcastOp::create(B, B.vecType(), Odd)};
  }

  Value accumulate(Value Sum, ArrayRef<Value> Inputs, ArrayRef<Value> Weight) {
    if (WeightsAreBF16 && InputIsBF16)
      return x86vector::DotBF16Op::create(B, B.vecType(), Sum, Inputs[0],
                                          Weight[0]);
    for (auto [In, W] : llvm::zip(Inputs, Weight))
      Sum = B.fma(In, W, Sum);
    return Sum;
  }

  void finishBlock(Value Panel, Value Row, Value Column, Block Size,
                   ArrayRef<Value> Result, Epilogue Finish) {
    int64_t Groups = Size.Columns / Lanes;
    for (int64_t G = 0; G < Groups; ++G) {
      Value At = B.add(B.mul(Panel, dnn::PackedType::PanelWidth),
                       B.add(Column, G * Lanes));
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

  KernelBuilder &B;
  Value Input;
  int64_t Depth;
  Value Rows;
  SmallVector<Value> Views;
  int64_t Features = 0;
  bool WeightsAreBF16 = false;
  bool InputIsBF16 = false;
};

Value loadMaybeMasked(KernelBuilder &B, Value Buffer, Value Row, Value Column,
                      Value Mask) {
  return Mask ? B.load(Buffer, {Row, Column}, Mask)
              : B.load(Buffer, {Row, Column});
}

void storeMaybeMasked(KernelBuilder &B, Value Vector, Value Buffer, Value Row,
                      Value Column, Value Mask) {
  if (Mask)
    B.store(Vector, Buffer, {Row, Column}, Mask);
  else
    B.store(Vector, Buffer, {Row, Column});
}

/// Vectors are padded to whole panels: no mask.
Value addBias(KernelBuilder &B, Value Sum, Value Bias, Value Column) {
  return Bias ? B.addf(Sum, B.load(Bias, {Column})) : Sum;
}

} // namespace

void tenon::emitProduct(KernelBuilder &B, dnn::ProductOp Op) {
  Value Bias = Op.getBias() ? B.weightView(Op.getBias()) : Value();
  ProductEmitter(B, Op.getInput(), Op.getWeight())
      .emit([&](Value Row, Value Column, Value Mask, ArrayRef<Value> Sums) {
        Value Result = addBias(B, Sums[0], Bias, Column);
        Result = B.activate(Result, Op.getActivation());
        if (Value Multiplier = Op.getMultiplier())
          Result =
              B.mulf(Result, loadMaybeMasked(B, Multiplier, Row, Column, Mask));
        if (Value Residual = Op.getResidual())
          Result =
              B.addf(Result, loadMaybeMasked(B, Residual, Row, Column, Mask));
        storeMaybeMasked(B, Result, Op.getOuts(), Row, Column, Mask);
      });
}

void tenon::emitGatedProduct(KernelBuilder &B, dnn::GatedProductOp Op) {
  Value GateBias = Op.getGateBias() ? B.weightView(Op.getGateBias()) : Value();
  Value UpBias = Op.getUpBias() ? B.weightView(Op.getUpBias()) : Value();
  ProductEmitter(B, Op.getInput(), {Op.getGate(), Op.getUp()})
      .emit([&](Value Row, Value Column, Value Mask, ArrayRef<Value> Sums) {
        Value Gate = B.activate(addBias(B, Sums[0], GateBias, Column),
                                Op.getActivation());
        Value Result = B.mulf(Gate, addBias(B, Sums[1], UpBias, Column));
        storeMaybeMasked(B, Result, Op.getOuts(), Row, Column, Mask);
      });
}
