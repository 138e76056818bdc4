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
  Value Scales; ///< Null where the format has none.
  Value Token;  ///< 0 to 63.
};

/// The page of `Cache` that `Row`'s position lies in.
Value pageOf(KernelBuilder &B, Value Cache, Value Batch, Value Row,
             Value Position) {
  Value Pages = dnn::PageTableOp::create(
      B, MemRefType::get({ShapedType::kDynamic}, B.getI32Type()), Batch,
      B.loadIndex(B.field(dnn::FieldKind::SequenceOf, Batch), Row),
      cast<CacheType>(Cache.getType()).isCross());
  return B.loadIndex(Pages, B.div(Position, PageTokens));
}

/// Where in `Cache` the keys and values of `Row` go.
Slot slotOf(KernelBuilder &B, TypedValue<CacheType> Cache, Value Scope,
            Value Batch, Value Row) {
  dnn::PageTypes Types =
      dnn::pageTypes(B.getContext(), Cache.getType().getPageLayout());
  Value Position = B.loadIndex(B.field(dnn::FieldKind::Positions, Batch), Row);
  auto Page =
      dnn::PageOp::create(B, Types.Keys, Types.Values, Types.Scales, Cache,
                          Scope, pageOf(B, Cache, Batch, Row, Position));
  return {Page.getKeys(), Page.getValues(), Page.getScales(),
          B.rem(Position, PageTokens)};
}

/// Values of a word (PageLayout) of a page's keys or values.
int64_t wordValues(Value Buffer) {
  return 32 / cast<MemRefType>(Buffer.getType()).getElementTypeBitWidth();
}

/// Stores a head's key (0) or value (1) as the page has it: element `At` where
/// `Place` says. Integers get their scale.
void storeHead(KernelBuilder &B, Value Head, int64_t HeadDim, const Slot &To,
               Value KvHead, int64_t Part, Value Buffer,
               llvm::function_ref<SmallVector<Value>(Value)> Place) {
  if (!To.Scales)
    return B.loop(B.index(0), B.index(HeadDim), 1, [&](Value At) {
      B.storeScalar(B.loadScalar(Head, {At}), Buffer, Place(At));
    });
  Value Largest = B.largest(B.columns(
      HeadDim, B.vecConst(0), [&](Value At, int64_t Valid, ValueRange Carried) {
        Value X = B.load(Head, {At}, Valid);
        return SmallVector<Value>{
            B.maxf(Carried[0], math::AbsFOp::create(B, X))};
      })[0]);
  B.storeScalar(B.divf(Largest, B.f32(127)), To.Scales,
                {B.index(Part), KvHead, To.Token});
  Value Inverse =
      B.divf(B.f32(127), B.maxf(Largest, B.f32(SmallestCachedHead)));
  B.loop(B.index(0), B.index(HeadDim), 1, [&](Value At) {
    Value Code =
        math::RoundEvenOp::create(B, B.mulf(B.loadScalar(Head, {At}), Inverse));
    memref::StoreOp::create(B, arith::FPToSIOp::create(B, B.getI8Type(), Code),
                            Buffer, Place(At));
  });
}

void storeKey(KernelBuilder &B, Value Head, int64_t HeadDim, const Slot &To,
              Value KvHead) {
  int64_t P = wordValues(To.Keys);
  Value BlockOf = B.div(To.Token, KeyBlock);
  Value Lane = B.mul(B.rem(To.Token, KeyBlock), P);
  storeHead(B, Head, HeadDim, To, KvHead, 0, To.Keys, [&](Value At) {
    return SmallVector<Value>{KvHead, BlockOf, B.div(At, P),
                              P == 1 ? Lane : B.add(Lane, B.rem(At, P))};
  });
}

