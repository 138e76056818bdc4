//===- FloatMatmul.cpp - Products of floating-point numbers ---------------===//

#include "passes/Codegen/GroupReader.h"
#include "passes/Codegen/MatmulEmitter.h"
#include "passes/Codegen/Unpack.h"

#include <vector>

using namespace mlir;
using namespace tenon;

namespace {

class FloatMatmul : public MatmulEmitter {
public:
  FloatMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
              ValueRange Weights);

  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override;
  int64_t panelsAtOnce() const override {
    return isWidened() ? 1 : panelsOfTwoStreams();
  }

private:
  using Operands = SmallVector<Value, 2>;

  bool isWidened() const {
    return infoOf(Format).isQuantised() && !B.IsDecodeSized;
  }
  /// Whether plain weights that are streamed are asked for: where the hardware
  /// alone does not foresee them early enough, as measured.
  bool asksAhead() const {
    return B.IsDecodeSized && B.Target.hasDot(DotProduct::BF16Tile);
  }
  /// Bytes of a piece of a panel that stays in the first-level cache.
  static constexpr int64_t PieceBytes = 16384;
  Block blockFor(int64_t Rows, int64_t Matrices) const;
  int64_t mostRows() const;
  int64_t sumRegisters() const;
  void emitRows(ArrayRef<Panel> Panels, Value Row, ArrayRef<InputRow> Inputs,
                Epilogue Finish);
  void emitBlock(ArrayRef<Panel> Panels, Value Row, ArrayRef<InputRow> Inputs,
                 Block Size, Epilogue Finish);
  /// Part of panels of plain numbers that is multiplied, step by step, and what
  /// is asked for meanwhile.
  struct Part {
    int64_t Features = 0;
    int64_t StepsAhead = 0; ///< 0: nothing.
    Value FirstStep;        ///< Null: the first.
    Value HalfAhead;        ///< First column of the half panel that is asked
                            ///< for; null: the columns that are multiplied.
  };
  Sums multiply(ArrayRef<Stream> Streams, const Part &Of,
                ArrayRef<InputRow> Inputs, Value Column, Block Size,
                Sums Start);
  Sums multiplyGroups(ArrayRef<Stream> Streams, ArrayRef<InputRow> Inputs,
                      Value Column, Block Size);
  Sums group(ArrayRef<Stream> Streams, ArrayRef<InputRow> Inputs, Value Column,
             Block Size, Sums Carried, Value Group, int64_t Valid);
  void emitWidened(ArrayRef<Panel> Panels, Value First, Value Last,
                   RowFinder RowOf, Epilogue Finish);
  void emitPieceByPiece(ArrayRef<Panel> Panels, Value First, Value Last,
                        RowFinder RowOf, Epilogue Finish);
  void addProducts(const Stream &From, const Part &Of, Value Row,
                   ArrayRef<InputRow> Inputs, const Partial &Into);
  Value inputNumber(const InputRow &Row, Value Feature);
  Value inputSum(const InputRow &Row, Value Feature, int64_t Valid);
  Sums step(ArrayRef<Stream> Streams, const Part &Of, ArrayRef<InputRow> Inputs,
            Value Column, Block Size, Sums Carried, Value Step, int64_t Valid);
  Operands loadWidened(const InputRow &Row, Value Step, int64_t Valid);
  Value loadForDot(const InputRow &Row, Value Step, int64_t Valid);
  Operands loadWeight(Value View, Value Panel, Value Step, Value Column);
  Value accumulate(Value Sum, ArrayRef<Value> Inputs, ArrayRef<Value> Weight);

  Value Input;
  /// The format that products are made in: that of plain weights, and what
  /// quantised ones are widened to.
  StorageFormat Plain;
  /// Input features side by side in a panel of `Plain`.
  int64_t Interleave;
  /// Whether pairs of bf16 are multiplied.
  bool UsesDot;
};

} // namespace

std::unique_ptr<MatmulEmitter> tenon::createFloatMatmul(KernelBuilder &B,
                                                        Value Input,
                                                        int64_t InFeatures,
                                                        ValueRange Weights) {
  return std::make_unique<FloatMatmul>(B, Input, InFeatures, Weights);
}

FloatMatmul::FloatMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
                         ValueRange Weights)
    : MatmulEmitter(B, InFeatures, Weights), Input(Input), Plain(Format) {
  // Otherwise weights are widened to f32, as the input is.
  UsesDot = dnn::formatOf(Input) == StorageFormat::BF16 &&
            B.Target.hasDot(DotProduct::BF16);
  if (Format == StorageFormat::F32)
    UsesDot = false;
  if (infoOf(Format).isQuantised()) {
    if (B.IsDecodeSized && !GroupReader::hasPairs(Format))
      UsesDot = false;
    Plain = UsesDot ? StorageFormat::BF16 : StorageFormat::F32;
  }
  Interleave = infoOf(Plain).Interleave;
}

