//===- GroupReader.cpp - Quantised weights as vectors ---------------------===//

#include "passes/Codegen/GroupReader.h"

using namespace mlir;
using namespace tenon;

/// A lane of each output feature of a panel.
static constexpr int64_t LaneBytes = 4 * PanelWidth;

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
  prefetchPart(First, Columns, /*Number=*/0, /*Count=*/1, Locality);
}

/// Part `Number` of `Count` of the cache lines of `Bytes` from `From` on.
void GroupReader::prefetchLines(Value From, int64_t Bytes, int64_t Number,
                                int64_t Count, unsigned Locality) {
  int64_t Lines = llvm::divideCeil(Bytes, CacheLine);
  for (int64_t Line = Number * Lines / Count;
       Line < (Number + 1) * Lines / Count; ++Line)
    B.prefetch(View, {Panel, Block, B.add(From, Line * CacheLine)}, Locality);
}

void GroupReader::prefetchPart(Value First, int64_t Columns, int64_t Number,
                               int64_t Count, unsigned Locality) {
  prefetchLines(B.add(Begin, B.mul(First, Parts.group())),
                Parts.group() * Columns, Number, Count, Locality);
}

void GroupReader::prefetchOctet(Value First, int64_t Columns, Value Octet,
                                int64_t Number, int64_t Count) {
  int64_t Share = Parts.group() * Columns / (GroupValues / OctetValues);
  Value From = B.add(Begin, B.mul(First, Parts.group()));
  prefetchLines(B.add(From, B.mul(Octet, Share)), Share, Number, Count,
                /*Locality=*/3);
}

/// Octets are written out: of as many turns of a loop, each pays for leaving
/// it.
void GroupReader::forEachOctetOf(llvm::function_ref<void(int64_t Part)> Begin,
                                 OctetBody Body, ValueReader ValueOf) {
  int64_t Octets = partValues() / OctetValues;
  for (int64_t Number = 0; Number < parts() * Octets; ++Number) {
    if (Number % Octets == 0)
      Begin(Number / Octets);
    setOctet(B.index(Number));
    Body(Number, ValueOf);
  }
}

void GroupReader::forEachOctet(OctetBody Body) {
  Value Minimum = minimum(), Scale;
  forEachOctetOf([&](int64_t Part) { Scale = scale(Part, /*OfPairs=*/false); },
                 Body,
                 [&](int64_t Feature) {
                   Value X = number(Feature);
                   return Minimum ? B.fma(X, Scale, Minimum) : B.mulf(X, Scale);
                 });
}

