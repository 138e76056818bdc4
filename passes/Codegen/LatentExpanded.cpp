//===- LatentExpanded.cpp - Latent attention of many queries --------------===//
//
// One work item is a sequence and a head. A few pages at a time are expanded to
// keys and values of that head, and all queries of the sequence go through
// these, block by block, as through any page. Between, the softmax of a query
// lies in the second destination.
//
// The matrix that expands is laid out once for an item as a page's keys are: 16
// output features side by side, in words of the product.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/AttentionBlock.h"
#include "passes/Codegen/LatentKernel.h"
#include "passes/Codegen/Tiles.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LatentEmitter::LatentEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op)
    : B(B), Op(Op), Heads(static_cast<int64_t>(Op.getHeads())),
      KeyDim(static_cast<int64_t>(Op.getKeyDim())),
      ValueDim(static_cast<int64_t>(Op.getValueDim())), Rank(Op.getRank()),
      RopeDim(Op.getRopeDim()), Expand(B.weightView(Op.getExpand())),
      Positions(B.field(dnn::FieldKind::Positions, Op.getBatch())),
      Starts(B.field(dnn::FieldKind::Starts, Op.getBatch())) {}

bool LatentEmitter::multipliesPairs() {
  return getElementTypeOrSelf(Op.getQuery().getType()).isBF16() &&
         Op.getCache().getType().getFormat() == CacheFormat::BF16 &&
         B.Target.hasDot(DotProduct::BF16);
}

bool LatentEmitter::multipliesTiles() {
  return multipliesPairs() && B.Target.hasDot(DotProduct::BF16Tile) &&
         Rank % TileFeatures == 0;
}

bool LatentEmitter::expandsInTiles() {
  // Sums of the expansion stay in tiles for all of a latent vector.
  constexpr int64_t MostRank = 1024;
  return multipliesTiles() && Rank <= MostRank;
}

Value LatentEmitter::isAbsorbed(Value Sequence) {
  if (B.IsDecodeSized)
    return arith::ConstantIntOp::create(B, B.getI1Type(), 1);
  int64_t Saved = 2 * Rank - KeyDim - ValueDim;
  int64_t Fewest = Saved <= 0 ? INT32_MAX
                              : static_cast<int64_t>(llvm::divideCeil(
                                    Rank * (KeyDim + ValueDim), Saved));
  // Tiles gain more where pages are expanded: measured, see the rationale.
  constexpr int64_t Gain = 3;
  if (expandsInTiles())
    Fewest = llvm::divideCeil(Fewest, Gain);
  Value Queries = B.sub(B.loadIndex(Starts, B.add(Sequence, 1)),
                        B.loadIndex(Starts, Sequence));
  return B.isLess(Queries, B.index(Fewest));
}

Value LatentEmitter::page(Value Sequence, Value Number) {
  CacheType Cache = Op.getCache().getType();
  Value Table = dnn::PageTableOp::create(
      B, MemRefType::get({ShapedType::kDynamic}, B.getI32Type()), Op.getBatch(),
      Sequence, /*cross=*/false);
  return dnn::LatentPageOp::create(
      B,
      dnn::latentPageType(
          Cache.getHeadDim(),
          dnn::elementTypeOf(B.getContext(), Cache.getFormat())),
      Op.getCache(), Op.getScope(), B.loadIndex(Table, Number));
}

Value LatentEmitter::pairsOf(Value First, Value Second) {
  auto Narrow = [&](Value Part) -> Value {
    return arith::TruncFOp::create(B, B.vecType(B.getBF16Type()), Part);
  };
  auto All = llvm::to_vector(llvm::seq<int64_t>(0, 2 * Lanes));
  return vector::BitCastOp::create(
      B, B.vecType(B.getI32Type()),
      vector::ShuffleOp::create(B, Narrow(First), Narrow(Second), All));
}

Value LatentEmitter::asPairs(Value Words) {
  return vector::BitCastOp::create(B, B.vecType(B.getBF16Type(), 2 * Lanes),
                                   Words);
}

Value LatentEmitter::queryAt(Value Token, Value Head, Value I) {
  Value Base = B.mul(Head, KeyDim + RopeDim);
  return B.mulf(B.loadScalar(Op.getQuery(), {Token, B.add(Base, I)}),
                B.f32(scale()));
}