/// Registers for sums: a quarter is left for operands.
int64_t FloatMatmul::sumRegisters() const {
  return B.Target.getRegisters() * 3 / 4;
}

/// Largest block of `Rows` rows of `Matrices` matmuls whose sums leave
/// registers for the operands.
MatmulEmitter::Block FloatMatmul::blockFor(int64_t Rows,
                                           int64_t Matrices) const {
  for (int64_t Columns = PanelWidth; Columns > Lanes; Columns /= 2)
    if (Rows * Matrices * (Columns / Lanes) * perVector() <= sumRegisters())
      return {Rows, Columns};
  return {Rows, Lanes};
}

/// Most rows of a block: as many as fit with the narrowest columns, but not
/// more than whole panels have room for where registers are many.
int64_t FloatMatmul::mostRows() const {
  int64_t Matrices = matrices();
  int64_t Fit = sumRegisters() / (Matrices * perVector());
  constexpr int64_t MostOfWholePanels = 4;
  return perVector() == 1 ? std::min(Fit, MostOfWholePanels) : Fit;
}

void FloatMatmul::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                       RowFinder RowOf, Epilogue Finish) {
  if (isWidened())
    return emitWidened(Panels, First, Last, RowOf, Finish);
  auto EmitBlocks = [&] {
    forEachBlock(First, Last, mostRows(), [&](Value Row, int64_t Count) {
      emitRows(Panels, Row, inputs(Row, Count, RowOf), Finish);
    });
  };
  if (infoOf(Format).isQuantised() || perVector() != 1)
    return EmitBlocks();
  B.ifThenElse(B.isLess(B.sub(Last, First), B.index(mostRows() + 1)),
               EmitBlocks,
               [&] { emitPieceByPiece(Panels, First, Last, RowOf, Finish); });
}

/// All columns of `Panels` for the rows from `Row` on.
void FloatMatmul::emitRows(ArrayRef<Panel> Panels, Value Row,
                           ArrayRef<InputRow> Inputs, Epilogue Finish) {
  int64_t Matrices = matrices();
  auto PanelCount = static_cast<int64_t>(Panels.size());
  auto Count = static_cast<int64_t>(Inputs.size());
  Block Wide = blockFor(Count, Matrices * PanelCount);
  if (Wide.Columns == PanelWidth)
    return emitBlock(Panels, Row, Inputs, Wide, Finish);
  // One matrix after the other, if all columns of both leave no room: half of
  // the columns would be read in every other line.
  bool InTurns = perVector() == 1 || infoOf(Format).isQuantised();
  for (const Panel &P : Panels)
    emitBlock(P, Row, Inputs, blockFor(Count, InTurns ? 1 : Matrices), Finish);
}

void FloatMatmul::emitBlock(ArrayRef<Panel> Panels, Value Row,
                            ArrayRef<InputRow> Inputs, Block Size,
                            Epilogue Finish) {
  SmallVector<Stream> Streams = streams(Panels);
  auto SumsFrom = [&](Value Column) {
    constexpr int64_t StepsAhead = 8;
    Sums Result;
    Part All{InFeatures, asksAhead() ? StepsAhead : 0, {}, {}};
    auto Multiply = [&](ArrayRef<Stream> Together) {
      if (infoOf(Format).isQuantised())
        return Result.append(multiplyGroups(Together, Inputs, Column, Size));
      Sums Start(Together.size() * Size.Rows * (Size.Columns / Lanes),
                 B.vecConst(0));
      Result.append(multiply(Together, All, Inputs, Column, Size, Start));
    };
    if (Size.Columns <= blockFor(Size.Rows, Streams.size()).Columns)
      Multiply(Streams);
    else
      for (const Stream &From : Streams)
        Multiply(From);
    return Result;
  };
  // Sums of a block that is narrower than what is finished at once wait for
  // those of the next.
  int64_t Together = std::max(Size.Columns, Finish.Vectors * Lanes);
  B.loop(B.index(0), B.index(PanelWidth), Together, [&](Value Column) {
    SmallVector<Sums> Parts;
    for (int64_t At = 0; At < Together; At += Size.Columns)
      Parts.push_back(SumsFrom(B.add(Column, At)));
    int64_t Groups = Size.Columns / Lanes;
    Sums Result;
    for (size_t I = 0; I < Parts[0].size(); I += Groups)
      for (const Sums &Part : Parts)
        Result.append(Part.begin() + I, Part.begin() + I + Groups);
    finishBlock(Panels, Row, Column, {Size.Rows, Together}, Result, Finish);
  });
}

