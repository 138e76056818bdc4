//===- LatentKernel.cpp - Attention over latent vectors -------------------===//
//
// The absorbed form reads a page once for 16 heads, which are the lanes of
// scores. In a decode-sized batch it has three phases: K is absorbed head by
// head; items of 16 heads and a partition of a token's pages go through these;
// V is applied to the merged sums head by head. Otherwise an item, some tokens
// and 16 heads, does all of that. Pairs of bf16 are neighbours in scores and
// two keys in sums; in tiles the 16 heads are lanes of scores and rows of sums.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/LatentKernel.h"

#include "passes/Codegen/AttentionBlock.h"
#include "passes/Codegen/Partitions.h"
#include "passes/Codegen/Tiles.h"

#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Heads that a page is read for at once: lanes of a vector.
constexpr int64_t BlockHeads = Lanes;

/// Rows of the expansion that are read side by side.
constexpr int64_t RowsAtOnce = 4;

/// Words of 16 queries, an element or a pair, that stay in the first-level
/// cache while all keys of a page are multiplied with them.
constexpr int64_t QueryWords = 256;

/// Tokens of an item that does all by itself: what is read of the expansion is
/// read once for them.
constexpr int64_t ItemTokens = 4;

class AbsorbedEmitter : LatentEmitter {
public:
  AbsorbedEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op)
      : LatentEmitter(B, Op), HeadBlocks(llvm::divideCeil(Heads, BlockHeads)),
        AtOnce(B.Target.getRegisters() / 4), QueryDim(Rank + RopeDim),
        Slots(Op.getPartialsOut() ? 1 : ItemTokens),
        UsesPairs(multipliesPairs() && Rank % TileFeatures == 0 &&
                  RopeDim % TileFeatures == 0),
        UsesTiles(UsesPairs && multipliesTiles()),
        Row(B.scratch({padded(Rank)})), Scores(B.scratch({PageTokens, Lanes})),
        Sums(B.scratch({Slots * BlockHeads, padded(Rank)})),
        Highest(B.scratch({Slots * BlockHeads})),
        Totals(B.scratch({Slots * BlockHeads})), Shrinks(B.scratch({Lanes})),
        SequenceOf(B.field(dnn::FieldKind::SequenceOf, Op.getBatch())) {
    if (!Op.getPartialsOut())
      Absorbed = B.scratch({Slots * BlockHeads, padded(QueryDim)});
    Type BF16 = B.getBF16Type();
    if (UsesTiles)
      for (Value *Each : {&EvenWeights, &OddWeights})
        *Each =
            B.scratch({PageTokens / TileRows, BlockHeads, TileFeatures}, BF16);
    else if (UsesPairs)
      WeightPairs = B.scratch({PageTokens / 2, 2 * BlockHeads}, BF16);
    if (UsesPairs) {
      Queries = B.scratch({QueryDim / 2, 2 * Lanes}, BF16);
      return;
    }
    Queries = B.scratch({padded(QueryDim), Lanes});
    CacheFormat Format = Op.getCache().getType().getFormat();
    if (!dnn::elementTypeOf(B.getContext(), Format).isF32())
      Wide = B.scratch({PageTokens, padded(QueryDim)});
  }

  void emit() {
    if (Op.getPartialsOut())
      inPhases();
    else
      atOnce();
  }