namespace {

/// Pages that are expanded before queries go through them: what there is of a
/// softmax is loaded and stored once for all of them.
constexpr int64_t PagesAtOnce = 4;

class ExpandedEmitter : LatentEmitter {
public:
  ExpandedEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op)
      : LatentEmitter(B, Op), QueryDim(KeyDim + RopeDim), Is(chooseProducts()),
        P(Is.WordValues), Block(B, Is, 1),
        KeyLines(llvm::divideCeil(KeyDim, Lanes)),
        ValueLines(llvm::divideCeil(ValueDim, Lanes)),
        Matrix(B.scratch({roundUp(llvm::divideCeil(Rank, P), Lanes),
                          (KeyLines + ValueLines) * Lanes * P},
                         Is.Element)),
        KeyRows(
            B.scratch({PageTokens, std::max(Is.KeyWords * P, KeyLines * Lanes)},
                      Is.Element)),
        Keys(B.scratch(
            {PagesAtOnce, PageTokens / KeyBlock, Is.KeyWords, P * Lanes},
            Is.Element)),
        Values(B.scratch({PagesAtOnce, PageTokens / P, Is.ValueColumns * P},
                         Is.Element)) {
    if (Is.UsesTiles)
      Products = B.scratch({2 * TileRows, 2 * Lanes});
  }

  void emit() {
    Value Sequences = dnn::CountOp::create(B, B.getIndexType(),
                                           CountKind::Sequences, Op.getBatch());
    B.deal(B.mul(Sequences, Heads), [&](Value Item) {
      Value Sequence = B.div(Item, Heads);
      B.ifThenElse(
          isAbsorbed(Sequence), [] {},
          [&] {
            Current = {Sequence, B.rem(Item, Heads),
                       B.loadIndex(Starts, Sequence),
                       B.loadIndex(Starts, B.add(Sequence, 1))};
            expanded();
          });
    });
  }

private:
  /// One sequence and head, and its tokens.
  struct Work {
    Value Sequence, Head, First, Last;
  };

  AttentionProducts chooseProducts() {
    AttentionProducts Chosen;
    Chosen.Element = multipliesPairs() ? Type(B.getBF16Type()) : B.getF32Type();
    Chosen.UsesDot = multipliesPairs();
    Chosen.UsesTiles = expandsInTiles();
    Chosen.WordValues = Chosen.UsesDot ? 2 : 1;
    // Words of 16 keys are transposed at once.
    Chosen.KeyWords =
        roundUp(llvm::divideCeil(KeyDim + RopeDim, Chosen.WordValues), Lanes);
    Chosen.ValueColumns = padded(ValueDim);
    Chosen.Rows = AttentionProducts::mostRows(B, Chosen.UsesTiles);
    Chosen.Scale = scale();
    Chosen.ScalesExponents = Chosen.Element.isBF16() && Chosen.Scale > 0;
    return Chosen;
  }

  void expanded() {
    layOutMatrix();
    // What no key and no query has.
    if (Is.KeyWords * P != QueryDim)
      for (auto [Rows, Count] : {std::pair(KeyRows, PageTokens),
                                 std::pair(Block.Queries, Is.room())})
        B.loop(B.index(0), B.index(Count), 1, [&, Rows = Rows](Value Row) {
          B.columns(Is.KeyWords * P, [&](Value At, int64_t Valid) {
            B.store(B.vecConst(0), Rows, {Row, At}, Valid);
          });
        });
    Value LastToken = B.sub(Current.Last, B.index(1));
    Value Context = B.add(B.loadIndex(Positions, LastToken), 1);
    Value Pages = B.ceilDiv(Context, PageTokens);
    B.loop(B.index(0), Pages, PagesAtOnce, [&](Value From) {
      Value To = B.min(B.add(From, PagesAtOnce), Pages);
      B.loop(From, To, 1, [&](Value Number) {
        expandPage(page(Current.Sequence, Number), B.sub(Number, From));
      });
      B.loop(Current.First, Current.Last, Is.Rows,
             [&](Value Token) { attendPages(Token, From, To); });
    });
    finish();
  }

  //===--- Expansion ------------------------------------------------------===//

