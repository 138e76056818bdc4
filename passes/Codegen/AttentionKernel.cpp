//===- AttentionKernel.cpp - Online-softmax attention over pages ----------===//
//
// One work item is some tokens and one key-value head: the queries of these
// tokens that share the head go through its pages together, so that every key
// and value is read once for all of them. With partitions an item is one token,
// one key-value head and one partition of the token's pages.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/AttentionBlock.h"
#include "passes/Codegen/OutputRows.h"
#include "passes/Codegen/Partitions.h"
#include "passes/Codegen/Tiles.h"
#include "passes/Codegen/Unpack.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Rows that a page is read into the cache for.
constexpr int64_t MostItemRows = 32;

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &B, dnn::AttentionOp Op)
      : B(B), Op(Op), Out(B, Op.getOuts()),
        Heads(static_cast<int64_t>(Op.getHeads())),
        KvHeads(static_cast<int64_t>(Op.getKvHeads())), Group(Heads / KvHeads),
        HeadDim(cast<MemRefType>(Op.getQuery().getType()).getDimSize(1) /
                Heads) {
    if (auto Cache = Op.getCache()) {
      auto Type = cast<CacheType>(Cache.getType());
      Layout = Type.getPageLayout();
      IsCross = Type.isCross();
    } else {
      Layout = {KvHeads, HeadDim, dnn::stagedFormat(Op.getStaged())};
    }
    chooseProducts();
    chooseBlocks();
    Block.emplace(B, Is, Blocks);
    for (Value *Each : {&Froms, &Tos, &Owns})
      *Each = B.scratch({ItemTokens}, B.getI32Type());
    Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
    SequenceOf = B.field(dnn::FieldKind::SequenceOf, Op.getBatch());
    if (!Op.getCache()) {
      Starts = B.field(dnn::FieldKind::Starts, Op.getBatch());
      StagedStarts = B.field(dnn::FieldKind::StagedStarts, Op.getBatch());
    }
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
    if (Op.getPartialsOut())
      return emitPartitioned();
    Value Tokens = B.dim0(Op.getQuery());
    Value Items = B.ceilDiv(Tokens, ItemTokens);
    // Later tokens see more keys: dealing items out in turn evens that.
    B.deal(B.mul(Items, headItems()), [&](Value Item) {
      Value First = B.mul(B.div(Item, headItems()), ItemTokens);
      auto [FirstHead, KvHead] = headsOf(B.rem(Item, headItems()));
      Value NextKvHead = nextKvHead(Item);
      Value LastToken =
          B.min(B.add(First, ItemTokens - 1), B.sub(Tokens, B.index(1)));
      Value FirstSequence = B.loadIndex(SequenceOf, First);
      Value LastSequence = B.loadIndex(SequenceOf, LastToken);
      // An item may straddle sequences: each pass is for one of them and only
      // stores its own rows.
      B.loop(FirstSequence, B.add(LastSequence, 1), 1,
             [&, FirstHead = FirstHead, KvHead = KvHead](Value Sequence) {
               onePass(
                   {Tokens, First, FirstHead, KvHead, Sequence, NextKvHead});
             });
    });
  }

