//===- TileMatmul.cpp - Products of bf16 in tiles -------------------------===//
//
// A tile register holds 16 rows of 64 bytes. One instruction multiplies 16 rows
// of 32 bf16 with 16 output features of as many, which lie in pairs as panels
// have them. A block of 32 rows and 32 columns keeps its sums in four tiles.
// Tiles of rows that a block lacks are filled with zeros: how a row is
// multiplied does not depend on how many there are.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/MatmulEmitter.h"

#include "mlir/Dialect/AMX/AMXDialect.h"

using namespace mlir;
using namespace tenon;

namespace {

/// Rows of a tile, and its columns of sums.
constexpr int64_t TileRows = 16;
/// Input features of a tile.
constexpr int64_t TileFeatures = 32;

class TileMatmul : public MatmulEmitter {
public:
  TileMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
             ValueRange Weights, RowOrder Order)
      : MatmulEmitter(B, InFeatures, Weights), Input(Input), Order(Order) {}

  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override;
  bool streamsPanels() const override { return false; }

private:
  /// Tiles of sums of a block, by rows and by columns.
  struct Shape {
    int64_t Rows;
    int64_t Columns;
  };
  /// Where tiles are read from, one after the other: of rows or of pairs.
  struct Source {
    Value Buffer;
    SmallVector<Value> At;
  };

  void addProducts(const Stream &Pairs, Value FirstPair, Value FirstFeature,
                   int64_t Features, const Partial &Into, RowFinder RowOf);
  void multiply(const Source &Rows, const Stream &Pairs, Value FirstPair,
                int64_t Features, Value Row, const Partial &Into, Shape Size);
  Source stage(Value Row, Value End, int64_t Count, Value FirstFeature,
               int64_t Features, RowFinder RowOf);

  Value Input;
  RowOrder Order;
  /// Rows that are not read where they are.
  Value Staged;
};

} // namespace

std::unique_ptr<MatmulEmitter>
tenon::createTileMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
                        ValueRange Weights, RowOrder Order) {
  return std::make_unique<TileMatmul>(B, Input, InFeatures, Weights, Order);
}

bool tenon::servesTiles(dnn::TargetAttr Target, StorageFormat Input,
                        StorageFormat Weight, int64_t InFeatures) {
  if (!Target.hasDot(DotProduct::BF16Tile) || Input != StorageFormat::BF16)
    return false;
  // A tile of a panel must not reach into the next.
  return infoOf(Weight).isQuantised() ||
         (Weight == StorageFormat::BF16 && InFeatures % TileFeatures == 0);
}

/// Goes through panels piece by piece: one of quantised weights is widened once
/// for as many rows as have room for their sums.
void TileMatmul::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                      RowFinder RowOf, Epilogue Finish) {
  constexpr int64_t MostRows = 512, PieceFeatures = 512;
  Value Widened;
  if (infoOf(Format).isQuantised())
    Widened =
        B.scratch({1, PieceFeatures / 2, PanelWidth * 2}, B.getBF16Type());
  Staged = B.scratch({2 * TileRows, PieceFeatures}, B.getBF16Type());
  emitPieces(
      Panels, First, Last, InFeatures, PieceFeatures, MostRows,
      [&](const Stream &From, Value Feature, int64_t Features,
          const Partial &Into) {
        if (!Widened)
          return addProducts(From, B.div(Feature, 2), Feature, Features, Into,
                             RowOf);
        widenPanel(From, B.div(Feature, GroupValues), Features,
                   StorageFormat::BF16, Widened);
        addProducts({Widened, B.index(0)}, B.index(0), Feature, Features, Into,
                    RowOf);
      },
      Finish);
}

/// Adds products of rows with `Features` of a panel of pairs to their sums.
void TileMatmul::addProducts(const Stream &Pairs, Value FirstPair,
                             Value FirstFeature, int64_t Features,
                             const Partial &Into, RowFinder RowOf) {
  constexpr int64_t BlockRows = 2 * TileRows;
  auto Block = [&](Value Row, const Source &Rows, Shape Size) {
    multiply(Rows, Pairs, FirstPair, Features, Row, Into, Size);
  };
  bool InPlace = Order == RowOrder::Consecutive && Features % TileFeatures == 0;
  Value Rest = Into.First;
  if (InPlace) {
    Value Count = B.sub(Into.Last, Into.First);
    Rest = B.add(Into.First, B.mul(B.div(Count, BlockRows), BlockRows));
    B.loop(Into.First, Rest, BlockRows, [&](Value Row) {
      InputRow In = RowOf(Row);
      Block(Row, {Input, {In.Row, B.add(In.Column, FirstFeature)}}, {2, 2});
    });
  }
  Shape Size = InPlace ? Shape{1, 4} : Shape{2, 2};
  B.loop(Rest, Into.Last, Size.Rows * TileRows, [&](Value Row) {
    Block(Row,
          stage(Row, Into.Last, Size.Rows * TileRows, FirstFeature, Features,
                RowOf),
          Size);
  });
}

