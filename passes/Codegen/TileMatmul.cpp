//===- TileMatmul.cpp - Products of bf16 in tiles -------------------------===//
//
// Panels hold pairs as tiles need them, in whole tiles. A block of 32 rows and
// 32 columns keeps its sums in four tiles.
//
// The time of many rows is that of their products: a piece of a panel stays in
// the first-level cache, widened if it is quantised, while it is multiplied
// with all of them and the next comes from memory. Up to 32 rows take the time
// of the panel's way from memory, and go through it from its beginning to its
// end: tiles multiply what 32 features have while those of the next 32 are
// copied.
//
// Rows are copied tile by tile: where they lie, those of a tile are a power of
// two apart and would fall into the same lines of the cache. A row is
// multiplied in the same way however many there are: those that the last tile
// lacks are multiplied too, whatever stands there, and their sums are not used.
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
constexpr int64_t MostColumns = 512;
/// Rows of a block, and the most that stream a panel.
constexpr int64_t BlockRows = 2 * TileRows;

class TileMatmul : public MatmulEmitter {
public:
  TileMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
             ValueRange Weights)
      : MatmulEmitter(B, InFeatures, Weights), Input(Input) {}

  void prepare(Value First, Value Last, RowFinder RowOf) override;
  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override;
  int64_t panelsAtOnce() const override {
    int64_t Most = mostPanels();
    while (panels() % Most != 0)
      --Most;
    return Most;
  }
  void emitShare(Value First, Value Last, RowFinder RowOf,
                 Epilogue Finish) override;

private:
  int64_t mostPanels() const {
    return std::min(MostColumns / PanelWidth / matrices(), panels());
  }
  void allocate();
  /// Steps of a row.
  int64_t steps() const { return llvm::divideCeil(InFeatures, TileFeatures); }
  /// Whether few rows are kept side by side, as streaming a panel needs them,
  /// which every thread does.
  bool hasRoomForFew() const { return stagedBytes() <= int64_t(4) << 20; }
  int64_t stagedBytes() const {
    return steps() * BlockRows * TileFeatures *
           static_cast<int64_t>(sizeof(uint16_t));
  }
  /// Whether rows [First, Last) stream a panel, where there is room.
  Value areFew(Value First, Value Last) {
    return B.isLess(B.sub(Last, First), B.index(BlockRows + 1));
  }
  void multiplyPanels(Panel FirstPanel, Value Count, Value First, Value Last,
                      RowFinder RowOf, Epilogue Finish);
  void streamPanels(Panel FirstPanel, Value Count, Value First, Value Last,
                    Epilogue Finish);
  void clear(Value Rows, Value RowCount, Value Columns);
  /// Tiles of sums of a block, by rows and by columns.
  struct Shape {
    int64_t Rows;
    int64_t Columns;
  };
  static constexpr Shape Square{BlockRows / TileRows, 2}, Flat{1, 4};
  /// `Features` of a panel from `Feature` on, the sums they are for, and what
  /// the next piece begins with.
  struct Piece {
    Stream From;
    Value Feature;
    int64_t Features;
    Value Sums;
    Value FirstColumn;
    Stream Next;
    Value NextFeature;
  };

  void
  forEachPiece(int64_t MostFeatures,
               llvm::function_ref<void(Value Feature, int64_t Features)> Body);
  void stage(Value Into, Value First, Value Last, Value FirstFeature,
             int64_t Features, RowFinder RowOf);

  void addPiece(const Piece &P, Value RowCount);
  void multiply(const Piece &P, Value Row, Value Column, Shape Size,
                Value LinesPerStep);
  void askForNext(const Piece &P, Value Step, Value LinesPerStep);

  void addStreamed(const Piece &P, Value RowCount);
  void stream(const Piece &P, Value Column, Shape Size);
  void copyColumns(const Piece &P, Value Step, Value Column, Shape Size,
                   llvm::function_ref<void(int64_t C)> Between);
  void askForRows(const Piece &P, Value Step, Shape Size, int64_t Number,
                  int64_t Count);

  SmallVector<Value> loadBlock(Value Sums, Value Row, Value Column, Shape Size);
  void storeBlock(ValueRange Tiles, Value Sums, Value Row, Value Column,
                  Shape Size);
  SmallVector<Value> loadRows(Value Rows, Value Step, Value Row, Shape Size);
  void multiplyColumn(ArrayRef<Value> Rows, Value Columns, int64_t C,
                      Shape Size, MutableArrayRef<Value> Tiles);
  /// Features of a piece of a panel that is streamed. A piece is gone through
  /// for each block of its columns, which breaks the stream of plain numbers;
  /// quantised ones stay in the first-level cache if they are few.
  int64_t streamFeatures() const { return isQuantised() ? 128 : 2048; }
  /// Of a row of a panel's view: blocks, or pairs, of all its output features.
  int64_t rowFeatures() const {
    return isQuantised() ? infoOf(Format).BlockValues : 2;
  }
  int64_t rowLines() const {
    return PanelWidth * storedBytes(Format, rowFeatures()) / CacheLine;
  }
  bool isQuantised() const { return infoOf(Format).isQuantised(); }
  Value slotOf(Value Panel, int64_t Matrix) {
    return B.add(B.mul(Panel, matrices()), Matrix);
  }

  Value Input;
  /// Scratch of many rows: a piece of them, by features of a tile; sums, the
  /// columns of one panel after the other; a quantised piece as pairs.
  Value Staged, Sums, Widened;
  /// Of few rows: all of them, by features of a tile; sums of a panel; by
  /// turns, the tiles of the features of one.
  Value StagedFew, FewSums, Turns;
};

} // namespace

