//===- IntegerTileMatmul.cpp - Products of grouped integers in tiles ------===//
//
// For more than one row, and fewer than widening the weights pays for. A tile
// holds both digits of a group of eight rows; the weights' numbers of 16 output
// features are unpacked to the tile that it is multiplied with. The sums of a
// group leave the tiles as integers and are scaled as IntegerMatmul scales
// them, in the same order: a row's bits do not depend on which of both
// multiplied it.
//
// All columns of a group are multiplied before the next group, so that panels
// are read in the order that they lie in; sums wait in the first-level cache.
//
// All tiles of a function must do with eight registers, each of one shape. A
// format with two scales in a group therefore has tiles of whole groups too:
// rows of each half, with zeros in the other.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/GroupReader.h"
#include "passes/Codegen/GroupedRows.h"
#include "passes/Codegen/MatmulEmitter.h"
#include "passes/Codegen/Tiles.h"

#include <vector>

using namespace mlir;
using namespace tenon;

namespace {

class IntegerTileMatmul : public MatmulEmitter {
public:
  IntegerTileMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
                    ValueRange Weights)
      : MatmulEmitter(B, InFeatures, Weights), Rows(B, Input),
        Info(infoOf(Format)), Parts(GroupValues / Info.ScaleValues),
        Groups(llvm::divideCeil(InFeatures, GroupValues)) {}

  /// Whether the target has such tiles, and the rows that each thread stages
  /// are small.
  static bool isPossible(KernelBuilder &B, Value Input, int64_t InFeatures,
                         ValueRange Weights) {
    constexpr int64_t MostStaged = int64_t(2) << 20;
    dnn::GroupedType Type = dnn::groupedTypeOf(Input);
    auto Packed = cast<dnn::PackedType>(Weights.front().getType());
    int64_t Parts = GroupValues / infoOf(Packed.getFormat()).ScaleValues;
    return Type.getDot() == DotProduct::Int8 &&
           B.Target.hasDot(DotProduct::Int8Tile) &&
           ChunkRows * Type.getDigits() * Parts *
                   llvm::alignTo(InFeatures, GroupValues) <=
               MostStaged;
  }
  int64_t panelsAtOnce() const override { return panelsOfTwoStreams(); }
  void prepare(Value First, Value Last, RowFinder RowOf) override;
  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override;

private:
  /// Rows that are staged, and multiplied while a panel is read.
  static constexpr int64_t ChunkRows = 16;
  /// What their number is rounded up to.
  static constexpr int64_t RowStep = 4;
  /// Tiles of products at once, which leave room for those of rows and numbers.
  static constexpr int64_t MostTiles = 4;
  /// Rows of a tile of numbers: fours of a group.
  static constexpr int64_t GroupSteps = GroupValues / 4;
  static constexpr int64_t PanelColumns = PanelWidth / Lanes;
  /// Rows that are added to before their sums are stored.
  static constexpr int64_t AddedRows = 2;

  /// 16 columns of one of the panels that are streamed together, and with how
  /// many rows they are multiplied.
  struct Block {
    int64_t Source;
    int64_t Column;
    int64_t RowCount;
  };

  int64_t rowsOfTile() const { return TileRows / Rows.digits(); }
  int64_t tilesOfRows(int64_t RowCount) const {
    return llvm::divideCeil(RowCount, rowsOfTile());
  }
  /// Rows of the tiles of a part of a group.
  int64_t stagedRows() const { return ChunkRows * Rows.digits(); }
  /// Tiles of the products of a group with a block.
  int64_t tilesOfBlock(int64_t RowCount) const {
    return Parts * tilesOfRows(RowCount);
  }
  /// Among the blocks of all streams.
  int64_t numberOf(const Block &Of) const {
    return Of.Source * PanelColumns + Of.Column;
  }
  /// Of the products of a part of a group with a block.
  int64_t tileOf(const Block &Of, int64_t Part, int64_t TileOfRows) const {
    return numberOf(Of) * tilesOfBlock(Of.RowCount) +
           Part * tilesOfRows(Of.RowCount) + TileOfRows;
  }

