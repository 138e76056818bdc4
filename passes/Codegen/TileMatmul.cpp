//===- TileMatmul.cpp - Products of bf16 in tiles -------------------------===//
//
// Panels hold pairs as tiles need them, in whole tiles. A block of 32 rows and
// 32 columns keeps its sums in four tiles.
//
// Rows are copied: where they lie, those of a tile are a power of two apart and
// would fall into the same lines of the cache. A row is multiplied in the same
// way however many there are: those that the last tile lacks are multiplied
// too, whatever stands there, and their sums are not used.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/MatmulEmitter.h"
#include "passes/Codegen/Tiles.h"

using namespace mlir;
using namespace tenon;

namespace {

/// Input features of a piece: two tiles of columns of one stay in the
/// first-level cache while rows are multiplied with them.
constexpr int64_t PieceFeatures = 256;
/// Rows that a piece is widened for, whose sums wait in the second-level cache.
constexpr int64_t ChunkRows = 512;
/// Columns that the copy of a piece of the rows is for.
constexpr int64_t MostColumns = 256;

class TileMatmul : public MatmulEmitter {
public:
  TileMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
             ValueRange Weights)
      : MatmulEmitter(B, InFeatures, Weights), Input(Input) {}

  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override;
  int64_t panelsAtOnce() const override {
    int64_t Most = MostColumns / PanelWidth / matrices();
    while (panels() % Most != 0)
      --Most;
    return Most;
  }

private:
  /// Tiles of sums of a block, by rows and by columns.
  struct Shape {
    int64_t Rows;
    int64_t Columns;
  };
  static constexpr Shape Square{2, 2}, Flat{1, 4};
  /// A panel as pairs of bf16, from a place in each row of it.
  struct PairSource {
    Value Buffer, Panel, FirstPair;
  };
  /// A panel from a feature on.
  struct Piece {
    Stream From;
    Value Feature;
  };

  void forEachPanel(
      Panel First, int64_t Count, Value Feature,
      llvm::function_ref<void(const Piece &This, const Piece &Next, Value Slot)>
          Do);
  void addPiece(const Piece &This, const Piece &Next, int64_t Features,
                Value RowCount, Value FirstColumn);
  void copyPanel(const Piece &This, const Piece &Next, int64_t Features);
  void stage(Value First, Value Last, Value FirstFeature, int64_t Features,
             RowFinder RowOf);
  void addProducts(const PairSource &Pairs, int64_t Features, Value RowCount,
                   Value FirstColumn);
  void multiply(const PairSource &Pairs, int64_t Features, Value Row,
                Value Column, Value FirstColumn, Shape Size);
  Value slotOf(Value Panel, int64_t Matrix) {
    return B.add(B.mul(Panel, matrices()), Matrix);
  }

  Value Input;
  /// Scratch: a piece of the rows; sums, the columns of one panel after the
  /// other; a piece of a panel as pairs.
  Value Staged, Sums, PieceCopy;
};

} // namespace

std::unique_ptr<MatmulEmitter> tenon::createTileMatmul(KernelBuilder &B,
                                                       Value Input,
                                                       int64_t InFeatures,
                                                       ValueRange Weights) {
  return std::make_unique<TileMatmul>(B, Input, InFeatures, Weights);
}

