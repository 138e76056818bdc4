//===- IntegerMatmul.cpp - Products of grouped integers -------------------===//
//
// With codes u = w + b of the weights and q of the input, the sum of w q over
// a group is that of u q, by dot products of unsigned with signed bytes or of
// integers of 16 bits, minus b times the sum of q, which the sums start from.
// They are exact; what is rounded is only their multiplication with both
// scales. So a row's result does not depend on how rows are divided into
// blocks.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/GroupReader.h"
#include "passes/Codegen/GroupedRows.h"
#include "passes/Codegen/MatmulEmitter.h"

#include <optional>
#include <vector>

using namespace mlir;
using namespace tenon;

namespace {

class IntegerMatmul : public MatmulEmitter {
public:
  IntegerMatmul(KernelBuilder &B, Value Input, int64_t InFeatures,
                ValueRange Weights)
      : MatmulEmitter(B, InFeatures, Weights), Rows(B, Input),
        Info(infoOf(Format)), Parts(GroupValues / Info.ScaleValues),
        Groups(llvm::divideCeil(InFeatures, GroupValues)) {
    if (!isWidened())
      Tiles = createIntegerTileMatmul(B, Input, InFeatures, Weights);
  }

  int64_t panelsAtOnce() const override {
    return Tiles ? Tiles->panelsAtOnce() : 1;
  }
  void prepare(Value First, Value Last, RowFinder RowOf) override;
  void emit(ArrayRef<Panel> Panels, Value First, Value Last, RowFinder RowOf,
            Epilogue Finish) override {
    if (isWidened())
      return emitMany(Panels, First, Last, RowOf, Finish);
    if (!Tiles)
      return emitBlocks(Panels, First, Last, RowOf, Finish);
    B.ifThenElse(
        B.isLess(B.sub(Last, First), B.index(LeastTileRows)),
        [&] {
          B.caseOf(B.sub(Last, First), LeastTileRows - 1, [&](int64_t Count) {
            emitRows(Panels, First, inputs(First, Count, RowOf), Finish);
          });
        },
        [&] { Tiles->emit(Panels, First, Last, RowOf, Finish); });
  }

private:
  /// Rows of a block that is multiplied as the weights are unpacked.
  int64_t mostStreamedRows() const {
    return std::clamp<int64_t>(streamedProducts(), 1, 4);
  }
  /// Products of a row and 16 columns whose sums, of each digit and of all
  /// groups, fit into registers beside the operands.
  int64_t streamedProducts() const {
    if (!keepsSums())
      return vectors() / 2 / Rows.digits();
    return vectors() * 13 / 16 / (Rows.digits() + 1);
  }
  /// Dot products that a group takes, of 4 or 2 values.
  int64_t groupSteps() const { return isOfWords() ? 16 : 8; }
  int64_t octetSteps() const { return groupSteps() / 4; }
  bool isOfWords() const { return Rows.dot() == DotProduct::Int16; }
  /// Where there is no dot product of four bytes: how many steps of two are
  /// summed in 16 bits before they are widened; 0 if there are none.
  int64_t narrowSteps() const {
    bool IsNarrow = Rows.dot() == DotProduct::Int8 && Rows.digits() == 1 &&
                    !B.Target.hasDot(DotProduct::Int8) &&
                    B.Target.hasDot(DotProduct::Int16);
    return IsNarrow ? std::min(dnn::quadsInWords(Format), groupSteps() / Parts)
                    : 0;
  }
  /// Groups of a piece of a panel that is widened: 16 KiB of codes, which stay
  /// in the first-level cache.
  int64_t pieceGroups() const { return 64 / groupSteps(); }

  /// Unpacks a group for a number of columns of 16 output features.
  struct Weights {
    /// What step `From` + `Step` of the group multiplies: 64 u8 or 32 u16.
    llvm::function_ref<Value(int64_t Column, Value From, int64_t Step)> Codes;
    llvm::function_ref<Value(int64_t Column, int64_t Part)> Scale;
    /// For formats that have minima.
    llvm::function_ref<Value(int64_t Column)> Minimum;
  };
  /// A group of an input row.
  struct Place {
    GroupedRows *Of;
    Value Row;
    Value Group;
  };