  void allocate();
  Value partOf(Value All, int64_t Part);
  void stage(Value First, Value Last, RowFinder RowOf);
  void emitPanels(ArrayRef<Panel> Panels, Value First, Value Last,
                  int64_t RowCount, Epilogue Finish);
  void unpack(const Stream &From, Value Group, const Block &Of);
  SmallVector<Value> multiply(Value Group, const Block &Of);
  void storeProducts(ArrayRef<Value> Tiles, const Block &Of);
  void addProducts(const Stream &From, Value Group, const Block &Of);
  /// Of the numbers of a group, while those of the one before are multiplied.
  Value slotOf(Value Group) { return B.rem(Group, 2); }

  GroupedRows Rows;
  const StorageFormatInfo &Info;
  /// Parts of a group with a scale of their own.
  int64_t Parts;
  int64_t Groups;
  /// Scratch. By group: digits, a row of a tile each; of each row the scale and
  /// what its codes stand for in all.
  Value Digits, Scales, Totals;
  /// By column of 16: numbers of a group, a row of a tile for each step, and
  /// sums of products. By row: sums of all groups.
  Value Numbers, Products, Result;
};

} // namespace

std::unique_ptr<MatmulEmitter>
tenon::createIntegerTileMatmul(KernelBuilder &B, Value Input,
                               int64_t InFeatures, ValueRange Weights) {
  if (!IntegerTileMatmul::isPossible(B, Input, InFeatures, Weights))
    return nullptr;
  return std::make_unique<IntegerTileMatmul>(B, Input, InFeatures, Weights);
}

void IntegerTileMatmul::allocate() {
  if (Digits)
    return;
  Digits =
      B.scratch({Groups, Parts * stagedRows(), GroupValues}, B.getI8Type());
  Scales = B.scratch({Groups, ChunkRows});
  if (Info.hasMinimum())
    Totals = B.scratch({Groups, ChunkRows});
  int64_t Columns = matrices() * panelsAtOnce() * PanelColumns;
  Numbers = B.scratch({2, Columns * GroupSteps, 4 * Lanes}, B.getI8Type());
  Products =
      B.scratch({Columns * Parts * tilesOfRows(ChunkRows) * TileRows, Lanes},
                B.getI32Type());
  Result = B.scratch({ChunkRows, Columns * Lanes});
}

void IntegerTileMatmul::prepare(Value First, Value Last, RowFinder RowOf) {
  allocate();
  Value Count = B.sub(Last, First);
  B.ifThen(B.isLess(B.index(LeastTileRows - 1), Count), [&] {
    B.ifThen(B.isLess(Count, B.index(ChunkRows + 1)),
             [&] { stage(First, Last, RowOf); });
  });
}

void IntegerTileMatmul::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                             RowFinder RowOf, Epilogue Finish) {
  allocate();
  Value MostPrepared = B.add(First, ChunkRows);
  B.loop(First, Last, ChunkRows, [&](Value From) {
    Value To = B.min(B.add(From, ChunkRows), Last);
    B.ifThen(B.isLess(MostPrepared, Last), [&] { stage(From, To, RowOf); });
    Value Steps = B.ceilDiv(B.sub(To, From), RowStep);
    B.caseOf(Steps, ChunkRows / RowStep, [&](int64_t Count) {
      emitPanels(Panels, From, To, Count * RowStep, Finish);
    });
  });
}

/// The bytes of a part of a group, zeros for the others.
Value IntegerTileMatmul::partOf(Value All, int64_t Part) {
  if (Parts == 1)
    return All;
  SmallVector<Attribute> Mask;
  for (int64_t I = 0; I < GroupValues; ++I)
    Mask.push_back(B.getI8IntegerAttr(I / Info.ScaleValues == Part ? -1 : 0));
  return arith::AndIOp::create(
      B, All,
      arith::ConstantOp::create(
          B, DenseElementsAttr::get(cast<ShapedType>(All.getType()), Mask)));
}

