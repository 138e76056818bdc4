//===- AttentionBlock.cpp - Some queries and one page ---------------------===//

#include "passes/Codegen/AttentionBlock.h"

#include "passes/Codegen/Tiles.h"
#include "passes/Codegen/Unpack.h"

#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace tenon;

/// Digits of the numbers that integers are multiplied with.
static constexpr int64_t Digits = dnn::QueryDigits;

SmallVector<Value> AttentionPage::keysAt(KernelBuilder &B, Value Group,
                                         Value Word) const {
  return ofHead({Group, Word, B.index(0)});
}

SmallVector<Value> AttentionPage::valuesAt(KernelBuilder &B, Value Word,
                                           Value Column) const {
  return ofHead({Word, B.mul(Column, WordValues)});
}

SmallVector<Value> AttentionPage::ofHead(ArrayRef<Value> Place) const {
  SmallVector<Value> At;
  if (Head)
    At.push_back(Head);
  At.append(Place.begin(), Place.end());
  return At;
}

int64_t AttentionProducts::mostRows(const KernelBuilder &B, bool UsesTiles) {
  return UsesTiles ? TileRows : B.Target.getRegisters() / 4;
}

int64_t AttentionProducts::room() const { return UsesTiles ? TileRows : Rows; }

AttentionBlock::AttentionBlock(KernelBuilder &B,
                               const AttentionProducts &Products, int64_t Count)
    : B(B), Is(Products), Blocks(Count),
      LinesAtOnce(B.Target.getLanes() == Lanes ? 2 : 1) {
  int64_t All = Is.room() * Count;
  Queries = B.scratch({All, Is.KeyWords * Is.WordValues}, Is.Element);
  Scores = B.scratch({Is.room(), PageTokens});
  Weights = Is.Element.isF32() ? Scores
                               : B.scratch({Is.room(), PageTokens}, Is.Element);
  Sums = B.scratch({All, Is.ValueColumns});
  if (Is.UsesIntegers) {
    int64_t Values = llvm::alignTo(Is.KeyWords * Is.WordValues, Lanes);
    QueryDigits = B.scratch({All, Digits, Values}, B.getI8Type());
    QueryScales = B.scratch({All});
    Biases = B.scratch({All, Digits}, B.getI32Type());
    WeightDigits = B.scratch({Is.room(), Digits, PageTokens}, B.getI8Type());
  }
  Corrections = B.scratch({Is.Rows});
  LaneTotals = B.scratch({Is.Rows, Lanes});
  Highest = B.scratch({Is.Rows * Count});
  Total = B.scratch({Is.Rows * Count});
}

void AttentionBlock::attend(Value FirstRow, Value Keys,
                            const AttentionPage &With,
                            llvm::function_ref<void(Value, OneScore)> Mask,
                            ForRows Rows) {
  score(FirstRow, Keys, With, Mask);
  softmax(FirstRow, With, Rows);
  if (Is.UsesTiles)
    weighInTiles(FirstRow, Keys, With, Rows);
  else if (Is.UsesIntegers)
    weighIntegers(FirstRow, Keys, With);
  else
    weigh(FirstRow, Keys, With);
}

void AttentionBlock::forLines(int64_t Count,
                              llvm::function_ref<void(Value, int64_t)> Body) {
  int64_t Full = Count / LinesAtOnce * LinesAtOnce;
  if (Full > 0)
    B.loop(B.index(0), B.index(Full), LinesAtOnce,
           [&](Value First) { Body(First, LinesAtOnce); });
  if (Full != Count)
    Body(B.index(Full), Count - Full);
}