  /// 16 words of a row, of its values from `At` on, of which the first `Count`
  /// count.
  Value words(Value Buffer, Value Row, Value At, int64_t Count = INT64_MAX) {
    SmallVector<Value> Parts;
    for (int64_t I = 0; I < P; ++I) {
      int64_t Valid = std::clamp<int64_t>(Count - I * Lanes, 0, Lanes);
      Value Place = B.add(At, I * Lanes);
      Parts.push_back(Valid == 0 ? B.vecConst(0)
                                 : B.load(Buffer, {Row, Place}, Valid));
    }
    return P == 1 ? Parts[0] : pairsOf(Parts[0], Parts[1]);
  }

  /// Calls `Store` with each column of 16 rows of 16 words.
  void storeTransposed(ArrayRef<Value> Rows,
                       llvm::function_ref<void(int64_t, Value)> Store) {
    for (auto [I, Column] : llvm::enumerate(B.transpose(Rows)))
      Store(static_cast<int64_t>(I), P == 1 ? Column : asPairs(Column));
  }

  void layOutMatrix() {
    layOutRows(keyRows(Current.Head), KeyDim, 0);
    layOutRows(valueRows(Current.Head), ValueDim, KeyLines);
  }

  /// `Count` rows of the matrix from `First` on, as lines from `Line` on.
  void layOutRows(Value First, int64_t Count, int64_t Line) {
    B.columns(Count, [&](Value Row, int64_t ValidRows) {
      Value Column = B.mul(B.add(Row, Line * Lanes), P);
      auto Words = [&](Value At, int64_t Valid) {
        SmallVector<Value> Rows;
        for (int64_t I = 0; I < Lanes; ++I)
          Rows.push_back(words(Expand, B.add(B.add(First, Row), I), At,
                               I < ValidRows ? Valid : 0));
        storeTransposed(Rows, [&](int64_t I, Value Word) {
          vector::StoreOp::create(B, Word, Matrix,
                                  ValueRange{B.add(B.div(At, P), I), Column});
        });
      };
      int64_t Full = Rank / (P * Lanes) * P * Lanes;
      if (Full > 0)
        B.loop(B.index(0), B.index(Full), P * Lanes,
               [&](Value At) { Words(At, P * Lanes); });
      if (Full != Rank)
        Words(B.index(Full), Rank - Full);
    });
  }

  /// Keys and values of a page, the `Slot`th of those at hand.
  void expandPage(Value Page, Value Slot) {
    auto KeyAt = [&](Value Key, Value Line) -> SmallVector<Value> {
      return {Key, B.mul(Line, Lanes)};
    };
    expandLines(Page, 0, KeyLines,
                [&](Value Key, int64_t Rows, Value Line, auto Expanded) {
                  for (int64_t I = 0; I < Rows; ++I)
                    B.store(Expanded(I), KeyRows, KeyAt(B.add(Key, I), Line));
                });
    expandLines(Page, KeyLines, ValueLines,
                [&](Value Key, int64_t Rows, Value Line, auto Expanded) {
                  Value Column = B.mul(Line, Lanes * P);
                  for (int64_t I = 0; I < Rows; I += P) {
                    SmallVector<Value> At = {Slot, B.div(B.add(Key, I), P),
                                             Column};
                    if (P == 1)
                      B.store(Expanded(I), Values, At);
                    else
                      B.storePair(Expanded(I), Expanded(I + 1), Values, At);
                  }
                });
    B.loop(B.index(0), B.index(PageTokens), 1, [&](Value Key) {
      B.columns(RopeDim, [&](Value At, int64_t Valid) {
        B.store(B.load(Page, {Key, B.add(At, Rank)}, Valid), KeyRows,
                {Key, B.add(At, KeyDim)}, Valid);
      });
    });
    B.loop(B.index(0), B.index(PageTokens / KeyBlock), 1, [&](Value Group) {
      B.loop(B.index(0), B.index(Is.KeyWords), Lanes, [&](Value Word) {
        SmallVector<Value> Rows;
        for (int64_t I = 0; I < KeyBlock; ++I)
          Rows.push_back(
              words(KeyRows, B.add(B.mul(Group, KeyBlock), I), B.mul(Word, P)));
        storeTransposed(Rows, [&](int64_t I, Value Words) {
          vector::StoreOp::create(
              B, Words, Keys,
              ValueRange{Slot, Group, B.add(Word, I), B.index(0)});
        });
      });
    });
  }

