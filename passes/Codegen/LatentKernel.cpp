//===- LatentKernel.cpp - Attention over latent vectors -------------------===//
//
// One work item is a sequence and a head. With c the latent vector of a key and
// K, V the head's rows of the expansion, a score is q . (K c) = (K^T q) . c and
// the result V (sum of p c). With few queries K is absorbed into the query and
// V applied to the sum: each key costs 2 `rank` multiplications. With many,
// keys and values of a page are expanded once for all of them, and each costs
// `key_dim` and `value_dim` after that.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/KernelBuilder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Lower than any score, and finite: differences of it are zero, not NaN.
constexpr float Lowest = -1e30f;

class LatentEmitter {
public:
  LatentEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op)
      : B(B), Op(Op), Heads(static_cast<int64_t>(Op.getHeads())),
        KeyDim(static_cast<int64_t>(Op.getKeyDim())),
        ValueDim(static_cast<int64_t>(Op.getValueDim())),
        Rank(Op.getExpand().getType().getInFeatures()),
        RopeDim(cast<MemRefType>(Op.getQuery().getType()).getDimSize(1) /
                    Heads -
                KeyDim),
        Width(padded(Rank + RopeDim)), Expand(B.weightView(Op.getExpand())),
        Query(B.scratch({Width})), Scores(B.scratch({PageTokens})),
        Positions(B.field(dnn::FieldKind::Positions, Op.getBatch())),
        Starts(B.field(dnn::FieldKind::Starts, Op.getBatch())) {}

  void emit() {
    Value Sequences = dnn::CountOp::create(B, B.getIndexType(),
                                           CountKind::Sequences, Op.getBatch());
    B.deal(B.mul(Sequences, Heads), [&](Value Item) {
      Current = {B.div(Item, Heads), B.rem(Item, Heads), {}, {}, {}, {}};
      Current.First = B.loadIndex(Starts, Current.Sequence);
      Current.Last = B.loadIndex(Starts, B.add(Current.Sequence, 1));
      Current.Keys = B.mul(Current.Head, KeyDim + ValueDim);
      Current.Values = B.add(Current.Keys, KeyDim);
      Value Count = B.sub(Current.Last, Current.First);
      B.ifThenElse(
          B.isLess(Count, B.index(fewestToExpand())),
          [&] {
            B.loop(Current.First, Current.Last, 1,
                   [&](Value Token) { absorbed(Token); });
          },
          [&] { expanded(); });
    });
  }