private:
  /// Calls `Body` for groups of `RowsAtOnce` of `Count` rows, the last one of
  /// the rest.
  void forRows(int64_t Count, llvm::function_ref<void(Value, int64_t)> Body) {
    int64_t Full = Count / RowsAtOnce * RowsAtOnce;
    if (Full > 0)
      B.loop(B.index(0), B.index(Full), RowsAtOnce,
             [&](Value First) { Body(First, RowsAtOnce); });
    if (Full != Count)
      Body(B.index(Full), Count - Full);
  }

  //===--- Absorbed: one head ---------------------------------------------===//

  /// Leaves K^T q in Row.
  void absorb(Value Token, Value Head) {
    Value Keys = keyRows(Head);
    B.columns(padded(Rank),
              [&](Value At, int64_t) { B.store(B.vecConst(0), Row, {At}); });
    forRows(KeyDim, [&](Value First, int64_t Count) {
      SmallVector<Value> Factors;
      for (int64_t I = 0; I < Count; ++I)
        Factors.push_back(B.splat(queryAt(Token, Head, B.add(First, I))));
      B.columns(Rank, [&](Value At, int64_t Valid) {
        Value Sum = B.load(Row, {At});
        for (auto [I, Factor] : llvm::enumerate(Factors)) {
          Value Of = B.add(B.add(Keys, First), static_cast<int64_t>(I));
          Sum = B.fma(Factor, expandAt(Of, At, Valid), Sum);
        }
        B.store(Sum, Row, {At});
      });
    });
  }

  /// 16 elements of a row of the expansion; asks for those of rows that follow.
  Value expandAt(Value Of, Value At, int64_t Valid) {
    B.prefetch(Expand, {B.add(Of, 2 * RowsAtOnce), At});
    return B.load(Expand, {Of, At}, Valid);
  }

  /// Writes V times `Sum`, 16 elements of which are `SumAt`'s, times `Factor`.
  void project(Value Token, Value Head, Value Factor,
               llvm::function_ref<Value(Value, int64_t)> SumAt) {
    Value Values = valueRows(Head);
    Value Base = B.mul(Head, ValueDim);
    forRows(ValueDim, [&](Value First, int64_t Count) {
      SmallVector<Value> Products = B.columns(
          Rank, SmallVector<Value>(static_cast<size_t>(Count), B.vecConst(0)),
          [&](Value At, int64_t Valid, ValueRange Carried) {
            Value Sum = SumAt(At, Valid);
            SmallVector<Value> Next;
            for (auto [I, Before] : llvm::enumerate(Carried)) {
              Value Of = B.add(B.add(Values, First), static_cast<int64_t>(I));
              Next.push_back(B.fma(Sum, expandAt(Of, At, Valid), Before));
            }
            return Next;
          });
      for (auto [I, Product] : llvm::enumerate(Products)) {
        Value At = B.add(B.add(Base, First), static_cast<int64_t>(I));
        Value Number = B.sum(Product);
        B.storeScalar(Factor ? B.mulf(Number, Factor) : Number, Op.getOut(),
                      {Token, At});
      }
    });
  }

  //===--- Absorbed: 16 heads ---------------------------------------------===//

  /// Puts the absorbed queries of 16 heads side by side, in pairs of bf16 where
  /// these are multiplied; `Of` has 16 elements of that of a lane, and of lanes
  /// from `Count` on there is none.
  void putQueries(Value Count,
                  llvm::function_ref<Value(Value Lane, Value At, int64_t)> Of) {
    // Lanes without a head repeat the last one, and count for nothing.
    SmallVector<Value> LaneOf;
    for (int64_t I = 0; I < BlockHeads; ++I)
      LaneOf.push_back(B.min(B.index(I), B.sub(Count, B.index(1))));
    auto Put = [&](Value At, int64_t Valid) {
      SmallVector<Value> Rows;
      for (Value Lane : LaneOf)
        Rows.push_back(UsesPairs ? pairsOf(Of(Lane, At, Lanes),
                                           Of(Lane, B.add(At, Lanes), Lanes))
                                 : Of(Lane, At, Valid));
      for (auto [I, Column] : llvm::enumerate(B.transpose(Rows))) {
        auto Number = static_cast<int64_t>(I);
        if (UsesPairs)
          vector::StoreOp::create(
              B, asPairs(Column), Queries,
              ValueRange{B.add(B.div(At, 2), Number), B.index(0)});
        else
          B.store(Column, Queries, {B.add(At, Number), B.index(0)});
      }
    };
    if (UsesPairs)
      B.loop(B.index(0), B.index(QueryDim), TileFeatures,
             [&](Value At) { Put(At, Lanes); });
    else
      B.columns(QueryDim, Put);
  }

  /// The row of sums, maxima and totals of a head in lane `Lane`.
  Value rowAt(Value Slot, Value Lane) {
    return B.add(B.mul(Slot, BlockHeads), Lane);
  }

  /// Takes the 16 queries of `Slot` through pages `From` to `To` of a sequence,
  /// of which they see `Seen` keys. Leaves the weighted sums of `Count` heads,
  /// and of each lane the maximum and the total.
  void attend(Value Slot, Value Sequence, Value Seen, Value From, Value To,
              Value Count) {
    Value First = rowAt(Slot, B.index(0));
    B.loop(B.index(0), B.index(BlockHeads), 1, [&](Value Lane) {
      B.columns(padded(Rank), [&](Value At, int64_t) {
        B.store(B.vecConst(0), Sums, {B.add(First, Lane), At});
      });
    });
    B.store(B.vecConst(AttentionBlock::Lowest * KernelBuilder::Log2OfE),
            Highest, {First});
    B.store(B.vecConst(0), Totals, {First});
    B.loop(From, To, 1, [&](Value Number) {
      Value Keys =
          B.min(B.sub(Seen, B.mul(Number, PageTokens)), B.index(PageTokens));
      Value Page = page(Sequence, Number), NextPage;
      if (UsesPairs)
        NextPage =
            page(Sequence, B.min(B.add(Number, 1), B.sub(To, B.index(1))));
      if (UsesTiles) {
        scoreInTiles(Page, NextPage, Keys);
        softmax(Keys, First);
        weighInTiles(Page, NextPage, Keys, First);
        return;
      }
      Page = widened(Page, Keys);
      score(Page, NextPage, Keys);
      softmax(Keys, First);
      if (UsesPairs)
        weighPairs(Page, Keys, First, Count);
      else
        weigh(Page, Keys, First, Count);
    });
    if (UsesTiles)
      orderSums(First, Count);
  }

  /// The page in f32.
  Value widened(Value Page, Value Keys) {
    if (!Wide)
      return Page;
    B.loop(B.index(0), roundedKeys(Keys), 1, [&](Value Key) {
      B.columns(padded(QueryDim), [&](Value At, int64_t) {
        B.store(B.load(Page, {Key, At}), Wide, {Key, At});
      });
    });
    return Wide;
  }

  /// Keys are multiplied some at once; those beyond the last count for nothing.
  Value roundedKeys(Value Keys) {
    return B.mul(B.ceilDiv(Keys, AtOnce), AtOnce);
  }

  /// Asks for share `Number` of `Count` of part `Part` of `Parts` of the next
  /// page, for calls between products: the hardware foresees no page.
  void askFor(Value NextPage, int64_t Part, int64_t Parts, Value Number,
              int64_t Count) {
    constexpr int64_t LineValues = 32;
    int64_t Elements = PageTokens * padded(QueryDim) / Parts;
    int64_t Lines = llvm::divideCeil(Elements / LineValues, Count);
    // As a column of the first row: rows lie one behind the other.
    Value First = B.add(B.mul(Number, Lines * LineValues), Part * Elements);
    for (int64_t I = 0; I < Lines; ++I)
      B.prefetch(NextPage, {B.index(0), B.add(First, I * LineValues)});
  }

  void score(Value Page, Value NextPage, Value Keys) {
    int64_t Words = UsesPairs ? QueryDim / 2 : QueryDim;
    // A few lines are asked for at once, between products.
    int64_t Step = UsesPairs ? 8 : 1;
    for (int64_t From = 0; From < Words; From += QueryWords) {
      int64_t To = std::min(From + QueryWords, Words);
      B.loop(B.index(0), roundedKeys(Keys), AtOnce, [&](Value Key) {
        SmallVector<Value> Dots;
        for (int64_t I = 0; I < AtOnce; ++I)
          Dots.push_back(From == 0
                             ? B.vecConst(0)
                             : B.load(Scores, {B.add(Key, I), B.index(0)}));
        auto Add = [&](MutableArrayRef<Value> Sums, Value Word) {
          Value OfHeads = UsesPairs ? pairs(Queries, {Word, B.index(0)}, Lanes)
                                    : B.load(Queries, {Word, B.index(0)});
          for (auto [I, Sum] : llvm::enumerate(Sums)) {
            Value Of = B.add(Key, static_cast<int64_t>(I));
            Sum = UsesPairs
                      ? dot(Sum, OfHeads,
                            B.splatPair(pairs(Page, {Of, B.mul(Word, 2)}, 1)))
                      : B.fma(B.splat(B.loadScalar(Page, {Of, Word})), OfHeads,
                              Sum);
          }
        };
        Dots = B.loop(
            B.index(From), B.index(To), Step, Dots,
            [&](Value Word, ValueRange Carried) {
              if (NextPage)
                askFor(
                    NextPage, 0, 1,
                    B.div(B.add(B.mul(B.div(Key, AtOnce), Words), Word), Step),
                    PageTokens / AtOnce * Words / Step);
              SmallVector<Value> Next(Carried);
              for (int64_t I = 0; I < Step; ++I)
                Add(Next, B.add(Word, I));
              return Next;
            });
        for (auto [I, Dot] : llvm::enumerate(Dots))
          B.store(Dot, Scores,
                  {B.add(Key, static_cast<int64_t>(I)), B.index(0)});
      });
    }
  }

  /// `Count` pairs of bf16.
  Value pairs(Value Buffer, ValueRange At, int64_t Count) {
    return vector::LoadOp::create(B, B.vecType(B.getBF16Type(), 2 * Count),
                                  Buffer, At);
  }
  /// `Sum` and, in every lane, the products of a pair.
  Value dot(Value Sum, Value Left, Value Right) {
    return x86vector::DotBF16Op::create(B, B.vecType(), Sum, Left, Right);
  }

  /// Turns scores into weights relative to the new maximum of each lane, and
  /// leaves the factors that earlier sums shrink by.
  void softmax(Value Keys, Value First) {
    Value Zero = B.index(0);
    Value Factor = B.vecConst(KernelBuilder::Log2OfE);
    Value Before = B.load(Highest, {First});
    Value Largest = B.loop(Zero, Keys, 1, B.vecConst(AttentionBlock::Lowest),
                           [&](Value Key, ValueRange Carried) {
                             return SmallVector<Value>{B.maxf(
                                 Carried[0], B.load(Scores, {Key, Zero}))};
                           })[0];
    Value Now = B.maxf(Before, B.mulf(Largest, Factor));
    Value Start = arith::NegFOp::create(B, Now);
    Value Shrink = B.exp2OfNonPositive(B.subf(Before, Now));
    Value Total =
        B.loop(Zero, Keys, 1, B.mulf(B.load(Totals, {First}), Shrink),
               [&](Value Key, ValueRange Carried) {
                 Value Weight = B.exp2OfNonPositive(
                     B.fma(B.load(Scores, {Key, Zero}), Factor, Start));
                 B.store(Weight, Scores, {Key, Zero});
                 return SmallVector<Value>{B.addf(Carried[0], Weight)};
               })[0];
    B.store(Now, Highest, {First});
    B.store(Total, Totals, {First});
    B.store(Shrink, Shrinks, {Zero});
  }

  /// Adds the page's vectors, weighted, to the shrunken sums of `Count` heads.
  void weigh(Value Page, Value Keys, Value First, Value Count) {
    // 16 elements of all keys stay in the first-level cache for all heads.
    B.loop(B.index(0), B.index(padded(Rank)), Lanes, [&](Value At) {
      B.loop(B.index(0), Count, AtOnce, [&](Value Head) {
        SmallVector<Value> Begin;
        for (int64_t I = 0; I < AtOnce; ++I) {
          Value Of = B.add(Head, I);
          Begin.push_back(B.mulf(B.load(Sums, {B.add(First, Of), At}),
                                 B.splat(B.loadScalar(Shrinks, {Of}))));
        }
        SmallVector<Value> End = B.loop(
            B.index(0), Keys, 1, Begin, [&](Value Key, ValueRange Carried) {
              Value Vector = B.load(Page, {Key, At});
              SmallVector<Value> Next;
              for (auto [I, Sum] : llvm::enumerate(Carried)) {
                Value Of = B.add(Head, static_cast<int64_t>(I));
                Value Weight = B.splat(B.loadScalar(Scores, {Key, Of}));
                Next.push_back(B.fma(Weight, Vector, Sum));
              }
              return Next;
            });
        for (auto [I, Sum] : llvm::enumerate(End))
          B.store(Sum, Sums,
                  {B.add(B.add(First, Head), static_cast<int64_t>(I)), At});
      });
    });
  }

  /// The same with two keys at a time, whose elements are interleaved.
  void weighPairs(Value Page, Value Keys, Value First, Value Count) {
    ignoreBehind(Keys);
    Value PairCount = B.ceilDiv(Keys, 2);
    B.loop(B.index(0), PairCount, 1, [&](Value Pair) {
      Value Key = B.mul(Pair, 2), Zero = B.index(0);
      B.storePair(B.load(Scores, {Key, Zero}),
                  B.load(Scores, {B.add(Key, 1), Zero}), WeightPairs,
                  {Pair, Zero});
    });
    SmallVector<int64_t> Low, High;
    for (int64_t I = 0; I < 2 * Lanes; ++I) {
      Low.push_back(I / 2 + I % 2 * 2 * Lanes);
      High.push_back(Low.back() + Lanes);
    }
    B.loop(B.index(0), B.index(Rank), 2 * Lanes, [&](Value At) {
      B.loop(B.index(0), Count, AtOnce, [&](Value Head) {
        auto ForEachSum =
            [&](llvm::function_ref<void(int64_t, ValueRange)> Do) {
              for (int64_t I = 0; I < AtOnce; ++I)
                for (Value Column : {At, B.add(At, Lanes)})
                  Do(I, {B.add(B.add(First, Head), I), Column});
            };
        SmallVector<Value> Shrink, Sum;
        for (int64_t I = 0; I < AtOnce; ++I)
          Shrink.push_back(B.splat(B.loadScalar(Shrinks, {B.add(Head, I)})));
        ForEachSum([&](int64_t I, ValueRange Place) {
          Sum.push_back(B.mulf(B.load(Sums, Place), Shrink[I]));
        });
        Sum = B.loop(
            B.index(0), PairCount, 1, Sum, [&](Value Pair, ValueRange Carried) {
              Value Key = B.mul(Pair, 2);
              Value Even = pairs(Page, {Key, At}, Lanes);
              Value Odd = pairs(Page, {B.add(Key, 1), At}, Lanes);
              const Value Vectors[] = {
                  vector::ShuffleOp::create(B, Even, Odd, Low),
                  vector::ShuffleOp::create(B, Even, Odd, High)};
              SmallVector<Value> Next;
              for (int64_t I = 0; I < AtOnce; ++I) {
                Value Weight = B.splatPair(
                    pairs(WeightPairs, {Pair, B.mul(B.add(Head, I), 2)}, 1));
                for (Value Vector : Vectors)
                  Next.push_back(dot(Carried[Next.size()], Vector, Weight));
              }
              return Next;
            });
        const Value *Next = Sum.begin();
        ForEachSum(
            [&](int64_t, ValueRange Place) { B.store(*Next++, Sums, Place); });
      });
    });
  }

  /// Keys from `Keys` on, which nobody sees, weigh nothing.
  void ignoreBehind(Value Keys) {
    B.loop(Keys, B.index(PageTokens), 1, [&](Value Key) {
      B.store(B.vecConst(0), Scores, {Key, B.index(0)});
    });
  }

  //===--- In tiles -------------------------------------------------------===//

  void scoreInTiles(Value Page, Value NextPage, Value Keys) {
    int64_t Depth = QueryDim / TileFeatures;
    B.loop(B.index(0), B.ceilDiv(Keys, TileRows), 1, [&](Value Group) {
      Value Key = B.mul(Group, TileRows);
      Value Sum = zeroTile(B);
      for (int64_t D = 0; D < Depth; ++D) {
        askFor(NextPage, 0, 2, B.add(B.mul(Group, Depth), D),
               PageTokens / TileRows * Depth);
        Sum = multiplyTiles(
            B, loadTile(B, Page, {Key, B.index(D * TileFeatures)}),
            loadTile(B, Queries, {B.index(D * TileRows), B.index(0)}), Sum);
      }
      storeTile(B, Sum, Scores, {Key, B.index(0)});
    });
  }

  /// Adds the page's vectors, weighted, to the shrunken sums of 16 heads.
  ///
  /// Rows of the page are no pairs of keys, but pairs of neighbours of one key:
  /// with a weight beside 0 the products of a tile are those of all even
  /// elements, with 0 beside the weight of all odd ones. So sums of 32 elements
  /// are those of the even ones, then those of the odd ones.
  void weighInTiles(Value Page, Value NextPage, Value Keys, Value First) {
    ignoreBehind(Keys);
    B.loop(B.index(0), B.index(PageTokens / TileRows), 1, [&](Value Group) {
      SmallVector<Value> Rows;
      for (int64_t I = 0; I < TileRows; ++I)
        Rows.push_back(
            B.load(Scores, {B.add(B.mul(Group, TileRows), I), B.index(0)}));
      for (auto [I, OfHead] : llvm::enumerate(B.transpose(Rows))) {
        SmallVector<Value> At = {Group, B.index(static_cast<int64_t>(I)),
                                 B.index(0)};
        B.storePair(OfHead, B.vecConst(0), EvenWeights, At);
        B.storePair(B.vecConst(0), OfHead, OddWeights, At);
      }
    });
    B.loop(B.index(0), B.index(BlockHeads), 1, [&](Value Lane) {
      Value Shrink = B.loadScalar(Shrinks, {Lane});
      Value IsLess =
          arith::CmpFOp::create(B, arith::CmpFPredicate::OLT, Shrink, B.f32(1));
      B.ifThen(IsLess, [&] {
        B.columns(padded(Rank), [&](Value At, int64_t) {
          SmallVector<Value> Place = {B.add(First, Lane), At};
          B.store(B.mulf(B.load(Sums, Place), B.splat(Shrink)), Sums, Place);
        });
      });
    });
    // As many as leave tiles for a page's and two sums.
    constexpr int64_t Groups = 2;
    int64_t Depth = Rank / TileFeatures;
    B.loop(B.index(0), B.ceilDiv(Keys, Groups * TileRows), 1, [&](Value Turn) {
      Value Group = B.mul(Turn, Groups);
      SmallVector<Value> Even, Odd;
      for (int64_t I = 0; I < Groups; ++I) {
        SmallVector<Value> At = {B.add(Group, I), B.index(0), B.index(0)};
        Even.push_back(loadTile(B, EvenWeights, At));
        Odd.push_back(loadTile(B, OddWeights, At));
      }
      B.loop(B.index(0), B.index(Depth), 1, [&](Value D) {
        askFor(NextPage, 1, 2, B.add(B.mul(Turn, Depth), D),
               PageTokens / (Groups * TileRows) * Depth);
        Value At = B.mul(D, TileFeatures), Behind = B.add(At, Lanes);
        Value OfEven = loadSums(B, Sums, {First, At});
        Value OfOdd = loadSums(B, Sums, {First, Behind});
        for (int64_t I = 0; I < Groups; ++I) {
          Value Vectors =
              loadTile(B, Page, {B.mul(B.add(Group, I), TileRows), At});
          OfEven = multiplyTiles(B, Even[I], Vectors, OfEven);
          OfOdd = multiplyTiles(B, Odd[I], Vectors, OfOdd);
        }
        storeTile(B, OfEven, Sums, {First, At});
        storeTile(B, OfOdd, Sums, {First, Behind});
      });
    });
  }

  /// Puts even and odd elements of the sums of `Count` heads side by side.
  void orderSums(Value First, Value Count) {
    SmallVector<int64_t> Low, High;
    for (int64_t I = 0; I < Lanes; ++I) {
      Low.push_back(I / 2 + I % 2 * Lanes);
      High.push_back(Low.back() + Lanes / 2);
    }
    B.loop(First, B.add(First, Count), 1, [&](Value Of) {
      B.loop(B.index(0), B.index(Rank), TileFeatures, [&](Value At) {
        Value Behind = B.add(At, Lanes);
        Value Even = B.load(Sums, {Of, At}), Odd = B.load(Sums, {Of, Behind});
        B.store(vector::ShuffleOp::create(B, Even, Odd, Low), Sums, {Of, At});
        B.store(vector::ShuffleOp::create(B, Even, Odd, High), Sums,
                {Of, Behind});
      });
    });
  }

  /// Writes an absorbed query to row `To` of `Buffer`, from `Base` on.
  void absorbInto(Value Buffer, Value To, Value Base, Value Token, Value Head) {
    absorb(Token, Head);
    B.columns(Rank, [&](Value At, int64_t Valid) {
      B.store(B.load(Row, {At}, Valid), Buffer, {To, B.add(Base, At)}, Valid);
    });
    Value From = B.add(B.mul(Head, KeyDim + RopeDim), KeyDim);
    B.columns(RopeDim, [&](Value At, int64_t Valid) {
      Value Rotated = B.load(Op.getQuery(), {Token, B.add(From, At)}, Valid);
      B.store(B.mulf(Rotated, B.vecConst(scale())), Buffer,
              {To, B.add(B.add(Base, At), Rank)}, Valid);
    });
  }

  /// Heads of block `Block`.
  Value headsIn(Value Block) {
    return B.min(B.sub(B.index(Heads), B.mul(Block, BlockHeads)),
                 B.index(BlockHeads));
  }

  Value keysSeen(Value Token) {
    return B.add(B.loadIndex(Positions, Token), 1);
  }

  //===--- Work items -----------------------------------------------------===//

  void atOnce() {
    Value Tokens = B.dim0(Op.getQuery());
    B.deal(B.mul(B.ceilDiv(Tokens, Slots), HeadBlocks), [&](Value Item) {
      Value First = B.mul(B.div(Item, HeadBlocks), Slots);
      Value Count = B.min(B.sub(Tokens, First), B.index(Slots));
      Value Block = B.rem(Item, HeadBlocks), HeadCount = headsIn(Block);
      Value FirstHead = B.mul(Block, BlockHeads);
      auto ForTokens = [&](llvm::function_ref<void(Value, Value)> Body) {
        B.loop(B.index(0), Count, 1, [&](Value Slot) {
          Value Token = B.add(First, Slot);
          B.ifThen(isAbsorbed(B.loadIndex(SequenceOf, Token)),
                   [&] { Body(Slot, Token); });
        });
      };
      B.loop(B.index(0), HeadCount, 1, [&](Value Lane) {
        Value Head = B.add(FirstHead, Lane);
        ForTokens([&](Value Slot, Value Token) {
          absorbInto(Absorbed, rowAt(Slot, Lane), B.index(0), Token, Head);
        });
      });
      ForTokens([&](Value Slot, Value Token) {
        Value Seen = keysSeen(Token);
        putQueries(HeadCount, [&](Value Lane, Value At, int64_t Valid) {
          return B.load(Absorbed, {rowAt(Slot, Lane), At}, Valid);
        });
        attend(Slot, B.loadIndex(SequenceOf, Token), Seen, B.index(0),
               B.ceilDiv(Seen, PageTokens), HeadCount);
      });
      B.loop(B.index(0), HeadCount, 1, [&](Value Lane) {
        ForTokens([&](Value Slot, Value Token) {
          Value At = rowAt(Slot, Lane);
          Value Inverse = B.divf(B.f32(1), B.loadScalar(Totals, {At}));
          project(Token, B.add(FirstHead, Lane), Inverse,
                  [&](Value Column, int64_t Valid) {
                    return B.load(Sums, {At, Column}, Valid);
                  });
        });
      });
    });
  }

  void inPhases() {
    Value Tokens = B.dim0(Op.getQuery());
    Value Partials = Op.getPartialsOut();
    forHeads(Tokens, [&](Value Token, Value Head) {
      absorbInto(Partials, Token, B.mul(Head, QueryDim), Token, Head);
    });
    dnn::BarrierOp::create(B, Op.getBatch());
    B.loop(B.index(0), Tokens, 1, B.index(0),
           [&](Value Token, ValueRange Carried) {
             Value Sequence = B.loadIndex(SequenceOf, Token);
             Partitions Parts = partitionsOf(Token);
             Value Items = arith::SelectOp::create(
                 B, isAbsorbed(Sequence), B.mul(Parts.Count, HeadBlocks),
                 B.index(0));
             B.deal(Items, Carried[0], [&](Value Item) {
               onePartition(Token, Sequence, Parts, Item);
             });
             return SmallVector<Value>{B.add(Carried[0], Items)};
           });
    dnn::BarrierOp::create(B, Op.getBatch());
    Value Factors = B.scratch({Op.getMostPartitions()});
    forHeads(Tokens, [&](Value Token, Value Head) {
      Partitions Parts = partitionsOf(Token);
      auto Scalar = [&](Value Part, int64_t At) {
        return B.loadScalar(Partials,
                            {Token, B.add(partialAt(Part, Head), Rank + At)});
      };
      emitMergeFactors(
          B, Parts.Count, [&](Value Part) { return Scalar(Part, 0); },
          [&](Value Part) { return Scalar(Part, 1); }, Factors);
      B.columns(Rank, [&](Value At, int64_t Valid) {
        Value Sum = emitMerged(B, Parts.Count, Factors, [&](Value Part) {
          return B.load(Partials, {Token, B.add(partialAt(Part, Head), At)},
                        Valid);
        });
        B.store(Sum, Row, {At}, Valid);
      });
      project(Token, Head, {}, [&](Value At, int64_t Valid) {
        return B.load(Row, {At}, Valid);
      });
    });
  }

  /// This thread's share of all heads of the tokens whose queries absorb K. A
  /// head's rows of the expansion stay in cache for all tokens.
  void forHeads(Value Tokens, llvm::function_ref<void(Value, Value)> Body) {
    B.share(B.mul(Tokens, Heads), [&](Value Item) {
      Value Head = arith::DivUIOp::create(B, Item, Tokens);
      Value Token = arith::RemUIOp::create(B, Item, Tokens);
      B.ifThen(isAbsorbed(B.loadIndex(SequenceOf, Token)),
               [&] { Body(Token, Head); });
    });
  }

  Partitions partitionsOf(Value Token) {
    return emitPartitions(B, B.index(0), B.ceilDiv(keysSeen(Token), PageTokens),
                          static_cast<int64_t>(*Op.getPartitionPages()),
                          Op.getMostPartitions());
  }

  /// Where a head's partial of `Part` begins in a row: the weighted sum, its
  /// maximum, its total.
  Value partialAt(Value Part, Value Head) {
    return B.add(B.mul(B.add(B.mul(Part, Heads), Head), Rank + 2),
                 Heads * QueryDim);
  }

  void onePartition(Value Token, Value Sequence, const Partitions &Parts,
                    Value Item) {
    Value Partials = Op.getPartialsOut();
    Value Part = B.div(Item, HeadBlocks), Block = B.rem(Item, HeadBlocks);
    Value FirstHead = B.mul(Block, BlockHeads), Count = headsIn(Block);
    putQueries(Count, [&](Value Lane, Value At, int64_t Valid) {
      Value Base = B.mul(B.add(FirstHead, Lane), QueryDim);
      return B.load(Partials, {Token, B.add(Base, At)}, Valid);
    });
    auto [From, To] = Parts.rangeOf(B, Part);
    attend(B.index(0), Sequence, keysSeen(Token), From, To, Count);
    B.loop(B.index(0), Count, 1, [&](Value Lane) {
      Value Base = partialAt(Part, B.add(FirstHead, Lane));
      B.columns(Rank, [&](Value At, int64_t Valid) {
        B.store(B.load(Sums, {Lane, At}, Valid), Partials,
                {Token, B.add(Base, At)}, Valid);
      });
      Value End = B.add(Base, Rank);
      B.storeScalar(B.loadScalar(Highest, {Lane}), Partials, {Token, End});
      B.storeScalar(B.loadScalar(Totals, {Lane}), Partials,
                    {Token, B.add(End, 1)});
    });
  }

  int64_t HeadBlocks;
  /// Keys or heads that share what is loaded: as many sums as leave half of the
  /// registers.
  int64_t AtOnce;
  /// Elements of an absorbed query.
  int64_t QueryDim;
  /// Tokens that there is scratch for.
  int64_t Slots;
  /// Whether pairs of bf16 are multiplied, and whether in tiles.
  bool UsesPairs, UsesTiles;
  Value Row, Scores, Sums, Highest, Totals, Shrinks, SequenceOf;
  /// Absorbed queries of the slots, null where they are in the partials, and
  /// those of one slot as they are multiplied.
  Value Absorbed, Queries;
  Value Wide; ///< The page in f32; null where it is or is not widened.
  /// Those of 16 heads for two keys, and those of tiles.
  Value WeightPairs, EvenWeights, OddWeights;
};

} // namespace

template <>
void tenon::emitKernel(KernelBuilder &B, dnn::LatentAttentionOp Op) {
  emitExpandedLatent(B, Op);
  AbsorbedEmitter(B, Op).emit();
}