SmallVector<Value> AttentionBlock::multiply(Value Left, Value FirstRow,
                                            Value Word, ArrayRef<Value> Lines,
                                            ValueRange Carried) {
  SmallVector<Value> Next(Carried);
  SmallVector<SmallVector<Value>> Parts;
  if (!Is.UsesDot)
    for (Value Line : Lines)
      Parts.push_back(unpackWords(B, Line));
  Value First = B.mul(Word, Is.WordValues);
  for (int64_t Row = 0; Row < Is.Rows; ++Row) {
    MutableArrayRef<Value> OfRow =
        MutableArrayRef(Next).slice(Row * Lines.size(), Lines.size());
    Value At = B.add(FirstRow, Row);
    if (Is.UsesDot) {
      Value Pair = B.splatPair(
          vector::LoadOp::create(B, B.vecType(Is.Element, Is.WordValues), Left,
                                 ValueRange{At, First}));
      for (auto [Sum, Line] : llvm::zip(OfRow, Lines))
        Sum = x86vector::DotBF16Op::create(B, B.vecType(), Sum, Line, Pair);
      continue;
    }
    for (int64_t I = 0; I < Is.WordValues; ++I) {
      Value Number = B.splat(B.loadScalar(Left, {At, B.add(First, I)}));
      for (auto [Sum, Part] : llvm::zip(OfRow, Parts))
        Sum = B.fma(Number, Part[I], Sum);
    }
  }
  return Next;
}

Value AttentionBlock::line(Value Buffer, ValueRange At) {
  auto Stored = cast<MemRefType>(Buffer.getType()).getElementType();
  int64_t Count = Lanes * 32 / Stored.getIntOrFloatBitWidth();
  return vector::LoadOp::create(B, B.vecType(Stored, Count), Buffer, At);
}

/// Asks for share `Number` of `Count` of a head of a page, for calls between
/// products of something else: the hardware foresees no page, and little of the
/// few lines that each has of a head. One block of rows asks with every word;
/// several, which share the page, when a loop over words begins.
void AttentionBlock::askFor(const AskedAhead &Part, Value Number,
                            int64_t Count) {
  constexpr int64_t LineBits = 512;
  auto Type = cast<MemRefType>(Part.Buffer.getType());
  int64_t LineValues = LineBits / Type.getElementTypeBitWidth();
  int64_t OfHead = Type.getNumElements() / Type.getDimSize(0);
  int64_t Lines = llvm::divideCeil(llvm::divideCeil(OfHead, LineValues), Count);
  for (int64_t I = 0; I < Lines; ++I) {
    Value Place = B.mul(B.add(B.mul(Number, Lines), I), LineValues);
    SmallVector<Value> At(Type.getRank());
    for (int64_t D = Type.getRank() - 1; D > 1; --D) {
      At[D] = B.rem(Place, Type.getDimSize(D));
      Place = B.div(Place, Type.getDimSize(D));
    }
    At[0] = Part.Head;
    At[1] = Place;
    B.prefetch(Part.Buffer, At);
  }
}

/// Step `Step` of `Steps` of the block that begins with `FirstRow`, which asks
/// for its share.
void AttentionBlock::askFor(const AskedAhead &Part, Value FirstRow, Value Step,
                            int64_t Steps) {
  Value Block = B.div(FirstRow, Is.Rows);
  askFor(Part, B.add(B.mul(Block, Steps), Step), Blocks * Steps);
}

/// Word `Word` of the keys from `KeyGroup` on, as many lines as are multiplied
/// at once.
SmallVector<Value> AttentionBlock::keyLines(Value KeyGroup, Value Word,
                                            const AttentionPage &With) {
  if (With.AskWithKeys.Buffer && asksByWord())
    askFor(With.AskWithKeys,
           B.add(B.mul(B.div(KeyGroup, LinesAtOnce), Is.KeyWords), Word),
           PageTokens / KeyBlock / LinesAtOnce * Is.KeyWords);
  SmallVector<Value> Loaded;
  for (int64_t L = 0; L < LinesAtOnce; ++L)
    Loaded.push_back(
        line(With.KeyBuffer, With.keysAt(B, B.add(KeyGroup, L), Word)));
  return Loaded;
}