std::unique_ptr<MatmulEmitter> tenon::createTileMatmul(KernelBuilder &B,
                                                       Value Input,
                                                       int64_t InFeatures,
                                                       ValueRange Weights) {
  return std::make_unique<TileMatmul>(B, Input, InFeatures, Weights);
}

void TileMatmul::allocate() {
  if (Staged)
    return;
  Type BF16 = B.getBF16Type();
  // Few rows lie where the sums of many would.
  int64_t Bytes = std::max<int64_t>(ChunkRows * MostColumns * sizeof(float),
                                    hasRoomForFew() ? stagedBytes() : 0);
  Value Shared = B.scratch({Bytes}, B.getI8Type());
  // All of the kernel sees the views, as it does what they are of.
  OpBuilder::InsertionGuard Guard(B);
  B.setInsertionPointAfter(Shared.getDefiningOp());
  auto ViewOf = [&](ArrayRef<int64_t> Shape, Type Element) -> Value {
    return memref::ViewOp::create(B, MemRefType::get(Shape, Element), Shared,
                                  B.index(0), ValueRange());
  };
  Sums = ViewOf({ChunkRows, mostPanels() * matrices() * PanelWidth},
                B.getF32Type());
  if (hasRoomForFew())
    StagedFew = ViewOf({1, steps(), BlockRows, TileFeatures}, BF16);
  Staged = B.scratch({ChunkRows / BlockRows, PieceFeatures / TileFeatures,
                      BlockRows, TileFeatures},
                     BF16);
  if (isQuantised())
    Widened = B.scratch({1, PieceFeatures / 2, PanelWidth * 2}, BF16);
  FewSums = B.scratch({BlockRows, matrices() * PanelWidth});
  Turns = B.scratch({2, Flat.Columns, TileFeatures / 2, 2 * Lanes}, BF16);
}

void TileMatmul::prepare(Value First, Value Last, RowFinder RowOf) {
  allocate();
  if (!hasRoomForFew())
    return;
  B.ifThen(areFew(First, Last), [&] {
    stage(StagedFew, First, Last, B.index(0), InFeatures, RowOf);
  });
}

void TileMatmul::emit(ArrayRef<Panel> Panels, Value First, Value Last,
                      RowFinder RowOf, Epilogue Finish) {
  Value Count = B.index(static_cast<int64_t>(Panels.size()));
  if (!hasRoomForFew())
    return multiplyPanels(Panels[0], Count, First, Last, RowOf, Finish);
  B.ifThenElse(
      areFew(First, Last),
      [&] { streamPanels(Panels[0], Count, First, Last, Finish); },
      [&] { multiplyPanels(Panels[0], Count, First, Last, RowOf, Finish); });
}

