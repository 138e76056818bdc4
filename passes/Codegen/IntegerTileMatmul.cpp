//===- IntegerTileMatmul.cpp - Products of grouped integers in tiles ------===//
//
// For more rows than dot products keep up with the memory for, and fewer than
// widening the weights pays for. A tile holds both digits of a group of eight
// rows; the weights' numbers of 16 output features are unpacked to the tile
// that it is multiplied with. The sums of a group leave the tiles as integers
// and are scaled as IntegerMatmul scales them, in the same order: a row's bits
// do not depend on which of both multiplied it.
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

  void prepare(Value First, Value Last, RowFinder RowOf) override;
  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override;

private:
  /// Rows that are staged, and multiplied while a panel is read.
  static constexpr int64_t ChunkRows = 16;
  /// Rows and columns of 16 whose sums fill half of the registers.
  static constexpr int64_t BlockSums = 16;
  /// Rows of a tile of numbers: fours of a group.
  static constexpr int64_t GroupSteps = GroupValues / 4;

  int64_t rowsOfTile() const { return TileRows / Rows.digits(); }
  /// Rows of the tiles of a part of a group.
  int64_t stagedRows() const { return ChunkRows * Rows.digits(); }

  void allocate();
  Value partOf(Value All, int64_t Part);
  void stage(Value First, Value Last, RowFinder RowOf);
  void emitPanel(const Panel &P, Value First, Value Last, int64_t RowCount,
                 Epilogue Finish);
  void unpack(const Stream &From, Value Group, Value Column, int64_t Columns);
  SmallVector<Value> multiply(Value Group, int64_t RowCount);
  void storeProducts(ArrayRef<Value> Tiles);
  void addProducts(const Stream &From, Value Group, Value Column,
                   int64_t RowCount, MutableArrayRef<Value> Sums);
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
  /// Numbers of a group of columns, a row of a tile for each step; sums of
  /// products; sums of all groups.
  Value Numbers, Products, Result;
};

} // namespace