/// Word `Word` of the values, `Count` lines from `First` on.
SmallVector<Value> AttentionBlock::valueLines(Value First, int64_t Count,
                                              Value Word,
                                              const AttentionPage &With) {
  int64_t Words = PageTokens / Is.WordValues;
  if (With.AskWithValues.Buffer && asksByWord())
    askFor(With.AskWithValues,
           B.add(B.mul(B.div(First, LinesAtOnce), Words), Word),
           llvm::divideCeil(Is.ValueColumns / Lanes, LinesAtOnce) * Words);
  SmallVector<Value> Loaded;
  for (int64_t L = 0; L < Count; ++L)
    Loaded.push_back(
        line(With.ValueBuffer,
             With.valuesAt(B, Word, B.mul(B.add(First, L), Lanes))));
  return Loaded;
}

/// Scores of a block's rows with the first `Keys` keys of the page, masked,
/// into scratch; of the others the lowest.
void AttentionBlock::score(Value FirstRow, Value Keys,
                           const AttentionPage &With,
                           llvm::function_ref<void(Value, OneScore)> Mask) {
  constexpr int64_t KeyGroups = PageTokens / KeyBlock;
  int64_t Lines = LinesAtOnce;
  static_assert(KeyGroups % 2 == 0, "one or two lines are multiplied at "
                                    "once");
  Value End = B.mul(B.ceilDiv(Keys, KeyBlock * Lines), Lines);
  if (Is.UsesTiles)
    scoreTiles(FirstRow, End, With);
  B.loop(B.index(0), End, Lines, [&](Value KeyGroup) {
    if (With.AskWithKeys.Buffer && !asksByWord())
      askFor(With.AskWithKeys, FirstRow, B.div(KeyGroup, Lines),
             KeyGroups / Lines);
    SmallVector<Value> Dots;
    if (Is.UsesIntegers)
      Dots = scoreIntegers(FirstRow, KeyGroup, With);
    else if (!Is.UsesTiles)
      Dots = B.loop(B.index(0), B.index(Is.KeyWords), 1,
                    SmallVector<Value>(Is.Rows * Lines, B.vecConst(0)),
                    [&](Value Word, ValueRange Carried) {
                      return multiply(Queries, FirstRow, Word,
                                      keyLines(KeyGroup, Word, With), Carried);
                    });
    for (int64_t L = 0; L < Lines; ++L) {
      Value GroupStart = B.mul(B.add(KeyGroup, L), KeyBlock);
      Value Scale;
      if (With.Scales)
        Scale = B.load(With.Scales, {B.index(0), With.ScaleHead, GroupStart});
      if (Is.scalesScores())
        Scale =
            Scale ? B.mulf(Scale, B.vecConst(Is.Scale)) : B.vecConst(Is.Scale);
      Mask(GroupStart, [&](int64_t Row) {
        Value Dot = Is.UsesTiles ? B.load(Scores, {B.index(Row), GroupStart})
                                 : Dots[Row * Lines + L];
        return Scale ? B.mulf(Dot, Scale) : Dot;
      });
    }
  });
  B.loop(End, B.index(KeyGroups), 1, [&](Value KeyGroup) {
    for (int64_t Row = 0; Row < Is.Rows; ++Row)
      B.store(B.vecConst(Lowest), Scores,
              {B.index(Row), B.mul(KeyGroup, KeyBlock)});
  });
}

/// The largest lanes of what a row of `Buffer` has for the keys of a page.
Value AttentionBlock::largestLanes(Value Buffer, int64_t Row) {
  Value Largest;
  for (int64_t At = 0; At < PageTokens; At += Lanes) {
    Value Part = B.load(Buffer, {B.index(Row), B.index(At)});
    Largest = Largest ? B.larger(Largest, Part) : Part;
  }
  return Largest;
}