/// Shares are of single panels, for there may be more threads than there are
/// groups of as many as are best.
void TileMatmul::emitShare(Value First, Value Last, RowFinder RowOf,
                           Epilogue Finish) {
  Value Most = B.index(mostPanels());
  auto Multiply = [&](Value FirstPanel, Value Count) {
    Value To = B.add(FirstPanel, Count);
    B.loop(FirstPanel, To, mostPanels(), [&](Value Number) {
      multiplyPanels(panelOf(Number), B.min(B.sub(To, Number), Most), First,
                     Last, RowOf, Finish);
    });
  };
  if (!hasRoomForFew())
    return B.claim(B.index(panels()), Most, Multiply);
  Value IsFew = areFew(First, Last);
  Value Grain = arith::SelectOp::create(
      B, IsFew, B.index(leastClaimed(panels(), 1)), Most);
  B.claim(B.index(panels()), Grain, [&](Value FirstPanel, Value Count) {
    B.ifThenElse(
        IsFew,
        [&] { streamPanels(panelOf(FirstPanel), Count, First, Last, Finish); },
        [&] { Multiply(FirstPanel, Count); });
  });
}

/// Calls `Body` with pieces of at most `MostFeatures`.
void TileMatmul::forEachPiece(
    int64_t MostFeatures,
    llvm::function_ref<void(Value Feature, int64_t Features)> Body) {
  int64_t Full = InFeatures / MostFeatures * MostFeatures;
  if (Full > 0)
    B.loop(B.index(0), B.index(Full), MostFeatures,
           [&](Value Feature) { Body(Feature, MostFeatures); });
  if (Full < InFeatures)
    Body(B.index(Full), InFeatures - Full);
}

void TileMatmul::clear(Value Rows, Value RowCount, Value Columns) {
  B.loop(B.index(0), RowCount, 1, [&](Value Row) {
    B.loop(B.index(0), Columns, Lanes,
           [&](Value Column) { B.store(B.vecConst(0), Rows, {Row, Column}); });
  });
}

/// Copies a piece of rows [First, Last), with zeros for the features that the
/// last tile lacks.
void TileMatmul::stage(Value Into, Value First, Value Last, Value FirstFeature,
                       int64_t Features, RowFinder RowOf) {
  auto Type = B.vecType(B.getBF16Type(), TileFeatures);
  Value Zero = arith::ConstantOp::create(B, B.getZeroAttr(Type));
  int64_t Full = Features / TileFeatures;
  auto ForEachRow = [&](Value Step,
                        llvm::function_ref<Value(ValueRange)> Load) {
    B.loop(B.index(0), B.sub(Last, First), 1, [&](Value Row) {
      InputRow In = RowOf(B.add(First, Row));
      Value Line = Load({In.Row, B.add(B.add(In.Column, FirstFeature),
                                       B.mul(Step, TileFeatures))});
      vector::StoreOp::create(B, Line, Into,
                              ValueRange{B.div(Row, BlockRows), Step,
                                         B.rem(Row, BlockRows), B.index(0)});
    });
  };
  B.loop(B.index(0), B.index(Full), 1, [&](Value Step) {
    ForEachRow(Step, [&](ValueRange At) -> Value {
      return vector::LoadOp::create(B, Type, Input, At);
    });
  });
  if (Full * TileFeatures == Features)
    return;
  Value Mask = vector::CreateMaskOp::create(
      B, B.vecType(B.getI1Type(), TileFeatures),
      ValueRange{B.index(Features - Full * TileFeatures)});
  ForEachRow(B.index(Full), [&](ValueRange At) -> Value {
    return vector::MaskedLoadOp::create(B, Type, Input, At, Mask, Zero);
  });
}

//===----------------------------------------------------------------------===//
// Many rows
//===----------------------------------------------------------------------===//

