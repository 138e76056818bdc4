//===- Blocks.cpp - Blocks of quantised formats ---------------------------===//

#include "runtime/Packing/Blocks.h"

#include "runtime/Support/Half.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace tenon;

//===----------------------------------------------------------------------===//
// ggml's layouts
//===----------------------------------------------------------------------===//

namespace {

uint8_t byteAt(const std::byte *From, int64_t At) {
  return static_cast<uint8_t>(From[At]);
}

uint16_t wordAt(const std::byte *From, int64_t At) {
  uint16_t Word;
  std::memcpy(&Word, From + At, sizeof(Word));
  return Word;
}

/// 16 bytes whose low halves are the first 16 codes and whose high halves are
/// the others.
void readNibbles(const std::byte *From, CodeGroup &Group) {
  for (int64_t I = 0; I < 16; ++I) {
    Group.Codes[I] = byteAt(From, I) & 15;
    Group.Codes[I + 16] = byteAt(From, I) >> 4;
  }
}

/// 4 bytes with the high bit of each of 32 codes, then 16 as above.
void readFiveBits(const std::byte *From, CodeGroup &Group) {
  readNibbles(From + 4, Group);
  for (int64_t I = 0; I < GroupValues; ++I)
    Group.Codes[I] |= (byteAt(From, I / 8) >> (I % 8) & 1) << 4;
}

/// 8 bytes with two high bits of each of 32 codes, those of codes I, I + 16,
/// I + 8 and I + 24 in byte I, then 16 as above.
void readSixBits(const std::byte *From, CodeGroup &Group) {
  readNibbles(From + 8, Group);
  for (int64_t I = 0; I < GroupValues; ++I)
    Group.Codes[I] |= (byteAt(From, I % 8) >> (I % 16 / 8 * 4 + I / 16 * 2) & 3)
                      << 4;
}

/// 12 bytes with a 6-bit scale and a 6-bit minimum for each of 8 groups: of the
/// first four the low bits of bytes 0 to 7; of the others four bits in bytes 8
/// to 11 and two on top of the first eight.
void readSixBitPairs(const std::byte *From, CodeBlock &Block) {
  for (int64_t I = 0; I < 4; ++I) {
    Block.Groups[I].Scales[0] = byteAt(From, I) & 63;
    Block.Groups[I].Minimum = byteAt(From, I + 4) & 63;
    int Low = byteAt(From, I + 8);
    Block.Groups[I + 4].Scales[0] = (Low & 15) | (byteAt(From, I) >> 6 << 4);
    Block.Groups[I + 4].Minimum = (Low >> 4) | (byteAt(From, I + 4) >> 6 << 4);
  }
}

/// Of blocks of 256, 4 bits of 32 codes each: groups come in pairs, whose codes
/// are the low and the high halves of the same 32 bytes.
void readPairedNibbles(const std::byte *From, CodeBlock &Block) {
  for (int64_t I = 0; I < MaxBlockValues; ++I)
    Block.Groups[I / 32].Codes[I % 32] =
        byteAt(From, I / 64 * 32 + I % 32) >> (I / 32 % 2 * 4) & 15;
}

void readQ6_K(const std::byte *From, CodeBlock &Block) {
  // 128 bytes of low nibbles, 64 of two high bits, 16 scales, f16.
  for (int64_t I = 0; I < MaxBlockValues; ++I) {
    int64_t Half = I / 128, InHalf = I % 128;
    int Low = byteAt(From, Half * 64 + InHalf % 64) >> (InHalf / 64 * 4) & 15;
    int High =
        byteAt(From, 128 + Half * 32 + InHalf % 32) >> (InHalf / 32 * 2) & 3;
    Block.Groups[I / 32].Codes[I % 32] = static_cast<uint8_t>(Low | High << 4);
  }
  for (int64_t I = 0; I < 16; ++I)
    Block.Groups[I / 2].Scales[I % 2] = byteAt(From, 192 + I);
  Block.Scale = wordAt(From, 208);
}

void readIQ4_XS(const std::byte *From, CodeBlock &Block) {
  Block.Scale = wordAt(From, 0);
  int HighBits = wordAt(From, 2);
  for (int64_t I = 0; I < 8; ++I) {
    // Six bits, plus 32: four in a nibble, two in the word before.
    int Low = byteAt(From, 4 + I / 2) >> (I % 2 * 4) & 15;
    int High = HighBits >> (I * 2) & 3;
    Block.Groups[I].Scales[0] = static_cast<uint8_t>((Low | High << 4) - 32);
    readNibbles(From + 8 + I * 16, Block.Groups[I]);
  }
}

} // namespace