Value AttentionBlock::exponentOf(Value Score) {
  float Factor = Is.exponentFactor();
  return B.mulf(Score, isa<VectorType>(Score.getType()) ? B.vecConst(Factor)
                                                        : B.f32(Factor));
}

/// Turns a row's scores into weights beside that of exponent `Center`; lanes of
/// their total. What rounding of `Center` adds to all exponents cancels out.
Value AttentionBlock::weights(int64_t Row, Value Center,
                              const AttentionPage &With) {
  Value Sum = B.vecConst(0), Factor = B.vecConst(Is.exponentFactor());
  Value Start = arith::NegFOp::create(B, Center);
  for (int64_t I = 0; I < PageTokens; I += Lanes) {
    SmallVector<Value> At = {B.index(Row), B.index(I)};
    Value Weight = B.exp2OfNonPositive(B.fma(B.load(Scores, At), Factor, Start),
                                       Is.Element.isBF16());
    Sum = B.addf(Sum, Weight);
    if (With.Scales)
      Weight = B.mulf(Weight,
                      B.load(With.Scales, {B.index(1), With.ScaleHead, At[1]}));
    B.store(Weight, Weights, At);
  }
  return Sum;
}

/// Turns scores of the block's rows that count into weights; what their sums
/// shrink by, into scratch.
void AttentionBlock::softmax(Value FirstRow, const AttentionPage &With,
                             ForRows Rows) {
  SmallVector<Value> Largest, Totals;
  for (int64_t Row = 0; Row < Is.Rows; ++Row)
    Largest.push_back(largestLanes(Scores, Row));
  Value Before = B.load(Highest, {FirstRow}, Is.Rows);
  Value Center = B.larger(Before, exponentOf(B.largestOfEach(Largest)));
  Value Correction = B.exp2OfNonPositive(B.subf(Before, Center));
  B.store(Center, Highest, {FirstRow}, Is.Rows);
  B.store(Correction, Corrections, {B.index(0)}, Is.Rows);
  Rows([&](int64_t Row) {
    Value Own = B.splat(B.loadScalar(Highest, {B.add(FirstRow, Row)}));
    B.store(weights(Row, Own, With), LaneTotals, {B.index(Row), B.index(0)});
  });
  for (int64_t Row = 0; Row < Is.Rows; ++Row)
    Totals.push_back(B.load(LaneTotals, {B.index(Row), B.index(0)}));
  Value Shrunk = B.mulf(B.load(Total, {FirstRow}, Is.Rows), Correction);
  B.store(B.addf(Shrunk, B.sumOfEach(Totals)), Total, {FirstRow}, Is.Rows);
}

/// Adds the first `Keys` values of the page, weighted, to a block's shrunken
/// sums.
void AttentionBlock::weigh(Value FirstRow, Value Keys,
                           const AttentionPage &With) {
  int64_t AllLines = Is.ValueColumns / Lanes;
  forLines(AllLines, [&](Value Line, int64_t Lines) {
    if (With.AskWithValues.Buffer && !asksByWord())
      askFor(With.AskWithValues, FirstRow, B.div(Line, LinesAtOnce),
             llvm::divideCeil(AllLines, LinesAtOnce));
    auto Each = [&](llvm::function_ref<void(int64_t, ValueRange)> Body) {
      for (int64_t Row = 0; Row < Is.Rows; ++Row)
        for (int64_t L = 0; L < Lines; ++L)
          Body(Row, {B.add(FirstRow, Row), B.mul(B.add(Line, L), Lanes)});
    };
    SmallVector<Value> Begin;
    Each([&](int64_t Row, ValueRange At) {
      Begin.push_back(B.mulf(B.load(Sums, At), correction(Row)));
    });
    SmallVector<Value> End =
        B.loop(B.index(0), B.ceilDiv(Keys, Is.WordValues), 1, Begin,
               [&](Value Word, ValueRange Carried) {
                 return multiply(Weights, B.index(0), Word,
                                 valueLines(Line, Lines, Word, With), Carried);
               });
    const Value *Next = End.begin();
    Each([&](int64_t, ValueRange At) { B.store(*Next++, Sums, At); });
  });
}