/// Copies `Count` rows from `Row` on, zeros for those from `End` on and for the
/// features that the last tile lacks.
TileMatmul::Source TileMatmul::stage(Value Row, Value End, int64_t Count,
                                     Value FirstFeature, int64_t Features,
                                     RowFinder RowOf) {
  auto Type = B.vecType(B.getBF16Type(), TileFeatures);
  Value Zero = arith::ConstantOp::create(B, B.getZeroAttr(Type));
  int64_t Width = llvm::alignTo(Features, TileFeatures);
  B.loop(B.index(0), B.index(Count), 1, [&](Value I) {
    auto Fill =
        [&](llvm::function_ref<Value(Value Feature, int64_t Valid)> Of) {
          auto Store = [&](Value Feature, int64_t Valid) {
            vector::StoreOp::create(B, Of(Feature, Valid), Staged,
                                    ValueRange{I, Feature});
          };
          int64_t Full = Features / TileFeatures * TileFeatures;
          if (Full > 0)
            B.loop(B.index(0), B.index(Full), TileFeatures,
                   [&](Value Feature) { Store(Feature, TileFeatures); });
          if (Full < Width)
            Store(B.index(Full), Features - Full);
        };
    Value From = B.add(Row, I);
    B.ifThenElse(
        B.isLess(From, End),
        [&] {
          InputRow In = RowOf(From);
          Value Begin = B.add(In.Column, FirstFeature);
          Fill([&](Value Feature, int64_t Valid) -> Value {
            SmallVector<Value> At = {In.Row, B.add(Begin, Feature)};
            if (Valid == TileFeatures)
              return vector::LoadOp::create(B, Type, Input, At);
            Value Mask = vector::CreateMaskOp::create(
                B, B.vecType(B.getI1Type(), TileFeatures),
                ValueRange{B.index(Valid)});
            return vector::MaskedLoadOp::create(B, Type, Input, At, Mask, Zero);
          });
        },
        [&] { Fill([&](Value, int64_t) { return Zero; }); });
  });
  return {Staged, {B.index(0), B.index(0)}};
}

/// Adds products of tiles of rows, that of `Row` first, with all columns.
void TileMatmul::multiply(const Source &Rows, const Stream &Pairs,
                          Value FirstPair, int64_t Features, Value Row,
                          const Partial &Into, Shape Size) {
  auto RowType = amx::TileType::get({TileRows, TileFeatures}, B.getBF16Type());
  auto SumType = amx::TileType::get({TileRows, Lanes}, B.getF32Type());
  auto Load = [&](Type Tile, Value Buffer, ValueRange At) -> Value {
    return amx::TileLoadOp::create(B, Tile, Buffer, At);
  };
  auto PlaceOfSums = [&](Value Column, int64_t R, int64_t C) {
    return SmallVector<Value>{B.add(B.sub(Row, Into.First), R * TileRows),
                              B.add(B.add(Into.Column, Column), C * Lanes)};
  };
  B.loop(
      B.index(0), B.index(PanelWidth), Size.Columns * Lanes, [&](Value Column) {
        SmallVector<Value> Sums;
        for (int64_t R = 0; R < Size.Rows; ++R)
          for (int64_t C = 0; C < Size.Columns; ++C)
            Sums.push_back(Load(SumType, Into.Sums, PlaceOfSums(Column, R, C)));
        for (int64_t Feature = 0; Feature < Features; Feature += TileFeatures) {
          SmallVector<Value> RowTiles;
          for (int64_t R = 0; R < Size.Rows; ++R)
            RowTiles.push_back(Load(
                RowType, Rows.Buffer,
                {B.add(Rows.At[0], R * TileRows), B.add(Rows.At[1], Feature)}));
          for (int64_t C = 0; C < Size.Columns; ++C) {
            Value PairTile = Load(RowType, Pairs.View,
                                  {Pairs.Panel, B.add(FirstPair, Feature / 2),
                                   B.mul(B.add(Column, C * Lanes), 2)});
            for (int64_t R = 0; R < Size.Rows; ++R) {
              Value &Sum = Sums[R * Size.Columns + C];
              Sum = amx::TileMulFOp::create(B, SumType, RowTiles[R], PairTile,
                                            Sum);
            }
          }
        }
        for (int64_t R = 0; R < Size.Rows; ++R)
          for (int64_t C = 0; C < Size.Columns; ++C)
            amx::TileStoreOp::create(B, Into.Sums, PlaceOfSums(Column, R, C),
                                     Sums[R * Size.Columns + C]);
      });
}