void TileMatmul::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                      RowFinder RowOf, Epilogue Finish) {
  auto Count = static_cast<int64_t>(Panels.size());
  int64_t Width = Count * matrices() * PanelWidth;
  Type BF16 = B.getBF16Type();
  Sums = B.scratch({ChunkRows, Width});
  // A tile more, so that rows fall into different lines of the cache.
  Staged = B.scratch({ChunkRows, PieceFeatures + TileFeatures}, BF16);
  PieceCopy = B.scratch({1, PieceFeatures / 2, PanelWidth * 2}, BF16);
  B.loop(First, Last, ChunkRows, [&](Value From) {
    Value To = B.min(B.add(From, ChunkRows), Last);
    Value RowCount = B.sub(To, From);
    B.loop(B.index(0), RowCount, 1, [&](Value Row) {
      B.columns(Width, [&](Value Column, int64_t) {
        B.store(B.vecConst(0), Sums, {Row, Column});
      });
    });
    auto Piece = [&](Value Feature, int64_t Features) {
      stage(From, To, Feature, Features, RowOf);
      forEachPanel(Panels[0], Count, Feature,
                   [&](const TileMatmul::Piece &This,
                       const TileMatmul::Piece &Next, Value Slot) {
                     addPiece(This, Next, Features, RowCount,
                              B.mul(Slot, PanelWidth));
                   });
    };
    int64_t Full = InFeatures / PieceFeatures * PieceFeatures;
    if (Full > 0)
      B.loop(B.index(0), B.index(Full), PieceFeatures,
             [&](Value Feature) { Piece(Feature, PieceFeatures); });
    if (Full < InFeatures)
      Piece(B.index(Full), InFeatures - Full);
    B.loop(From, To, 1, [&](Value Row) {
      B.loop(B.index(0), B.index(Count), 1, [&](Value I) {
        Panel P{B.add(Panels[0].Number, I),
                B.add(Panels[0].Feature, B.mul(I, PanelWidth))};
        B.loop(B.index(0), B.index(PanelWidth), Lanes, [&](Value Column) {
          SmallVector<Value> Result;
          for (int64_t M = 0; M < matrices(); ++M)
            Result.push_back(
                B.load(Sums, {B.sub(Row, From),
                              B.add(B.mul(slotOf(I, M), PanelWidth), Column)}));
          finishBlock(P, Row, Column, {1, Lanes}, Result, Finish);
        });
      });
    });
  });
}

/// Calls `Do` with the piece from `Feature` on of `Count` panels of each
/// matrix, with the one that comes next, and with its place among all of them.
void TileMatmul::forEachPanel(
    Panel First, int64_t Count, Value Feature,
    llvm::function_ref<void(const Piece &This, const Piece &Next, Value Slot)>
        Do) {
  B.loop(B.index(0), B.index(Count), 1, [&](Value I) {
    Value After = B.add(I, 1);
    Value IsLast = B.isEqual(After, B.index(Count));
    auto Select = [&](Value Then, Value Else) -> Value {
      return arith::SelectOp::create(B, IsLast, Then, Else);
    };
    Value NextPanel = B.add(First.Number, Select(B.index(0), After));
    Value NextFeature = Select(B.add(Feature, PieceFeatures), Feature);
    for (int64_t M = 0; M < matrices(); ++M)
      Do({{Views[M], B.add(First.Number, I)}, Feature},
         {{Views[M], NextPanel}, NextFeature}, slotOf(I, M));
  });
}

/// Adds products of the staged rows with `Features` of a panel to their sums.
/// What tiles load comes from a copy in the first-level cache, made in the
/// order of the memory while the next piece is asked for; but for rows of one
/// tile the copy takes longer than it saves.
void TileMatmul::addPiece(const Piece &This, const Piece &Next,
                          int64_t Features, Value RowCount, Value FirstColumn) {
  PairSource Copied{PieceCopy, B.index(0), B.index(0)};
  if (infoOf(Format).isQuantised()) {
    widenPanel(This.From, B.div(This.Feature, GroupValues), Features,
               StorageFormat::BF16, PieceCopy, B.index(0), &Next.From,
               B.div(Next.Feature, GroupValues));
    return addProducts(Copied, Features, RowCount, FirstColumn);
  }
  B.ifThenElse(
      B.isLess(B.index(TileRows), RowCount),
      [&] {
        copyPanel(This, Next, Features);
        addProducts(Copied, Features, RowCount, FirstColumn);
      },
      [&] {
        PairSource InPlace{This.From.View, This.From.Panel,
                           B.div(This.Feature, 2)};
        multiply(InPlace, Features, B.index(0), B.index(0), FirstColumn, Flat);
      });
}

void TileMatmul::copyPanel(const Piece &This, const Piece &Next,
                           int64_t Features) {
  auto Type = B.vecType(B.getBF16Type(), TileFeatures);
  auto ForEachLine = [&](const Piece &P, Value Pair, auto Do) {
    for (int64_t At = 0; At < 2 * PanelWidth; At += TileFeatures)
      Do(SmallVector<Value>{P.From.Panel, B.add(B.div(P.Feature, 2), Pair),
                            B.index(At)});
  };
  int64_t Whole = llvm::alignTo(Features, TileFeatures);
  B.loop(B.index(0), B.index(Whole / 2), 1, [&](Value Pair) {
    ForEachLine(Next, Pair, [&](ValueRange At) {
      B.prefetch(Next.From.View, At, /*Locality=*/2);
    });
    ForEachLine(This, Pair, [&](ValueRange At) {
      Value Line = vector::LoadOp::create(B, Type, This.From.View, At);
      vector::StoreOp::create(B, Line, PieceCopy,
                              ValueRange{B.index(0), Pair, At[2]});
    });
  });
}

