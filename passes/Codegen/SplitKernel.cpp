//===- SplitKernel.cpp - Queries, keys and values to where they belong ----===//
//
// One work item is one head of one token: it is normalised and rotated in
// scratch, then written: queries to a buffer, keys transposed and values as
// they are into the token's page.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/KernelBuilder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// A page to write to, and where in it.
struct Slot {
  Value Keys;
  Value Values;
  Value Token; ///< 0 to 63.
};

template <typename OpTy> class SplitEmitter {
public:
  SplitEmitter(KernelBuilder &B, OpTy Op, Value Query)
      : B(B), Op(Op), Query(Query), Heads(static_cast<int64_t>(Op.getHeads())),
        KvHeads(static_cast<int64_t>(Op.getKvHeads())),
        HeadDim(cast<MemRefType>(Query.getType()).getDimSize(1) / Heads),
        Head(B.scratch({HeadDim})),
        Positions(B.field(dnn::FieldKind::Positions, Op.getBatch())) {
    if (Op.getTable())
      Table = B.weightView(Op.getTable());
  }

  /// Writes the queries of every token.
  void queries() {
    B.share(B.mul(B.dim0(Query), Heads), [&](Value Item) {
      Value Row = B.div(Item, Heads);
      Value Column = B.mul(B.rem(Item, Heads), HeadDim);
      prepare(part(0), Row, Column, Op.getQueryNorm(), /*IsRotated=*/true);
      B.columns(HeadDim, [&](Value At, int64_t Valid) {
        B.store(B.load(Head, {At}, Valid), Query, {Row, B.add(Column, At)},
                Valid);
      });
    });
  }

  /// Writes keys and values of `Tokens` tokens to the slots that `SlotOf`
  /// gives.
  void keysAndValues(Value Tokens, llvm::function_ref<Slot(Value)> SlotOf) {
    B.share(B.mul(Tokens, KvHeads), [&](Value Item) {
      Value Row = B.div(Item, KvHeads);
      Value KvHead = B.rem(Item, KvHeads);
      Slot To = SlotOf(Row);
      Value Column = B.mul(KvHead, HeadDim);
      prepare(part(1), Row, B.add(Column, keyOffset()), Op.getKeyNorm(), true);
      storeKey(To, KvHead);
      prepare(part(2), Row, B.add(Column, valueOffset()), {}, false);
      storeValue(To, KvHead);
    });
  }

  /// Zeroes the slots of tokens from `From` to `To`.
  void zero(Value From, Value To, llvm::function_ref<Slot(Value)> SlotOf) {
    Value Items = B.mul(B.sub(To, From), KvHeads);
    B.share(Items, [&](Value Item) {
      Slot At = SlotOf(B.add(From, B.div(Item, KvHeads)));
      B.columns(HeadDim, [&](Value Column, int64_t Valid) {
        B.store(B.vecConst(0), Head, {Column}, Valid);
      });
      Value KvHead = B.rem(Item, KvHeads);
      storeKey(At, KvHead);
      storeValue(At, KvHead);
    });
  }

private:
  bool isMerged() { return Op.getQkv().size() == 1; }
  Value part(unsigned Index) { return Op.getQkv()[isMerged() ? 0 : Index]; }
  int64_t keyOffset() { return isMerged() ? Heads * HeadDim : 0; }
  int64_t valueOffset() { return isMerged() ? (Heads + KvHeads) * HeadDim : 0; }

  /// Copies one head to scratch, normalised and rotated.
  void prepare(Value Source, Value Row, Value Column, Value Norm,
               bool IsRotated) {
    Value Scale = B.vecConst(1);
    Value Weight;
    if (Norm) {
      Weight = B.weightView(Norm);
      Value Squares =
          B.columns(HeadDim, B.vecConst(0),
                    [&](Value At, int64_t Valid, ValueRange Carried) {
                      Value X = B.load(Source, {Row, B.add(Column, At)}, Valid);
                      return SmallVector<Value>{B.fma(X, X, Carried[0])};
                    })[0];
      Value Mean = B.divf(B.sum(Squares), B.f32(static_cast<float>(HeadDim)));
      auto Eps = static_cast<float>(Op.getEpsAttr().getValueAsDouble());
      Scale = B.splat(
          B.divf(B.f32(1), math::SqrtOp::create(B, B.addf(Mean, B.f32(Eps)))));
    }
    B.columns(HeadDim, [&](Value At, int64_t Valid) {
      Value X = B.load(Source, {Row, B.add(Column, At)}, Valid);
      if (Norm)
        X = B.mulf(B.mulf(X, Scale), B.load(Weight, {At}));
      B.store(X, Head, {At}, Valid);
    });
    if (IsRotated && Table)
      rotate(Row);
  }

  /// Rotates scratch by the angles of the row's position.
  void rotate(Value Row) {
    RopeAttr Rope = Op.getRopeAttr();
    int64_t Half = Rope.getDim() / 2;
    Value Position = B.loadIndex(Positions, Row);
    if (Rope.getStyle() == RopeStyle::Half) {
      B.columns(Half, [&](Value At, int64_t Valid) {
        Value Cos = B.load(Table, {Position, At}, Valid);
        Value Sin = B.load(Table, {Position, B.add(At, Half)}, Valid);
        Value First = B.load(Head, {At}, Valid);
        Value Second = B.load(Head, {B.add(At, Half)}, Valid);
        B.store(B.subf(B.mulf(First, Cos), B.mulf(Second, Sin)), Head, {At},
                Valid);
        B.store(B.addf(B.mulf(Second, Cos), B.mulf(First, Sin)), Head,
                {B.add(At, Half)}, Valid);
      });
      return;
    }
    B.loop(B.index(0), B.index(Half), 1, [&](Value Pair) {
      Value Cos = B.loadScalar(Table, {Position, Pair});
      Value Sin = B.loadScalar(Table, {Position, B.add(Pair, Half)});
      Value Even = B.mul(Pair, 2);
      Value Odd = B.add(Even, 1);
      Value First = B.loadScalar(Head, {Even});
      Value Second = B.loadScalar(Head, {Odd});
      B.storeScalar(B.subf(B.mulf(First, Cos), B.mulf(Second, Sin)), Head,
                    {Even});
      B.storeScalar(B.addf(B.mulf(Second, Cos), B.mulf(First, Sin)), Head,
                    {Odd});
    });
  }

  void storeKey(const Slot &To, Value KvHead) {
    Value BlockOf = B.div(To.Token, KeyBlock);
    Value Lane = B.rem(To.Token, KeyBlock);
    B.loop(B.index(0), B.index(HeadDim), 1, [&](Value At) {
      B.storeScalar(B.loadScalar(Head, {At}), To.Keys,
                    {KvHead, BlockOf, At, Lane});
    });
  }

  void storeValue(const Slot &To, Value KvHead) {
    B.columns(HeadDim, [&](Value At, int64_t Valid) {
      B.store(B.load(Head, {At}, Valid), To.Values, {KvHead, To.Token, At},
              Valid);
    });
  }

  KernelBuilder &B;
  OpTy Op;
  Value Query;
  int64_t Heads, KvHeads, HeadDim;
  Value Head;
  Value Positions;
  Value Table;
};

} // namespace

