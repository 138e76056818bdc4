//===- LatentKernel.cpp - Attention over latent vectors -------------------===//
//
// The absorbed form reads a page once for 16 heads, which are the lanes of
// scores. In a decode-sized batch it has three phases: K is absorbed head by
// head; items of 16 heads and a partition of a token's pages go through these;
// V is applied to the merged sums head by head. Otherwise an item, some tokens
// and 16 heads, does all of that.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/LatentKernel.h"

#include "passes/Codegen/AttentionBlock.h"
#include "passes/Codegen/Partitions.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Heads that a page is read for at once: lanes of a vector.
constexpr int64_t BlockHeads = Lanes;

/// Rows of the expansion that are read side by side.
constexpr int64_t RowsAtOnce = 4;

/// Elements of 16 queries that stay in the first-level cache while all keys of
/// a page are multiplied with them.
constexpr int64_t QueryElements = 256;

/// Tokens of an item that does all by itself: what is read of the expansion is
/// read once for them.
constexpr int64_t ItemTokens = 4;

class AbsorbedEmitter : LatentEmitter {
public:
  AbsorbedEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op)
      : LatentEmitter(B, Op), HeadBlocks(llvm::divideCeil(Heads, BlockHeads)),
        AtOnce(B.Target.getRegisters() / 4), QueryDim(Rank + RopeDim),
        Slots(Op.getPartialsOut() ? 1 : ItemTokens),
        Row(B.scratch({padded(Rank)})),
        Queries(B.scratch({Slots * QueryDim, Lanes})),
        Scores(B.scratch({PageTokens, Lanes})),
        Sums(B.scratch({Slots * BlockHeads, padded(Rank)})),
        Highest(B.scratch({Slots * BlockHeads})),
        Totals(B.scratch({Slots * BlockHeads})), Shrinks(B.scratch({Lanes})),
        SequenceOf(B.field(dnn::FieldKind::SequenceOf, Op.getBatch())) {
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
          Sum = B.fma(Factor, B.load(Expand, {Of, At}, Valid), Sum);
        }
        B.store(Sum, Row, {At});
      });
    });
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
              Next.push_back(
                  B.fma(Sum, B.load(Expand, {Of, At}, Valid), Before));
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

  /// Puts elements from `First` to `Last` of an absorbed query into its lane.
  void putQuery(Value Slot, Value Lane, int64_t First, int64_t Last,
                llvm::function_ref<Value(Value)> Element) {
    Value Base = B.mul(Slot, QueryDim);
    B.loop(B.index(First), B.index(Last), 1, [&](Value I) {
      B.storeScalar(Element(I), Queries, {B.add(Base, I), Lane});
    });
  }

  /// Lanes without a head have queries of zero.
  void clearQueries() {
    if (Heads % BlockHeads == 0)
      return;
    B.loop(B.index(0), B.index(Slots * QueryDim), 1,
           [&](Value I) { B.store(B.vecConst(0), Queries, {I, B.index(0)}); });
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
    B.store(B.vecConst(AttentionBlock::Lowest), Highest, {First});
    B.store(B.vecConst(0), Totals, {First});
    B.loop(From, To, 1, [&](Value Number) {
      Value Keys =
          B.min(B.sub(Seen, B.mul(Number, PageTokens)), B.index(PageTokens));
      Value Page = widened(page(Sequence, Number), Keys);
      score(Page, Keys, B.mul(Slot, QueryDim));
      softmax(Keys, First);
      weigh(Page, Keys, First, Count);
    });
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

  void score(Value Page, Value Keys, Value FirstQuery) {
    for (int64_t From = 0; From < QueryDim; From += QueryElements) {
      int64_t To = std::min(From + QueryElements, QueryDim);
      B.loop(B.index(0), roundedKeys(Keys), AtOnce, [&](Value Key) {
        SmallVector<Value> Dots;
        for (int64_t I = 0; I < AtOnce; ++I)
          Dots.push_back(From == 0
                             ? B.vecConst(0)
                             : B.load(Scores, {B.add(Key, I), B.index(0)}));
        Dots = B.loop(B.index(From), B.index(To), 1, Dots,
                      [&](Value At, ValueRange Carried) {
                        Value OfHeads = B.load(
                            Queries, {B.add(FirstQuery, At), B.index(0)});
                        SmallVector<Value> Next;
                        for (auto [I, Dot] : llvm::enumerate(Carried)) {
                          Value Of = B.add(Key, static_cast<int64_t>(I));
                          Value Element = B.splat(B.loadScalar(Page, {Of, At}));
                          Next.push_back(B.fma(Element, OfHeads, Dot));
                        }
                        return Next;
                      });
        for (auto [I, Dot] : llvm::enumerate(Dots))
          B.store(Dot, Scores,
                  {B.add(Key, static_cast<int64_t>(I)), B.index(0)});
      });
    }
  }

  /// Turns scores into weights relative to the new maximum of each lane, and
  /// leaves the factors that earlier sums shrink by.
  void softmax(Value Keys, Value First) {
    Value Zero = B.index(0);
    Value Before = B.load(Highest, {First});
    Value Now =
        B.loop(Zero, Keys, 1, Before, [&](Value Key, ValueRange Carried) {
          return SmallVector<Value>{
              B.maxf(Carried[0], B.load(Scores, {Key, Zero}))};
        })[0];
    Value Shrink = B.expOfNonPositive(B.subf(Before, Now));
    Value Total =
        B.loop(Zero, Keys, 1, B.mulf(B.load(Totals, {First}), Shrink),
               [&](Value Key, ValueRange Carried) {
                 Value Weight = B.expOfNonPositive(
                     B.subf(B.load(Scores, {Key, Zero}), Now));
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

  /// Element `I` of an absorbed query, of its rotated part.
  Value rotatedAt(Value Token, Value Head, Value I) {
    return queryAt(Token, Head, B.add(B.sub(I, B.index(Rank)), KeyDim));
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
      clearQueries();
      B.loop(B.index(0), HeadCount, 1, [&](Value Lane) {
        Value Head = B.add(FirstHead, Lane);
        ForTokens([&](Value Slot, Value Token) {
          absorb(Token, Head);
          putQuery(Slot, Lane, 0, Rank,
                   [&](Value I) { return B.loadScalar(Row, {I}); });
          putQuery(Slot, Lane, Rank, QueryDim,
                   [&](Value I) { return rotatedAt(Token, Head, I); });
        });
      });
      ForTokens([&](Value Slot, Value Token) {
        Value Seen = keysSeen(Token);
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
      absorb(Token, Head);
      Value Base = B.mul(Head, QueryDim);
      B.columns(Rank, [&](Value At, int64_t Valid) {
        B.store(B.load(Row, {At}, Valid), Partials, {Token, B.add(Base, At)},
                Valid);
      });
      B.loop(B.index(Rank), B.index(QueryDim), 1, [&](Value I) {
        B.storeScalar(rotatedAt(Token, Head, I), Partials,
                      {Token, B.add(Base, I)});
      });
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
    clearQueries();
    B.loop(B.index(0), Count, 1, [&](Value Lane) {
      Value Base = B.mul(B.add(FirstHead, Lane), QueryDim);
      putQuery(B.index(0), Lane, 0, QueryDim, [&](Value I) {
        return B.loadScalar(Partials, {Token, B.add(Base, I)});
      });
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
  Value Row, Queries, Scores, Sums, Highest, Totals, Shrinks, SequenceOf;
  Value Wide; ///< The page in f32; null where it is.
};

} // namespace

template <>
void tenon::emitKernel(KernelBuilder &B, dnn::LatentAttentionOp Op) {
  emitExpandedLatent(B, Op);
  AbsorbedEmitter(B, Op).emit();
}