private:
  /// What a pass is about.
  struct Pass {
    Value Tokens, First, FirstHead, KvHead, Sequence;
    /// The key-value head of this thread's next item.
    Value NextKvHead = {};
    /// Whether it begins with the first key; null if it always does.
    Value IsFirst = {};
  };
  /// One token: which keys it sees.
  struct Token {
    Value Index;
    Value IsMine; ///< Exists and belongs to this pass's sequence.
    Value From, To;
    Value Own; ///< Where the query is among the keys.
  };

  /// bf16 queries are multiplied in pairs where the target can: with pages of
  /// bf16 as they are, with integers after they have been widened once for all
  /// rows of an item. One token of them is multiplied with integers as they
  /// are. Otherwise everything is widened to f32.
  void chooseProducts() {
    Is.Element = cast<MemRefType>(Op.getQuery().getType()).getElementType();
    Is.UsesIntegers = dnn::multipliesCachedIntegers(Op);
    if (Is.UsesIntegers)
      Is.Element = B.getF32Type();
    bool HasPairs = Is.Element.isBF16() && B.Target.hasDot(DotProduct::BF16);
    WidensPages = HasPairs && Layout.Format == CacheFormat::I8;
    Is.UsesDot =
        WidensPages || (HasPairs && Layout.Format == CacheFormat::BF16);
    Is.WordValues = WidensPages ? 2 : Layout.wordValues();
    Is.KeyWords = Layout.keyWords() * (Layout.wordValues() / Is.WordValues);
    Is.ValueColumns = Layout.valueWords();
    Is.UsesTiles = Is.UsesDot && !B.IsDecodeSized && !Op.getPartialsOut() &&
                   B.Target.hasDot(DotProduct::BF16Tile) &&
                   Is.KeyWords % TileRows == 0;
    Is.Scale = scale();
    Is.ScalesExponents = Is.Element.isBF16() && Is.Scale > 0 &&
                         !Op.getSoftCap() && !Op.getBias() && !Op.getSinks();
    if (!WidensPages)
      return;
    int64_t P = Is.WordValues;
    WideKeys =
        B.scratch({PageTokens / KeyBlock, Is.KeyWords, P * Lanes}, Is.Element);
    WideValues = B.scratch({PageTokens / P, Is.ValueColumns * P}, Is.Element);
  }

  /// Whether an item is for one token.
  bool hasOneToken() { return B.IsDecodeSized || Op.getPartialsOut(); }

  void chooseBlocks() {
    int64_t MostRows = AttentionProducts::mostRows(B, Is.UsesTiles);
    HeadsPerItem = std::min(Group, MostRows);
    // Several tokens share the keys that are read, and several blocks of them
    // the page that is in cache then.
    TokensPerBlock = hasOneToken() ? 1 : std::max<int64_t>(1, MostRows / Group);
    Is.Rows = HeadsPerItem * TokensPerBlock;
    // A tile would reach from a block that lacks rows into the next.
    bool IsOneBlock = hasOneToken() || (Is.UsesTiles && Is.Rows != TileRows);
    Blocks = IsOneBlock ? 1 : std::max<int64_t>(1, MostItemRows / Is.Rows);
    ItemTokens = TokensPerBlock * Blocks;
  }

  /// Items of the same tokens.
  int64_t headItems() const {
    return KvHeads * llvm::divideCeil(Group, HeadsPerItem);
  }

  /// The first head and the key-value head of the `Number`th of these items.
  std::pair<Value, Value> headsOf(Value Number) {
    int64_t Splits = llvm::divideCeil(Group, HeadsPerItem);
    Value KvHead = B.div(Number, Splits);
    // The last split may repeat heads of the one before it.
    Value HeadInGroup = B.min(B.mul(B.rem(Number, Splits), HeadsPerItem),
                              B.index(Group - HeadsPerItem));
    return {B.add(B.mul(KvHead, Group), HeadInGroup), KvHead};
  }

  /// The key-value head of this thread's next item behind `Item`.
  Value nextKvHead(Value Item) {
    return headsOf(B.rem(B.add(Item, B.Threads), headItems())).second;
  }

  //===--- Partitions -----------------------------------------------------===//

  void emitPartitioned() {
    Value Tokens = B.dim0(Op.getQuery());
    Value Most = B.loop(
        B.index(0), Tokens, 1, {B.index(0), B.index(1)},
        [&](Value Index, ValueRange Carried) {
          Pass In = {Tokens, Index, {}, {}, B.loadIndex(SequenceOf, Index)};
          Partitions Parts = partitionsOf(In);
          Value Items = B.mul(Parts.Count, headItems());
          B.deal(Items, Carried[0],
                 [&](Value Item) { onePartition(In, Parts, Item); });
          return SmallVector<Value>{B.add(Carried[0], Items),
                                    B.max(Carried[1], Parts.Count)};
        })[1];
    // Rows of one partition are done.
    B.ifThen(B.isLess(B.index(1), Most), [&] {
      dnn::BarrierOp::create(B, Op.getBatch());
      merge(Tokens);
    });
  }

  /// Those of the token that `In` begins with.
  Partitions partitionsOf(const Pass &In) {
    Token T = tokenAt(In, B.index(0));
    return emitPartitions(
        B, B.div(T.From, PageTokens), B.ceilDiv(T.To, PageTokens),
        static_cast<int64_t>(*Op.getPartitionPages()), Op.getMostPartitions());
  }

  void onePartition(Pass In, const Partitions &Parts, Value Item) {
    Value Part = B.div(Item, headItems());
    std::tie(In.FirstHead, In.KvHead) = headsOf(B.rem(Item, headItems()));
    In.IsFirst = B.isEqual(Part, B.index(0));
    begin(In);
    auto [From, To] = Parts.rangeOf(B, Part);
    In.NextKvHead = nextKvHead(Item);
    Value NextFrom = Parts.firstOfNext(B, Item, headItems());
    B.loop(From, To, 1,
           [&, To = To](Value Number) { onePage(In, Number, To, NextFrom); });
    B.ifThenElse(
        B.isEqual(Parts.Count, B.index(1)), [&] { finish(In); },
        [&] {
          for (int64_t H = 0; H < HeadsPerItem; ++H) {
            Value Row = B.index(H);
            Value Base = partialAt(Part, B.add(In.FirstHead, H));
            B.columns(HeadDim, [&](Value At, int64_t Valid) {
              B.store(B.load(Block->Sums, {Row, At}, Valid),
                      Op.getPartialsOut(), {In.First, B.add(Base, At)}, Valid);
            });
            Value End = B.add(Base, HeadDim);
            B.storeScalar(B.loadScalar(Block->Highest, {Row}),
                          Op.getPartialsOut(), {In.First, End});
            B.storeScalar(B.loadScalar(Block->Total, {Row}),
                          Op.getPartialsOut(), {In.First, B.add(End, 1)});
          }
        });
  }

  /// Where a head's partial of `Part` begins in a row: the weighted sum, its
  /// maximum, its total.
  Value partialAt(Value Part, Value Head) {
    return B.mul(B.add(B.mul(Part, Heads), Head), HeadDim + 2);
  }

  void merge(Value Tokens) {
    Value Factors = B.scratch({Op.getMostPartitions()});
    B.share(B.mul(Tokens, Heads), [&](Value Item) {
      Value Index = B.div(Item, Heads), Head = B.rem(Item, Heads);
      Partitions Parts =
          partitionsOf({Tokens, Index, {}, {}, B.loadIndex(SequenceOf, Index)});
      B.ifThen(B.isLess(B.index(1), Parts.Count), [&] {
        auto Scalar = [&](Value Part, int64_t At) {
          return B.loadScalar(
              Op.getPartialsOut(),
              {Index, B.add(partialAt(Part, Head), HeadDim + At)});
        };
        emitMergeFactors(
            B, Parts.Count, [&](Value Part) { return Scalar(Part, 0); },
            [&](Value Part) { return Scalar(Part, 1); }, Factors);
        Value Base = B.mul(Head, HeadDim);
        Out.columns(Index, Base, HeadDim, [&](Value At, int64_t Valid) {
          return emitMerged(B, Parts.Count, Factors, [&](Value Part) {
            return B.load(Op.getPartialsOut(),
                          {Index, B.add(partialAt(Part, Head), At)}, Valid);
          });
        });
      });
    });
  }

  //===--- Tokens and pages -----------------------------------------------===//

  Token tokenAt(const Pass &In, Value Offset) {
    Token T;
    Value Unclamped = B.add(In.First, Offset);
    Value Last = B.sub(In.Tokens, B.index(1));
    T.Index = B.min(Unclamped, Last);
    Value Exists =
        arith::CmpIOp::create(B, arith::CmpIPredicate::sle, Unclamped, Last);
    Value Same =
        arith::CmpIOp::create(B, arith::CmpIPredicate::eq,
                              B.loadIndex(SequenceOf, T.Index), In.Sequence);
    T.IsMine = arith::AndIOp::create(B, Exists, Same);
    // Keys count from the sequence's start in a cache, from the first page when
    // staged.
    Value Start = B.index(0), First;
    if (Op.getCache()) {
      T.Own = B.loadIndex(Positions, T.Index);
    } else {
      Start = B.loadIndex(StagedStarts, In.Sequence);
      First = B.loadIndex(Starts, In.Sequence);
      T.Own = B.add(Start, B.sub(T.Index, First));
    }
    Value To = B.add(T.Own, 1);
    if (IsCross)
      To = B.loadIndex(SourceLengths, In.Sequence);
    else if (Op.getMask() == MaskKind::Bidirectional)
      To = B.add(Start,
                 B.sub(B.loadIndex(Starts, B.add(In.Sequence, 1)), First));
    else if (Op.getMask() == MaskKind::Prefix)
      To = B.max(To, B.loadIndex(Prefixes, In.Sequence));
    Value From = Start;
    if (auto Window = Op.getWindow()) {
      auto Width = static_cast<int64_t>(*Window);
      From = B.max(Start, B.sub(T.Own, B.index(Width - 1)));
      To = B.min(To, B.add(T.Own, Width));
    }
    // Rows of other sequences have no keys.
    T.From = arith::SelectOp::create(B, T.IsMine, From, B.index(INT32_MAX));
    T.To = arith::SelectOp::create(B, T.IsMine, To, B.index(0));
    return T;
  }

  void onePass(const Pass &In) {
    auto [From, To] = begin(In);
    Value First = B.div(From, PageTokens), End = B.ceilDiv(To, PageTokens);
    // The next item is mostly of the same sequence.
    B.loop(First, End, 1,
           [&](Value Number) { onePage(In, Number, End, First); });
    finish(In);
  }

  /// Copies queries into scratch, f32 ones scaled, clears the running values
  /// and writes down which keys each token sees; the range of all of them.
  std::pair<Value, Value> begin(const Pass &In) {
    Value Scale = Is.Element.isF32() ? B.vecConst(scale()) : Value();
    SmallVector<Value> Range = B.loop(
        B.index(0), B.index(ItemTokens), 1, {B.index(INT32_MAX), B.index(0)},
        [&](Value Offset, ValueRange Carried) {
          Token T = tokenAt(In, Offset);
          B.storeIndex(T.From, Froms, {Offset});
          B.storeIndex(T.To, Tos, {Offset});
          B.storeIndex(T.Own, Owns, {Offset});
          // Results of rows of other sequences are not used.
          B.ifThen(T.IsMine, [&] {
            for (int64_t H = 0; H < HeadsPerItem; ++H)
              beginRow(In, T, B.add(In.FirstHead, H), rowAt(Offset, H), Scale);
          });
          return SmallVector<Value>{B.min(Carried[0], T.From),
                                    B.max(Carried[1], T.To)};
        });
    // Without any key there is no page.
    return {B.min(Range[0], Range[1]), Range[1]};
  }

  Value rowAt(Value Offset, int64_t Head) {
    return B.add(B.mul(Offset, HeadsPerItem), Head);
  }

  float scale() { return static_cast<float>(Op.getScale().convertToDouble()); }

  void beginRow(const Pass &In, const Token &T, Value Head, Value Row,
                Value Scale) {
    int64_t Padded = Is.KeyWords * Is.WordValues;
    if (Padded != HeadDim)
      B.columns(Padded, [&](Value At, int64_t Valid) {
        B.store(B.vecConst(0), Block->Queries, {Row, At}, Valid);
      });
    Value Base = B.mul(Head, HeadDim);
    B.columns(HeadDim, [&](Value At, int64_t Valid) {
      Value Q = B.load(Op.getQuery(), {T.Index, B.add(Base, At)}, Valid);
      B.store(Scale ? B.mulf(Q, Scale) : Q, Block->Queries, {Row, At}, Valid);
    });
    B.columns(Is.ValueColumns, [&](Value At, int64_t) {
      B.store(B.vecConst(0), Block->Sums, {Row, At});
    });
    Value Score = B.f32(AttentionBlock::Lowest), Count = B.f32(0);
    if (Sinks) {
      // A sink is a key of this score without a value.
      Value Sink = B.loadScalar(Sinks, {Head}), One = B.f32(1);
      auto IfFirst = [&](Value Is, Value Else) -> Value {
        return In.IsFirst ? arith::SelectOp::create(B, In.IsFirst, Is, Else)
                          : Is;
      };
      Score = IfFirst(Sink, Score);
      Count = IfFirst(One, Count);
    }
    B.storeScalar(Block->exponentOf(Score), Block->Highest, {Row});
    B.storeScalar(Count, Block->Total, {Row});
    if (Is.UsesIntegers)
      Block->quantizeQuery(Row);
  }

  /// Page `Number` of those before page `End`, behind which page `NextFrom` of
  /// the next item comes.
  void onePage(const Pass &In, Value Number, Value End, Value NextFrom) {
    auto [Keys, Values, Scales] = pageOf(In, Number);
    AttentionPage Stored{Keys, Values,    Scales,    {},
                         {},   In.KvHead, In.KvHead, Layout.wordValues()};
    // What is staged has just been written.
    if (Op.getCache()) {
      Value After = B.add(Number, 1);
      Value IsInside = B.isLess(After, End);
      auto IfInside = [&](Value Is, Value Else) -> Value {
        return arith::SelectOp::create(B, IsInside, Is, Else);
      };
      std::array<Value, 3> Next = pageOf(In, IfInside(After, NextFrom));
      Value NextHead = IfInside(In.KvHead, In.NextKvHead);
      // Of one token's the values come late enough to be asked for now.
      bool IsLate = hasOneToken() && !WidensPages;
      AskedAhead OwnValues{Values, In.KvHead}, NextKeys{Next[0], NextHead},
          NextValues{Next[1], NextHead};
      Stored.AskWithKeys = IsLate ? OwnValues : NextKeys;
      Stored.AskWithValues = IsLate ? NextKeys : NextValues;
    }
    if (!WidensPages)
      return blocks(In, Number, Stored);
    widen(Stored);
    AttentionPage Wide = Stored;
    Wide.KeyBuffer = WideKeys;
    Wide.ValueBuffer = WideValues;
    Wide.Head = {};
    Wide.WordValues = Is.WordValues;
    blocks(In, Number, Wide);
  }

  /// The page's buffers; scales are null where there are none.
  std::array<Value, 3> pageOf(const Pass &In, Value Number) {
    dnn::PageTypes Types = dnn::pageTypes(B.getContext(), Layout);
    if (!Op.getCache()) {
      auto Page = dnn::StagedPageOp::create(B, Types.Keys, Types.Values,
                                            Op.getStaged(), Number);
      return {Page.getKeys(), Page.getValues(), {}};
    }
    Value Table = dnn::PageTableOp::create(
        B, MemRefType::get({ShapedType::kDynamic}, B.getI32Type()),
        Op.getBatch(), In.Sequence, IsCross);
    auto Page = dnn::PageOp::create(B, Types.Keys, Types.Values, Types.Scales,
                                    Op.getCache(), Op.getScope(),
                                    B.loadIndex(Table, Number));
    return {Page.getKeys(), Page.getValues(), Page.getScales()};
  }

  /// Integers of a head as pairs of bf16: two lines of each.
  void widen(const AttentionPage &From) {
    auto Store = [&](Value Line, Value Buffer, ValueRange At) {
      vector::StoreOp::create(B, Line, Buffer, At);
    };
    B.loop(B.index(0), B.index(PageTokens / KeyBlock), 1, [&](Value KeyGroup) {
      B.loop(B.index(0), B.index(Layout.keyWords()), 1, [&](Value Word) {
        auto Pairs = unpackToPairs(
            B, Block->line(From.KeyBuffer, From.keysAt(B, KeyGroup, Word)));
        for (auto [I, Pair] : llvm::enumerate(Pairs))
          Store(Pair, WideKeys,
                {KeyGroup,
                 B.add(B.mul(Word, Is.WordValues), static_cast<int64_t>(I)),
                 B.index(0)});
      });
    });
    int64_t Words = PageTokens / Layout.wordValues();
    B.loop(B.index(0), B.index(Words), 1, [&](Value Word) {
      B.columns(Is.ValueColumns, [&](Value Column, int64_t) {
        auto Pairs = unpackToPairs(
            B, Block->line(From.ValueBuffer, From.valuesAt(B, Word, Column)));
        for (auto [I, Pair] : llvm::enumerate(Pairs))
          Store(Pair, WideValues,
                {B.add(B.mul(Word, Is.WordValues), static_cast<int64_t>(I)),
                 B.mul(Column, Is.WordValues)});
      });
    });
  }

  /// The page for each block of rows that sees any of it.
  void blocks(const Pass &In, Value PageNumber, const AttentionPage &With) {
    Value FirstKey = B.mul(PageNumber, PageTokens);
    B.loop(B.index(0), B.index(Blocks), 1, [&](Value Number) {
      SmallVector<Token> Tokens;
      // Of keys that any of them sees, and of those that all see.
      Value From, To, AllFrom, AllTo;
      for (int64_t I = 0; I < TokensPerBlock; ++I) {
        Value Offset = B.add(B.mul(Number, TokensPerBlock), I);
        Token T;
        T.From = B.loadIndex(Froms, Offset);
        T.To = B.loadIndex(Tos, Offset);
        T.Own = B.loadIndex(Owns, Offset);
        From = From ? B.min(From, T.From) : T.From;
        To = To ? B.max(To, T.To) : T.To;
        AllFrom = AllFrom ? B.max(AllFrom, T.From) : T.From;
        AllTo = AllTo ? B.min(AllTo, T.To) : T.To;
        Tokens.push_back(T);
      }
      Value Seen =
          arith::AndIOp::create(B, B.isLess(From, B.add(FirstKey, PageTokens)),
                                B.isLess(FirstKey, To));
      B.ifThen(Seen, [&] {
        Value FirstRow = B.mul(Number, Is.Rows);
        // Pages end with keys that no row of the block sees, most of all those
        // of short sequences.
        Value Keys = B.min(B.sub(To, FirstKey), B.index(PageTokens));
        Block->attend(
            FirstRow, Keys, With,
            [&](Value GroupStart, AttentionBlock::OneScore Score) {
              Value Key = B.add(FirstKey, GroupStart);
              Value AreSeen = arith::AndIOp::create(
                  B, B.isLess(AllFrom, B.add(Key, 1)),
                  B.isLess(B.add(Key, KeyBlock - 1), AllTo));
              Value Index = B.countFrom(Key);
              B.ifThenElse(
                  AreSeen,
                  [&] {
                    for (auto [I, T] : llvm::enumerate(Tokens))
                      scoresOf(In, static_cast<int64_t>(I), T, Index,
                               GroupStart, Score, /*Seen=*/{});
                  },
                  [&] { mask(In, Tokens, Index, GroupStart, Score); });
            },
            [&](llvm::function_ref<void(int64_t)> Body) {
              forTokensOf(Tokens, [&](int64_t I, const Token &) {
                for (int64_t H = 0; H < HeadsPerItem; ++H)
                  Body(I * HeadsPerItem + H);
              });
            });
      });
    });
  }

  /// Calls `Body` with each of the block's tokens `Tokens` that is of the
  /// pass's sequence: of many short sequences few are.
  void
  forTokensOf(ArrayRef<Token> Tokens,
              llvm::function_ref<void(int64_t Number, const Token &)> Body) {
    for (auto [I, T] : llvm::enumerate(Tokens)) {
      auto Number = static_cast<int64_t>(I);
      if (Tokens.size() == 1)
        Body(Number, T);
      else
        B.ifThen(B.isLess(T.From, T.To), [&, &T = T] { Body(Number, T); });
    }
  }

  /// Scores of the 16 keys `Index`, of which each token sees those in its
  /// range.
  void mask(const Pass &In, ArrayRef<Token> Tokens, Value Index,
            Value GroupStart, AttentionBlock::OneScore ScoreOf) {
    forTokensOf(Tokens, [&](int64_t I, const Token &T) {
      Value Above = arith::CmpIOp::create(B, arith::CmpIPredicate::sge, Index,
                                          B.splatIndex(T.From));
      Value Below = arith::CmpIOp::create(B, arith::CmpIPredicate::slt, Index,
                                          B.splatIndex(T.To));
      scoresOf(In, I, T, Index, GroupStart, ScoreOf,
               arith::AndIOp::create(B, Above, Below));
    });
  }

  /// Scores of token `Number` of a block with the 16 keys `Index`, of which it
  /// sees those in `Seen`, all if that is null.
  void scoresOf(const Pass &In, int64_t Number, const Token &T, Value Index,
                Value GroupStart, AttentionBlock::OneScore ScoreOf,
                Value Seen) {
    for (int64_t H = 0; H < HeadsPerItem; ++H) {
      int64_t Row = Number * HeadsPerItem + H;
      Value Score = capped(ScoreOf(Row));
      if (Bias)
        Score = B.addf(Score, bias(T, B.add(In.FirstHead, H), Index));
      if (Seen)
        Score = arith::SelectOp::create(B, Seen, Score,
                                        B.vecConst(AttentionBlock::Lowest));
      Block->setScore(Row, GroupStart, Score);
    }
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

  void finish(const Pass &In) {
    B.loop(B.index(0), B.index(ItemTokens), 1, [&](Value Offset) {
      Token T = tokenAt(In, Offset);
      B.ifThen(T.IsMine, [&] {
        for (int64_t H = 0; H < HeadsPerItem; ++H) {
          Value Row = rowAt(Offset, H);
          Value Inverse =
              B.splat(B.divf(B.f32(1), B.loadScalar(Block->Total, {Row})));
          Value Base = B.mul(B.add(In.FirstHead, H), HeadDim);
          Out.columns(T.Index, Base, HeadDim, [&](Value At, int64_t Valid) {
            return B.mulf(B.load(Block->Sums, {Row, At}, Valid), Inverse);
          });
        }
      });
    });
  }

  KernelBuilder &B;
  dnn::AttentionOp Op;
  OutputRows Out;
  int64_t Heads, KvHeads, Group, HeadDim;
  PageLayout Layout;
  bool IsCross = false;
  AttentionProducts Is;
  std::optional<AttentionBlock> Block;
  /// Whether integers are widened to pairs of bf16.
  bool WidensPages = false;
  /// Blocks of an item share the page in cache.
  int64_t HeadsPerItem, TokensPerBlock, Blocks, ItemTokens;
  Value Froms, Tos, Owns;
  Value Positions, SequenceOf;
  /// Null where the op has no such thing.
  Value Starts, StagedStarts, WideKeys, WideValues, SourceLengths, Prefixes,
      Bias, Sinks;
};

} // namespace

template <> void tenon::emitKernel(KernelBuilder &B, dnn::AttentionOp Op) {
  AttentionEmitter(B, Op).emit();
}