  /// Codes of 8 bits belong to the many rows of a prefill.
  bool isWidened() const {
    return isOfWords() ? !B.IsDecodeSized : Rows.digits() == 1;
  }
  /// Steps that are written out. Where registers are few, the others are a
  /// loop: LLVM would put them into an order that fills more registers than
  /// there are.
  int64_t stepsAtOnce() const {
    if (narrowSteps() != 0 && narrowSteps() != groupSteps() / Parts)
      return narrowSteps();
    if (keepsSums())
      return groupSteps() / Parts;
    return isWidened() ? 1 : octetSteps();
  }
  /// Whether numbers are multiplied, not unsigned codes: widened once for many
  /// rows they are the cheaper ones.
  bool isSigned() const { return isOfWords() && isWidened(); }
  /// Whether sums stay in registers from group to group. Where these are few,
  /// sums are read and written for each group.
  bool keepsSums() const { return perVector() == 1; }
  /// Whether an octet is multiplied with one column after the other: step by
  /// step, the unpacked codes of all columns would fill the registers.
  bool isByColumn(int64_t Columns) const { return !keepsSums() && Columns > 1; }
  /// How many columns of 16 and rows of a piece are multiplied at once: there
  /// are a product and a sum for each, and operands.
  int64_t wideColumns() const { return keepsSums() ? 2 : 1; }
  int64_t wideRows() const {
    if (!keepsSums())
      return narrowSteps() == 0 || narrowSteps() * Parts == groupSteps()
                 ? vectors() - 3
                 : vectors() / 2 - 1;
    return (vectors() - wideColumns() - 3) / (2 * wideColumns());
  }
  /// Vectors of 16 lanes that the registers hold.
  int64_t vectors() const { return B.Target.getRegisters() / perVector(); }
  Value bias(const Place &At, int64_t Part);
  SmallVector<Value> products(ArrayRef<Place> Inputs, int64_t Columns,
                              const Weights &W, int64_t Part);
  void multiply(ArrayRef<Place> Inputs, int64_t Columns, const Weights &W,
                llvm::function_ref<Value &(int64_t Row, int64_t Column)> SumOf);
  SmallVector<Place> places(ArrayRef<InputRow> Inputs, Value Group);
  void emitBlocks(ArrayRef<Panel> Panels, Value First, Value Last,
                  RowFinder RowOf, Epilogue Finish) {
    forEachBlock(First, Last, mostStreamedRows(),
                 [&](Value Row, int64_t Count) {
                   emitRows(Panels, Row, inputs(Row, Count, RowOf), Finish);
                 });
  }
  void emitRows(ArrayRef<Panel> Panels, Value Row, ArrayRef<InputRow> Inputs,
                Epilogue Finish) {
    for (const Panel &P : Panels)
      emitStreamed(P, Row, Inputs, Finish);
  }
  void emitStreamed(const Panel &P, Value Row, ArrayRef<InputRow> Inputs,
                    Epilogue Finish);
  /// Called with the number of a step of those that a group is read in.
  using BetweenSteps = llvm::function_ref<void(int64_t Step, int64_t Steps)>;
  void addGroup(const Stream &From, ArrayRef<Place> Inputs, Value Group,
                Value Column, int64_t Wide, BetweenSteps Between,
                llvm::function_ref<Value &(int64_t, int64_t)> SumOf);
  /// Most rows of a block that is multiplied as the panel is read.
  static constexpr int64_t MostBlockRows = 8;
  /// Most rows of all blocks, which are in scratch: 1 MiB, as a second-level
  /// cache holds.
  int64_t mostInOrder() const {
    int64_t Fitting = (int64_t(1) << 20) / (Groups * Rows.recordBytes());
    return std::clamp<int64_t>(llvm::alignDown(Fitting, MostBlockRows),
                               MostBlockRows, 64);
  }
  /// Calls its argument with what each block of rows has of a group, and the
  /// number of its first row.
  using ForBlocks = llvm::function_ref<void(
      Value Group, llvm::function_ref<void(Value Number, ArrayRef<Place>)>)>;
  void emitInOrder(const Panel &P, Value First, Value Last, int64_t Room,
                   int64_t Wide, ForBlocks Blocks, Epilogue Finish);
  /// Whether some rows are multiplied block by block as the panel is read.
  bool hasBlocks() const {
    return keepsSums() && isWidened() && B.Target.hasDot(DotProduct::Int8);
  }
  Value blockCase(Value Rest);
  void emitMany(ArrayRef<Panel> Panels, Value First, Value Last,
                RowFinder RowOf, Epilogue Finish);
  void emitWidened(ArrayRef<Panel> Panels, Value First, Value Last,
                   RowFinder RowOf, Epilogue Finish);
  struct Piece;
  Value codes(GroupReader &Reader, Value From, int64_t Step);
  void widen(const Stream &From, Value FirstGroup, const Piece &To);
  void prefetch(Value FirstGroup, int64_t PieceCount, Value Row, int64_t Count,
                const Partial &Into, RowFinder RowOf);
  void prefetchNext(const Stream &From, Value Group, Value Column,
                    int64_t Columns);
  void addProducts(const Stream &From, const Piece &P, Value FirstGroup,
                   const Partial &Into, RowFinder RowOf);