//===--- Integers -------------------------------------------------------===//

/// High and low digits, of a byte each, of numbers up to 255 * 257, or of
/// magnitudes up to 127 * 257 with their signs.
static std::array<Value, Digits> digitsOf(KernelBuilder &B, Value Numbers,
                                          bool AreSigned) {
  auto Splat = [&](int32_t Number) { return B.splat(B.i32(Number)); };
  Value Code = arith::FPToSIOp::create(B, B.vecType(B.getI32Type()),
                                       math::RoundEvenOp::create(B, Numbers));
  Value High = arith::ShRSIOp::create(
      B, AreSigned ? arith::AddIOp::create(B, Code, Splat(128)) : Code,
      Splat(8));
  return {High, arith::SubIOp::create(
                    B, Code, arith::ShLIOp::create(B, High, Splat(8)))};
}

static void storeBytes(KernelBuilder &B, Value Words, Value Buffer,
                       ValueRange At) {
  vector::StoreOp::create(
      B, arith::TruncIOp::create(B, B.vecType(B.getI8Type()), Words), Buffer,
      At);
}

/// Sums of digits in f32, as the number that they are digits of.
static Value numberOf(KernelBuilder &B, Value High, Value Low) {
  return B.fma(B.toFloats(High), B.vecConst(256), B.toFloats(Low));
}

/// Keys are multiplied as unsigned bytes, k + 128: sums start from -128 times
/// that of the query's digits.
void AttentionBlock::quantizeQuery(Value Row) {
  constexpr float Largest = 127 * 257;
  int64_t Values = Is.KeyWords * Is.WordValues;
  auto Load = [&](Value At, int64_t Valid) {
    return B.load(Queries, {Row, At}, Valid);
  };
  Value Magnitude = B.largest(B.columns(
      Values, B.vecConst(0), [&](Value At, int64_t Valid, ValueRange Carried) {
        return SmallVector<Value>{
            B.maxf(Carried[0], math::AbsFOp::create(B, Load(At, Valid)))};
      })[0]);
  // A magnitude may be 0.
  Value Inverse = B.splat(
      B.divf(B.f32(Largest), B.maxf(Magnitude, B.f32(SmallestCachedHead))));
  B.storeScalar(B.divf(Magnitude, B.f32(Largest)), QueryScales, {Row});
  SmallVector<Value> Totals =
      B.columns(Values, SmallVector<Value>(Digits, B.splat(B.i32(0))),
                [&](Value At, int64_t Valid, ValueRange Carried) {
                  SmallVector<Value> Next;
                  for (auto [I, Digit] : llvm::enumerate(digitsOf(
                           B, B.mulf(Load(At, Valid), Inverse), true))) {
                    storeBytes(B, Digit, QueryDigits,
                               {Row, B.index(static_cast<int64_t>(I)), At});
                    Next.push_back(arith::AddIOp::create(B, Carried[I], Digit));
                  }
                  return Next;
                });
  for (auto [I, Total] : llvm::enumerate(Totals)) {
    Value Sum =
        vector::ReductionOp::create(B, vector::CombiningKind::ADD, Total);
    memref::StoreOp::create(B, arith::MulIOp::create(B, Sum, B.i32(-128)),
                            Biases,
                            ValueRange{Row, B.index(static_cast<int64_t>(I))});
  }
}

