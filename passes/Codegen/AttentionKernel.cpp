//===- AttentionKernel.cpp - Online-softmax attention over pages ----------===//
//
// One work item is some tokens and one key-value head: the queries of these
// tokens that share the head go through its pages together, so that every key
// and value is read once for all of them. Per page and block of rows: scores of
// 64 keys, running maximum and sum, and the weighted sum of values, all in
// registers. With partitions an item is one token, one key-value head and one
// partition of the token's pages.
//
// Where there are tiles of bf16, a block has up to 16 rows and both products go
// through tiles; scores and sums pass through scratch.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/Partitions.h"
#include "passes/Codegen/Tiles.h"
#include "passes/Codegen/Unpack.h"

#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Lower than any score, and finite: differences of it are zero, not NaN.
constexpr float Lowest = -1e30f;

/// Rows that a page is read into the cache for.
constexpr int64_t MostItemRows = 32;

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &B, dnn::AttentionOp Op)
      : B(B), Op(Op), Heads(static_cast<int64_t>(Op.getHeads())),
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
    // Tiles have 16 rows; what becomes of those that a block lacks is not used.
    int64_t OfBlock = UsesTiles ? TileRows : BlockRows;
    int64_t OfItem = OfBlock * Blocks;
    Queries = B.scratch({OfItem, KeyWords * P}, Element);
    Scores = B.scratch({OfBlock, PageTokens});
    Weights =
        Element.isF32() ? Scores : B.scratch({OfBlock, PageTokens}, Element);
    Sums = B.scratch({OfItem, Layout.valueWords()});
    Highest = B.scratch({ItemRows});
    Total = B.scratch({ItemRows});
    for (Value *Each : {&Froms, &Tos, &Owns})
      *Each = B.scratch({ItemTokens}, B.getI32Type());
    Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
    SequenceOf = B.field(dnn::FieldKind::SequenceOf, Op.getBatch());
    Starts = B.field(dnn::FieldKind::Starts, Op.getBatch());
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
      Value LastToken =
          B.min(B.add(First, ItemTokens - 1), B.sub(Tokens, B.index(1)));
      Value FirstSequence = B.loadIndex(SequenceOf, First);
      Value LastSequence = B.loadIndex(SequenceOf, LastToken);
      // An item may straddle sequences: each pass is for one of them and only
      // stores its own rows.
      B.loop(FirstSequence, B.add(LastSequence, 1), 1,
             [&, FirstHead = FirstHead, KvHead = KvHead](Value Sequence) {
               onePass({Tokens, First, FirstHead, KvHead, Sequence});
             });
    });
  }