/// Adds products with panels of plain numbers to sums of a block, by stream,
/// row and group of 16 columns.
MatmulEmitter::Sums FloatMatmul::multiply(ArrayRef<Stream> Streams,
                                          const Part &Of,
                                          ArrayRef<InputRow> Inputs,
                                          Value Column, Block Size,
                                          Sums Start) {
  Sums Result = std::move(Start);
  constexpr int64_t Unroll = 4;
  // A step takes the input features that lie side by side.
  int64_t Steps = Of.Features / Interleave;
  int64_t Full = Steps / Unroll * Unroll;
  auto Add = [&](Sums Carried, Value Step, int64_t Valid) {
    return step(Streams, Of, Inputs, Column, Size, std::move(Carried), Step,
                Valid);
  };
  if (Full > 0)
    Result = B.loop(B.index(0), B.index(Full), Unroll, Result,
                    [&](Value Step, ValueRange Carried) {
                      Sums Next(Carried);
                      for (int64_t I = 0; I < Unroll; ++I)
                        Next = Add(Next, B.add(Step, I), Interleave);
                      return Next;
                    });
  for (int64_t I = Full; I < Steps; ++I)
    Result = Add(Result, B.index(I), Interleave);
  if (int64_t Rest = Of.Features % Interleave)
    Result = Add(Result, B.index(Steps), Rest);
  return Result;
}

/// One step, of which the input has the first `Valid` features.
MatmulEmitter::Sums FloatMatmul::step(ArrayRef<Stream> Streams, const Part &Of,
                                      ArrayRef<InputRow> Inputs, Value Column,
                                      Block Size, Sums Carried, Value Step,
                                      int64_t Valid) {
  int64_t Groups = Size.Columns / Lanes;
  int64_t Asked = Of.StepsAhead == 0 ? 0 : Of.HalfAhead ? Groups / 2 : Groups;
  Value InPanel = Of.FirstStep ? B.add(Of.FirstStep, Step) : Step;
  SmallVector<Operands> Loaded;
  for (const InputRow &Row : Inputs)
    Loaded.push_back(UsesDot ? Operands{loadForDot(Row, Step, Valid)}
                             : loadWidened(Row, Step, Valid));
  for (auto [I, S] : llvm::enumerate(Streams))
    for (int64_t G = 0; G < Groups; ++G) {
      if (G < Asked) {
        Value First = B.add(Of.HalfAhead ? Of.HalfAhead : Column, G * Lanes);
        B.prefetch(S.View, {S.Panel, B.add(InPanel, Of.StepsAhead),
                            B.mul(First, Interleave)});
      }
      Operands Weight =
          loadWeight(S.View, S.Panel, InPanel, B.add(Column, G * Lanes));
      for (int64_t R = 0; R < Size.Rows; ++R) {
        Value &Sum = Carried[(I * Size.Rows + R) * Groups + G];
        Sum = accumulate(Sum, Loaded[R], Weight);
      }
    }
  return Carried;
}

/// Each of the input's features in every lane, as f32.
FloatMatmul::Operands FloatMatmul::loadWidened(const InputRow &Row, Value Step,
                                               int64_t Valid) {
  Value First = B.mul(Step, Interleave);
  Operands Features;
  for (int64_t I = 0; I < Valid; ++I)
    Features.push_back(inputNumber(Row, B.add(First, I)));
  return Features;
}

/// One of the input's features in every lane, as f32.
Value FloatMatmul::inputNumber(const InputRow &Row, Value Feature) {
  return B.splat(B.loadScalar(Input, {Row.Row, B.add(Row.Column, Feature)}));
}

/// The sum of `Valid` features of the input from `Feature` on, in every lane.
Value FloatMatmul::inputSum(const InputRow &Row, Value Feature, int64_t Valid) {
  Value Sum;
  for (int64_t I = 0; I < Valid; I += Lanes) {
    Value Part = B.load(Input, {Row.Row, B.add(B.add(Row.Column, Feature), I)},
                        std::min(Lanes, Valid - I));
    Sum = Sum ? B.addf(Sum, Part) : Part;
  }
  return B.splat(B.sum(Sum));
}

/// The input's pair of bf16 features in every lane.
Value FloatMatmul::loadForDot(const InputRow &Row, Value Step, int64_t Valid) {
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
  return B.splatPair(Pair);
}

