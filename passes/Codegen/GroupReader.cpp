//===- GroupReader.cpp - Quantised weights as vectors ---------------------===//

#include "passes/Codegen/GroupReader.h"

using namespace mlir;
using namespace tenon;

static constexpr int64_t CacheLine = 64;
/// A lane of each output feature of a panel.
static constexpr int64_t LaneBytes = 4 * PanelWidth;

/// The least biased number.
static constexpr int64_t FirstBiased = 1 << 15;

/// Whether 32-bit lanes look numbers up in a register; bytes do at every level.
static bool looksUpWords(dnn::TargetAttr Target) {
  return Target.getVectorBits() >= 512;
}

GroupReader::GroupReader(KernelBuilder &B, StorageFormat Format, Value View,
                         Value Panel, Value Group, Value Column)
    : B(B), Info(infoOf(Format)), Parts(partsOf(Info)), View(View),
      Panel(Panel), Block(B.div(Group, groupsOf(Info))), Column(Column),
      Begin(
          B.add(B.mul(B.rem(Group, groupsOf(Info)), Parts.group() * PanelWidth),
                Parts.Header * PanelWidth)) {}

bool GroupReader::readsByTable() const {
  return Info.Bits == 4 && looksUpWords(B.Target);
}

std::array<int64_t, GroupReader::OctetValues>
GroupReader::featureOrder(dnn::TargetAttr Target, StorageFormat Format) {
  std::array<int64_t, OctetValues> Order;
  bool ByTable = infoOf(Format).Bits == 4 && looksUpWords(Target);
  for (int64_t I = 0; I < OctetValues; ++I)
    Order[I] = ByTable ? I : quadFeature(I / 4, I % 4);
  return Order;
}

void GroupReader::setOctet(Value Number) {
  Octet = Number;
  Quads = {};
  Codes = {};
  int64_t Lanes = Info.Bits == 8 ? 2 : 1;
  Value First = B.mul(Octet, Lanes * LaneBytes);
  for (int64_t I = 0; I < Lanes; ++I)
    Low[I] = words(B.add(
        First, (Parts.Scales + Parts.Minimum + Parts.HighBits) * PanelWidth +
                   I * LaneBytes));
}

void GroupReader::prefetch(Value First, int64_t Columns, unsigned Locality) {
  Value From = B.add(Begin, B.mul(First, Parts.group()));
  for (int64_t At = 0; At < Parts.group() * Columns; At += CacheLine)
    B.prefetch(View, {Panel, Block, B.add(From, At)}, Locality);
}

void GroupReader::prefetchPart(int64_t Number, int64_t Count,
                               unsigned Locality) {
  int64_t Lines = llvm::divideCeil(Parts.group() * PanelWidth, CacheLine);
  for (int64_t Line = Number * Lines / Count;
       Line < (Number + 1) * Lines / Count; ++Line)
    B.prefetch(View, {Panel, Block, B.add(Begin, Line * CacheLine)}, Locality);
}

void GroupReader::prefetchStep(Value Number, int64_t Count, unsigned Locality) {
  int64_t Bytes = Parts.group() * PanelWidth / Count;
  Value From = B.add(Begin, B.mul(Number, Bytes));
  for (int64_t I = 0; I < std::max<int64_t>(1, Bytes / CacheLine); ++I)
    B.prefetch(View, {Panel, Block, B.add(From, I * CacheLine)}, Locality);
}

void GroupReader::forEachOctet(
    llvm::function_ref<void(Value, llvm::function_ref<Value(int64_t)>)> Body) {
  Value Minimum = minimum();
  int64_t Octets = partValues() / OctetValues;
  for (int64_t Part = 0; Part < parts(); ++Part) {
    Value Scale = scale(Part, /*OfPairs=*/isBiased());
    Value Added = Minimum;
    if (isBiased())
      Added = B.mulf(Scale, B.vecConst(-biasOfNumbers()));
    B.loop(B.index(Part * Octets), B.index((Part + 1) * Octets), 1,
           [&](Value Number) {
             setOctet(Number);
             Body(Number, [&](int64_t Feature) {
               Value X = isBiased() ? biasedNumber(Feature) : number(Feature);
               return Added ? B.fma(X, Scale, Added) : B.mulf(X, Scale);
             });
           });
  }
}