/// Adds to Carried, by row, digit and line, the products of digits of the
/// block's rows with words `Word` of each of `Lines`, which are the unsigned
/// factors or the signed ones.
SmallVector<Value> AttentionBlock::multiplyDigits(Value RowDigits,
                                                  Value FirstRow, Value Word,
                                                  ArrayRef<Value> Lines,
                                                  bool AreCodes,
                                                  ValueRange Carried) {
  SmallVector<Value> Next;
  auto Sum = Carried.begin();
  for (int64_t Row = 0; Row < Is.Rows; ++Row)
    for (int64_t Digit = 0; Digit < Digits; ++Digit) {
      Value Factor = vector::BitCastOp::create(
          B, B.vecType(B.getI8Type(), 4 * Lanes),
          B.splat(B.loadWord(RowDigits, {B.add(FirstRow, Row), B.index(Digit),
                                         B.mul(Word, 4)})));
      for (Value Line : Lines) {
        Value Codes = AreCodes ? Line : Factor;
        Value Signed = AreCodes ? Factor : Line;
        Value Before = *Sum++;
        Next.push_back(
            dnn::DotOp::create(B, Before.getType(), Before, Codes, Signed));
      }
    }
  return Next;
}

/// Products of the rows with lines of keys from `KeyGroup` on, by row and line.
SmallVector<Value> AttentionBlock::scoreIntegers(Value FirstRow, Value KeyGroup,
                                                 const AttentionPage &With) {
  auto Bytes = B.vecType(B.getI8Type(), 4 * Lanes);
  Value Flip = arith::ConstantOp::create(
      B, DenseElementsAttr::get(Bytes, static_cast<int8_t>(-128)));
  SmallVector<Value> Start;
  for (int64_t Row = 0; Row < Is.Rows; ++Row)
    for (int64_t Digit = 0; Digit < Digits; ++Digit)
      Start.append(
          LinesAtOnce,
          B.splat(memref::LoadOp::create(
              B, Biases, ValueRange{B.add(FirstRow, Row), B.index(Digit)})));
  SmallVector<Value> Sums =
      B.loop(B.index(0), B.index(Is.KeyWords), 1, Start,
             [&](Value Word, ValueRange Carried) {
               SmallVector<Value> Codes = keyLines(KeyGroup, Word, With);
               for (Value &Line : Codes)
                 Line = arith::XOrIOp::create(B, Line, Flip);
               return multiplyDigits(QueryDigits, FirstRow, Word, Codes, true,
                                     Carried);
             });
  SmallVector<Value> Dots;
  for (int64_t Row = 0; Row < Is.Rows; ++Row) {
    Value Scale = B.splat(B.loadScalar(QueryScales, {B.add(FirstRow, Row)}));
    const Value *High = &Sums[Row * Digits * LinesAtOnce];
    for (int64_t L = 0; L < LinesAtOnce; ++L)
      Dots.push_back(
          B.mulf(numberOf(B, High[L], High[LinesAtOnce + L]), Scale));
  }
  return Dots;
}

/// Makes digits of the weights of a block's rows; the scale of each.
SmallVector<Value> AttentionBlock::quantizeWeights() {
  constexpr float Largest = 255 * 257;
  SmallVector<Value> Tops;
  for (int64_t Row = 0; Row < Is.Rows; ++Row)
    Tops.push_back(largestLanes(Weights, Row));
  Value Magnitudes = B.largestOfEach(Tops);
  Value Inverses = B.divf(B.vecConst(Largest),
                          B.maxf(Magnitudes, B.vecConst(SmallestCachedHead)));
  Value Scales = B.divf(Magnitudes, B.vecConst(Largest));
  SmallVector<Value> OfRows;
  for (int64_t Row = 0; Row < Is.Rows; ++Row) {
    Value Inverse = B.splatLane(Inverses, Row);
    for (int64_t I = 0; I < PageTokens; I += Lanes) {
      Value Part = B.load(Weights, {B.index(Row), B.index(I)});
      for (auto [D, Digit] :
           llvm::enumerate(digitsOf(B, B.mulf(Part, Inverse), false)))
        storeBytes(
            B, Digit, WeightDigits,
            {B.index(Row), B.index(static_cast<int64_t>(D)), B.index(I)});
    }
    OfRows.push_back(B.splatLane(Scales, Row));
  }
  return OfRows;
}

