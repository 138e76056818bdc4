//===- MatmulEmitter.cpp - What emitters of matmuls share -----------------===//

#include "passes/Codegen/MatmulEmitter.h"

using namespace mlir;
using namespace tenon;

std::unique_ptr<MatmulEmitter> MatmulEmitter::create(KernelBuilder &B,
                                                     Value Input,
                                                     int64_t InFeatures,
                                                     ValueRange Weights) {
  if (dnn::groupedTypeOf(Input))
    return createIntegerMatmul(B, Input, InFeatures, Weights);
  auto Format = cast<dnn::PackedType>(Weights.front().getType()).getFormat();
  if (!B.IsDecodeSized && B.Target.hasDot(DotProduct::BF16Tile) &&
      dnn::formatOf(Input) == StorageFormat::BF16 &&
      Format != StorageFormat::F32)
    return createTileMatmul(B, Input, InFeatures, Weights);
  return createFloatMatmul(B, Input, InFeatures, Weights);
}

MatmulEmitter::MatmulEmitter(KernelBuilder &B, int64_t InFeatures,
                             ValueRange Weights)
    : B(B), InFeatures(InFeatures) {
  for (Value Weight : Weights)
    Views.push_back(B.weightView(Weight));
  auto Packed = cast<dnn::PackedType>(Weights.front().getType());
  OutFeatures = Packed.getOutFeatures();
  Format = Packed.getFormat();
}

void MatmulEmitter::forEachBlock(
    Value First, Value Last, int64_t MostRows,
    llvm::function_ref<void(Value, int64_t)> Body) {
  Value Count = B.sub(Last, First);
  Value Full = B.add(First, B.mul(B.div(Count, MostRows), MostRows));
  B.loop(First, Full, MostRows, [&](Value Row) { Body(Row, MostRows); });
  B.caseOf(B.sub(Last, Full), MostRows - 1,
           [&](int64_t Rest) { Body(Full, Rest); });
}

SmallVector<MatmulEmitter::InputRow> MatmulEmitter::inputs(Value Row,
                                                           int64_t Count,
                                                           RowFinder RowOf,
                                                           Value Feature) {
  SmallVector<InputRow> Inputs;
  for (int64_t I = 0; I < Count; ++I) {
    InputRow In = RowOf(B.add(Row, I));
    Inputs.push_back({In.Row, Feature ? B.add(In.Column, Feature) : In.Column});
  }
  return Inputs;
}

SmallVector<MatmulEmitter::Stream>
MatmulEmitter::streams(ArrayRef<Panel> Panels) const {
  SmallVector<Stream> Streams;
  for (const Panel &P : Panels)
    for (Value View : Views)
      Streams.push_back({View, P.Number});
  return Streams;
}

MatmulEmitter::Panel MatmulEmitter::panelOf(Value Number) {
  return {Number, B.mul(Number, PanelWidth)};
}

int64_t MatmulEmitter::leastClaimed(int64_t Units, int64_t PerUnit) const {
  // What one core reads in about 2 us: to claim less costs more than it gives.
  constexpr int64_t FewBytes = 32 << 10;
  int64_t UnitBytes =
      PerUnit * matrices() * storedBytes(Format, PanelWidth * InFeatures);
  int64_t Count = llvm::divideCeil(FewBytes, UnitBytes);
  return std::min(Count, Units);
}

void MatmulEmitter::emitShare(Value First, Value Last, RowFinder RowOf,
                              Epilogue Finish) {
  int64_t PerUnit = panelsAtOnce();
  int64_t UnitCount = llvm::divideCeil(panels(), PerUnit);
  Value Units = B.index(UnitCount);
  auto EmitUnit = [&](Value Unit) {
    Value FirstPanel = B.mul(Unit, PerUnit);
    SmallVector<Panel> Mine;
    // Where the last unit has fewer, its last panel is simply done again.
    for (int64_t I = 0; I < PerUnit; ++I)
      Mine.push_back(
          panelOf(panels() % PerUnit == 0
                      ? B.add(FirstPanel, I)
                      : B.min(B.add(FirstPanel, I), B.index(panels() - 1))));
    emit(Mine, First, Last, RowOf, Finish);
  };
  int64_t Least = leastClaimed(UnitCount, PerUnit);
  Value Grain = B.index(Least);
  // Of few bytes, few rows take the time of the way from memory: a thread
  // claims its whole share.
  if (Least > 1)
    Grain = arith::SelectOp::create(
        B, B.isLess(B.sub(Last, First), B.index(LeastClaimingRows)), Units,
        Grain);
  B.claim(Units, Grain, [&](Value FirstUnit, Value Count) {
    B.loop(FirstUnit, B.add(FirstUnit, Count), 1, EmitUnit);
  });
}