void storeValue(KernelBuilder &B, Value Head, int64_t HeadDim, const Slot &To,
                Value KvHead) {
  int64_t P = wordValues(To.Values);
  if (P == 1)
    // Whole vectors: what pads a value is zero, not what was there before.
    return B.columns(HeadDim, [&](Value At, int64_t Valid) {
      B.store(B.load(Head, {At}, Valid), To.Values, {KvHead, To.Token, At});
    });
  Value Word = B.div(To.Token, P), InWord = B.rem(To.Token, P);
  storeHead(B, Head, HeadDim, To, KvHead, 1, To.Values, [&](Value At) {
    return SmallVector<Value>{KvHead, Word, B.add(B.mul(At, P), InWord)};
  });
}

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
      storeKey(B, Head, HeadDim, To, KvHead);
      prepare(part(2), Row, B.add(Column, valueOffset()), {}, false);
      storeValue(B, Head, HeadDim, To, KvHead);
    });
  }

  /// Zeroes `Count` ranges of slots.
  void zero(Value Count,
            llvm::function_ref<std::pair<Value, Value>(Value)> RangeOf,
            llvm::function_ref<Slot(Value)> SlotAt) {
    B.share(B.mul(Count, KvHeads), [&](Value Item) {
      B.columns(HeadDim, [&](Value Column, int64_t Valid) {
        B.store(B.vecConst(0), Head, {Column}, Valid);
      });
      Value KvHead = B.rem(Item, KvHeads);
      auto [From, To] = RangeOf(B.div(Item, KvHeads));
      B.loop(From, To, 1, [&](Value Number) {
        Slot At = SlotAt(Number);
        storeKey(B, Head, HeadDim, At, KvHead);
        storeValue(B, Head, HeadDim, At, KvHead);
      });
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
        X = B.mulf(B.mulf(X, Scale), normWeight(Weight, At));
      B.store(X, Head, {At}, Valid);
    });
    if (IsRotated && Table)
      emitRotation(B, Op.getRopeAttr(), Table, B.loadIndex(Positions, Row),
                   Head, /*From=*/0);
  }

  Value normWeight(Value Weight, Value At) {
    Value Loaded = B.load(Weight, {At});
    auto Offset = static_cast<float>(Op.getNormOffset().convertToDouble());
    return Offset == 0 ? Loaded : B.addf(Loaded, B.vecConst(Offset));
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

void tenon::emitRotation(KernelBuilder &B, RopeAttr Rope, Value Table,
                         Value Position, Value Head, int64_t From) {
  int64_t Half = Rope.getDim() / 2;
  auto Turn = [&](auto Load, auto Store, Value First, Value Second, Value Cos,
                  Value Sin) {
    Value A = Load(First), C = Load(Second);
    Store(B.subf(B.mulf(A, Cos), B.mulf(C, Sin)), First);
    Store(B.addf(B.mulf(C, Cos), B.mulf(A, Sin)), Second);
  };
  if (Rope.getStyle() == RopeStyle::Half) {
    B.columns(Half, [&](Value At, int64_t Valid) {
      Value First = B.add(At, From);
      Turn([&](Value I) { return B.load(Head, {I}, Valid); },
           [&](Value V, Value I) { B.store(V, Head, {I}, Valid); }, First,
           B.add(First, Half), B.load(Table, {Position, At}, Valid),
           B.load(Table, {Position, B.add(At, Half)}, Valid));
    });
    return;
  }
  B.loop(B.index(0), B.index(Half), 1, [&](Value Pair) {
    Value First = B.add(B.mul(Pair, 2), From);
    Turn([&](Value I) { return B.loadScalar(Head, {I}); },
         [&](Value V, Value I) { B.storeScalar(V, Head, {I}); }, First,
         B.add(First, 1), B.loadScalar(Table, {Position, Pair}),
         B.loadScalar(Table, {Position, B.add(Pair, Half)}));
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::RopeOp Op) {
  auto Heads = static_cast<int64_t>(Op.getHeads());
  Value Out = Op.getOuts();
  int64_t HeadDim = cast<MemRefType>(Out.getType()).getDimSize(1) / Heads;
  Value Head = B.scratch({HeadDim});
  Value Table = B.weightView(Op.getTable());
  Value Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
  auto Copy = [&](Value From, ValueRange FromBase, Value To,
                  ValueRange ToBase) {
    B.columns(HeadDim, [&](Value At, int64_t Valid) {
      auto Shifted = [&](ValueRange Base) {
        SmallVector<Value> Index(Base);
        Index.back() = B.add(Index.back(), At);
        return Index;
      };
      B.store(B.load(From, Shifted(FromBase), Valid), To, Shifted(ToBase),
              Valid);
    });
  };
  B.share(B.mul(B.dim0(Out), Heads), [&](Value Item) {
    Value Row = B.div(Item, Heads);
    Value Column = B.mul(B.rem(Item, Heads), HeadDim);
    Copy(Op.getInput(), {Row, Column}, Head, B.index(0));
    emitRotation(B, Op.getRope(), Table, B.loadIndex(Positions, Row), Head,
                 static_cast<int64_t>(Op.getOffset()));
    Copy(Head, B.index(0), Out, {Row, Column});
  });
}

/// A latent vector is its two parts side by side.
template <> void tenon::emitKernel(KernelBuilder &B, dnn::LatentAppendOp Op) {
  CacheType Type = Op.getCache().getType();
  auto PageType = dnn::latentPageType(
      Type.getHeadDim(), dnn::elementTypeOf(B.getContext(), Type.getFormat()));
  Value Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
  B.share(B.dim0(Op.getLatent()), [&](Value Row) {
    Value Position = B.loadIndex(Positions, Row);
    Value Page = dnn::LatentPageOp::create(
        B, PageType, Op.getCache(), Op.getScope(),
        pageOf(B, Op.getCache(), Op.getBatch(), Row, Position));
    Value Token = B.rem(Position, PageTokens);
    int64_t First = 0;
    for (Value Part : {Op.getLatent(), Op.getRotated()}) {
      int64_t Width = cast<MemRefType>(Part.getType()).getDimSize(1);
      B.columns(Width, [&](Value At, int64_t Valid) {
        B.store(B.load(Part, {Row, At}, Valid), Page, {Token, B.add(At, First)},
                Valid);
      });
      First += Width;
    }
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::CacheAppendOp Op) {
  CacheType Type = Op.getCache().getType();
  int64_t KvHeads = Type.getKvHeads(), HeadDim = Type.getHeadDim();
  Value Head = B.scratch({HeadDim});
  B.share(B.mul(B.dim0(Op.getKeys()), KvHeads), [&](Value Item) {
    Value Row = B.div(Item, KvHeads);
    Value KvHead = B.rem(Item, KvHeads);
    Slot To = slotOf(B, Op.getCache(), Op.getScope(), Op.getBatch(), Row);
    auto CopyHead = [&](Value Part) {
      B.columns(HeadDim, [&](Value At, int64_t Valid) {
        B.store(B.load(Part, {Row, B.add(B.mul(KvHead, HeadDim), At)}, Valid),
                Head, {At}, Valid);
      });
    };
    CopyHead(Op.getKeys());
    storeKey(B, Head, HeadDim, To, KvHead);
    CopyHead(Op.getValues());
    storeValue(B, Head, HeadDim, To, KvHead);
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::SplitAppendOp Op) {
  Value Query = Op.getOuts();
  SplitEmitter<dnn::SplitAppendOp> Emitter(B, Op, Query);
  Emitter.queries();
  Emitter.keysAndValues(B.dim0(Query), [&](Value Row) {
    return slotOf(B, Op.getCache(), Op.getScope(), Op.getBatch(), Row);
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::SplitStageOp Op) {
  Value Query = Op.getOut();
  Value Staged = Op.getStagedOut();
  SplitEmitter<dnn::SplitStageOp> Emitter(B, Op, Query);
  Emitter.queries();
  int64_t HeadDim = cast<MemRefType>(Query.getType()).getDimSize(1) /
                    static_cast<int64_t>(Op.getHeads());
  dnn::PageTypes Types =
      dnn::pageTypes(B.getContext(), {static_cast<int64_t>(Op.getKvHeads()),
                                      HeadDim, dnn::stagedFormat(Staged)});
  auto SlotAt = [&](Value Number) -> Slot {
    auto Page = dnn::StagedPageOp::create(B, Types.Keys, Types.Values, Staged,
                                          B.div(Number, PageTokens));
    return {Page.getKeys(), Page.getValues(), {}, B.rem(Number, PageTokens)};
  };
  Value SequenceOf = B.field(dnn::FieldKind::SequenceOf, Op.getBatch());
  Value Starts = B.field(dnn::FieldKind::Starts, Op.getBatch());
  Value Slots = B.field(dnn::FieldKind::StagedStarts, Op.getBatch());
  auto NumberOf = [&](Value Sequence, Value Row) {
    return B.add(B.loadIndex(Slots, Sequence),
                 B.sub(Row, B.loadIndex(Starts, Sequence)));
  };
  Emitter.keysAndValues(B.dim0(Query), [&](Value Row) {
    return SlotAt(NumberOf(B.loadIndex(SequenceOf, Row), Row));
  });
  // Attention multiplies masked slots by zero: they must be numbers.
  Emitter.zero(
      dnn::CountOp::create(B, B.getIndexType(), CountKind::Sequences,
                           Op.getBatch()),
      [&](Value Sequence) {
        Value Next = B.add(Sequence, 1);
        Value From = NumberOf(Sequence, B.loadIndex(Starts, Next));
        return std::pair{From, B.loadIndex(Slots, Next)};
      },
      SlotAt);
}