/// Copies a piece of rows [First, Last), with zeros for the features that the
/// last tile lacks.
void TileMatmul::stage(Value First, Value Last, Value FirstFeature,
                       int64_t Features, RowFinder RowOf) {
  auto Type = B.vecType(B.getBF16Type(), TileFeatures);
  Value Zero = arith::ConstantOp::create(B, B.getZeroAttr(Type));
  int64_t Full = Features / TileFeatures * TileFeatures;
  auto Store = [&](Value Line, Value Row, Value Feature) {
    vector::StoreOp::create(B, Line, Staged, ValueRange{Row, Feature});
  };
  B.loop(B.index(0), B.sub(Last, First), 1, [&](Value Row) {
    InputRow In = RowOf(B.add(First, Row));
    auto At = [&](Value Feature) {
      return SmallVector<Value>{In.Row,
                                B.add(B.add(In.Column, FirstFeature), Feature)};
    };
    B.loop(B.index(0), B.index(Full), TileFeatures, [&](Value Feature) {
      Store(vector::LoadOp::create(B, Type, Input, At(Feature)), Row, Feature);
    });
    if (Full == Features)
      return;
    Value Mask =
        vector::CreateMaskOp::create(B, B.vecType(B.getI1Type(), TileFeatures),
                                     ValueRange{B.index(Features - Full)});
    Store(vector::MaskedLoadOp::create(B, Type, Input, At(B.index(Full)), Mask,
                                       Zero),
          Row, B.index(Full));
  });
}

void TileMatmul::addProducts(const PairSource &Pairs, int64_t Features,
                             Value RowCount, Value FirstColumn) {
  // The last block of at most 16 rows is flat.
  Value Tiles = B.ceilDiv(RowCount, TileRows);
  Value Rest = B.mul(B.div(Tiles, Square.Rows), Square.Rows * TileRows);
  B.loop(B.index(0), Rest, Square.Rows * TileRows, [&](Value Row) {
    B.loop(B.index(0), B.index(PanelWidth), Square.Columns * Lanes,
           [&](Value Column) {
             multiply(Pairs, Features, Row, Column, FirstColumn, Square);
           });
  });
  B.ifThen(B.isLess(Rest, RowCount), [&] {
    multiply(Pairs, Features, Rest, B.index(0), FirstColumn, Flat);
  });
}

/// Adds products of tiles of rows, that of `Row` first, with columns of a panel
/// from `Column` on to sums from `FirstColumn` on.
void TileMatmul::multiply(const PairSource &Pairs, int64_t Features, Value Row,
                          Value Column, Value FirstColumn, Shape Size) {
  auto ForEachSum =
      [&](llvm::function_ref<void(int64_t R, int64_t C, ValueRange At)> Do) {
        for (int64_t R = 0; R < Size.Rows; ++R)
          for (int64_t C = 0; C < Size.Columns; ++C)
            Do(R, C,
               {B.add(Row, R * TileRows),
                B.add(B.add(FirstColumn, Column), C * Lanes)});
      };
  SmallVector<Value> Tiles;
  ForEachSum([&](int64_t, int64_t, ValueRange At) {
    Tiles.push_back(loadSums(B, Sums, At));
  });
  for (int64_t Feature = 0; Feature < Features; Feature += TileFeatures) {
    SmallVector<Value> Rows;
    for (int64_t R = 0; R < Size.Rows; ++R)
      Rows.push_back(
          loadTile(B, Staged, {B.add(Row, R * TileRows), B.index(Feature)}));
    for (int64_t C = 0; C < Size.Columns; ++C) {
      Value Columns =
          loadTile(B, Pairs.Buffer,
                   {Pairs.Panel, B.add(Pairs.FirstPair, Feature / 2),
                    B.mul(B.add(Column, C * Lanes), 2)});
      for (int64_t R = 0; R < Size.Rows; ++R) {
        Value &Sum = Tiles[R * Size.Columns + C];
        Sum = multiplyTiles(B, Rows[R], Columns, Sum);
      }
    }
  }
  ForEachSum([&](int64_t R, int64_t C, ValueRange At) {
    storeTile(B, Tiles[R * Size.Columns + C], Sums, At);
  });
}