  /// Calls `Store` with some keys of the page and a line of those from `First`
  /// on, and with what the keys are expanded to.
  void expandLines(Value Page, int64_t First, int64_t Count,
                   llvm::function_ref<void(Value Key, int64_t Rows, Value Line,
                                           llvm::function_ref<Value(int64_t)>)>
                       Store) {
    int64_t Rows = Is.UsesTiles ? 2 * TileRows : Is.Rows;
    Block.forLines(Count, [&](Value Line, int64_t AtOnce) {
      Value MatrixLine = B.add(Line, First);
      B.loop(B.index(0), B.index(PageTokens), Rows, [&](Value Key) {
        SmallVector<Value> Sums;
        if (Is.UsesTiles)
          expandInTiles(Page, Key, MatrixLine, AtOnce);
        else
          Sums = B.loop(
              B.index(0), B.index(llvm::divideCeil(Rank, P)), 1,
              SmallVector<Value>(Rows * AtOnce, B.vecConst(0)),
              [&](Value Word, ValueRange Carried) {
                SmallVector<Value> Loaded;
                for (int64_t L = 0; L < AtOnce; ++L)
                  Loaded.push_back(Block.line(
                      Matrix, {Word, B.mul(B.add(MatrixLine, L), Lanes * P)}));
                return Block.multiply(Page, Key, Word, Loaded, Carried);
              });
        for (int64_t L = 0; L < AtOnce; ++L)
          Store(Key, Rows, B.add(Line, L), [&](int64_t Row) {
            return Is.UsesTiles
                       ? B.load(Products, {B.index(Row), B.index(L * Lanes)})
                       : Sums[Row * AtOnce + L];
          });
      });
    });
  }

  /// Leaves 32 keys times 1 or 2 lines in Products.
  void expandInTiles(Value Page, Value Key, Value Line, int64_t AtOnce) {
    constexpr int64_t KeyTiles = 2;
    SmallVector<Value> Sums;
    for (int64_t I = 0; I < KeyTiles * AtOnce; ++I)
      Sums.push_back(zeroTile(B));
    for (int64_t At = 0; At < Rank; At += TileFeatures) {
      SmallVector<Value> Latent;
      for (int64_t K = 0; K < KeyTiles; ++K)
        Latent.push_back(
            loadTile(B, Page, {B.add(Key, K * TileRows), B.index(At)}));
      for (int64_t L = 0; L < AtOnce; ++L) {
        Value Columns = loadTile(
            B, Matrix, {B.index(At / P), B.mul(B.add(Line, L), Lanes * P)});
        for (int64_t K = 0; K < KeyTiles; ++K) {
          Value &Sum = Sums[K * AtOnce + L];
          Sum = multiplyTiles(B, Latent[K], Columns, Sum);
        }
      }
    }
    for (int64_t K = 0; K < KeyTiles; ++K)
      for (int64_t L = 0; L < AtOnce; ++L)
        storeTile(B, Sums[K * AtOnce + L], Products,
                  {B.index(K * TileRows), B.index(L * Lanes)});
  }

  //===--- Queries --------------------------------------------------------===//

  /// Takes the block of queries from `Token` on through pages `From` to `To`,
  /// as far as they see them.
  void attendPages(Value Token, Value From, Value To) {
    Value Count = B.min(B.sub(Current.Last, Token), B.index(Is.Rows));
    Value LastToken = B.sub(B.add(Token, Count), B.index(1));
    Value Seen = B.add(B.loadIndex(Positions, LastToken), 1);
    Value End = B.min(To, B.ceilDiv(Seen, PageTokens));
    B.ifThen(B.isLess(From, End), [&] {
      B.loop(B.index(0), Count, 1,
             [&](Value Row) { beginRow(Row, B.add(Token, Row), From); });
      // Rows without a token see as much as the last one.
      SmallVector<Value> Owns;
      for (int64_t Row = 0; Row < Is.Rows; ++Row)
        Owns.push_back(
            B.loadIndex(Positions, B.min(B.add(Token, Row), LastToken)));
      B.loop(From, End, 1, [&](Value Number) {
        Value FirstKey = B.mul(Number, PageTokens);
        AttentionPage Page{Keys, Values, {}, {}, {}, B.sub(Number, From),
                           {},   P};
        Block.attend(
            B.index(0), B.min(B.sub(Seen, FirstKey), B.index(PageTokens)), Page,
            [&](Value GroupStart, AttentionBlock::OneScore ScoreOf) {
              Value Index = B.countFrom(B.add(FirstKey, GroupStart));
              for (int64_t Row = 0; Row < Is.Rows; ++Row) {
                Value IsSeen =
                    arith::CmpIOp::create(B, arith::CmpIPredicate::sle, Index,
                                          B.splatIndex(Owns[Row]));
                Block.setScore(Row, GroupStart,
                               arith::SelectOp::create(
                                   B, IsSeen, ScoreOf(Row),
                                   B.vecConst(AttentionBlock::Lowest)));
              }
            },
            [&](llvm::function_ref<void(int64_t)> Body) {
              for (int64_t Row = 0; Row < Is.Rows; ++Row)
                Body(Row);
            });
      });
      B.loop(B.index(0), Count, 1,
             [&](Value Row) { keepRow(Row, B.add(Token, Row)); });
    });
  }