/// 16 columns of one step: as stored for a dot product, otherwise a vector for
/// each input feature.
FloatMatmul::Operands FloatMatmul::loadWeight(Value View, Value Panel,
                                              Value Step, Value Column) {
  Type Element = cast<MemRefType>(View.getType()).getElementType();
  Value Packed = vector::LoadOp::create(
      B, B.vecType(Element, Interleave * Lanes), View,
      ValueRange{Panel, Step, B.mul(Column, Interleave)});
  return UsesDot ? Operands{Packed} : Operands(unpack(B, Plain, Packed));
}

Value FloatMatmul::accumulate(Value Sum, ArrayRef<Value> Inputs,
                              ArrayRef<Value> Weight) {
  if (UsesDot)
    return x86vector::DotBF16Op::create(B, B.vecType(), Sum, Inputs[0],
                                        Weight[0]);
  for (auto [In, W] : llvm::zip(Inputs, Weight))
    Sum = B.fma(In, W, Sum);
  return Sum;
}

//===----------------------------------------------------------------------===//
// Quantised weights
//===----------------------------------------------------------------------===//

/// Sums of a block, as multiply gives them.
MatmulEmitter::Sums FloatMatmul::multiplyGroups(ArrayRef<Stream> Streams,
                                                ArrayRef<InputRow> Inputs,
                                                Value Column, Block Size) {
  int64_t Groups = Size.Columns / Lanes;
  Sums Result(Streams.size() * Size.Rows * Groups, B.vecConst(0));
  int64_t Full = InFeatures / GroupValues;
  if (Full > 0)
    Result = B.loop(B.index(0), B.index(Full), 1, Result,
                    [&](Value Group, ValueRange Carried) {
                      return group(Streams, Inputs, Column, Size, Sums(Carried),
                                   Group, GroupValues);
                    });
  if (int64_t Rest = InFeatures % GroupValues)
    Result = group(Streams, Inputs, Column, Size, Result, B.index(Full), Rest);
  return Result;
}

/// The first `Valid` features of one group: numbers are multiplied first, then
/// their sum with the scale.
MatmulEmitter::Sums FloatMatmul::group(ArrayRef<Stream> Streams,
                                       ArrayRef<InputRow> Inputs, Value Column,
                                       Block Size, Sums Carried, Value Group,
                                       int64_t Valid) {
  int64_t Groups = Size.Columns / Lanes;
  Value First = B.mul(Group, GroupValues);
  std::vector<GroupReader> Readers;
  for (const Stream &S : Streams)
    for (int64_t G = 0; G < Groups; ++G)
      Readers.emplace_back(B, Format, S.View, S.Panel, Group,
                           B.add(Column, G * Lanes));
  // As Carried: of reader R and row I.
  auto At = [&](size_t R, int64_t I) {
    auto Reader = static_cast<int64_t>(R);
    return (Reader / Groups * Size.Rows + I) * Groups + Reader % Groups;
  };
  constexpr int64_t OctetValues = GroupReader::OctetValues;
  int64_t PartValues = Readers.front().partValues();
  auto Order = GroupReader::featureOrder(B.Target, Format);
  // The first `Present` features of an octet.
  auto Octet = [&](Value Number, int64_t Present, Sums Products) {
    Value Begin = B.add(First, B.mul(Number, OctetValues));
    for (GroupReader &Reader : Readers)
      Reader.setOctet(Number);
    for (int64_t Feature : Order) {
      if (Feature >= Present || (UsesDot && Feature % 2 != 0))
        continue;
      SmallVector<Value> Loaded;
      for (const InputRow &Row : Inputs)
        Loaded.push_back(
            UsesDot ? loadForDot(Row, B.div(B.add(Begin, Feature), 2),
                                 std::min<int64_t>(2, Present - Feature))
                    : inputNumber(Row, B.add(Begin, Feature)));
      for (auto [R, Reader] : llvm::enumerate(Readers)) {
        Value Weight = UsesDot ? Reader.pair(Feature) : Reader.number(Feature);
        for (int64_t I = 0; I < Size.Rows; ++I) {
          Value &Sum = Products[At(R, I)];
          Sum = accumulate(Sum, Loaded[I], Weight);
        }
      }
    }
    return Products;
  };
  for (int64_t Part = 0; Part * PartValues < Valid; ++Part) {
    Sums Products(Carried.size(), B.vecConst(0));
    int64_t Begin = Part * PartValues;
    int64_t Count = std::min(PartValues, Valid - Begin);
    int64_t From = Begin / OctetValues, To = From + Count / OctetValues;
    if (To > From)
      Products = B.loop(B.index(From), B.index(To), 1, Products,
                        [&](Value Number, ValueRange Inner) {
                          return Octet(Number, OctetValues, Sums(Inner));
                        });
    if (int64_t Rest = Count % OctetValues)
      Products = Octet(B.index(To), Rest, Products);
    for (auto [R, Reader] : llvm::enumerate(Readers)) {
      Value Scale = Reader.scale(Part, /*OfPairs=*/UsesDot);
      for (int64_t I = 0; I < Size.Rows; ++I) {
        Value &Sum = Carried[At(R, I)];
        Sum = B.fma(Products[At(R, I)], Scale, Sum);
      }
    }
  }
  if (!infoOf(Format).hasMinimum())
    return Carried;
  for (int64_t I = 0; I < Size.Rows; ++I) {
    Value Total = inputSum(Inputs[I], First, Valid);
    for (auto [R, Reader] : llvm::enumerate(Readers)) {
      Value &Sum = Carried[At(R, I)];
      Sum = B.fma(Total, Reader.minimum(), Sum);
    }
  }
  return Carried;
}