void GroupReader::forEachOctetOfPairs(OctetBody Body) {
  PairScale Scale;
  forEachOctetOf([&](int64_t Part) { Scale = pairScale(Part); }, Body,
                 [&](int64_t Feature) { return valuePair(Feature, Scale); });
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

/// Lanes moved right, or left by a negative number.
Value GroupReader::shift(Value Words, int64_t Right) {
  if (Right == 0)
    return Words;
  Value By = B.splatWord(static_cast<int32_t>(std::abs(Right)));
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
  return arith::AndIOp::create(
      B, shift(Down, -4), B.splatWord(Bits == 1 ? 0x10101010 : 0x30303030));
}

/// 64 bytes: the codes of half an octet for each output feature.
Value GroupReader::rawCodes(int64_t Half) {
  Value Words = Low[Info.Bits == 8 ? Half : 0];
  if (Info.Bits != 8)
    Words = arith::AndIOp::create(B, shift(Words, Half * 4),
                                  B.splatWord(0x0f0f0f0f));
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

/// Byte `From` of each lane as its highest byte; the others are zero.
Value GroupReader::highestBytes(Value Bytes, int64_t From) {
  SmallVector<int64_t> Mask(4 * Lanes, 4 * Lanes);
  for (int64_t Lane = 0; Lane < Lanes; ++Lane)
    Mask[4 * Lane + 3] = 4 * Lane + From;
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
  return B.toFloats(highestBytes(numbers(Place / 4), Place % 4));
}

/// i16 whose low bits are the codes of both, whose nibbles are 16 bits apart.
Value GroupReader::nibblePair(int64_t Feature) {
  return vector::BitCastOp::create(B, B.vecType(B.getI16Type(), 2 * Lanes),
                                   shift(Low[0], 4 * nibbleOf(Feature)));
}

Value GroupReader::pair(int64_t Feature) {
  return dnn::LookupOp::create(B, B.vecType(B.getBF16Type(), 2 * Lanes),
                               nibblePair(Feature), table(B.getBF16Type()));
}

//===----------------------------------------------------------------------===//
// Pairs of values
//===----------------------------------------------------------------------===//

/// Beside tile instructions a core multiplies one vector of f32 a cycle, but
/// twice as many f16; levels that have tiles have f16 arithmetic.
bool GroupReader::hasValuePairs() const {
  return B.Target.hasDot(DotProduct::BF16Tile) && !Info.hasMinimum() &&
         Info.Scale != ScaleKind::Exponent;
}

/// i16: `Bits` in all of 32 lanes.
Value GroupReader::splatHalf(int16_t Bits) {
  return arith::ConstantOp::create(
      B, DenseElementsAttr::get(B.vecType(B.getI16Type(), 2 * Lanes), Bits));
}

/// Whether a code stands for zero.
bool GroupReader::hasZero() const {
  return !Info.Codes || llvm::is_contained(*Info.Codes, 0);
}

/// A product of a number with a factor from 1 up to 2 is a normal f16, however
/// small the scale is.
GroupReader::PairScale GroupReader::pairScale(int64_t Part) {
  auto Words = B.vecType(B.getI32Type());
  Value Bits = arith::BitcastOp::create(B, Words, scale(Part, true));
  // The nearest of 11 bits, which f16 has.
  if (Info.Scale == ScaleKind::Integer)
    Bits = arith::AddIOp::create(B, Bits, B.splatWord(0x1000));
  auto Twice = [&](Value Low) -> Value {
    return vector::BitCastOp::create(
        B, B.vecType(B.getI16Type(), 2 * Lanes),
        arith::OrIOp::create(B, Low, shift(Low, -16)));
  };
  auto Masked = [&](int64_t Right, int32_t Mask) -> Value {
    return arith::AndIOp::create(B, shift(Bits, Right), B.splatWord(Mask));
  };
  Value Factor = arith::OrIOp::create(
      B, arith::OrIOp::create(B, Masked(13, 0x03ff), Masked(16, 0x8000)),
      B.splatWord(0x3c00));
  // Exponents of f16 count from 15.
  Value Exponent = arith::SubIOp::create(
      B, Twice(Masked(16, 0x7f80)), splatHalf(static_cast<int16_t>(15 << 7)));
  return {arith::BitcastOp::create(B, B.vecType(B.getF16Type(), 2 * Lanes),
                                   Twice(Factor)),
          Exponent};
}

/// 32 f16: the numbers of even `Feature` of the octet and of the next.
Value GroupReader::halfPair(int64_t Feature) {
  auto Halves = B.vecType(B.getF16Type(), 2 * Lanes);
  if (Info.Bits == 4)
    return dnn::LookupOp::create(B, Halves, nibblePair(Feature),
                                 table(B.getF16Type()));
  // Bytes 0 and 2 of a lane, or 1 and 3, as the last bits of 1024 and more.
  int64_t Place = placeOf(Feature);
  Value Pairs = vector::BitCastOp::create(
      B, B.vecType(B.getI16Type(), 2 * Lanes), rawCodes(Place / 4));
  Pairs = Place % 4 == 0
              ? Value(arith::AndIOp::create(B, Pairs, splatHalf(0xff)))
              : Value(arith::ShRUIOp::create(B, Pairs, splatHalf(8)));
  int64_t Offset = Info.Bits == 8 ? 128 : Info.Offset;
  int16_t Bits = Info.Bits == 8 ? 0x6480 : 0x6400; // Of two's complement.
  Pairs = arith::XOrIOp::create(B, Pairs, splatHalf(Bits));
  Value First = arith::ConstantOp::create(
      B, DenseElementsAttr::get(
             Halves,
             B.getFloatAttr(B.getF16Type(), static_cast<double>(1024 + Offset))
                 .getValue()));
  return B.subf(arith::BitcastOp::create(B, Halves, Pairs), First);
}

/// A product as bits of f16 becomes one of bf16: three bits are rounded off, of
/// two as near to what is farther from zero, and exponents are added.
Value GroupReader::valuePair(int64_t Feature, const PairScale &Scale) {
  auto Words = B.vecType(B.getI16Type(), 2 * Lanes);
  Value Bits = arith::BitcastOp::create(
      B, Words, B.mulf(halfPair(Feature), Scale.Factor));
  Value Rounded = arith::AndIOp::create(
      B,
      arith::ShRSIOp::create(B, arith::AddIOp::create(B, Bits, splatHalf(4)),
                             splatHalf(3)),
      splatHalf(static_cast<int16_t>(0x8fff)));
  Value Result = arith::AddIOp::create(B, Rounded, Scale.Exponent);
  if (hasZero()) {
    Value Magnitude = arith::AndIOp::create(B, Bits, splatHalf(0x7fff));
    Value IsZero = arith::CmpIOp::create(B, arith::CmpIPredicate::eq, Magnitude,
                                         splatHalf(0));
    Result = arith::SelectOp::create(B, IsZero, Rounded, Result);
  }
  return vector::BitCastOp::create(B, B.vecType(B.getBF16Type(), 2 * Lanes),
                                   Result);
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
    Value Bits = arith::MaxUIOp::create(B, shift(Exponent, -23),
                                        B.splatWord(0x00400000));
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