CodeBlock tenon::readBlock(StorageFormat Format, const std::byte *From) {
  CodeBlock Block;
  CodeGroup &First = Block.Groups[0];
  switch (Format) {
  case StorageFormat::F32:
  case StorageFormat::BF16:
    break; // Not quantised.
  case StorageFormat::Q8_0:
    First.Scales[0] = wordAt(From, 0);
    std::memcpy(First.Codes.data(), From + 2, GroupValues);
    break;
  case StorageFormat::Q4_0:
  case StorageFormat::IQ4_NL:
    First.Scales[0] = wordAt(From, 0);
    readNibbles(From + 2, First);
    break;
  case StorageFormat::Q4_1:
    First.Scales[0] = wordAt(From, 0);
    First.Minimum = wordAt(From, 2);
    readNibbles(From + 4, First);
    break;
  case StorageFormat::Q5_0:
    First.Scales[0] = wordAt(From, 0);
    readFiveBits(From + 2, First);
    break;
  case StorageFormat::Q5_1:
    First.Scales[0] = wordAt(From, 0);
    First.Minimum = wordAt(From, 2);
    readFiveBits(From + 4, First);
    break;
  case StorageFormat::Q6_0:
    First.Scales[0] = wordAt(From, 0);
    readSixBits(From + 2, First);
    break;
  case StorageFormat::Q4_K:
  case StorageFormat::Q5_K:
    Block.Scale = wordAt(From, 0);
    Block.MinimumScale = wordAt(From, 2);
    readSixBitPairs(From + 4, Block);
    if (Format == StorageFormat::Q4_K) {
      readPairedNibbles(From + 16, Block);
      break;
    }
    // Bit i of 32 bytes is the high one of group i.
    readPairedNibbles(From + 48, Block);
    for (int64_t I = 0; I < MaxBlockValues; ++I)
      Block.Groups[I / 32].Codes[I % 32] |=
          (byteAt(From, 16 + I % 32) >> (I / 32) & 1) << 4;
    break;
  case StorageFormat::Q6_K:
    readQ6_K(From, Block);
    break;
  case StorageFormat::IQ4_XS:
    readIQ4_XS(From, Block);
    break;
  case StorageFormat::MXFP4:
    First.Scales[0] = byteAt(From, 0);
    readNibbles(From + 1, First);
    break;
  case StorageFormat::U4_ZP:
    First.Scales[0] = wordAt(From, 0);
    First.Minimum = byteAt(From, 2);
    readNibbles(From + 3, First);
    break;
  }
  return Block;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A stored scale as f32; the block's is `Common`.
static float scaleOf(const StorageFormatInfo &Info, uint16_t Bits,
                     float Common) {
  switch (Info.Scale) {
  case ScaleKind::None:
    return 1;
  case ScaleKind::Half:
    return halfToFloat(Bits);
  case ScaleKind::Exponent:
    // E8M0 has one NaN and nothing infinite.
    if (Bits == 255)
      return NAN;
    // Half of 2^(e-127): the codes are doubled. The smallest is a denormal.
    return std::ldexp(1.0f, static_cast<int>(Bits) - 128);
  case ScaleKind::Integer:
    return Common * static_cast<float>(static_cast<int8_t>(Bits));
  }
  return 0;
}

/// What is added to the scaled numbers of a group; subtracting is adding the
/// negative.
static float minimumOf(const StorageFormatInfo &Info, const CodeGroup &Group,
                       float Common) {
  switch (Info.Minimum) {
  case MinimumKind::None:
    return 0;
  case MinimumKind::Number:
    return Info.Scale == ScaleKind::Half
               ? halfToFloat(Group.Minimum)
               : -(Common * static_cast<float>(Group.Minimum));
  case MinimumKind::ZeroPoint:
    // Exact: 11 bits by 8.
    return -(halfToFloat(Group.Scales[0]) *
             static_cast<float>(static_cast<int8_t>(Group.Minimum)));
  }
  return 0;
}

/// The number that a code stands for.
static int numberOf(const StorageFormatInfo &Info, uint8_t Code) {
  if (Info.Codes)
    return (*Info.Codes)[Code];
  return Info.Bits == 8
             ? static_cast<int8_t>(Code)
             : static_cast<int>(Code) - static_cast<int>(Info.Offset);
}

bool tenon::decodeBlock(StorageFormat Format, const CodeBlock &Block,
                        float *Out) {
  const StorageFormatInfo &Info = infoOf(Format);
  float Common = halfToFloat(Block.Scale);
  float CommonMinimum = halfToFloat(Block.MinimumScale);
  bool Finite = std::isfinite(Common) && std::isfinite(CommonMinimum);
  for (int64_t G = 0; G < groupsOf(Info); ++G) {
    const CodeGroup &Group = Block.Groups[G];
    float Minimum = minimumOf(Info, Group, CommonMinimum);
    Finite &= std::isfinite(Minimum);
    for (int64_t I = 0; I < GroupValues; ++I) {
      float Scale = scaleOf(Info, Group.Scales[I / Info.ScaleValues], Common);
      Finite &= std::isfinite(Scale);
      float Product =
          Scale * static_cast<float>(numberOf(Info, Group.Codes[I]));
      *Out++ = Info.hasMinimum() ? Product + Minimum : Product;
    }
  }
  return Finite;
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

/// Writes the low `Bytes` bytes of `Bits`.
static void writeBits(std::byte *To, uint16_t Bits, int64_t Bytes) {
  std::memcpy(To, &Bits, static_cast<size_t>(Bytes));
}

/// Ors `Bits` into the lane of `Feature` among the lanes at `Lanes`.
static void addToLane(std::byte *Lanes, int64_t Feature, uint32_t Bits) {
  uint32_t Lane;
  std::memcpy(&Lane, Lanes + Feature * 4, 4);
  Lane |= Bits;
  std::memcpy(Lanes + Feature * 4, &Lane, 4);
}

void tenon::layBlock(StorageFormat Format, const CodeBlock &Block,
                     int64_t Feature, std::byte *Target) {
  constexpr int64_t LaneBytes = 4 * PanelWidth;
  const StorageFormatInfo &Info = infoOf(Format);
  BlockParts Parts = partsOf(Info);
  if (Parts.Header >= 2)
    writeBits(Target + Feature * 2, Block.Scale, 2);
  if (Parts.Header == 4)
    writeBits(Target + PanelWidth * 2 + Feature * 2, Block.MinimumScale, 2);
  Target += Parts.Header * PanelWidth;

  int64_t ScaleCount = GroupValues / Info.ScaleValues;
  int64_t ScaleBytes = Parts.Scales / ScaleCount;
  int64_t HighBits = Info.Bits == 8 ? 0 : Info.Bits - 4;
  for (int64_t G = 0; G < groupsOf(Info); ++G) {
    const CodeGroup &Group = Block.Groups[G];
    for (int64_t I = 0; I < ScaleCount; ++I)
      writeBits(Target + (I * PanelWidth + Feature) * ScaleBytes,
                Group.Scales[I], ScaleBytes);
    Target += Parts.Scales * PanelWidth;
    writeBits(Target + Feature * Parts.Minimum, Group.Minimum, Parts.Minimum);
    Target += Parts.Minimum * PanelWidth;
    std::byte *Low = Target + Parts.HighBits * PanelWidth;
    for (int64_t Quad = 0; Quad < GroupValues / 4; ++Quad)
      for (int64_t Byte = 0; Byte < 4; ++Byte) {
        int64_t Value = quadFeature(Quad, Byte);
        uint32_t Code = Group.Codes[Value];
        if (Info.Bits == 8) {
          addToLane(Low + Quad * LaneBytes, Feature, Code << (8 * Byte));
          continue;
        }
        addToLane(Low + Value / 8 * LaneBytes, Feature,
                  (Code & 15) << (4 * nibbleOf(Value % 8)));
        if (HighBits != 0)
          addToLane(Target + highLane(HighBits, Quad) * LaneBytes, Feature,
                    Code >> 4 << (8 * Byte + highShift(HighBits, Quad)));
      }
    Target = Low + Parts.LowBits * PanelWidth;
  }
}