private:
  /// What a pass is about.
  struct Pass {
    Value Tokens, First, FirstHead, KvHead, Sequence;
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
  /// Keys and values of one head of a page.
  struct Page {
    Value KeyBuffer, ValueBuffer;
    Value Scales;   ///< Null where there are none.
    Value NextKeys; ///< Of the next page; null if nothing is asked for ahead.
    /// The head in the buffers; null if they have no other.
    Value Head;
    /// Values of a word.
    int64_t WordValues;

    /// Where a line of 16 words begins, or the first of a tile.
    SmallVector<Value> keysAt(KernelBuilder &B, Value Group, Value Word) const {
      return ofHead({Group, Word, B.index(0)});
    }
    SmallVector<Value> valuesAt(KernelBuilder &B, Value Word,
                                Value Column) const {
      return ofHead({Word, B.mul(Column, WordValues)});
    }

  private:
    SmallVector<Value> ofHead(ArrayRef<Value> Place) const {
      SmallVector<Value> At;
      if (Head)
        At.push_back(Head);
      At.append(Place.begin(), Place.end());
      return At;
    }
  };

  /// bf16 queries are multiplied in pairs where the target can: with pages of
  /// bf16 as they are, with integers after they have been widened once for all
  /// rows of an item. Otherwise everything is widened to f32.
  void chooseProducts() {
    Element = cast<MemRefType>(Op.getQuery().getType()).getElementType();
    bool HasPairs = Element.isBF16() && B.Target.hasDot(DotProduct::BF16);
    WidensPages = HasPairs && Layout.Format == CacheFormat::I8;
    UsesDot = WidensPages || (HasPairs && Layout.Format == CacheFormat::BF16);
    P = WidensPages ? 2 : Layout.wordValues();
    KeyWords = Layout.keyWords() * (Layout.wordValues() / P);
    UsesTiles = UsesDot && !B.IsDecodeSized && !Op.getPartialsOut() &&
                B.Target.hasDot(DotProduct::BF16Tile) &&
                KeyWords % TileRows == 0;
    AsksAhead = Op.getCache() && hasOneToken() && !WidensPages;
    if (!WidensPages)
      return;
    int64_t PairLanes = P * Lanes;
    WideKeys = B.scratch({PageTokens / KeyBlock, KeyWords, PairLanes}, Element);
    WideValues = B.scratch({PageTokens / P, Layout.valueWords() * P}, Element);
  }

  /// Whether an item is for one token.
  bool hasOneToken() { return B.IsDecodeSized || Op.getPartialsOut(); }

  void chooseBlocks() {
    // As many sums as leave half of the registers for what they are made of;
    // two lines share what is loaded of a row.
    int64_t MostRows = UsesTiles ? TileRows : B.Target.getRegisters() / 4;
    LinesAtOnce = B.Target.getLanes() == Lanes ? 2 : 1;
    HeadsPerItem = std::min(Group, MostRows);
    // Several tokens share the keys that are read, and several blocks of them
    // the page that is in cache then.
    TokensPerBlock = hasOneToken() ? 1 : std::max<int64_t>(1, MostRows / Group);
    BlockRows = HeadsPerItem * TokensPerBlock;
    // A tile would reach from a block that lacks rows into the next.
    bool IsOneBlock = hasOneToken() || (UsesTiles && BlockRows != TileRows);
    Blocks = IsOneBlock ? 1 : std::max<int64_t>(1, MostItemRows / BlockRows);
    ItemTokens = TokensPerBlock * Blocks;
    ItemRows = BlockRows * Blocks;
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
    B.loop(From, To, 1,
           [&, To = To](Value Number) { onePage(In, Number, To); });
    B.ifThenElse(
        B.isEqual(Parts.Count, B.index(1)), [&] { finish(In); },
        [&] {
          for (int64_t H = 0; H < HeadsPerItem; ++H) {
            Value Row = B.index(H);
            Value Base = partialAt(Part, B.add(In.FirstHead, H));
            B.columns(HeadDim, [&](Value At, int64_t Valid) {
              B.store(B.load(Sums, {Row, At}, Valid), Op.getPartialsOut(),
                      {In.First, B.add(Base, At)}, Valid);
            });
            Value End = B.add(Base, HeadDim);
            B.storeScalar(B.loadScalar(Highest, {Row}), Op.getPartialsOut(),
                          {In.First, End});
            B.storeScalar(B.loadScalar(Total, {Row}), Op.getPartialsOut(),
                          {In.First, B.add(End, 1)});
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
        B.columns(HeadDim, [&](Value At, int64_t Valid) {
          Value Sum = emitMerged(B, Parts.Count, Factors, [&](Value Part) {
            return B.load(Op.getPartialsOut(),
                          {Index, B.add(partialAt(Part, Head), At)}, Valid);
          });
          B.store(Sum, Op.getOuts(), {Index, B.add(Base, At)}, Valid);
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
    Value Start = Op.getCache() ? B.index(0) : B.loadIndex(Starts, In.Sequence);
    // Keys count from the sequence's start in a cache, from the step's start
    // when staged.
    T.Own = Op.getCache() ? B.loadIndex(Positions, T.Index) : T.Index;
    Value To = B.add(T.Own, 1);
    if (IsCross)
      To = B.loadIndex(SourceLengths, In.Sequence);
    else if (Op.getMask() == MaskKind::Bidirectional)
      To = B.loadIndex(Starts, B.add(In.Sequence, 1));
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
    Value End = B.ceilDiv(To, PageTokens);
    B.loop(B.div(From, PageTokens), End, 1,
           [&](Value Number) { onePage(In, Number, End); });
    finish(In);
  }

  /// Copies queries into scratch, f32 ones scaled, clears the running values
  /// and writes down which keys each token sees; the range of all of them.
  std::pair<Value, Value> begin(const Pass &In) {
    Value Scale = Element.isF32() ? B.vecConst(scale()) : Value();
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
    if (KeyWords * P != HeadDim)
      B.columns(KeyWords * P, [&](Value At, int64_t Valid) {
        B.store(B.vecConst(0), Queries, {Row, At}, Valid);
      });
    Value Base = B.mul(Head, HeadDim);
    B.columns(HeadDim, [&](Value At, int64_t Valid) {
      Value Q = B.load(Op.getQuery(), {T.Index, B.add(Base, At)}, Valid);
      B.store(Scale ? B.mulf(Q, Scale) : Q, Queries, {Row, At}, Valid);
    });
    B.columns(Layout.valueWords(), [&](Value At, int64_t) {
      B.store(B.vecConst(0), Sums, {Row, At});
    });
    Value Score = B.f32(Lowest), Count = B.f32(0);
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
    B.storeScalar(Score, Highest, {Row});
    B.storeScalar(Count, Total, {Row});
  }

  /// Page `Number` of those before page `End`.
  void onePage(const Pass &In, Value Number, Value End) {
    auto [Keys, Values, Scales] = pageOf(In, Number);
    Value NextKeys;
    if (AsksAhead)
      NextKeys = pageOf(In, B.min(B.add(Number, 1), B.sub(End, B.index(1))))[0];
    Page Stored{Keys, Values, Scales, NextKeys, In.KvHead, Layout.wordValues()};
    if (!WidensPages)
      return blocks(In, Number, Stored);
    widen(Stored);
    blocks(In, Number, {WideKeys, WideValues, Scales, {}, {}, P});
  }

  /// Asks for share `Number` of `Count` of what a page's buffer has of a head,
  /// for calls between products of something else: the hardware foresees no
  /// page, and little of the few lines that each has of a head.
  void askFor(Value Buffer, Value Head, Value Number, int64_t Count) {
    constexpr int64_t LineBits = 512;
    auto Type = cast<MemRefType>(Buffer.getType());
    int64_t LineValues = LineBits / Type.getElementTypeBitWidth();
    int64_t OfHead = Type.getNumElements() / Type.getDimSize(0);
    int64_t Lines =
        llvm::divideCeil(llvm::divideCeil(OfHead, LineValues), Count);
    for (int64_t I = 0; I < Lines; ++I) {
      Value Place = B.mul(B.add(B.mul(Number, Lines), I), LineValues);
      SmallVector<Value> At(Type.getRank());
      for (int64_t D = Type.getRank() - 1; D > 1; --D) {
        At[D] = B.rem(Place, Type.getDimSize(D));
        Place = B.div(Place, Type.getDimSize(D));
      }
      At[0] = Head;
      At[1] = Place;
      B.prefetch(Buffer, At, B.streamLocality());
    }
  }

  /// 16 words from a place on.
  Value line(Value Buffer, ValueRange At) {
    auto Stored = cast<MemRefType>(Buffer.getType()).getElementType();
    int64_t Count = Lanes * 32 / Stored.getIntOrFloatBitWidth();
    return vector::LoadOp::create(B, B.vecType(Stored, Count), Buffer, At);
  }
  Value keyLine(const Page &From, Value Group, Value Word) {
    return line(From.KeyBuffer, From.keysAt(B, Group, Word));
  }
  Value valueLine(const Page &From, Value Word, Value Column) {
    return line(From.ValueBuffer, From.valuesAt(B, Word, Column));
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
  void widen(const Page &From) {
    auto Store = [&](Value Line, Value Buffer, ValueRange At) {
      vector::StoreOp::create(B, Line, Buffer, At);
    };
    B.loop(B.index(0), B.index(PageTokens / KeyBlock), 1, [&](Value KeyGroup) {
      B.loop(B.index(0), B.index(Layout.keyWords()), 1, [&](Value Word) {
        auto Pairs = unpackToPairs(B, keyLine(From, KeyGroup, Word));
        for (auto [I, Pair] : llvm::enumerate(Pairs))
          Store(Pair, WideKeys,
                {KeyGroup, B.add(B.mul(Word, P), static_cast<int64_t>(I)),
                 B.index(0)});
      });
    });
    int64_t Words = PageTokens / Layout.wordValues();
    B.loop(B.index(0), B.index(Words), 1, [&](Value Word) {
      B.columns(Layout.valueWords(), [&](Value Column, int64_t) {
        auto Pairs = unpackToPairs(B, valueLine(From, Word, Column));
        for (auto [I, Pair] : llvm::enumerate(Pairs))
          Store(Pair, WideValues,
                {B.add(B.mul(Word, P), static_cast<int64_t>(I)),
                 B.mul(Column, P)});
      });
    });
  }

  /// The page for each block of rows that sees any of it.
  void blocks(const Pass &In, Value Number, const Page &With) {
    Value FirstKey = B.mul(Number, PageTokens);
    B.loop(B.index(0), B.index(Blocks), 1, [&](Value Block) {
      SmallVector<Token> Tokens;
      Value From, To;
      for (int64_t I = 0; I < TokensPerBlock; ++I) {
        Value Offset = B.add(B.mul(Block, TokensPerBlock), I);
        Token T;
        T.From = B.loadIndex(Froms, Offset);
        T.To = B.loadIndex(Tos, Offset);
        T.Own = B.loadIndex(Owns, Offset);
        From = From ? B.min(From, T.From) : T.From;
        To = To ? B.max(To, T.To) : T.To;
        Tokens.push_back(T);
      }
      Value Seen =
          arith::AndIOp::create(B, B.isLess(From, B.add(FirstKey, PageTokens)),
                                B.isLess(FirstKey, To));
      B.ifThen(Seen, [&] {
        Value FirstRow = B.mul(Block, BlockRows);
        // Pages end with keys that no row of the block sees, most of all those
        // of short sequences.
        Value Keys = B.min(B.sub(To, FirstKey), B.index(PageTokens));
        score(In, Tokens, FirstRow, FirstKey, Keys, With);
        if (UsesTiles)
          return weighInTiles(In, Tokens, FirstRow, Keys, With);
        SmallVector<Value> Corrections;
        for (int64_t Row = 0; Row < BlockRows; ++Row)
          Corrections.push_back(softmax(In, FirstRow, Row, With));
        weigh(FirstRow, Corrections, Keys, With);
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

  /// Adds to Carried, by row and line, the products of the block's rows of
  /// `Left`, from `FirstRow` on, with words `Word` of each of `Lines`.
  SmallVector<Value> multiply(Value Left, Value FirstRow, Value Word,
                              ArrayRef<Value> Lines, ValueRange Carried) {
    SmallVector<Value> Next(Carried);
    SmallVector<SmallVector<Value>> Parts;
    if (!UsesDot)
      for (Value Line : Lines)
        Parts.push_back(unpackWords(B, Line));
    Value First = B.mul(Word, P);
    for (int64_t Row = 0; Row < BlockRows; ++Row) {
      MutableArrayRef<Value> OfRow =
          MutableArrayRef(Next).slice(Row * Lines.size(), Lines.size());
      Value At = B.add(FirstRow, Row);
      if (UsesDot) {
        Value Pair = B.splatPair(vector::LoadOp::create(
            B, B.vecType(Element, P), Left, ValueRange{At, First}));
        for (auto [Sum, Line] : llvm::zip(OfRow, Lines))
          Sum = x86vector::DotBF16Op::create(B, B.vecType(), Sum, Line, Pair);
        continue;
      }
      for (int64_t I = 0; I < P; ++I) {
        Value Number = B.splat(B.loadScalar(Left, {At, B.add(First, I)}));
        for (auto [Sum, Part] : llvm::zip(OfRow, Parts))
          Sum = B.fma(Number, Part[I], Sum);
      }
    }
    return Next;
  }

  /// Calls `Body` with the first of as many lines of `Count` as are multiplied
  /// at once, and how many these are.
  void forLines(int64_t Count, llvm::function_ref<void(Value, int64_t)> Body) {
    int64_t Full = Count / LinesAtOnce * LinesAtOnce;
    if (Full > 0)
      B.loop(B.index(0), B.index(Full), LinesAtOnce,
             [&](Value First) { Body(First, LinesAtOnce); });
    if (Full != Count)
      Body(B.index(Full), Count - Full);
  }

  /// Scores of a block's rows with the first `Keys` keys of the page, masked,
  /// into scratch; of the others the lowest.
  void score(const Pass &In, ArrayRef<Token> Tokens, Value FirstRow,
             Value FirstKey, Value Keys, const Page &With) {
    constexpr int64_t KeyGroups = PageTokens / KeyBlock;
    int64_t Lines = LinesAtOnce;
    static_assert(KeyGroups % 2 == 0, "one or two lines are multiplied at "
                                      "once");
    Value End = B.mul(B.ceilDiv(Keys, KeyBlock * Lines), Lines);
    if (UsesTiles)
      scoreTiles(FirstRow, End, With);
    int64_t KeySteps = KeyGroups / Lines * KeyWords;
    B.loop(B.index(0), End, Lines, [&](Value KeyGroup) {
      SmallVector<Value> Dots;
      if (!UsesTiles)
        Dots = B.loop(
            B.index(0), B.index(KeyWords), 1,
            SmallVector<Value>(BlockRows * Lines, B.vecConst(0)),
            [&](Value Word, ValueRange Carried) {
              if (With.NextKeys)
                askFor(With.ValueBuffer, With.Head,
                       B.add(B.mul(B.div(KeyGroup, Lines), KeyWords), Word),
                       KeySteps);
              SmallVector<Value> Loaded;
              for (int64_t L = 0; L < Lines; ++L)
                Loaded.push_back(keyLine(With, B.add(KeyGroup, L), Word));
              return multiply(Queries, FirstRow, Word, Loaded, Carried);
            });
      for (int64_t L = 0; L < Lines; ++L) {
        Value GroupStart = B.mul(B.add(KeyGroup, L), KeyBlock);
        Value Scale;
        if (With.Scales)
          Scale = B.load(With.Scales, {B.index(0), In.KvHead, GroupStart});
        if (!Element.isF32())
          Scale =
              Scale ? B.mulf(Scale, B.vecConst(scale())) : B.vecConst(scale());
        Value Index = B.countFrom(B.add(FirstKey, GroupStart));
        forTokensOf(Tokens, [&](int64_t I, const Token &T) {
          Value Above = arith::CmpIOp::create(B, arith::CmpIPredicate::sge,
                                              Index, B.splatIndex(T.From));
          Value Below = arith::CmpIOp::create(B, arith::CmpIPredicate::slt,
                                              Index, B.splatIndex(T.To));
          Value Seen = arith::AndIOp::create(B, Above, Below);
          for (int64_t H = 0; H < HeadsPerItem; ++H) {
            int64_t Row = I * HeadsPerItem + H;
            SmallVector<Value> At = {B.index(Row), GroupStart};
            Value Dot = UsesTiles ? B.load(Scores, At) : Dots[Row * Lines + L];
            Value Score = capped(Scale ? B.mulf(Dot, Scale) : Dot);
            if (Bias)
              Score = B.addf(Score, bias(T, B.add(In.FirstHead, H), Index));
            Value Masked =
                arith::SelectOp::create(B, Seen, Score, B.vecConst(Lowest));
            B.store(Masked, Scores, At);
          }
        });
      }
    });
    B.loop(End, B.index(KeyGroups), 1, [&](Value KeyGroup) {
      for (int64_t Row = 0; Row < BlockRows; ++Row)
        B.store(B.vecConst(Lowest), Scores,
                {B.index(Row), B.mul(KeyGroup, KeyBlock)});
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

  /// Turns the scores of a block's row into weights relative to the new
  /// maximum; the factor that earlier sums shrink by, in every lane.
  Value softmax(const Pass &In, Value FirstRow, int64_t Row, const Page &With) {
    Value R = B.add(FirstRow, Row);
    SmallVector<Value> Parts;
    for (int64_t At = 0; At < PageTokens; At += Lanes)
      Parts.push_back(B.load(Scores, {B.index(Row), B.index(At)}));
    Value BlockMax = Parts[0];
    for (Value Part : ArrayRef(Parts).drop_front())
      BlockMax = B.maxf(BlockMax, Part);
    Value Before = B.loadScalar(Highest, {R});
    Value NewMax = B.maxf(Before, B.largest(BlockMax));
    Value Center = B.splat(NewMax);
    Value Correction = B.expOfNonPositive(B.subf(B.splat(Before), Center));
    Value Sum = B.vecConst(0);
    for (auto [I, Part] : llvm::enumerate(Parts)) {
      Value Weight = B.expOfNonPositive(B.subf(Part, Center));
      Sum = B.addf(Sum, Weight);
      Value At = B.index(static_cast<int64_t>(I) * Lanes);
      if (With.Scales)
        Weight =
            B.mulf(Weight, B.load(With.Scales, {B.index(1), In.KvHead, At}));
      B.store(Weight, Weights, {B.index(Row), At});
    }
    Value Shrunk = B.mulf(B.loadScalar(Total, {R}),
                          vector::ExtractOp::create(B, Correction, 0));
    B.storeScalar(B.addf(Shrunk, B.sum(Sum)), Total, {R});
    B.storeScalar(NewMax, Highest, {R});
    return Correction;
  }

  /// Adds the first `Keys` values of the page, weighted, to a block's shrunken
  /// sums.
  void weigh(Value FirstRow, ArrayRef<Value> Corrections, Value Keys,
             const Page &With) {
    int64_t ValueSteps =
        llvm::divideCeil(Layout.valueWords() / Lanes, LinesAtOnce) *
        (PageTokens / P);
    forLines(Layout.valueWords() / Lanes, [&](Value Line, int64_t Lines) {
      auto Each = [&](llvm::function_ref<void(int64_t, ValueRange)> Body) {
        for (int64_t Row = 0; Row < BlockRows; ++Row)
          for (int64_t L = 0; L < Lines; ++L)
            Body(Row, {B.add(FirstRow, Row), B.mul(B.add(Line, L), Lanes)});
      };
      SmallVector<Value> Begin;
      Each([&](int64_t Row, ValueRange At) {
        Begin.push_back(B.mulf(B.load(Sums, At), Corrections[Row]));
      });
      SmallVector<Value> End = B.loop(
          B.index(0), B.ceilDiv(Keys, P), 1, Begin,
          [&](Value Word, ValueRange Carried) {
            if (With.NextKeys)
              askFor(
                  With.NextKeys, With.Head,
                  B.add(B.mul(B.div(Line, LinesAtOnce), PageTokens / P), Word),
                  ValueSteps);
            SmallVector<Value> Loaded;
            for (int64_t L = 0; L < Lines; ++L)
              Loaded.push_back(
                  valueLine(With, Word, B.mul(B.add(Line, L), Lanes)));
            return multiply(Weights, B.index(0), Word, Loaded, Carried);
          });
      const Value *Next = End.begin();
      Each([&](int64_t, ValueRange At) { B.store(*Next++, Sums, At); });
    });
  }

  //===--- Tiles ----------------------------------------------------------===//

  /// The products of a block's rows with the page's keys before group `End`,
  /// into scratch.
  void scoreTiles(Value FirstRow, Value End, const Page &With) {
    int64_t Depth = KeyWords / TileRows;
    auto RowTile = [&](int64_t D) {
      return loadTile(B, Queries, {FirstRow, B.index(D * TileFeatures)});
    };
    // Those that leave tiles for a key and sums are read once.
    constexpr int64_t MostKept = 5;
    SmallVector<Value> Rows;
    if (Depth <= MostKept)
      for (int64_t D = 0; D < Depth; ++D)
        Rows.push_back(RowTile(D));
    B.loop(B.index(0), End, 1, [&](Value KeyGroup) {
      Value Sum = zeroTile(B);
      for (int64_t D = 0; D < Depth; ++D) {
        SmallVector<Value> At = With.keysAt(B, KeyGroup, B.index(D * TileRows));
        Sum = multiplyTiles(B, Rows.empty() ? RowTile(D) : Rows[D],
                            loadTile(B, With.KeyBuffer, At), Sum);
      }
      storeTile(B, Sum, Scores, {B.index(0), B.mul(KeyGroup, KeyBlock)});
    });
  }

  /// Turns scores into weights, as softmax() does, and adds the first `Keys`
  /// values of the page, weighted, to the shrunken sums.
  void weighInTiles(const Pass &In, ArrayRef<Token> Tokens, Value FirstRow,
                    Value Keys, const Page &With) {
    forTokensOf(Tokens, [&](int64_t I, const Token &) {
      for (int64_t H = 0; H < HeadsPerItem; ++H) {
        int64_t Row = I * HeadsPerItem + H;
        Value Correction = softmax(In, FirstRow, Row, With);
        B.columns(Layout.valueWords(), [&](Value Column, int64_t) {
          SmallVector<Value> At = {B.add(FirstRow, Row), Column};
          B.store(B.mulf(B.load(Sums, At), Correction), Sums, At);
        });
      }
    });
    B.caseOf(B.ceilDiv(Keys, TileFeatures), PageTokens / TileFeatures,
             [&](int64_t Count) { weighTiles(FirstRow, Count, With); });
  }

  /// Adds the values of `Count` tiles of the page, weighted, to a block's sums.
  void weighTiles(Value FirstRow, int64_t Count, const Page &With) {
    SmallVector<Value> Rows;
    for (int64_t D = 0; D < Count; ++D)
      Rows.push_back(
          loadTile(B, Weights, {B.index(0), B.index(D * TileFeatures)}));
    B.loop(B.index(0), B.index(Layout.valueWords()), Lanes, [&](Value Column) {
      Value Sum = loadSums(B, Sums, {FirstRow, Column});
      for (auto [D, Row] : llvm::enumerate(Rows))
        Sum = multiplyTiles(
            B, Row,
            loadTile(B, With.ValueBuffer,
                     With.valuesAt(B,
                                   B.index(static_cast<int64_t>(D) * TileRows),
                                   Column)),
            Sum);
      storeTile(B, Sum, Sums, {FirstRow, Column});
    });
  }

  void finish(const Pass &In) {
    B.loop(B.index(0), B.index(ItemTokens), 1, [&](Value Offset) {
      Token T = tokenAt(In, Offset);
      B.ifThen(T.IsMine, [&] {
        for (int64_t H = 0; H < HeadsPerItem; ++H) {
          Value Row = rowAt(Offset, H);
          Value Inverse = B.splat(B.divf(B.f32(1), B.loadScalar(Total, {Row})));
          Value Base = B.mul(B.add(In.FirstHead, H), HeadDim);
          B.columns(HeadDim, [&](Value At, int64_t Valid) {
            B.store(B.mulf(B.load(Sums, {Row, At}, Valid), Inverse),
                    Op.getOuts(), {T.Index, B.add(Base, At)}, Valid);
          });
        }
      });
    });
  }

  KernelBuilder &B;
  dnn::AttentionOp Op;
  int64_t Heads, KvHeads, Group, HeadDim;
  PageLayout Layout;
  bool IsCross = false;
  /// Of queries and weights in scratch.
  Type Element;
  /// Whether pairs of bf16 are multiplied, and integers widened to such pairs.
  bool UsesDot = false, WidensPages = false;
  /// Whether they are multiplied in tiles.
  bool UsesTiles = false;
  /// Whether values are asked for while keys are multiplied, and the next
  /// page's keys with the values.
  bool AsksAhead = false;
  /// Values of a word as it is multiplied, and words of a key.
  int64_t P = 1, KeyWords = 0;
  /// Rows of a block share what is loaded of a page, blocks of an item the
  /// page.
  int64_t LinesAtOnce, HeadsPerItem, TokensPerBlock, BlockRows, Blocks;
  int64_t ItemTokens, ItemRows;
  Value Queries, Scores, Weights, Sums, Highest, Total, Froms, Tos, Owns;
  Value Positions, SequenceOf, Starts;
  /// Null where the op has no such thing.
  Value WideKeys, WideValues, SourceLengths, Prefixes, Bias, Sinks;
};

} // namespace

template <> void tenon::emitKernel(KernelBuilder &B, dnn::AttentionOp Op) {
  AttentionEmitter(B, Op).emit();
}