/// Multiplies with `Count` panels, at most mostPanels(), piece by piece, each
/// of which the rows are staged for once.
void TileMatmul::multiplyPanels(Panel FirstPanel, Value Count, Value First,
                                Value Last, RowFinder RowOf, Epilogue Finish) {
  B.loop(First, Last, ChunkRows, [&](Value From) {
    Value To = B.min(B.add(From, ChunkRows), Last);
    Value RowCount = B.sub(To, From);
    clear(Sums, RowCount, B.mul(Count, matrices() * PanelWidth));
    forEachPiece(PieceFeatures, [&](Value Feature, int64_t Features) {
      stage(Staged, From, To, Feature, Features, RowOf);
      B.loop(B.index(0), Count, 1, [&](Value I) {
        Value After = B.add(I, 1);
        Value IsLast = B.isEqual(After, Count);
        auto Select = [&](Value Then, Value Else) -> Value {
          return arith::SelectOp::create(B, IsLast, Then, Else);
        };
        Value NextPanel = B.add(FirstPanel.Number, Select(B.index(0), After));
        Value NextFeature = Select(B.add(Feature, PieceFeatures), Feature);
        for (int64_t M = 0; M < matrices(); ++M)
          addPiece({{Views[M], B.add(FirstPanel.Number, I)},
                    Feature,
                    Features,
                    Sums,
                    B.mul(slotOf(I, M), PanelWidth),
                    {Views[M], NextPanel},
                    NextFeature},
                   RowCount);
      });
    });
    B.loop(B.index(0), Count, 1, [&](Value I) {
      Panel P{B.add(FirstPanel.Number, I),
              B.add(FirstPanel.Feature, B.mul(I, PanelWidth))};
      finishRows(P, {Sums, B.mul(slotOf(I, 0), PanelWidth), From, To}, Finish);
    });
  });
}

/// Adds products of the staged rows with a piece to their sums.
void TileMatmul::addPiece(const Piece &P, Value RowCount) {
  if (isQuantised())
    widenPanel(P.From, B.div(P.Feature, GroupValues), P.Features,
               StorageFormat::BF16, Widened);
  // What the next piece has in memory, over all steps of this one.
  int64_t Lines = PieceFeatures / rowFeatures() * rowLines();
  constexpr int64_t StepsOfRows =
      PanelWidth / (Square.Columns * Lanes) * (PieceFeatures / TileFeatures);
  Value LinesPerStep =
      B.add(arith::DivUIOp::create(
                B, B.index(Lines - 1),
                B.mul(B.ceilDiv(RowCount, BlockRows), StepsOfRows)),
            1);
  // The last block of at most 16 rows is flat.
  Value Tiles = B.ceilDiv(RowCount, TileRows);
  Value Rest = B.mul(B.div(Tiles, Square.Rows), BlockRows);
  B.loop(B.index(0), Rest, BlockRows, [&](Value Row) {
    B.loop(
        B.index(0), B.index(PanelWidth), Square.Columns * Lanes,
        [&](Value Column) { multiply(P, Row, Column, Square, LinesPerStep); });
  });
  B.ifThen(B.isLess(Rest, RowCount),
           [&] { multiply(P, Rest, B.index(0), Flat, LinesPerStep); });
}

/// Adds products of tiles of rows, that of `Row` first, with columns of the
/// piece from `Column` on to their sums.
void TileMatmul::multiply(const Piece &P, Value Row, Value Column, Shape Size,
                          Value LinesPerStep) {
  Value Into = B.add(P.FirstColumn, Column);
  SmallVector<Value> Tiles = loadBlock(P.Sums, Row, Into, Size);
  auto Columns = [&](int64_t Step, int64_t C) {
    Value Pair = B.index(Step * TileFeatures / 2);
    Value First = B.mul(B.add(Column, C * Lanes), 2);
    if (isQuantised())
      return loadTile(B, Widened, {B.index(0), Pair, First});
    return loadTile(B, P.From.View,
                    {P.From.Panel, B.add(B.div(P.Feature, 2), Pair), First});
  };
  constexpr int64_t Steps = PieceFeatures / TileFeatures;
  Value Before = B.mul(
      B.add(B.mul(B.div(Row, BlockRows), PanelWidth / (Square.Columns * Lanes)),
            B.div(Column, Square.Columns * Lanes)),
      Steps);
  for (int64_t Step = 0; Step * TileFeatures < P.Features; ++Step) {
    SmallVector<Value> Rows = loadRows(Staged, B.index(Step), Row, Size);
    askForNext(P, B.add(Before, Step), LinesPerStep);
    for (int64_t C = 0; C < Size.Columns; ++C)
      multiplyColumn(Rows, Columns(Step, C), C, Size, Tiles);
  }
  storeBlock(Tiles, P.Sums, Row, Into, Size);
}