bool GroupReader::hasPairs(StorageFormat Format) {
  return infoOf(Format).Bits == 4;
}

//===----------------------------------------------------------------------===//
// Parts of the group
//===----------------------------------------------------------------------===//

/// i8: `BytesPerFeature` bytes of each of the 16 features of the part that
/// begins `Offset` bytes behind the group's begin.
Value GroupReader::bytes(Value Offset, int64_t BytesPerFeature) {
  Value At = B.add(B.add(Begin, Offset), B.mul(Column, BytesPerFeature));
  return vector::LoadOp::create(
      B, B.vecType(B.getI8Type(), Lanes * BytesPerFeature), View,
      ValueRange{Panel, Block, At});
}

/// The same of a part behind parts of `Offset` bytes per feature.
Value GroupReader::bytes(int64_t Offset, int64_t BytesPerFeature) {
  return bytes(B.index(Offset * PanelWidth), BytesPerFeature);
}

/// i32: a lane of each feature, of the part at `Offset`.
Value GroupReader::words(Value Offset) {
  return vector::BitCastOp::create(B, B.vecType(B.getI32Type()),
                                   bytes(Offset, 4));
}

/// f32: an f16 of each feature, of the group or, from its begin, of the block.
Value GroupReader::half(int64_t Offset, bool OfBlock) {
  Value Loaded;
  if (OfBlock) {
    Value At = B.add(B.mul(Column, 2), Offset * PanelWidth);
    Loaded = vector::LoadOp::create(B, B.vecType(B.getI8Type(), Lanes * 2),
                                    View, ValueRange{Panel, Block, At});
  } else {
    Loaded = bytes(Offset, 2);
  }
  Value Halves =
      vector::BitCastOp::create(B, B.vecType(B.getF16Type()), Loaded);
  return arith::ExtFOp::create(B, B.vecType(), Halves);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value GroupReader::splatWord(int32_t Number) {
  return arith::ConstantOp::create(
      B, DenseElementsAttr::get(B.vecType(B.getI32Type()), Number));
}

/// Lanes moved right, or left by a negative number.
Value GroupReader::shift(Value Words, int64_t Right) {
  if (Right == 0)
    return Words;
  Value By = splatWord(static_cast<int32_t>(std::abs(Right)));
  if (Right > 0)
    return arith::ShRUIOp::create(B, Words, By);
  return arith::ShLIOp::create(B, Words, By);
}

/// The 16 numbers of 4-bit codes, plus `Added`.
Value GroupReader::table(Type Element, int64_t Added) {
  SmallVector<Attribute> Entries;
  for (int64_t Code = 0; Code < 16; ++Code) {
    int64_t Number =
        Added + (Info.Codes ? (*Info.Codes)[Code] : Code - Info.Offset);
    if (isa<FloatType>(Element))
      Entries.push_back(B.getFloatAttr(Element, static_cast<double>(Number)));
    else
      Entries.push_back(B.getIntegerAttr(Element, static_cast<int8_t>(Number)));
  }
  return arith::ConstantOp::create(
      B, DenseElementsAttr::get(B.vecType(Element, 16), Entries));
}

/// The high bits of half `Half` of the octet, above four of each byte.
Value GroupReader::highBits(int64_t Half) {
  int64_t Bits = Info.Bits - 4;
  Value First = B.index((Parts.Scales + Parts.Minimum) * PanelWidth);
  // Quads of an octet share a lane: highLane and highShift of Octet * 2 + Half.
  Value Quad = B.add(B.mul(Octet, 2), Half);
  Value Position = B.mul(Quad, Bits);
  Value All = words(B.add(First, B.mul(B.div(Position, 8), LaneBytes)));
  Value Down = arith::ShRUIOp::create(B, All, B.splatIndex(B.rem(Position, 8)));
  return arith::AndIOp::create(B, shift(Down, -4),
                               splatWord(Bits == 1 ? 0x10101010 : 0x30303030));
}

/// 64 bytes: the codes of half an octet for each output feature.
Value GroupReader::rawCodes(int64_t Half) {
  Value Words = Low[Info.Bits == 8 ? Half : 0];
  if (Info.Bits != 8)
    Words =
        arith::AndIOp::create(B, shift(Words, Half * 4), splatWord(0x0f0f0f0f));
  if (Info.Bits > 4 && Info.Bits < 8)
    Words = arith::OrIOp::create(B, Words, highBits(Half));
  return vector::BitCastOp::create(B, B.vecType(B.getI8Type(), 4 * Lanes),
                                   Words);
}

Value GroupReader::numbers(int64_t Half) {
  if (Quads[Half])
    return Quads[Half];
  auto Bytes = B.vecType(B.getI8Type(), 4 * Lanes);
  Value Codes = rawCodes(Half);
  if (Info.Bits == 4)
    Codes = dnn::LookupOp::create(B, Bytes, Codes, table(B.getI8Type()));
  else if (Info.Offset != 0)
    Codes = arith::SubIOp::create(
        B, Codes,
        arith::ConstantOp::create(
            B,
            DenseElementsAttr::get(Bytes, static_cast<int8_t>(Info.Offset))));
  return Quads[Half] = Codes;
}

Value GroupReader::codes(int64_t Half) {
  auto Bytes = B.vecType(B.getI8Type(), 4 * Lanes);
  int64_t Bias = dnn::unsignedCodes(Info.Value).Bias;
  Value Codes = rawCodes(Half);
  if (Info.Codes)
    return dnn::LookupOp::create(B, Bytes, Codes, table(B.getI8Type(), Bias));
  if (Info.Bits == 8)
    return arith::XOrIOp::create(
        B, Codes,
        arith::ConstantOp::create(
            B, DenseElementsAttr::get(Bytes, static_cast<int8_t>(Bias))));
  return Codes;
}

Value GroupReader::codePairs(int64_t Half, bool Odd) {
  if (!Codes[Half])
    Codes[Half] = codes(Half);
  auto Words = B.vecType(B.getI16Type(), 2 * Lanes);
  Value Both = vector::BitCastOp::create(B, Words, Codes[Half]);
  auto Splat = [&](int16_t Number) {
    return arith::ConstantOp::create(B, DenseElementsAttr::get(Words, Number));
  };
  if (Odd)
    return arith::ShRUIOp::create(B, Both, Splat(8));
  return arith::AndIOp::create(B, Both, Splat(0xff));
}

Value GroupReader::numberPairs(int64_t Half, bool Odd) {
  auto Words = B.vecType(B.getI16Type(), 2 * Lanes);
  Value Pairs = vector::BitCastOp::create(B, Words, numbers(Half));
  Value Eight = arith::ConstantOp::create(
      B, DenseElementsAttr::get(Words, static_cast<int16_t>(8)));
  if (!Odd)
    Pairs = arith::ShLIOp::create(B, Pairs, Eight);
  return arith::ShRSIOp::create(B, Pairs, Eight);
}

/// The place of a feature among the bytes of an octet.
static int64_t placeOf(int64_t Feature) {
  int64_t Place = 0;
  while (quadFeature(Place / 4, Place % 4) != Feature)
    ++Place;
  return Place;
}

/// Byte `From` of each lane as byte `To`; the others are zero.
Value GroupReader::moveBytes(Value Bytes, int64_t From, int64_t To) {
  SmallVector<int64_t> Mask(4 * Lanes, 4 * Lanes);
  for (int64_t Lane = 0; Lane < Lanes; ++Lane)
    Mask[4 * Lane + To] = 4 * Lane + From;
  Value Zero = arith::ConstantOp::create(B, B.getZeroAttr(Bytes.getType()));
  return vector::BitCastOp::create(
      B, B.vecType(B.getI32Type()),
      vector::ShuffleOp::create(B, Bytes, Zero, Mask));
}

Value GroupReader::number(int64_t Feature) {
  if (readsByTable())
    return dnn::LookupOp::create(B, B.vecType(),
                                 shift(Low[0], 4 * nibbleOf(Feature)),
                                 table(B.getF32Type()));
  int64_t Place = placeOf(Feature);
  // As the highest byte of its lane it keeps its sign.
  return B.toFloats(moveBytes(numbers(Place / 4), Place % 4, 3));
}

bool GroupReader::isBiased() const {
  return Info.Scale == ScaleKind::Half && Info.Minimum == MinimumKind::None &&
         Info.Bits > 4;
}

float GroupReader::biasOfNumbers() const {
  int64_t OfCodes = Info.Bits == 8 ? 128 : Info.Offset;
  return static_cast<float>(FirstBiased + OfCodes);
}

/// As bits 8 to 15 of an f32 from 2^15 on, a code counts ones.
Value GroupReader::biasedNumber(int64_t Feature) {
  int64_t Place = placeOf(Feature);
  int32_t Bits = 0x47000000;
  if (Info.Bits == 8) // Of two's complement.
    Bits ^= 0x8000;
  Value Moved = moveBytes(rawCodes(Place / 4), Place % 4, 1);
  return arith::BitcastOp::create(
      B, B.vecType(), arith::XOrIOp::create(B, Moved, splatWord(Bits)));
}

Value GroupReader::pair(int64_t Feature) {
  // The nibbles of both are 16 bits apart.
  Value Codes =
      vector::BitCastOp::create(B, B.vecType(B.getI16Type(), 2 * Lanes),
                                shift(Low[0], 4 * nibbleOf(Feature)));
  return dnn::LookupOp::create(B, B.vecType(B.getBF16Type(), 2 * Lanes), Codes,
                               table(B.getBF16Type()));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

Value GroupReader::scale(int64_t Part, bool OfPairs) {
  Value Scale;
  switch (Info.Scale) {
  case ScaleKind::None:
    llvm_unreachable("a quantised format has scales");
  case ScaleKind::Half:
    Scale = half(0, /*OfBlock=*/false);
    break;
  case ScaleKind::Exponent: {
    auto Words = B.vecType(B.getI32Type());
    Value Exponent = arith::ExtUIOp::create(B, Words, bytes(0, 1));
    // Of exponent 0, half of the least normal number.
    Value Bits =
        arith::MaxUIOp::create(B, shift(Exponent, -23), splatWord(0x00400000));
    Scale = B.mulf(arith::BitcastOp::create(B, B.vecType(), Bits),
                   B.vecConst(0.5f));
    break;
  }
  case ScaleKind::Integer: {
    Value Factor = arith::SIToFPOp::create(B, B.vecType(), bytes(Part, 1));
    Scale = B.mulf(half(0, /*OfBlock=*/true), Factor);
    break;
  }
  }
  // Numbers read from bytes stand in the highest byte.
  return OfPairs || readsByTable() ? Scale
                                   : B.mulf(Scale, B.vecConst(0x1p-24f));
}

Value GroupReader::minimum() {
  switch (Info.Minimum) {
  case MinimumKind::None:
    return {};
  case MinimumKind::Number: {
    if (Info.Scale == ScaleKind::Half)
      return half(Parts.Scales, /*OfBlock=*/false);
    Value Factor =
        arith::UIToFPOp::create(B, B.vecType(), bytes(Parts.Scales, 1));
    return arith::NegFOp::create(B, B.mulf(half(2, /*OfBlock=*/true), Factor));
  }
  case MinimumKind::ZeroPoint: {
    Value Zero =
        arith::SIToFPOp::create(B, B.vecType(), bytes(Parts.Scales, 1));
    return arith::NegFOp::create(B, B.mulf(half(0, /*OfBlock=*/false), Zero));
  }
  }
  llvm_unreachable("no such kind");
}