  /// Columns of a token's state: sums, the maximum, the total.
  Value stateAt(int64_t Column) {
    return B.add(B.mul(Current.Head, ValueDim + 2), Column);
  }

  void beginRow(Value Row, Value Token, Value FirstPage) {
    Value Base = B.mul(Current.Head, QueryDim);
    Value Scale = Is.Element.isF32() ? B.vecConst(Is.Scale) : Value();
    B.columns(QueryDim, [&](Value At, int64_t Valid) {
      Value Query = B.load(Op.getQuery(), {Token, B.add(Base, At)}, Valid);
      B.store(Scale ? B.mulf(Query, Scale) : Query, Block.Queries, {Row, At},
              Valid);
    });
    Value State = Op.getStateOut();
    B.ifThenElse(
        B.isEqual(FirstPage, B.index(0)),
        [&] {
          B.columns(Is.ValueColumns, [&](Value At, int64_t) {
            B.store(B.vecConst(0), Block.Sums, {Row, At});
          });
          B.storeScalar(Block.exponentOf(B.f32(AttentionBlock::Lowest)),
                        Block.Highest, {Row});
          B.storeScalar(B.f32(0), Block.Total, {Row});
        },
        [&] {
          B.columns(ValueDim, [&](Value At, int64_t Valid) {
            B.store(B.load(State, {Token, B.add(stateAt(0), At)}, Valid),
                    Block.Sums, {Row, At});
          });
          B.storeScalar(B.loadScalar(State, {Token, stateAt(ValueDim)}),
                        Block.Highest, {Row});
          B.storeScalar(B.loadScalar(State, {Token, stateAt(ValueDim + 1)}),
                        Block.Total, {Row});
        });
  }

  void keepRow(Value Row, Value Token) {
    Value State = Op.getStateOut();
    B.columns(ValueDim, [&](Value At, int64_t Valid) {
      B.store(B.load(Block.Sums, {Row, At}, Valid), State,
              {Token, B.add(stateAt(0), At)}, Valid);
    });
    B.storeScalar(B.loadScalar(Block.Highest, {Row}), State,
                  {Token, stateAt(ValueDim)});
    B.storeScalar(B.loadScalar(Block.Total, {Row}), State,
                  {Token, stateAt(ValueDim + 1)});
  }

  void finish() {
    Value State = Op.getStateOut();
    Value OutBase = B.mul(Current.Head, ValueDim);
    B.loop(Current.First, Current.Last, 1, [&](Value Token) {
      Value Inverse = B.splat(B.divf(
          B.f32(1), B.loadScalar(State, {Token, stateAt(ValueDim + 1)})));
      B.columns(ValueDim, [&](Value At, int64_t Valid) {
        Value Sum = B.load(State, {Token, B.add(stateAt(0), At)}, Valid);
        B.store(B.mulf(Sum, Inverse), Op.getOut(), {Token, B.add(OutBase, At)},
                Valid);
      });
    });
  }

  int64_t QueryDim;
  AttentionProducts Is;
  int64_t P;
  AttentionBlock Block;
  /// Lines of 16 output features.
  int64_t KeyLines, ValueLines;
  /// [words of a latent vector, lines of keys and of values].
  Value Matrix;
  /// Keys of a page, row by row, and those of all pages at hand.
  Value KeyRows, Keys, Values;
  Value Products; ///< Null without tiles.
  Work Current;
};

} // namespace

void tenon::emitExpandedLatent(KernelBuilder &B, dnn::LatentAttentionOp Op) {
  // Its sequences have few queries.
  if (!B.IsDecodeSized)
    ExpandedEmitter(B, Op).emit();
}