private:
  /// One sequence and head: its tokens, and its rows of the expansion.
  struct Work {
    Value Sequence, Head, First, Last, Keys, Values;
  };

  static int64_t padded(int64_t Count) { return roundUp(Count, Lanes); }

  /// From so many queries on expanding a page costs less than it saves.
  int64_t fewestToExpand() const {
    int64_t Saved = 2 * Rank - KeyDim - ValueDim;
    if (Saved <= 0)
      return INT32_MAX;
    return llvm::divideCeil(Rank * (KeyDim + ValueDim), Saved);
  }

  Value page(Value Number) {
    CacheType Cache = Op.getCache().getType();
    Value Table = dnn::PageTableOp::create(
        B, MemRefType::get({ShapedType::kDynamic}, B.getI32Type()),
        Op.getBatch(), Current.Sequence, /*cross=*/false);
    return dnn::LatentPageOp::create(
        B,
        dnn::latentPageType(
            Cache.getHeadDim(),
            dnn::elementTypeOf(B.getContext(), Cache.getFormat())),
        Op.getCache(), Op.getScope(), B.loadIndex(Table, Number));
  }

  /// Element `I` of the token's query, scaled.
  Value queryAt(Value Token, Value I) {
    Value Base = B.mul(Current.Head, KeyDim + RopeDim);
    auto Scale = static_cast<float>(Op.getScale().convertToDouble());
    return B.mulf(B.loadScalar(Op.getQuery(), {Token, B.add(Base, I)}),
                  B.f32(Scale));
  }

  /// Sum over `Count` columns of the product of two rows.
  Value dot(int64_t Count, llvm::function_ref<Value(Value, int64_t)> Left,
            llvm::function_ref<Value(Value, int64_t)> Right) {
    return B.sum(B.columns(
        Count, B.vecConst(0), [&](Value At, int64_t Valid, ValueRange Carried) {
          return SmallVector<Value>{
              B.fma(Left(At, Valid), Right(At, Valid), Carried[0])};
        })[0]);
  }

  /// Turns Scores into weights relative to the new maximum `Before` becomes;
  /// answers that, the factor that earlier sums shrink by, and the new total.
  std::array<Value, 3> softmax(Value Before, Value Total) {
    SmallVector<Value> Parts;
    Value Max;
    for (int64_t At = 0; At < PageTokens; At += Lanes) {
      Parts.push_back(B.load(Scores, {B.index(At)}));
      Max = Max ? B.maxf(Max, Parts.back()) : Parts.back();
    }
    Value Highest = B.maxf(Before, B.largest(Max));
    Value Sum = B.vecConst(0);
    for (auto [I, Part] : llvm::enumerate(Parts)) {
      Value Weight = math::ExpOp::create(B, B.subf(Part, B.splat(Highest)));
      Sum = B.addf(Sum, Weight);
      B.store(Weight, Scores, {B.index(static_cast<int64_t>(I) * Lanes)});
    }
    Value Shrink = math::ExpOp::create(B, B.subf(Before, Highest));
    return {Highest, Shrink, B.addf(B.mulf(Total, Shrink), B.sum(Sum))};
  }

  void zero(Value Scratch, int64_t Count) {
    B.columns(Count, [&](Value At, int64_t Valid) {
      B.store(B.vecConst(0), Scratch, {At}, Valid);
    });
  }

  /// One query against latent vectors.
  void absorbed(Value Token) {
    if (!Sums)
      Sums = B.scratch({padded(Rank)});
    zero(Query, Width);
    B.columns(Rank, [&](Value At, int64_t Valid) {
      Value Moved =
          B.loop(B.index(0), B.index(KeyDim), 1, B.vecConst(0),
                 [&](Value I, ValueRange Carried) {
                   Value Row =
                       B.load(Expand, {B.add(Current.Keys, I), At}, Valid);
                   return SmallVector<Value>{
                       B.fma(B.splat(queryAt(Token, I)), Row, Carried[0])};
                 })[0];
      B.store(Moved, Query, {At}, Valid);
    });
    B.loop(B.index(0), B.index(RopeDim), 1, [&](Value I) {
      B.storeScalar(queryAt(Token, B.add(I, KeyDim)), Query, {B.add(I, Rank)});
    });
    zero(Sums, Rank);

    Value Seen = B.add(B.loadIndex(Positions, Token), 1);
    SmallVector<Value> End = B.loop(
        B.index(0), B.ceilDiv(Seen, PageTokens), 1, {B.f32(Lowest), B.f32(0)},
        [&](Value Number, ValueRange Carried) {
          Value Page = page(Number);
          Value Count = B.min(B.sub(Seen, B.mul(Number, PageTokens)),
                              B.index(PageTokens));
          B.columns(PageTokens, [&](Value At, int64_t) {
            B.store(B.vecConst(Lowest), Scores, {At});
          });
          B.loop(B.index(0), Count, 1, [&](Value Key) {
            Value Score = dot(
                Width,
                [&](Value At, int64_t) { return B.load(Page, {Key, At}); },
                [&](Value At, int64_t) { return B.load(Query, {At}); });
            B.storeScalar(Score, Scores, {Key});
          });
          auto [Max, Shrink, Total] = softmax(Carried[0], Carried[1]);
          B.columns(Rank, [&](Value At, int64_t Valid) {
            Value Begin = B.mulf(B.load(Sums, {At}, Valid), B.splat(Shrink));
            Value Sum = B.loop(
                B.index(0), Count, 1, Begin, [&](Value Key, ValueRange Sum) {
                  return SmallVector<Value>{
                      B.fma(B.splat(B.loadScalar(Scores, {Key})),
                            B.load(Page, {Key, At}, Valid), Sum[0])};
                })[0];
            B.store(Sum, Sums, {At}, Valid);
          });
          return SmallVector<Value>{Max, Total};
        });

    Value Inverse = B.divf(B.f32(1), End[1]);
    Value Base = B.mul(Current.Head, ValueDim);
    B.loop(B.index(0), B.index(ValueDim), 1, [&](Value I) {
      Value Sum = dot(
          Rank, [&](Value At, int64_t V) { return B.load(Sums, {At}, V); },
          [&](Value At, int64_t V) {
            return B.load(Expand, {B.add(Current.Values, I), At}, V);
          });
      B.storeScalar(B.mulf(Sum, Inverse), Op.getOut(), {Token, B.add(Base, I)});
    });
  }

  /// All queries of the sequence against expanded keys and values. Running
  /// sums, maximum and total of each lie in the second destination.
  void expanded() {
    if (!Keys) {
      Keys = B.scratch({KeyDim + RopeDim, PageTokens});
      Values = B.scratch({PageTokens, padded(ValueDim)});
    }
    Value State = Op.getStateOut();
    Value Base = B.mul(Current.Head, ValueDim + 2);
    Value MaxAt = B.add(Base, ValueDim), TotalAt = B.add(MaxAt, 1);
    B.loop(Current.First, Current.Last, 1, [&](Value Token) {
      B.columns(ValueDim, [&](Value At, int64_t Valid) {
        B.store(B.vecConst(0), State, {Token, B.add(Base, At)}, Valid);
      });
      B.storeScalar(B.f32(Lowest), State, {Token, MaxAt});
      B.storeScalar(B.f32(0), State, {Token, TotalAt});
    });
    Value LastToken = B.sub(Current.Last, B.index(1));
    Value Context = B.add(B.loadIndex(Positions, LastToken), 1);
    B.loop(B.index(0), B.ceilDiv(Context, PageTokens), 1, [&](Value Number) {
      expandPage(page(Number));
      Value FirstKey = B.mul(Number, PageTokens);
      B.loop(Current.First, Current.Last, 1, [&](Value Token) {
        Value Own = B.loadIndex(Positions, Token);
        B.ifThen(B.isLess(FirstKey, B.add(Own, 1)),
                 [&] { attendPage(Token, Own, FirstKey, Base); });
      });
    });
    Value OutBase = B.mul(Current.Head, ValueDim);
    B.loop(Current.First, Current.Last, 1, [&](Value Token) {
      Value Inverse =
          B.splat(B.divf(B.f32(1), B.loadScalar(State, {Token, TotalAt})));
      B.columns(ValueDim, [&](Value At, int64_t Valid) {
        Value Sum = B.load(State, {Token, B.add(Base, At)}, Valid);
        B.store(B.mulf(Sum, Inverse), Op.getOut(), {Token, B.add(OutBase, At)},
                Valid);
      });
    });
  }

  /// Keys, transposed, and values of a page.
  void expandPage(Value Page) {
    B.loop(B.index(0), B.index(PageTokens), 1, [&](Value Key) {
      auto Expanded = [&](Value Row) {
        return dot(
            Rank,
            [&](Value At, int64_t V) { return B.load(Page, {Key, At}, V); },
            [&](Value At, int64_t V) { return B.load(Expand, {Row, At}, V); });
      };
      B.loop(B.index(0), B.index(KeyDim), 1, [&](Value I) {
        B.storeScalar(Expanded(B.add(Current.Keys, I)), Keys, {I, Key});
      });
      B.loop(B.index(0), B.index(RopeDim), 1, [&](Value I) {
        B.storeScalar(B.loadScalar(Page, {Key, B.add(I, Rank)}), Keys,
                      {B.add(I, KeyDim), Key});
      });
      B.loop(B.index(0), B.index(ValueDim), 1, [&](Value I) {
        B.storeScalar(Expanded(B.add(Current.Values, I)), Values, {Key, I});
      });
    });
  }

  void attendPage(Value Token, Value Own, Value FirstKey, Value Base) {
    Value State = Op.getStateOut();
    SmallVector<Value> Dots = B.loop(
        B.index(0), B.index(KeyDim + RopeDim), 1,
        SmallVector<Value>(PageTokens / Lanes, B.vecConst(0)),
        [&](Value I, ValueRange Carried) {
          Value Q = B.splat(queryAt(Token, I));
          SmallVector<Value> Next;
          for (auto [Group, Sum] : llvm::enumerate(Carried))
            Next.push_back(B.fma(
                Q,
                B.load(Keys, {I, B.index(static_cast<int64_t>(Group) * Lanes)}),
                Sum));
          return Next;
        });
    for (auto [Group, Dot] : llvm::enumerate(Dots)) {
      Value At = B.index(static_cast<int64_t>(Group) * Lanes);
      Value Seen = arith::CmpIOp::create(B, arith::CmpIPredicate::sle,
                                         B.countFrom(B.add(FirstKey, At)),
                                         B.splatIndex(Own));
      B.store(arith::SelectOp::create(B, Seen, Dot, B.vecConst(Lowest)), Scores,
              {At});
    }
    Value MaxAt = B.add(Base, ValueDim), TotalAt = B.add(MaxAt, 1);
    auto [Max, Shrink, Total] = softmax(B.loadScalar(State, {Token, MaxAt}),
                                        B.loadScalar(State, {Token, TotalAt}));
    B.storeScalar(Max, State, {Token, MaxAt});
    B.storeScalar(Total, State, {Token, TotalAt});
    B.columns(ValueDim, [&](Value At, int64_t Valid) {
      Value Column = B.add(Base, At);
      Value Begin =
          B.mulf(B.load(State, {Token, Column}, Valid), B.splat(Shrink));
      Value Sum = B.loop(B.index(0), B.index(PageTokens), 1, Begin,
                         [&](Value Key, ValueRange Sum) {
                           return SmallVector<Value>{
                               B.fma(B.splat(B.loadScalar(Scores, {Key})),
                                     B.load(Values, {Key, At}), Sum[0])};
                         })[0];
      B.store(Sum, State, {Token, Column}, Valid);
    });
  }

  KernelBuilder &B;
  dnn::LatentAttentionOp Op;
  int64_t Heads, KeyDim, ValueDim, Rank, RopeDim, Width;
  Value Expand, Query, Scores, Positions, Starts;
  /// Made when first needed.
  Value Sums, Keys, Values;
  Work Current;
};

} // namespace

template <>
void tenon::emitKernel(KernelBuilder &B, dnn::LatentAttentionOp Op) {
  LatentEmitter(B, Op).emit();
}