/// Copies rows [First, Last), the last one also in place of those that a whole
/// step lacks. What stands in the rest of a tile is multiplied and not used.
void IntegerTileMatmul::stage(Value First, Value Last, RowFinder RowOf) {
  auto Type = B.vecType(B.getI8Type(), GroupValues);
  Value Steps = B.ceilDiv(B.sub(Last, First), RowStep);
  B.loop(B.index(0), B.mul(Steps, RowStep), 1, [&](Value Place) {
    InputRow In = RowOf(B.min(B.add(First, Place), B.sub(Last, B.index(1))));
    Value FirstGroup = B.div(In.Column, GroupValues);
    B.loop(B.index(0), B.index(Groups), 1, [&](Value Group) {
      Value Source = B.add(FirstGroup, Group);
      for (int64_t Digit = 0; Digit < Rows.digits(); ++Digit) {
        Value All = vector::LoadOp::create(
            B, Type, Rows.bytes(),
            ValueRange{In.Row, Rows.digitAt(Source, Digit)});
        for (int64_t Part = 0; Part < Parts; ++Part)
          vector::StoreOp::create(B, partOf(All, Part), Digits,
                                  ValueRange{Group,
                                             B.add(B.mul(Place, Rows.digits()),
                                                   Part * stagedRows() + Digit),
                                             B.index(0)});
      }
      auto Store = [&](Value Splat, Value Into) {
        B.storeScalar(vector::ExtractOp::create(B, Splat, 0), Into,
                      {Group, Place});
      };
      Store(Rows.scale(In.Row, Source), Scales);
      if (Totals)
        Store(Rows.total(In.Row, Source), Totals);
    });
  });
}

/// Multiplies what is staged, as if it were `RowCount` rows, group by group.
/// While tiles multiply a block of a group, its numbers of the next are
/// unpacked and its products of the one before are added. Products are stored a
/// block later, when they have come.
void IntegerTileMatmul::emitPanels(ArrayRef<Panel> Panels, Value First,
                                   Value Last, int64_t RowCount,
                                   Epilogue Finish) {
  SmallVector<Stream> From = streams(Panels);
  auto StreamCount = static_cast<int64_t>(From.size());
  B.loop(B.index(0), B.index(RowCount), 1, [&](Value Row) {
    B.columns(StreamCount * PanelWidth, [&](Value Column, int64_t) {
      B.store(B.vecConst(0), Result, {Row, Column});
    });
  });
  SmallVector<Block> Blocks;
  for (int64_t S = 0; S < StreamCount; ++S)
    for (int64_t C = 0; C < PanelColumns; ++C)
      Blocks.push_back({S, C, RowCount});
  Value Zero = B.index(0), End = B.index(Groups - 1);
  auto Unpack = [&](Value Group, const Block &Of) {
    unpack(From[Of.Source], B.min(Group, End), Of);
  };
  for (const Block &Of : Blocks)
    Unpack(Zero, Of);
  for (const Block &Of : Blocks) {
    storeProducts(multiply(Zero, Of), Of);
    Unpack(B.index(1), Of);
  }
  bool HasRoom = 2 * tilesOfBlock(RowCount) <= MostTiles;
  B.loop(Zero, End, 1, [&](Value Group) {
    SmallVector<Value> Before;
    for (auto [I, Of] : llvm::enumerate(Blocks)) {
      SmallVector<Value> Tiles = multiply(B.add(Group, 1), Of);
      Unpack(B.add(Group, 2), Of);
      addProducts(From[Of.Source], Group, Of);
      if (HasRoom && I != 0)
        storeProducts(Before, Blocks[I - 1]);
      if (!HasRoom || I + 1 == Blocks.size())
        storeProducts(Tiles, Of);
      Before = std::move(Tiles);
    }
  });
  for (const Block &Of : Blocks)
    addProducts(From[Of.Source], End, Of);
  finishRows(Panels, {Result, B.index(0), First, Last}, Finish);
}

/// Unpacks the numbers of a group, in the order that they lie in.
void IntegerTileMatmul::unpack(const Stream &From, Value Group,
                               const Block &Of) {
  GroupReader Reader(B, Format, From.View, From.Panel, Group,
                     B.index(Of.Column * Lanes));
  for (int64_t Step = 0; Step < GroupSteps; ++Step) {
    if (Step % 2 == 0)
      Reader.setOctet(B.index(Step / 2));
    vector::StoreOp::create(
        B, Reader.numbers(Step % 2), Numbers,
        ValueRange{slotOf(Group), B.index(numberOf(Of) * GroupSteps + Step),
                   B.index(0)});
  }
}

