//===- LatentExpanded.cpp - Latent attention of many queries --------------===//
//
// One work item is a sequence and a head.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/LatentKernel.h"

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

Value LatentEmitter::isAbsorbed(Value Sequence) {
  int64_t Saved = 2 * Rank - KeyDim - ValueDim;
  int64_t Fewest = Saved <= 0 ? INT32_MAX
                              : static_cast<int64_t>(llvm::divideCeil(
                                    Rank * (KeyDim + ValueDim), Saved));
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

Value LatentEmitter::queryAt(Value Token, Value Head, Value I) {
  Value Base = B.mul(Head, KeyDim + RopeDim);
  auto Scale = static_cast<float>(Op.getScale().convertToDouble());
  return B.mulf(B.loadScalar(Op.getQuery(), {Token, B.add(Base, I)}),
                B.f32(Scale));
}

namespace {

class ExpandedEmitter : LatentEmitter {
public:
  ExpandedEmitter(KernelBuilder &B, dnn::LatentAttentionOp Op)
      : LatentEmitter(B, Op), Keys(B.scratch({KeyDim + RopeDim, PageTokens})),
        Values(B.scratch({PageTokens, padded(ValueDim)})),
        Scores(B.scratch({PageTokens})) {}

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

  /// All queries of the sequence against expanded keys and values. Running
  /// sums, maximum and total of each lie in the second destination.
  void expanded() {
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
      expandPage(page(Current.Sequence, Number));
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
        B.storeScalar(Expanded(B.add(keyRows(Current.Head), I)), Keys,
                      {I, Key});
      });
      B.loop(B.index(0), B.index(RopeDim), 1, [&](Value I) {
        B.storeScalar(B.loadScalar(Page, {Key, B.add(I, Rank)}), Keys,
                      {B.add(I, KeyDim), Key});
      });
      B.loop(B.index(0), B.index(ValueDim), 1, [&](Value I) {
        B.storeScalar(Expanded(B.add(valueRows(Current.Head), I)), Values,
                      {Key, I});
      });
    });
  }

  void attendPage(Value Token, Value Own, Value FirstKey, Value Base) {
    Value State = Op.getStateOut();
    SmallVector<Value> Dots = B.loop(
        B.index(0), B.index(KeyDim + RopeDim), 1,
        SmallVector<Value>(PageTokens / Lanes, B.vecConst(0)),
        [&](Value I, ValueRange Carried) {
          Value Q = B.splat(queryAt(Token, Current.Head, I));
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

  Value Keys, Values, Scores;
  Work Current;
};

} // namespace

void tenon::emitExpandedLatent(KernelBuilder &B, dnn::LatentAttentionOp Op) {
  ExpandedEmitter(B, Op).emit();
}