std::unique_ptr<MatmulEmitter>
tenon::createIntegerTileMatmul(KernelBuilder &B, Value Input,
                               int64_t InFeatures, ValueRange Weights) {
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
  int64_t Columns = BlockSums / rowsOfTile();
  Numbers = B.scratch({2, Columns * GroupSteps, 4 * Lanes}, B.getI8Type());
  Products = B.scratch({Parts * Columns * TileRows, Lanes}, B.getI32Type());
  Result = B.scratch({ChunkRows, matrices() * PanelWidth});
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
    for (const Panel &P : Panels)
      B.ifThenElse(
          B.isLess(B.index(rowsOfTile()), B.sub(To, From)),
          [&] { emitPanel(P, From, To, ChunkRows, Finish); },
          [&] { emitPanel(P, From, To, rowsOfTile(), Finish); });
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

/// Copies rows [First, Last), the last one also in place of those that a chunk
/// lacks.
void IntegerTileMatmul::stage(Value First, Value Last, RowFinder RowOf) {
  auto Type = B.vecType(B.getI8Type(), GroupValues);
  B.loop(B.index(0), B.index(ChunkRows), 1, [&](Value Place) {
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

/// Multiplies what is staged, as if it were `RowCount` rows.
void IntegerTileMatmul::emitPanel(const Panel &P, Value First, Value Last,
                                  int64_t RowCount, Epilogue Finish) {
  int64_t Columns = BlockSums / RowCount;
  for (auto [M, From] : llvm::enumerate(streams(P)))
    B.loop(B.index(0), B.index(PanelWidth), Columns * Lanes, [&](Value Column) {
      // While tiles multiply a group, the numbers of the next are unpacked and
      // the products of the one before are added.
      Value Zero = B.index(0), End = B.index(Groups - 1);
      unpack(From, Zero, Column, Columns);
      storeProducts(multiply(Zero, RowCount));
      unpack(From, B.min(B.index(1), End), Column, Columns);
      Sums Start(BlockSums, B.vecConst(0));
      Sums All =
          B.loop(Zero, End, 1, Start, [&](Value Group, ValueRange Carried) {
            Value Next = B.add(Group, 1);
            SmallVector<Value> Tiles = multiply(Next, RowCount);
            unpack(From, B.min(B.add(Group, 2), End), Column, Columns);
            Sums Added(Carried);
            addProducts(From, Group, Column, RowCount, Added);
            storeProducts(Tiles);
            return Added;
          });
      addProducts(From, End, Column, RowCount, All);
      for (int64_t R = 0; R < RowCount; ++R)
        for (int64_t C = 0; C < Columns; ++C)
          B.store(All[R * Columns + C], Result,
                  {B.index(R),
                   B.add(B.add(Column, static_cast<int64_t>(M) * PanelWidth),
                         C * Lanes)});
    });
  B.loop(First, Last, 1, [&](Value Row) {
    B.loop(B.index(0), B.index(PanelWidth), Lanes, [&](Value Column) {
      SmallVector<Value> OfMatrices;
      for (int64_t M = 0; M < matrices(); ++M)
        OfMatrices.push_back(
            B.load(Result, {B.sub(Row, First), B.add(Column, M * PanelWidth)}));
      finishBlock(P, Row, Column, {1, Lanes}, OfMatrices, Finish);
    });
  });
}

/// Unpacks the numbers of a group for columns from `Column` on.
void IntegerTileMatmul::unpack(const Stream &From, Value Group, Value Column,
                               int64_t Columns) {
  for (int64_t C = 0; C < Columns; ++C) {
    GroupReader Reader(B, Format, From.View, From.Panel, Group,
                       B.add(Column, C * Lanes));
    for (int64_t Step = 0; Step < GroupSteps; ++Step) {
      if (Step % 2 == 0)
        Reader.setOctet(B.index(Step / 2));
      prefetchAhead(From, Group, C * GroupSteps + Step, Columns * GroupSteps);
      vector::StoreOp::create(B, Reader.numbers(Step % 2), Numbers,
                              ValueRange{slotOf(Group),
                                         B.index(C * GroupSteps + Step),
                                         B.index(0)});
    }
  }
}

/// Starts the products of the unpacked numbers of a group: by part, column of
/// 16 and tile of rows.
SmallVector<Value> IntegerTileMatmul::multiply(Value Group, int64_t RowCount) {
  int64_t Columns = BlockSums / RowCount;
  SmallVector<Value> Tiles;
  for (int64_t Part = 0; Part < Parts; ++Part) {
    SmallVector<Value> RowTiles;
    for (int64_t R = 0; R < RowCount; R += rowsOfTile())
      RowTiles.push_back(
          loadByteTile(B, TileRows, GroupValues, Digits,
                       {Group, B.index(Part * stagedRows() + R * Rows.digits()),
                        B.index(0)}));
    for (int64_t C = 0; C < Columns; ++C) {
      Value Weights =
          loadByteTile(B, GroupSteps, 4 * Lanes, Numbers,
                       {slotOf(Group), B.index(C * GroupSteps), B.index(0)});
      for (Value Tile : RowTiles)
        Tiles.push_back(multiplyByteTiles(B, Tile, Weights));
    }
  }
  return Tiles;
}

void IntegerTileMatmul::storeProducts(ArrayRef<Value> Tiles) {
  for (auto [I, Tile] : llvm::enumerate(Tiles))
    storeTile(B, Tile, Products,
              {B.index(static_cast<int64_t>(I) * TileRows), B.index(0)});
}

/// Adds the stored products of a group, for columns from `Column` on, to sums
/// by row and column.
void IntegerTileMatmul::addProducts(const Stream &From, Value Group,
                                    Value Column, int64_t RowCount,
                                    MutableArrayRef<Value> Sums) {
  int64_t Columns = BlockSums / RowCount, TilesOfRows = RowCount / rowsOfTile();
  std::vector<GroupReader> Readers;
  for (int64_t C = 0; C < Columns; ++C)
    Readers.emplace_back(B, Format, From.View, From.Panel, Group,
                         B.add(Column, C * Lanes));
  int64_t Part = 0;
  auto Product = [&](int64_t Row, int64_t Column) {
    int64_t Tile = (Part * Columns + Column) * TilesOfRows + Row / rowsOfTile();
    int64_t First = Tile * TileRows + Row % rowsOfTile() * Rows.digits();
    SmallVector<Value, 2> OfDigits;
    for (int64_t Digit = 0; Digit < Rows.digits(); ++Digit)
      OfDigits.push_back(vector::LoadOp::create(
          B, B.vecType(B.getI32Type()), Products,
          ValueRange{B.index(First + Digit), B.index(0)}));
    return Rows.number(OfDigits);
  };
  auto OfRow = [&](Value Of) {
    return [this, Of, Group](int64_t Row) {
      return B.splat(B.loadScalar(Of, {Group, B.index(Row)}));
    };
  };
  addScaled(
      B, {RowCount, Columns, Info},
      {[&](int64_t Which) { Part = Which; }, Product,
       [&](int64_t C, int64_t Part) {
         return Readers[C].scale(Part, /*OfPairs=*/true);
       },
       [&](int64_t C) { return Readers[C].minimum(); }, OfRow(Scales),
       OfRow(Totals)},
      [&](int64_t R, int64_t C) -> Value & { return Sums[R * Columns + C]; });
}