void tenon::emitSplitAppend(KernelBuilder &B, dnn::SplitAppendOp Op) {
  Value Query = Op.getOuts();
  SplitEmitter<dnn::SplitAppendOp> Emitter(B, Op, Query);
  Emitter.queries();
  CacheType Cache = Op.getCache().getType();
  auto [KeysType, ValuesType] = dnn::pageTypes(
      Cache.getKvHeads(), Cache.getHeadDim(), Cache.getElementType());
  Value Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
  Value SequenceOf = B.field(dnn::FieldKind::SequenceOf, Op.getBatch());
  Emitter.keysAndValues(B.dim0(Query), [&](Value Row) -> Slot {
    Value Position = B.loadIndex(Positions, Row);
    Value Pages = dnn::PageTableOp::create(
        B, MemRefType::get({ShapedType::kDynamic}, B.getI32Type()),
        Op.getBatch(), B.loadIndex(SequenceOf, Row));
    Value Number = B.loadIndex(Pages, B.div(Position, PageTokens));
    auto Page = dnn::PageOp::create(B, KeysType, ValuesType, Op.getCache(),
                                    Op.getScope(), Number);
    return {Page.getKeys(), Page.getValues(), B.rem(Position, PageTokens)};
  });
}

void tenon::emitSplitStage(KernelBuilder &B, dnn::SplitStageOp Op) {
  Value Query = Op.getOuts()[0];
  Value Staged = Op.getOuts()[1];
  SplitEmitter<dnn::SplitStageOp> Emitter(B, Op, Query);
  Emitter.queries();
  int64_t HeadDim = cast<MemRefType>(Query.getType()).getDimSize(1) /
                    static_cast<int64_t>(Op.getHeads());
  auto [KeysType, ValuesType] = dnn::pageTypes(
      static_cast<int64_t>(Op.getKvHeads()), HeadDim, B.getF32Type());
  auto SlotOf = [&](Value Row) -> Slot {
    auto Page = dnn::StagedPageOp::create(B, KeysType, ValuesType, Staged,
                                          B.div(Row, PageTokens));
    return {Page.getKeys(), Page.getValues(), B.rem(Row, PageTokens)};
  };
  Value Tokens = B.dim0(Query);
  Emitter.keysAndValues(Tokens, SlotOf);
  // Attention multiplies masked slots by zero: they must be numbers.
  Emitter.zero(Tokens, B.mul(B.dim0(Staged), PageTokens), SlotOf);
}