  GroupedRows Rows;
  /// Those that are multiplied in blocks, group by group.
  std::optional<GroupedRows> Prepared;
  const StorageFormatInfo &Info;
  /// Parts of a group with a scale of their own.
  int64_t Parts;
  int64_t Groups;
  /// What multiplies at least LeastTileRows rows in tiles; null without them.
  std::unique_ptr<MatmulEmitter> Tiles;
};

} // namespace

std::unique_ptr<MatmulEmitter> tenon::createIntegerMatmul(KernelBuilder &B,
                                                          Value Input,
                                                          int64_t InFeatures,
                                                          ValueRange Weights) {
  return std::make_unique<IntegerMatmul>(B, Input, InFeatures, Weights);
}

void IntegerMatmul::prepare(Value First, Value Last, RowFinder RowOf) {
  if (Tiles)
    return Tiles->prepare(First, Last, RowOf);
  if (!hasBlocks())
    return;
  if (!Prepared)
    Prepared.emplace(Rows.roomByGroup(Groups, mostInOrder()));
  B.ifThen(B.isLess(B.sub(Last, First), B.index(mostInOrder() + 1)), [&] {
    B.loop(First, Last, 1, [&](Value Row) {
      InputRow In = RowOf(Row);
      B.loop(B.index(0), B.index(Groups), 1, [&](Value Group) {
        Rows.copy(In.Row, B.add(B.div(In.Column, GroupValues), Group),
                  *Prepared, Group, B.sub(Row, First));
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// One group
//===----------------------------------------------------------------------===//

/// Where the sums of a part start from: -b times the sum of its codes.
Value IntegerMatmul::bias(const Place &At, int64_t Part) {
  int64_t Bias = dnn::unsignedCodes(Format).Bias;
  if (Bias == 0 || isSigned())
    return B.splatWord(0);
  Value Sum = Parts == 1 ? At.Of->sum(At.Row, At.Group)
                         : At.Of->sumOfHalf(At.Row, At.Group, Part);
  Value Times = arith::ShLIOp::create(
      B, Sum, B.splatWord(static_cast<int32_t>(llvm::Log2_64(Bias))));
  return arith::SubIOp::create(B, B.splatWord(0), Times);
}

/// Sums of the products of a part of a group of `Columns` times 16 output
/// features with rows: by column, row and digit. Step by step: an input is
/// broadcast once for all columns, and neighbouring instructions do not wait
/// for each other; or column by column.
SmallVector<Value> IntegerMatmul::products(ArrayRef<Place> Inputs,
                                           int64_t Columns, const Weights &W,
                                           int64_t Part) {
  auto Count = static_cast<int64_t>(Inputs.size());
  int64_t Steps = groupSteps() / Parts;
  auto Words = B.vecType(B.getI16Type(), 2 * Lanes);
  auto SplatWords = [&](int16_t Number) -> Value {
    return arith::ConstantOp::create(B, DenseElementsAttr::get(Words, Number));
  };
  SmallVector<Value> Start;
  for (int64_t Column = 0; Column < Columns; ++Column)
    for (const Place &At : Inputs) {
      Start.append(Rows.digits() - 1, B.splatWord(0));
      Start.push_back(bias(At, Part));
    }
  auto Add = [&](SmallVector<Value> &Sums, Value From, int64_t StepCount) {
    SmallVector<SmallVector<Value>> Digits(StepCount);
    auto Read = [&](int64_t Step) {
      for (const Place &At : Inputs)
        for (int64_t Digit = 0; Digit < Rows.digits(); ++Digit)
          Digits[Step].push_back(
              At.Of->step(At.Row, At.Group, B.add(From, Step), Digit));
    };
    auto Multiply = [&](int64_t Step, int64_t Column) {
      Value Codes = W.Codes(Column, From, Step);
      Value *Sum = Sums.begin() + Column * Count * Rows.digits();
      for (Value Digit : Digits[Step]) {
        *Sum = dnn::DotOp::create(B, Sum->getType(), *Sum, Codes, Digit);
        ++Sum;
      }
    };
    if (isByColumn(Columns)) {
      for (int64_t Step = 0; Step < StepCount; ++Step)
        Read(Step);
      for (int64_t Column = 0; Column < Columns; ++Column)
        for (int64_t Step = 0; Step < StepCount; ++Step)
          Multiply(Step, Column);
      return;
    }
    for (int64_t Step = 0; Step < StepCount; ++Step) {
      Read(Step);
      for (int64_t Column = 0; Column < Columns; ++Column)
        Multiply(Step, Column);
    }
  };
  auto AddWide = [&](SmallVector<Value> &Sums, ArrayRef<Value> Narrow) {
    for (auto [Sum, Each] : llvm::zip(Sums, Narrow))
      Sum = dnn::DotOp::create(B, Sum.getType(), Sum, Each, SplatWords(1));
  };
  SmallVector<Value> Zeros(Count * Columns, SplatWords(0));
  int64_t Window = narrowSteps();
  bool AllInWords = Window == Steps;
  auto Body = [&](Value From, ValueRange Carried) {
    SmallVector<Value> Next(Carried);
    if (Window == 0 || AllInWords) {
      Add(Next, From, stepsAtOnce());
    } else {
      SmallVector<Value> Narrow = Zeros;
      Add(Narrow, From, stepsAtOnce());
      AddWide(Next, Narrow);
    }
    return Next;
  };
  int64_t First = Part * Steps;
  SmallVector<Value> Sums = AllInWords ? Zeros : Start;
  if (stepsAtOnce() == Steps)
    Sums = Body(B.index(First), Sums);
  else
    Sums = B.loop(B.index(First), B.index(First + Steps), stepsAtOnce(), Sums,
                  Body);
  if (!AllInWords)
    return Sums;
  AddWide(Start, Sums);
  return Start;
}

/// Adds products of a group of `Columns` times 16 output features with rows to
/// their sums.
void IntegerMatmul::multiply(
    ArrayRef<Place> Inputs, int64_t Columns, const Weights &W,
    llvm::function_ref<Value &(int64_t, int64_t)> SumOf) {
  auto Count = static_cast<int64_t>(Inputs.size());
  SmallVector<Value> Products;
  addScaled(
      B, {Count, Columns, Info},
      {[&](int64_t Part) { Products = products(Inputs, Columns, W, Part); },
       [&](int64_t Row, int64_t Column) {
         return Rows.number(ArrayRef(Products).slice(
             (Column * Count + Row) * Rows.digits(), Rows.digits()));
       },
       W.Scale, W.Minimum,
       [&](int64_t Row) {
         return Inputs[Row].Of->scale(Inputs[Row].Row, Inputs[Row].Group);
       },
       [&](int64_t Row) {
         return Inputs[Row].Of->total(Inputs[Row].Row, Inputs[Row].Group);
       }},
      SumOf);
}

SmallVector<IntegerMatmul::Place>
IntegerMatmul::places(ArrayRef<InputRow> Inputs, Value Group) {
  SmallVector<Place> Places;
  for (const InputRow &In : Inputs)
    Places.push_back(
        {&Rows, In.Row, B.add(B.div(In.Column, GroupValues), Group)});
  return Places;
}

/// What step `From` + `Step` of a group multiplies, the first of an octet
/// before its others; there `From` begins.
Value IntegerMatmul::codes(GroupReader &Reader, Value From, int64_t Step) {
  if (Step % octetSteps() == 0)
    Reader.setOctet(B.add(B.div(From, octetSteps()), Step / octetSteps()));
  int64_t Quad = isOfWords() ? Step / 2 : Step;
  if (!isOfWords())
    return Reader.codes(Quad % 2);
  return isSigned() ? Reader.numberPairs(Quad % 2, Step % 2 == 1)
                    : Reader.codePairs(Quad % 2, Step % 2 == 1);
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

/// Adds products of a group of `Wide` times 16 columns, from `Column` on, with
/// rows to the sums: by row and column.
void IntegerMatmul::addGroup(
    const Stream &From, ArrayRef<Place> Inputs, Value Group, Value Column,
    int64_t Wide, BetweenSteps Between,
    llvm::function_ref<Value &(int64_t, int64_t)> SumOf) {
  std::vector<GroupReader> Readers;
  for (int64_t G = 0; G < Wide; ++G)
    Readers.emplace_back(B, Format, From.View, From.Panel, Group,
                         B.add(Column, G * Lanes));
  int64_t Read = 0, Reads = Wide * groupSteps();
  auto Codes = [&](int64_t C, Value FirstStep, int64_t Step) {
    Between(Read++, Reads);
    // Octets are a loop here: each asks for its share of a later group.
    constexpr int64_t GroupsAhead = 4;
    if (isByColumn(Wide) && Step == 0)
      GroupReader(B, Format, From.View, From.Panel, B.add(Group, GroupsAhead),
                  B.index(0))
          .prefetchOctet(Column, Wide * Lanes, B.div(FirstStep, octetSteps()),
                         C, Wide);
    return codes(Readers[C], FirstStep, Step);
  };
  auto Scale = [&](int64_t C, int64_t Part) {
    return Readers[C].scale(Part, /*OfPairs=*/true);
  };
  auto Minimum = [&](int64_t C) { return Readers[C].minimum(); };
  multiply(Inputs, Wide, {Codes, Scale, Minimum}, SumOf);
}

void IntegerMatmul::emitStreamed(const Panel &P, Value Row,
                                 ArrayRef<InputRow> Inputs, Epilogue Finish) {
  auto Count = static_cast<int64_t>(Inputs.size());
  if (!keepsSums()) {
    int64_t Wide = PanelWidth / Lanes;
    while (Wide > 1 && Count * Wide > streamedProducts())
      Wide /= 2;
    return emitInOrder(
        P, Row, B.add(Row, Count), Count, Wide,
        [&](Value Group, auto Each) {
          Each(B.index(0), places(Inputs, Group));
        },
        Finish);
  }
  Block Size{Count, PanelWidth};
  while (Size.Columns > Finish.Vectors * Lanes &&
         Count * (Size.Columns / Lanes) > streamedProducts())
    Size.Columns /= 2;
  int64_t Wide = Size.Columns / Lanes;
  // Codes of 8 bits are then read in the order that they lie in, which the
  // hardware foresees; Xeons with tiles do not early enough.
  bool Asks = Info.Bits != 8 || Size.Columns != PanelWidth ||
              B.Target.hasDot(DotProduct::BF16Tile);
  B.loop(B.index(0), B.index(PanelWidth), Size.Columns, [&](Value Column) {
    Sums Result;
    for (const Stream &From : streams(P)) {
      Sums Start(Count * Wide, B.vecConst(0));
      Result.append(
          B.loop(B.index(0), B.index(Groups), 1, Start,
                 [&](Value Group, ValueRange Carried) {
                   Sums Next(Carried);
                   addGroup(
                       From, places(Inputs, Group), Group, Column, Wide,
                       [&](int64_t Step, int64_t Steps) {
                         if (Asks)
                           prefetchAhead(From, Group, B.index(0), PanelWidth,
                                         Count, Step, Steps);
                       },
                       [&](int64_t R, int64_t C) -> Value & {
                         return Next[R * Wide + C];
                       });
                   return Next;
                 }));
    }
    finishBlock(P, Row, Column, Size, Result, Finish);
  });
}

/// Multiplies rows [First, Last) with a panel whose groups are read in the
/// order that they lie in: all blocks of rows, and `Wide` times 16 columns at a
/// time, before the next group. Sums are in memory, of `Room` rows.
void IntegerMatmul::emitInOrder(const Panel &P, Value First, Value Last,
                                int64_t Room, int64_t Wide, ForBlocks Blocks,
                                Epilogue Finish) {
  SmallVector<Stream> Streams = streams(P);
  auto Columns = static_cast<int64_t>(Streams.size()) * PanelWidth;
  Value Partial = B.scratch({Room, Columns});
  Value Padded = B.min(B.add(B.sub(Last, First), MostBlockRows), B.index(Room));
  B.loop(B.index(0), Padded, 1, [&](Value Row) {
    B.loop(B.index(0), B.index(Columns), Lanes, [&](Value Column) {
      B.store(B.vecConst(0), Partial, {Row, Column});
    });
  });
  auto AddColumns = [&](const Stream &From, int64_t FirstSum, Value Group,
                        Value Column) {
    Blocks(Group, [&](Value Number, ArrayRef<Place> Inputs) {
      auto Count = static_cast<int64_t>(Inputs.size());
      auto At = [&](int64_t R, int64_t G) {
        return SmallVector<Value>{B.add(Number, R),
                                  B.add(Column, FirstSum + G * Lanes)};
      };
      Sums Next(Count * Wide);
      // Read when products are there, as registers are few.
      auto SumOf = [&](int64_t R, int64_t G) -> Value & {
        Value &Sum = Next[R * Wide + G];
        if (!Sum)
          Sum = B.load(Partial, At(R, G));
        return Sum;
      };
      addGroup(
          From, Inputs, Group, Column, Wide,
          [&](int64_t Step, int64_t Steps) {
            if (keepsSums())
              prefetchAhead(From, Group, Column, Wide * Lanes, Count, Step,
                            Steps);
          },
          SumOf);
      for (int64_t R = 0; R < Count; ++R)
        for (int64_t G = 0; G < Wide; ++G)
          B.store(SumOf(R, G), Partial, At(R, G));
    });
  };
  // One matrix after the other: two streams are slower than one.
  for (auto [I, From] : llvm::enumerate(Streams))
    B.loop(B.index(0), B.index(Groups), 1,
           [&, I = I, From = From](Value Group) {
             if (!keepsSums() && !isByColumn(Wide))
               prefetchNext(From, Group, B.index(0), PanelWidth);
             B.loop(B.index(0), B.index(PanelWidth), Wide * Lanes,
                    [&](Value Column) {
                      AddColumns(From, static_cast<int64_t>(I) * PanelWidth,
                                 Group, Column);
                    });
           });
  finishRows(P, {Partial, B.index(0), First, Last}, Finish);
}

//===----------------------------------------------------------------------===//
// Many rows
//===----------------------------------------------------------------------===//

/// Groups of a panel whose codes and factors were unpacked.
struct IntegerMatmul::Piece {
  /// [groups * steps, 64 output features * 4] of bytes.
  Value Codes;
  /// [groups * parts, 64] and [groups, 64] of f32; no minima are null.
  Value Scales;
  Value Minima;
  int64_t Groups;
};

/// Half the rows of the first block, less one, of `Rest` rows: 4, 6 or 8 are
/// multiplied at once. Products of fewer would wait for each other, and 9 to 12
/// are two blocks of 6, not of 8 and 4.
Value IntegerMatmul::blockCase(Value Rest) {
  auto AtMost = [&](int64_t Rows, int64_t Case, Value Otherwise) -> Value {
    return arith::SelectOp::create(B, B.isLess(Rest, B.index(Rows + 1)),
                                   B.index(Case), Otherwise);
  };
  return AtMost(4, 1, AtMost(6, 2, AtMost(8, 3, AtMost(12, 2, B.index(3)))));
}

/// As many rows as are multiplied in the time that the panel comes from memory
/// are multiplied as it does.
void IntegerMatmul::emitMany(ArrayRef<Panel> Panels, Value First, Value Last,
                             RowFinder RowOf, Epilogue Finish) {
  constexpr int64_t Wide = 2;
  if (!hasBlocks())
    return emitWidened(Panels, First, Last, RowOf, Finish);
  Value Count = B.sub(Last, First);
  auto Blocks = [&](Value Group,
                    llvm::function_ref<void(Value, ArrayRef<Place>)> Each) {
    B.loop(B.index(0), Count, MostBlockRows, B.index(0),
           [&](Value, ValueRange Carried) {
             Value Number = Carried.front();
             Value Case = blockCase(B.sub(Count, Number));
             B.caseOf(Case, MostBlockRows / 2 - 1, [&](int64_t Size) {
               SmallVector<Place> Inputs;
               for (int64_t R = 0; R < 2 * Size + 2; ++R)
                 Inputs.push_back({&*Prepared, Group, B.add(Number, R)});
               Each(Number, Inputs);
             });
             return SmallVector<Value>{B.add(Number, B.add(B.mul(Case, 2), 2))};
           });
  };
  B.ifThenElse(
      B.isLess(Count, B.index(mostInOrder() + 1)),
      [&] {
        for (const Panel &P : Panels)
          emitInOrder(P, First, Last, mostInOrder(), Wide, Blocks, Finish);
      },
      [&] { emitWidened(Panels, First, Last, RowOf, Finish); });
}

void IntegerMatmul::emitWidened(ArrayRef<Panel> Panels, Value First, Value Last,
                                RowFinder RowOf, Epilogue Finish) {
  int64_t Most = pieceGroups();
  Piece Scratch{B.scratch({Most * groupSteps(), 4 * PanelWidth}, B.getI8Type()),
                B.scratch({Most * Parts, PanelWidth}),
                Info.hasMinimum() ? B.scratch({Most, PanelWidth}) : Value(),
                Most};
  emitPieces(
      Panels, First, Last, Groups, Most,
      [&](const Stream &From, Value Group, int64_t Count, const Partial &Into) {
        Piece This = Scratch;
        This.Groups = Count;
        Value RowCount = B.sub(Into.Last, Into.First);
        B.ifThen(B.isLess(B.index(wideRows() - 1), RowCount), [&] {
          B.loop(B.index(0), B.index(Count), 1, [&](Value I) {
            prefetchNext(From, B.add(Group, I), B.index(0), PanelWidth);
          });
        });
        widen(From, Group, This);
        addProducts(From, This, Group, Into, RowOf);
      },
      Finish);
}

void IntegerMatmul::widen(const Stream &From, Value FirstGroup,
                          const Piece &To) {
  B.loop(B.index(0), B.index(To.Groups), 1, [&](Value Group) {
    // Cache lines in the order that they lie in, which the hardware foresees.
    std::vector<GroupReader> Readers;
    for (int64_t Column = 0; Column < PanelWidth; Column += Lanes)
      Readers.emplace_back(B, Format, From.View, From.Panel,
                           B.add(FirstGroup, Group), B.index(Column));
    auto ForEach =
        [&](llvm::function_ref<void(GroupReader &, Value Column)> Do) {
          for (auto [I, Reader] : llvm::enumerate(Readers))
            Do(Reader, B.index(static_cast<int64_t>(I) * Lanes));
        };
    for (int64_t Part = 0; Part < Parts; ++Part)
      ForEach([&](GroupReader &Reader, Value Column) {
        B.store(Reader.scale(Part, /*OfPairs=*/true), To.Scales,
                {B.add(B.mul(Group, Parts), Part), Column});
      });
    if (To.Minima)
      ForEach([&](GroupReader &Reader, Value Column) {
        B.store(Reader.minimum(), To.Minima, {Group, Column});
      });
    for (int64_t Step = 0; Step < groupSteps(); ++Step)
      ForEach([&](GroupReader &Reader, Value Column) {
        Value Codes =
            vector::BitCastOp::create(B, B.vecType(B.getI8Type(), 4 * Lanes),
                                      codes(Reader, B.index(0), Step));
        vector::StoreOp::create(
            B, Codes, To.Codes,
            ValueRange{B.add(B.mul(Group, groupSteps()), Step),
                       B.mul(Column, 4)});
      });
  });
}

/// Asks for what is multiplied a piece later than group `Group`, of `Columns`
/// output features from `Column` on.
void IntegerMatmul::prefetchNext(const Stream &From, Value Group, Value Column,
                                 int64_t Columns) {
  GroupReader(B, Format, From.View, From.Panel, B.add(Group, pieceGroups()),
              B.index(0))
      .prefetch(Column, Columns);
}

/// Asks for what the block of `Count` rows from `Row` on reads: short pieces of
/// rows that lie apart, which the hardware does not foresee.
void IntegerMatmul::prefetch(Value FirstGroup, int64_t PieceCount, Value Row,
                             int64_t Count, const Partial &Into,
                             RowFinder RowOf) {
  Value End = B.sub(Into.Last, B.index(1));
  for (int64_t R = 0; R < Count; ++R) {
    Value At = B.min(B.add(Row, R), End);
    InputRow In = RowOf(At);
    Rows.prefetch(In.Row, B.add(B.div(In.Column, GroupValues), FirstGroup),
                  PieceCount);
    for (int64_t Column = 0; Column < PanelWidth; Column += Lanes)
      B.prefetch(Into.Sums, {B.sub(At, Into.First), B.add(Into.Column, Column)},
                 /*Locality=*/3);
  }
}

/// Adds products of rows with a piece to their sums.
void IntegerMatmul::addProducts(const Stream &From, const Piece &P,
                                Value FirstGroup, const Partial &Into,
                                RowFinder RowOf) {
  int64_t Wide = wideColumns(), MostRows = wideRows();
  forEachBlock(Into.First, Into.Last, MostRows, [&](Value Row, int64_t Count) {
    SmallVector<InputRow> Inputs = inputs(Row, Count, RowOf);
    if (Count == MostRows)
      prefetch(FirstGroup, P.Groups, B.add(Row, Count), Count, Into, RowOf);
    B.loop(B.index(0), B.index(PanelWidth), Wide * Lanes, [&](Value Column) {
      auto At = [&](int64_t R, int64_t G) {
        return SmallVector<Value>{B.add(B.sub(Row, Into.First), R),
                                  B.add(B.add(Into.Column, Column), G * Lanes)};
      };
      auto Load = [&] {
        Sums Loaded;
        for (int64_t R = 0; R < Count; ++R)
          for (int64_t G = 0; G < Wide; ++G)
            Loaded.push_back(B.load(Into.Sums, At(R, G)));
        return Loaded;
      };
      auto Store = [&](ArrayRef<Value> Result) {
        for (int64_t R = 0; R < Count; ++R)
          for (int64_t G = 0; G < Wide; ++G)
            B.store(Result[R * Wide + G], Into.Sums, At(R, G));
      };
      Sums Result = B.loop(
          B.index(0), B.index(P.Groups), 1, keepsSums() ? Load() : Sums(),
          [&](Value Group, ValueRange Carried) {
            Sums Next = keepsSums() ? Sums(Carried) : Load();
            Value Number = B.add(FirstGroup, Group);
            // The last block of rows is the only one of few: while they are
            // multiplied, the next weights are read.
            if (Count < MostRows)
              prefetchNext(From, Number, Column, Wide * Lanes);
            SmallVector<Place> Places = places(Inputs, Number);
            auto Begin = [&](int64_t C) { return B.add(Column, C * Lanes); };
            auto Codes = [&](int64_t C, Value From, int64_t Step) -> Value {
              Value Bytes = vector::LoadOp::create(
                  B, B.vecType(B.getI8Type(), 4 * Lanes), P.Codes,
                  ValueRange{
                      B.add(B.add(B.mul(Group, groupSteps()), From), Step),
                      B.mul(Begin(C), 4)});
              if (!isOfWords())
                return Bytes;
              return vector::BitCastOp::create(
                  B, B.vecType(B.getI16Type(), 2 * Lanes), Bytes);
            };
            auto Scale = [&](int64_t C, int64_t Part) {
              return B.load(P.Scales,
                            {B.add(B.mul(Group, Parts), Part), Begin(C)});
            };
            auto Minimum = [&](int64_t C) {
              return B.load(P.Minima, {Group, Begin(C)});
            };
            multiply(Places, Wide, {Codes, Scale, Minimum},
                     [&](int64_t R, int64_t C) -> Value & {
                       return Next[R * Wide + C];
                     });
            if (keepsSums())
              return Next;
            Store(Next);
            return Sums();
          });
      if (keepsSums())
        Store(Result);
    });
  });
}
