//===- AttentionKernel.cpp - Online-softmax attention over pages ----------===//
//
// One work item is a block of tokens and one key-value head: the queries of
// these tokens that share the head go through its pages together, so that
// every key and value is read once for all of them. Per page: scores of 64
// keys, running maximum and sum, and the weighted sum of values.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/KernelBuilder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Lower than any score, and finite: differences of it are zero, not NaN.
constexpr float Lowest = -1e30f;

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &B, dnn::AttentionOp Op)
      : B(B), Op(Op), Heads(static_cast<int64_t>(Op.getHeads())),
        KvHeads(static_cast<int64_t>(Op.getKvHeads())), Group(Heads / KvHeads),
        HeadDim(cast<MemRefType>(Op.getQuery().getType()).getDimSize(1) /
                Heads) {
    // A score and a weighted sum per row stay in registers, with room for keys.
    int64_t MostRows = B.Target.getRegisters() / 4;
    HeadsPerItem = std::min(Group, MostRows);
    // Several tokens share the keys that are read.
    TokensPerItem =
        B.IsDecodeSized ? 1 : std::max<int64_t>(1, MostRows / Group);
    Rows = HeadsPerItem * TokensPerItem;
    PaddedDim = roundUp(HeadDim, Lanes);
    Queries = B.scratch({Rows, HeadDim});
    Scores = B.scratch({Rows, PageTokens});
    Sums = B.scratch({Rows, PaddedDim});
    Highest = B.scratch({Rows});
    Total = B.scratch({Rows});
    Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
    SequenceOf = B.field(dnn::FieldKind::SequenceOf, Op.getBatch());
    Starts = B.field(dnn::FieldKind::Starts, Op.getBatch());
    if (auto Cache = Op.getCache())
      IsCross = cast<CacheType>(Cache.getType()).isCross();
    if (IsCross)
      SourceLengths = B.field(dnn::FieldKind::SourceLengths, Op.getBatch());
    if (Op.getMask() == MaskKind::Prefix)
      Prefixes = B.field(dnn::FieldKind::Prefixes, Op.getBatch());
    if (Op.getBias())
      Bias = B.weightView(Op.getBias());
    if (Op.getSinks())
      Sinks = B.weightView(Op.getSinks());
  }

  void emit() {
    Value Tokens = B.dim0(Op.getQuery());
    Value Blocks = B.ceilDiv(Tokens, TokensPerItem);
    int64_t Splits = llvm::divideCeil(Group, HeadsPerItem);
    int64_t PerBlock = KvHeads * Splits;
    // Later tokens see more keys: dealing items out in turn evens that.
    B.deal(B.mul(Blocks, PerBlock), [&](Value Item) {
      Value First = B.mul(B.div(Item, PerBlock), TokensPerItem);
      Value Rest = B.rem(Item, PerBlock);
      Value KvHead = B.div(Rest, Splits);
      // The last split may repeat heads of the one before it.
      Value HeadInGroup = B.min(B.mul(B.rem(Rest, Splits), HeadsPerItem),
                                B.index(Group - HeadsPerItem));
      Value FirstHead = B.add(B.mul(KvHead, Group), HeadInGroup);
      Value LastToken =
          B.min(B.add(First, TokensPerItem - 1), B.sub(Tokens, B.index(1)));
      Value FirstSequence = B.loadIndex(SequenceOf, First);
      Value LastSequence = B.loadIndex(SequenceOf, LastToken);
      // A block may straddle sequences: each pass is for one of them and only
      // stores its own rows.
      B.loop(FirstSequence, B.add(LastSequence, 1), 1, [&](Value Sequence) {
        onePass(Tokens, First, FirstHead, KvHead, Sequence);
      });
    });
  }