void MatmulEmitter::prefetchAhead(const Stream &From, Value Group, Value Column,
                                  int64_t Columns, int64_t Rows, int64_t Number,
                                  int64_t Count) {
  // Several rows take long enough for lines to come in by the second level,
  // which has more buffers for them.
  constexpr int64_t FarBytes = 16384, NearGroups = 4;
  bool IsNear = Rows == 1 && !B.Target.hasDot(DotProduct::BF16Tile);
  int64_t Ahead =
      IsNear ? NearGroups
             : llvm::divideCeil(FarBytes,
                                partsOf(infoOf(Format)).group() * PanelWidth);
  GroupReader(B, Format, From.View, From.Panel, B.add(Group, Ahead), B.index(0))
      .prefetchPart(Column, Columns, Number, Count, IsNear ? 3 : 2);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void MatmulEmitter::emitPieces(ArrayRef<Panel> Panels, Value First, Value Last,
                               int64_t Units, int64_t PieceUnits,
                               PieceEmitter Multiply, Epilogue Finish) {
  constexpr int64_t PieceRows = 128;
  int64_t Width = matrices() * PanelWidth;
  Value Sums = B.scratch({PieceRows, Width});
  int64_t Full = Units / PieceUnits * PieceUnits;
  for (const Panel &P : Panels)
    B.loop(First, Last, PieceRows, [&](Value From) {
      Value To = B.min(B.add(From, PieceRows), Last);
      B.loop(B.index(0), B.sub(To, From), 1, [&](Value Row) {
        B.columns(Width, [&](Value Column, int64_t) {
          B.store(B.vecConst(0), Sums, {Row, Column});
        });
      });
      for (int64_t M = 0; M < matrices(); ++M) {
        Stream Source{Views[M], P.Number};
        Partial Into{Sums, B.index(M * PanelWidth), From, To};
        if (Full > 0)
          B.loop(B.index(0), B.index(Full), PieceUnits,
                 [&](Value Unit) { Multiply(Source, Unit, PieceUnits, Into); });
        if (Full < Units)
          Multiply(Source, B.index(Full), Units - Full, Into);
      }
      finishRows(P, {Sums, B.index(0), From, To}, Finish);
    });
}

void MatmulEmitter::widenPanel(const Stream &From, Value FirstGroup,
                               int64_t Features, StorageFormat Plain,
                               Value Widened) {
  int64_t Interleave = infoOf(Plain).Interleave;
  int64_t Groups = llvm::divideCeil(Features, GroupValues);
  B.loop(B.index(0), B.index(Groups), 1, [&](Value Group) {
    B.loop(B.index(0), B.index(PanelWidth), Lanes, [&](Value Column) {
      GroupReader Reader(B, Format, From.View, From.Panel,
                         B.add(FirstGroup, Group), Column);
      widenColumns(Reader, Plain, Widened,
                   [&](int64_t Feature) -> SmallVector<Value> {
                     Value InPanel = B.add(B.mul(Group, GroupValues), Feature);
                     return {B.index(0), B.div(InPanel, Interleave),
                             B.mul(Column, Interleave)};
                   });
    });
  });
}

void MatmulEmitter::widenColumns(
    GroupReader &Reader, StorageFormat Plain, Value Widened,
    llvm::function_ref<SmallVector<Value>(int64_t Feature)> PlaceOf,
    llvm::function_ref<void(int64_t Line)> Between) {
  int64_t Interleave = infoOf(Plain).Interleave;
  auto ForEachPlace = [&](int64_t Octet,
                          llvm::function_ref<void(int64_t, ValueRange)> Store) {
    for (int64_t I = 0; I < GroupReader::OctetValues; I += Interleave) {
      int64_t Feature = Octet * GroupReader::OctetValues + I;
      if (Between && Feature % Reader.lineFeatures() == 0)
        Between(Feature / Reader.lineFeatures());
      Store(I, PlaceOf(Feature));
    }
  };
  if (Plain == StorageFormat::BF16 && Reader.hasValuePairs())
    return Reader.forEachOctetOfPairs([&](int64_t Octet, auto PairOf) {
      ForEachPlace(Octet, [&](int64_t I, ValueRange At) {
        vector::StoreOp::create(B, PairOf(I), Widened, At);
      });
    });
  Reader.forEachOctet([&](int64_t Octet, auto ValueOf) {
    ForEachPlace(Octet, [&](int64_t I, ValueRange At) {
      if (Interleave == 1)
        B.store(ValueOf(I), Widened, At);
      else
        B.storePair(ValueOf(I), ValueOf(I + 1), Widened, At);
    });
  });
}

void MatmulEmitter::finishBlock(ArrayRef<Panel> Panels, Value Row, Value Column,
                                Block Size, ArrayRef<Value> Result,
                                Epilogue Finish) {
  int64_t Groups = Size.Columns / Lanes;
  auto FinishRow = [&](int64_t R, size_t PanelIndex, int64_t FirstGroup,
                       SmallVector<Finished> Features) {
    for (auto [I, Each] : llvm::enumerate(Features))
      for (size_t M = 0; M < Views.size(); ++M)
        Each.PerWeight.push_back(
            Result[((PanelIndex * Views.size() + M) * Size.Rows + R) * Groups +
                   FirstGroup + static_cast<int64_t>(I)]);
    Finish.Take(B.add(Row, R), Features);
  };
  int64_t Together = Finish.Vectors * Lanes, Rest = OutFeatures % PanelWidth;
  for (auto [P, Each] : llvm::enumerate(Panels))
    for (int64_t G = 0; G < Groups; G += Finish.Vectors) {
      SmallVector<Finished> Features;
      for (int64_t I = 0; I < Finish.Vectors; ++I) {
        Value At = B.add(Each.Feature, B.add(Column, (G + I) * Lanes));
        Value Mask;
        if (Rest != 0)
          Mask = B.maskOf(B.sub(B.index(OutFeatures), At));
        Features.push_back({At, Mask, {}});
      }
      auto FinishRows = [&, P = P] {
        for (int64_t R = 0; R < Size.Rows; ++R)
          FinishRow(R, P, G, Features);
      };
      // One vector without features has an empty mask. A group without any is
      // left out: its record would be the next row's.
      if (Finish.Vectors > 1 && Rest != 0 && Rest <= PanelWidth - Together)
        B.ifThen(B.isLess(Features[0].Feature, B.index(OutFeatures)),
                 FinishRows);
      else
        FinishRows();
    }
}

void MatmulEmitter::finishRows(ArrayRef<Panel> Panels, const Partial &From,
                               Epilogue Finish) {
  int64_t Together = Finish.Vectors * Lanes;
  auto StreamCount = static_cast<int64_t>(Panels.size()) * matrices();
  B.loop(From.First, From.Last, 1, [&](Value Row) {
    B.loop(B.index(0), B.index(PanelWidth), Together, [&](Value Column) {
      Sums Result;
      for (int64_t S = 0; S < StreamCount; ++S)
        for (int64_t At = 0; At < Together; At += Lanes)
          Result.push_back(B.load(From.Sums, {B.sub(Row, From.First),
                                              B.add(B.add(From.Column, Column),
                                                    S * PanelWidth + At)}));
      finishBlock(Panels, Row, Column, {1, Together}, Result, Finish);
    });
  });
}

Value tenon::loadMaybeMasked(KernelBuilder &B, Value Buffer, ValueRange At,
                             Value Mask) {
  return Mask ? B.load(Buffer, At, Mask) : B.load(Buffer, At);
}

void tenon::storeFinished(
    KernelBuilder &B, OutputRows &Out, Value Row, Value Base,
    ArrayRef<MatmulEmitter::Finished> Features,
    llvm::function_ref<Value(const MatmulEmitter::Finished &)> Make) {
  SmallVector<Value> Vectors, Masks;
  for (const MatmulEmitter::Finished &Each : Features) {
    Vectors.push_back(Make(Each));
    Masks.push_back(Each.Mask);
  }
  Out.store(Row, B.add(Features.front().Feature, Base), Vectors, Masks);
}