/// Starts the products of the unpacked numbers of a group: by part and tile of
/// rows.
SmallVector<Value> IntegerTileMatmul::multiply(Value Group, const Block &Of) {
  SmallVector<Value> Tiles;
  Value Weights = loadByteTile(
      B, GroupSteps, 4 * Lanes, Numbers,
      {slotOf(Group), B.index(numberOf(Of) * GroupSteps), B.index(0)});
  for (int64_t Part = 0; Part < Parts; ++Part)
    for (int64_t T = 0; T < tilesOfRows(Of.RowCount); ++T) {
      Value OfRows = loadByteTile(
          B, TileRows, GroupValues, Digits,
          {Group, B.index(Part * stagedRows() + T * TileRows), B.index(0)});
      Tiles.push_back(multiplyByteTiles(B, OfRows, Weights));
    }
  return Tiles;
}

/// Stores what multiply() returned.
void IntegerTileMatmul::storeProducts(ArrayRef<Value> Tiles, const Block &Of) {
  for (auto [I, Tile] : llvm::enumerate(Tiles))
    storeTile(B, Tile, Products,
              {B.index((tileOf(Of, 0, 0) + static_cast<int64_t>(I)) * TileRows),
               B.index(0)});
}

/// Adds the stored products of a group to the sums. Between them asks for what
/// is unpacked later: beside the loads of the numbers, which come from the
/// second-level cache, that is slower.
void IntegerTileMatmul::addProducts(const Stream &From, Value Group,
                                    const Block &Of) {
  auto OfRow = [&](Value Of, int64_t Row) {
    return B.splat(B.loadScalar(Of, {Group, B.index(Row)}));
  };
  GroupReader Reader(B, Format, From.View, From.Panel, Group,
                     B.index(Of.Column * Lanes));
  SmallVector<Value, 2> OfParts;
  for (int64_t Part = 0; Part < Parts; ++Part)
    OfParts.push_back(Reader.scale(Part, /*OfPairs=*/true));
  Value Minimum = Reader.minimum();
  for (int64_t First = 0; First < Of.RowCount; First += AddedRows) {
    prefetchAhead(From, B.add(Group, 2), B.index(0), PanelWidth, Of.RowCount,
                  (Of.Column * Of.RowCount + First) / AddedRows,
                  PanelColumns * Of.RowCount / AddedRows);
    auto At = [&](int64_t R) {
      return SmallVector<Value>{B.index(First + R),
                                B.index(numberOf(Of) * Lanes)};
    };
    Sums Added;
    for (int64_t R = 0; R < AddedRows; ++R)
      Added.push_back(B.load(Result, At(R)));
    int64_t Part = 0;
    auto Product = [&](int64_t R, int64_t) {
      int64_t Row = First + R;
      int64_t FirstDigit = tileOf(Of, Part, Row / rowsOfTile()) * TileRows +
                           Row % rowsOfTile() * Rows.digits();
      SmallVector<Value, 2> OfDigits;
      for (int64_t Digit = 0; Digit < Rows.digits(); ++Digit)
        OfDigits.push_back(vector::LoadOp::create(
            B, B.vecType(B.getI32Type()), Products,
            ValueRange{B.index(FirstDigit + Digit), B.index(0)}));
      return Rows.number(OfDigits);
    };
    addScaled(B, {AddedRows, 1, Info},
              {[&](int64_t Which) { Part = Which; }, Product,
               [&](int64_t, int64_t Part) { return OfParts[Part]; },
               [&](int64_t) { return Minimum; },
               [&](int64_t R) { return OfRow(Scales, First + R); },
               [&](int64_t R) { return OfRow(Totals, First + R); }},
              [&](int64_t R, int64_t) -> Value & { return Added[R]; });
    for (int64_t R = 0; R < AddedRows; ++R)
      B.store(Added[R], Result, At(R));
  }
}