private:
  /// One token of the block: which keys it sees.
  struct Token {
    Value Index;
    Value IsMine; ///< Exists and belongs to this pass's sequence.
    Value From, To;
    Value Own; ///< Where the query is among the keys.
  };

  Token tokenAt(Value Tokens, Value First, int64_t I, Value Sequence) {
    Token T;
    Value Unclamped = B.add(First, I);
    Value Last = B.sub(Tokens, B.index(1));
    T.Index = B.min(Unclamped, Last);
    Value Exists =
        arith::CmpIOp::create(B, arith::CmpIPredicate::sle, Unclamped, Last);
    Value Same =
        arith::CmpIOp::create(B, arith::CmpIPredicate::eq,
                              B.loadIndex(SequenceOf, T.Index), Sequence);
    T.IsMine = arith::AndIOp::create(B, Exists, Same);
    Value Start = Op.getCache() ? B.index(0) : B.loadIndex(Starts, Sequence);
    // Keys count from the sequence's start in a cache, from the step's start
    // when staged.
    Value Own = Op.getCache() ? B.loadIndex(Positions, T.Index) : T.Index;
    Value To = B.add(Own, 1);
    if (IsCross)
      To = B.loadIndex(SourceLengths, Sequence);
    else if (Op.getMask() == MaskKind::Bidirectional)
      To = B.loadIndex(Starts, B.add(Sequence, 1));
    else if (Op.getMask() == MaskKind::Prefix)
      To = B.max(To, B.loadIndex(Prefixes, Sequence));
    Value From = Start;
    if (auto Window = Op.getWindow()) {
      auto Width = static_cast<int64_t>(*Window);
      From = B.max(Start, B.sub(Own, B.index(Width - 1)));
      To = B.min(To, B.add(Own, Width));
    }
    T.From = From;
    T.Own = Own;
    T.To = arith::SelectOp::create(B, T.IsMine, To, From);
    return T;
  }

  void onePass(Value Tokens, Value First, Value FirstHead, Value KvHead,
               Value Sequence) {
    SmallVector<Token> Block;
    Value From, To;
    for (int64_t I = 0; I < TokensPerItem; ++I) {
      Block.push_back(tokenAt(Tokens, First, I, Sequence));
      const Token &T = Block.back();
      // Rows of other sequences have no keys; they must not widen the range.
      Value OwnFrom =
          arith::SelectOp::create(B, T.IsMine, T.From, B.index(INT32_MAX));
      Value OwnTo = arith::SelectOp::create(B, T.IsMine, T.To, B.index(0));
      From = From ? B.min(From, OwnFrom) : OwnFrom;
      To = To ? B.max(To, OwnTo) : OwnTo;
    }
    begin(Block, FirstHead);
    B.loop(
        B.div(From, PageTokens), B.ceilDiv(To, PageTokens), 1,
        [&](Value Page) { onePage(Block, Page, FirstHead, KvHead, Sequence); });
    finish(Block, FirstHead);
  }

  /// Scales queries into scratch and clears the running values.
  void begin(ArrayRef<Token> Block, Value FirstHead) {
    Value Scale =
        B.vecConst(static_cast<float>(Op.getScale().convertToDouble()));
    forEachRow(Block, FirstHead, [&](int64_t Row, const Token &T, Value Head) {
      Value Base = B.mul(Head, HeadDim);
      B.columns(HeadDim, [&](Value At, int64_t Valid) {
        Value Q = B.load(Op.getQuery(), {T.Index, B.add(Base, At)}, Valid);
        B.store(B.mulf(Q, Scale), Queries, {B.index(Row), At}, Valid);
      });
      B.columns(PaddedDim, [&](Value At, int64_t) {
        B.store(B.vecConst(0), Sums, {B.index(Row), At});
      });
      // A sink is a key of this score without a value.
      B.storeScalar(Sinks ? B.loadScalar(Sinks, {Head}) : B.f32(Lowest),
                    Highest, {B.index(Row)});
      B.storeScalar(B.f32(Sinks ? 1 : 0), Total, {B.index(Row)});
    });
  }

  void onePage(ArrayRef<Token> Block, Value Number, Value FirstHead,
               Value KvHead, Value Sequence) {
    auto [Keys, Values] = page(Number, Sequence);
    score(Block, Number, FirstHead, KvHead, Keys);
    SmallVector<Value> Corrections;
    for (int64_t Row = 0; Row < Rows; ++Row)
      Corrections.push_back(softmax(Row));
    weigh(KvHead, Values, Corrections);
  }

  std::pair<Value, Value> page(Value Number, Value Sequence) {
    if (Value Cache = Op.getCache()) {
      auto Type = cast<CacheType>(Cache.getType());
      auto [KeysType, ValuesType] =
          dnn::pageTypes(KvHeads, HeadDim,
                         dnn::elementTypeOf(B.getContext(), Type.getFormat()));
      Value Table = dnn::PageTableOp::create(
          B, MemRefType::get({ShapedType::kDynamic}, B.getI32Type()),
          Op.getBatch(), Sequence, IsCross);
      auto Page =
          dnn::PageOp::create(B, KeysType, ValuesType, Op.getCache(),
                              Op.getScope(), B.loadIndex(Table, Number));
      return {Page.getKeys(), Page.getValues()};
    }
    auto [KeysType, ValuesType] =
        dnn::pageTypes(KvHeads, HeadDim, B.getF32Type());
    auto Page = dnn::StagedPageOp::create(B, KeysType, ValuesType,
                                          Op.getStaged(), Number);
    return {Page.getKeys(), Page.getValues()};
  }

  /// Scores of all rows with the page's keys, masked, into scratch.
  void score(ArrayRef<Token> Block, Value Number, Value FirstHead, Value KvHead,
             Value Keys) {
    Value FirstKey = B.mul(Number, PageTokens);
    B.loop(B.index(0), B.index(PageTokens / KeyBlock), 1, [&](Value KeyGroup) {
      SmallVector<Value> Dots =
          B.loop(B.index(0), B.index(HeadDim), 1,
                 SmallVector<Value>(Rows, B.vecConst(0)),
                 [&](Value At, ValueRange Carried) {
                   Value Key = B.load(Keys, {KvHead, KeyGroup, At, B.index(0)});
                   SmallVector<Value> Next;
                   for (int64_t Row = 0; Row < Rows; ++Row)
                     Next.push_back(B.fma(
                         B.splat(B.loadScalar(Queries, {B.index(Row), At})),
                         Key, Carried[Row]));
                   return Next;
                 });
      Value GroupStart = B.mul(KeyGroup, KeyBlock);
      Value Index = B.countFrom(B.add(FirstKey, GroupStart));
      for (auto [I, T] : llvm::enumerate(Block)) {
        Value Above = arith::CmpIOp::create(B, arith::CmpIPredicate::sge, Index,
                                            B.splatIndex(T.From));
        Value Below = arith::CmpIOp::create(B, arith::CmpIPredicate::slt, Index,
                                            B.splatIndex(T.To));
        Value Seen = arith::AndIOp::create(B, Above, Below);
        for (int64_t H = 0; H < HeadsPerItem; ++H) {
          auto Row = static_cast<int64_t>(I) * HeadsPerItem + H;
          Value Score = capped(Dots[Row]);
          if (Bias)
            Score = B.addf(Score, bias(T, B.add(FirstHead, H), Index));
          Value Masked =
              arith::SelectOp::create(B, Seen, Score, B.vecConst(Lowest));
          B.store(Masked, Scores, {B.index(Row), GroupStart});
        }
      }
    });
  }

  Value capped(Value Score) {
    if (!Op.getSoftCap())
      return Score;
    auto Cap = static_cast<float>(Op.getSoftCap()->convertToDouble());
    Value Inner = B.divf(Score, B.vecConst(Cap));
    return B.mulf(math::TanhOp::create(B, Inner), B.vecConst(Cap));
  }

  /// What is added to the scores of head `Head` with the keys at `Index`.
  Value bias(const Token &T, Value Head, Value Index) {
    auto Alibi = dyn_cast<AlibiAttr>(*Op.getContent());
    if (Alibi && Alibi.getRounded()) {
      // Falcon rounds position and bias, and scales the bias like the scores.
      Value Slope = B.splat(B.loadScalar(Bias, {Head, B.index(0)}));
      Value Rounded =
          B.roundToBF16(B.mulf(Slope, B.roundToBF16(B.toFloats(Index))));
      auto Scale = static_cast<float>(Op.getScale().convertToDouble());
      return B.mulf(Rounded, B.vecConst(Scale));
    }
    Value Distance = arith::SubIOp::create(B, Index, B.splatIndex(T.Own));
    // Softmax does not see that all of a query's biases lack slope * own.
    if (Alibi)
      return B.mulf(B.splat(B.loadScalar(Bias, {Head, B.index(0)})),
                    B.toFloats(Distance));
    int64_t MaxDistance = cast<BucketsAttr>(*Op.getContent()).getMaxDistance();
    Value Far = B.splatIndex(B.index(MaxDistance));
    Value Near = arith::MinSIOp::create(B, Distance, Far);
    Near = arith::MaxSIOp::create(B, arith::AddIOp::create(B, Near, Far),
                                  B.splatIndex(B.index(0)));
    Value All = arith::ConstantOp::create(
        B, DenseElementsAttr::get(B.vecType(B.getI1Type()), true));
    return vector::GatherOp::create(B, B.vecType(), Bias,
                                    ValueRange{Head, B.index(0)}, Near, All,
                                    B.vecConst(0));
  }

  /// Turns a row's scores into weights relative to the new maximum; the factor
  /// that earlier sums shrink by, in every lane.
  Value softmax(int64_t Row) {
    Value R = B.index(Row);
    SmallVector<Value> Parts;
    for (int64_t At = 0; At < PageTokens; At += Lanes)
      Parts.push_back(B.load(Scores, {R, B.index(At)}));
    Value BlockMax = Parts[0];
    for (Value Part : ArrayRef(Parts).drop_front())
      BlockMax = B.maxf(BlockMax, Part);
    Value Before = B.loadScalar(Highest, {R});
    Value NewMax = B.maxf(Before, B.largest(BlockMax));
    Value Center = B.splat(NewMax);
    Value Correction = math::ExpOp::create(B, B.subf(B.splat(Before), Center));
    Value Sum = B.vecConst(0);
    for (auto [I, Part] : llvm::enumerate(Parts)) {
      Value Weight = math::ExpOp::create(B, B.subf(Part, Center));
      Sum = B.addf(Sum, Weight);
      B.store(Weight, Scores, {R, B.index(static_cast<int64_t>(I) * Lanes)});
    }
    Value Shrunk = B.mulf(B.loadScalar(Total, {R}),
                          vector::ExtractOp::create(B, Correction, 0));
    B.storeScalar(B.addf(Shrunk, B.sum(Sum)), Total, {R});
    B.storeScalar(NewMax, Highest, {R});
    return Correction;
  }

  /// Adds the page's values, weighted, to the shrunken sums.
  void weigh(Value KvHead, Value Values, ArrayRef<Value> Corrections) {
    B.columns(PaddedDim, [&](Value At, int64_t) {
      SmallVector<Value> Begin;
      for (int64_t Row = 0; Row < Rows; ++Row)
        Begin.push_back(
            B.mulf(B.load(Sums, {B.index(Row), At}), Corrections[Row]));
      SmallVector<Value> End =
          B.loop(B.index(0), B.index(PageTokens), 1, Begin,
                 [&](Value Key, ValueRange Carried) {
                   Value V = B.load(Values, {KvHead, Key, At});
                   SmallVector<Value> Next;
                   for (int64_t Row = 0; Row < Rows; ++Row)
                     Next.push_back(B.fma(
                         B.splat(B.loadScalar(Scores, {B.index(Row), Key})), V,
                         Carried[Row]));
                   return Next;
                 });
      for (int64_t Row = 0; Row < Rows; ++Row)
        B.store(End[Row], Sums, {B.index(Row), At});
    });
  }

  void finish(ArrayRef<Token> Block, Value FirstHead) {
    forEachRow(Block, FirstHead, [&](int64_t Row, const Token &T, Value Head) {
      B.ifThen(T.IsMine, [&] {
        Value Inverse =
            B.splat(B.divf(B.f32(1), B.loadScalar(Total, {B.index(Row)})));
        Value Base = B.mul(Head, HeadDim);
        B.columns(HeadDim, [&](Value At, int64_t Valid) {
          Value Sum = B.load(Sums, {B.index(Row), At}, Valid);
          B.store(B.mulf(Sum, Inverse), Op.getOuts(),
                  {T.Index, B.add(Base, At)}, Valid);
        });
      });
    });
  }

  void
  forEachRow(ArrayRef<Token> Block, Value FirstHead,
             llvm::function_ref<void(int64_t, const Token &, Value)> Body) {
    for (auto [I, T] : llvm::enumerate(Block))
      for (int64_t H = 0; H < HeadsPerItem; ++H)
        Body(static_cast<int64_t>(I) * HeadsPerItem + H, T,
             B.add(FirstHead, H));
  }

  KernelBuilder &B;
  dnn::AttentionOp Op;
  int64_t Heads, KvHeads, Group, HeadDim;
  int64_t HeadsPerItem, TokensPerItem, Rows, PaddedDim;
  Value Queries, Scores, Sums, Highest, Total;
  Value Positions, SequenceOf, Starts;
  bool IsCross = false;
  /// Null where the op has no such thing.
  Value SourceLengths, Prefixes, Bias, Sinks;
};

} // namespace

template <> void tenon::emitKernel(KernelBuilder &B, dnn::AttentionOp Op) {
  AttentionEmitter(B, Op).emit();
}