/// As weigh() does.
void AttentionBlock::weighIntegers(Value FirstRow, Value Keys,
                                   const AttentionPage &With) {
  SmallVector<Value> Scales = quantizeWeights();
  forLines(Is.ValueColumns / Lanes, [&](Value Line, int64_t Lines) {
    SmallVector<Value> Products =
        B.loop(B.index(0), B.ceilDiv(Keys, Is.WordValues), 1,
               SmallVector<Value>(Is.Rows * Digits * Lines, B.splat(B.i32(0))),
               [&](Value Word, ValueRange Carried) {
                 return multiplyDigits(WeightDigits, B.index(0), Word,
                                       valueLines(Line, Lines, Word, With),
                                       false, Carried);
               });
    for (int64_t Row = 0; Row < Is.Rows; ++Row)
      for (int64_t L = 0; L < Lines; ++L) {
        SmallVector<Value> At = {B.add(FirstRow, Row),
                                 B.mul(B.add(Line, L), Lanes)};
        const Value *High = &Products[Row * Digits * Lines + L];
        B.store(B.fma(numberOf(B, High[0], High[Lines]), Scales[Row],
                      B.mulf(B.load(Sums, At), correction(Row))),
                Sums, At);
      }
  });
}

//===--- Tiles ----------------------------------------------------------===//

/// The products of a block's rows with the page's keys before group `End`,
/// into scratch.
void AttentionBlock::scoreTiles(Value FirstRow, Value End,
                                const AttentionPage &With) {
  int64_t Depth = Is.KeyWords / TileRows;
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

/// Shrinks sums of rows that count and adds the first `Keys` values of the
/// page, weighted.
void AttentionBlock::weighInTiles(Value FirstRow, Value Keys,
                                  const AttentionPage &With, ForRows Rows) {
  Rows([&](int64_t Row) {
    // Maxima seldom grow behind the first pages.
    Value Factor = B.loadScalar(Corrections, {B.index(Row)});
    Value Shrinks =
        arith::CmpFOp::create(B, arith::CmpFPredicate::UNE, Factor, B.f32(1));
    B.ifThen(Shrinks, [&] {
      B.columns(Is.ValueColumns, [&](Value Column, int64_t) {
        SmallVector<Value> At = {B.add(FirstRow, Row), Column};
        B.store(B.mulf(B.load(Sums, At), B.splat(Factor)), Sums, At);
      });
    });
  });
  B.caseOf(B.ceilDiv(Keys, TileFeatures), PageTokens / TileFeatures,
           [&](int64_t Count) { weighTiles(FirstRow, Count, With); });
}

/// Adds the values of `Count` tiles of the page, weighted, to a block's sums.
void AttentionBlock::weighTiles(Value FirstRow, int64_t Count,
                                const AttentionPage &With) {
  SmallVector<Value> Rows;
  for (int64_t D = 0; D < Count; ++D)
    Rows.push_back(
        loadTile(B, Weights, {B.index(0), B.index(D * TileFeatures)}));
  B.loop(B.index(0), B.index(Is.ValueColumns), Lanes, [&](Value Column) {
    if (With.AskWithValues.Buffer)
      askFor(With.AskWithValues, FirstRow, B.div(Column, Lanes),
             Is.ValueColumns / Lanes);
    Value Sum = loadSums(B, Sums, {FirstRow, Column});
    for (auto [D, Row] : llvm::enumerate(Rows))
      Sum = multiplyTiles(
          B, Row,
          loadTile(B, With.ValueBuffer,
                   With.valuesAt(B, B.index(static_cast<int64_t>(D) * TileRows),
                                 Column)),
          Sum);
    storeTile(B, Sum, Sums, {FirstRow, Column});
  });
}