/// Multiplies plain panels with more rows than one block has. While the first
/// two blocks are multiplied with a piece, which all but the first find in the
/// first-level cache, the next one comes from memory.
void FloatMatmul::emitPieceByPiece(ArrayRef<Panel> Panels, Value First,
                                   Value Last, RowFinder RowOf,
                                   Epilogue Finish) {
  int64_t PieceSteps = PieceBytes / storedBytes(Plain, PanelWidth * Interleave);
  auto AddBlocks = [&](const Stream &From, Value Feature, int64_t Features,
                       const Partial &Into) {
    forEachBlock(
        Into.First, Into.Last, mostRows(), [&](Value Row, int64_t Count) {
          Value Half =
              arith::SelectOp::create(B, B.isEqual(Row, Into.First), B.index(0),
                                      B.index(PanelWidth / 2));
          addProducts(From,
                      {Features, PieceSteps, B.div(Feature, Interleave), Half},
                      Row, inputs(Row, Count, RowOf, Feature), Into);
        });
  };
  emitPieces(Panels, First, Last, InFeatures, PieceSteps * Interleave,
             AddBlocks, Finish);
}

/// Widens a piece of one panel, which stays in the first-level cache while rows
/// are multiplied with it.
void FloatMatmul::emitWidened(ArrayRef<Panel> Panels, Value First, Value Last,
                              RowFinder RowOf, Epilogue Finish) {
  constexpr int64_t PieceFeatures = 128;
  Type Element = dnn::elementTypeOf(B.getContext(), Plain);
  Value Widened = B.scratch(
      {1, PieceFeatures / Interleave, PanelWidth * Interleave}, Element);
  int64_t MostRows = sumRegisters() / (perVector() * (PanelWidth / Lanes));
  if (MostRows < 2)
    MostRows = mostRows();
  emitPieces(
      Panels, First, Last, InFeatures, PieceFeatures,
      [&](const Stream &From, Value Feature, int64_t Features,
          const Partial &Into) {
        widenPanel(From, B.div(Feature, GroupValues), Features, Plain, Widened);
        forEachBlock(
            Into.First, Into.Last, MostRows, [&](Value Row, int64_t Count) {
              addProducts({Widened, B.index(0)}, {Features, 0, {}, {}}, Row,
                          inputs(Row, Count, RowOf, Feature), Into);
            });
      },
      Finish);
}

/// Adds products of a block of rows from `Row` on, whose `Inputs` begin at the
/// first of the features, with part of a panel to their sums.
void FloatMatmul::addProducts(const Stream &From, const Part &Of, Value Row,
                              ArrayRef<InputRow> Inputs, const Partial &Into) {
  Block Size = blockFor(static_cast<int64_t>(Inputs.size()), 1);
  int64_t Groups = Size.Columns / Lanes;
  B.loop(B.index(0), B.index(PanelWidth), Size.Columns, [&](Value Column) {
    auto ForEachSum = [&](llvm::function_ref<void(ValueRange At)> Do) {
      for (int64_t I = 0; I < Size.Rows; ++I)
        for (int64_t G = 0; G < Groups; ++G)
          Do({B.add(B.sub(Row, Into.First), I),
              B.add(B.add(Into.Column, Column), G * Lanes)});
    };
    Sums Products;
    ForEachSum(
        [&](ValueRange At) { Products.push_back(B.load(Into.Sums, At)); });
    Products = multiply(From, Of, Inputs, Column, Size, std::move(Products));
    const Value *Product = Products.begin();
    ForEachSum([&](ValueRange At) { B.store(*Product++, Into.Sums, At); });
  });
}