/// Asks for part `Step` of the next piece.
void TileMatmul::askForNext(const Piece &P, Value Step, Value LinesPerStep) {
  int64_t LineElements =
      cast<MemRefType>(P.Next.View.getType()).getDimSize(2) / rowLines();
  Value First = B.mul(Step, LinesPerStep);
  B.loop(First, B.add(First, LinesPerStep), 1, [&](Value Line) {
    B.prefetch(P.Next.View, {P.Next.Panel,
                             B.add(B.div(P.NextFeature, rowFeatures()),
                                   B.div(Line, rowLines())),
                             B.mul(B.rem(Line, rowLines()), LineElements)});
  });
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

/// Multiplies all features of `Count` panels, one after the other, with the
/// staged rows.
void TileMatmul::streamPanels(Panel FirstPanel, Value Count, Value First,
                              Value Last, Epilogue Finish) {
  Value RowCount = B.sub(Last, First);
  B.loop(B.index(0), Count, 1, [&](Value I) {
    Panel P{B.add(FirstPanel.Number, I),
            B.add(FirstPanel.Feature, B.mul(I, PanelWidth))};
    clear(FewSums, RowCount, B.index(matrices() * PanelWidth));
    for (int64_t M = 0; M < matrices(); ++M)
      forEachPiece(streamFeatures(), [&](Value Feature, int64_t Features) {
        Stream From{Views[M], P.Number};
        // Behind the last of a panel lies the next panel.
        addStreamed({From, Feature, Features, FewSums, B.index(M * PanelWidth),
                     From, B.add(Feature, Features)},
                    RowCount);
      });
    finishRows(P, {FewSums, B.index(0), First, Last}, Finish);
  });
}

/// Adds products of the staged rows, at most a block, with a piece to their
/// sums.
void TileMatmul::addStreamed(const Piece &P, Value RowCount) {
  B.ifThenElse(
      B.isLess(B.index(TileRows), RowCount),
      [&] {
        B.loop(B.index(0), B.index(PanelWidth), Square.Columns * Lanes,
               [&](Value Column) { stream(P, Column, Square); });
      },
      [&] { stream(P, B.index(0), Flat); });
}

/// The same of columns from `Column` on: tiles multiply the features of one
/// while those of the next are copied.
void TileMatmul::stream(const Piece &P, Value Column, Shape Size) {
  Value Zero = B.index(0), Into = B.add(P.FirstColumn, Column);
  Value Last = B.index(llvm::divideCeil(P.Features, TileFeatures) - 1);
  auto Copy = [&](Value Step, llvm::function_ref<void(int64_t C)> Between) {
    copyColumns(P, Step, Column, Size, Between);
  };
  Value FirstStep = B.div(P.Feature, TileFeatures);
  auto Load = [&](Value Step) {
    return loadRows(StagedFew, B.add(FirstStep, Step), Zero, Size);
  };
  auto Multiply = [&](Value Step, ArrayRef<Value> Rows, int64_t C,
                      MutableArrayRef<Value> Tiles) {
    multiplyColumn(Rows,
                   loadTile(B, Turns, {B.rem(Step, 2), B.index(C), Zero, Zero}),
                   C, Size, Tiles);
  };
  Copy(Zero, [](int64_t) {});
  SmallVector<Value> Tiles =
      B.loop(Zero, Last, 1, loadBlock(P.Sums, Zero, Into, Size),
             [&](Value Step, ValueRange Carried) {
               SmallVector<Value> Added(Carried), Rows = Load(Step);
               Copy(B.add(Step, 1),
                    [&](int64_t C) { Multiply(Step, Rows, C, Added); });
               return Added;
             });
  SmallVector<Value> Rows = Load(Last);
  for (int64_t C = 0; C < Size.Columns; ++C)
    Multiply(Last, Rows, C, Tiles);
  storeBlock(Tiles, P.Sums, Zero, Into, Size);
}

/// Copies the columns of a block of the features of tile `Step` of a piece, as
/// pairs of bf16, to their turn, and calls `Between` after each part of it
/// that is as much as the pairs of 16 columns. Asks for what comes later: lines
/// of plain numbers shortly before they are read, as the hardware foresees the
/// rest; quantised ones take time to widen, in which the next piece comes.
void TileMatmul::copyColumns(const Piece &P, Value Step, Value Column,
                             Shape Size,
                             llvm::function_ref<void(int64_t C)> Between) {
  int64_t Columns = Size.Columns;
  auto ColumnOf = [&](int64_t C) { return B.add(Column, C * Lanes); };
  auto PlaceOf = [&](int64_t C, Value Pair) {
    return SmallVector<Value>{B.rem(Step, 2), B.index(C), Pair, B.index(0)};
  };
  if (isQuantised()) {
    auto Reader = [&](const Stream &From, Value Feature, Value Column) {
      return GroupReader(B, Format, From.View, From.Panel,
                         B.add(B.div(Feature, GroupValues), Step), Column);
    };
    GroupReader Ahead = Reader(P.Next, P.NextFeature, B.index(0));
    for (int64_t C = 0; C < Columns; ++C) {
      GroupReader Now = Reader(P.From, P.Feature, ColumnOf(C));
      int64_t Lines = GroupValues / Now.lineFeatures();
      widenColumns(
          Now, StorageFormat::BF16, Turns,
          [&](int64_t Feature) { return PlaceOf(C, B.index(Feature / 2)); },
          [&](int64_t Line) {
            int64_t Number = C * Lines + Line, Count = Columns * Lines;
            Ahead.prefetchPart(Column, Columns * Lanes, Number, Count);
            askForRows(P, Step, Size, Number, Count);
          });
      Between(C);
    }
    return;
  }
  auto Type = B.vecType(B.getBF16Type(), 2 * Lanes);
  constexpr int64_t Pairs = TileFeatures / 2, PairsAhead = 8;
  for (int64_t I = 0; I < Pairs; ++I) {
    for (int64_t C = 0; C < Columns; ++C) {
      SmallVector<Value> At{
          P.From.Panel,
          B.add(B.div(P.Feature, 2), B.add(B.mul(Step, Pairs), I)),
          B.mul(ColumnOf(C), 2)};
      Value Line = vector::LoadOp::create(B, Type, P.From.View, At);
      At[1] = B.add(At[1], PairsAhead);
      B.prefetch(P.From.View, At);
      vector::StoreOp::create(B, Line, Turns, PlaceOf(C, B.index(I)));
    }
    if ((I + 1) * Columns % Pairs == 0)
      Between((I + 1) * Columns / Pairs - 1);
  }
}

/// Asks for part `Number` of `Count` of the tiles of rows that are multiplied
/// with tile `Step` of a piece, which the second-level cache has.
void TileMatmul::askForRows(const Piece &P, Value Step, Shape Size,
                            int64_t Number, int64_t Count) {
  int64_t Lines = Size.Rows * TileRows;
  Value Tile = B.add(B.div(P.Feature, TileFeatures), Step), Zero = B.index(0);
  for (int64_t Line = Number * Lines / Count;
       Line < (Number + 1) * Lines / Count; ++Line)
    B.prefetch(StagedFew, {Zero, Tile, B.index(Line), Zero}, /*Locality=*/3);
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

/// The sums of a block from `Row` and `Column` on: by rows and by columns.
SmallVector<Value> TileMatmul::loadBlock(Value Sums, Value Row, Value Column,
                                         Shape Size) {
  SmallVector<Value> Tiles;
  for (int64_t R = 0; R < Size.Rows; ++R)
    for (int64_t C = 0; C < Size.Columns; ++C)
      Tiles.push_back(loadSums(
          B, Sums, {B.add(Row, R * TileRows), B.add(Column, C * Lanes)}));
  return Tiles;
}

void TileMatmul::storeBlock(ValueRange Tiles, Value Sums, Value Row,
                            Value Column, Shape Size) {
  for (int64_t R = 0; R < Size.Rows; ++R)
    for (int64_t C = 0; C < Size.Columns; ++C)
      storeTile(B, Tiles[R * Size.Columns + C], Sums,
                {B.add(Row, R * TileRows), B.add(Column, C * Lanes)});
}

/// Tiles of rows from `Row` on, of the features of tile `Step`.
SmallVector<Value> TileMatmul::loadRows(Value Rows, Value Step, Value Row,
                                        Shape Size) {
  SmallVector<Value> Tiles;
  for (int64_t R = 0; R < Size.Rows; ++R)
    Tiles.push_back(loadTile(
        B, Rows,
        {B.div(Row, BlockRows), Step, B.index(R * TileRows), B.index(0)}));
  return Tiles;
}

/// Adds products of tiles of rows with column `C` of those of a block.
void TileMatmul::multiplyColumn(ArrayRef<Value> Rows, Value Columns, int64_t C,
                                Shape Size, MutableArrayRef<Value> Tiles) {
  for (int64_t R = 0; R < Size.Rows; ++R) {
    Value &Sum = Tiles[R * Size.Columns + C];
    Sum = multiplyTiles(B, Rows[R], Columns, Sum);
  }
}
