//===- StoredFormat.cpp - Blocks of stored elements to f32 ----------------===//
//
// The layouts of ggml's blocks. Products and differences are rounded one by
// one, in ggml's order, so that results are equal bit by bit.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/StoredFormat.h"

#include "runtime/Support/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;

namespace {

/// The largest block, in elements.
constexpr uint32_t MaxBlockElements = 256;

uint8_t byteAt(const std::byte *From, size_t At) {
  return static_cast<uint8_t>(From[At]);
}

int signedByteAt(const std::byte *From, size_t At) {
  return static_cast<int8_t>(From[At]);
}

uint16_t wordAt(const std::byte *From) {
  uint16_t Word;
  std::memcpy(&Word, From, sizeof(Word));
  return Word;
}

bool decodeF32(const std::byte *From, size_t Blocks, float *Out) {
  std::memcpy(Out, From, Blocks * sizeof(float));
  return true;
}

bool decodeF16(const std::byte *From, size_t Blocks, float *Out) {
  for (size_t I = 0; I < Blocks; ++I)
    Out[I] = halfToFloat(wordAt(From + 2 * I));
  return true;
}

bool decodeBF16(const std::byte *From, size_t Blocks, float *Out) {
  for (size_t I = 0; I < Blocks; ++I)
    Out[I] = bf16ToFloat(wordAt(From + 2 * I));
  return true;
}

/// 32 elements: f16 scale, then a signed byte each.
bool decodeQ8_0(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 34, Out += 32) {
    float Scale = halfToFloat(wordAt(From));
    Finite &= std::isfinite(Scale);
    for (int I = 0; I < 32; ++I)
      Out[I] = static_cast<float>(signedByteAt(From, 2 + I)) * Scale;
  }
  return Finite;
}

/// 32 elements: f16 scale, then 16 bytes whose low halves are the first 16
/// elements plus 8, and whose high halves are the others.
bool decodeQ4_0(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 18, Out += 32) {
    float Scale = halfToFloat(wordAt(From));
    Finite &= std::isfinite(Scale);
    for (int I = 0; I < 16; ++I) {
      int Pair = byteAt(From, 2 + I);
      Out[I] = static_cast<float>((Pair & 15) - 8) * Scale;
      Out[I + 16] = static_cast<float>((Pair >> 4) - 8) * Scale;
    }
  }
  return Finite;
}

/// 32 elements: f16 scale, f16 minimum, 4 bits each as in Q4_0.
bool decodeQ4_1(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 20, Out += 32) {
    float Scale = halfToFloat(wordAt(From));
    float Minimum = halfToFloat(wordAt(From + 2));
    Finite &= std::isfinite(Scale) && std::isfinite(Minimum);
    for (int I = 0; I < 32; ++I) {
      int Quant = byteAt(From, 4 + I % 16) >> (I / 16 * 4) & 15;
      float Product = static_cast<float>(Quant) * Scale;
      Out[I] = Product + Minimum;
    }
  }
  return Finite;
}

/// Of 32 elements with 5 bits: 4 bytes with the high bit of each, then 16 with
/// the others as in Q4_0.
int fiveBitsAt(const std::byte *From, int I) {
  int High = byteAt(From, I / 8) >> (I % 8) & 1;
  return (byteAt(From, 4 + I % 16) >> (I / 16 * 4) & 15) | High << 4;
}

/// 32 elements: f16 scale, 5 bits each, which are the elements plus 16.
bool decodeQ5_0(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 22, Out += 32) {
    float Scale = halfToFloat(wordAt(From));
    Finite &= std::isfinite(Scale);
    for (int I = 0; I < 32; ++I)
      Out[I] = static_cast<float>(fiveBitsAt(From + 2, I) - 16) * Scale;
  }
  return Finite;
}

/// 32 elements: f16 scale, f16 minimum, 5 bits each.
bool decodeQ5_1(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 24, Out += 32) {
    float Scale = halfToFloat(wordAt(From));
    float Minimum = halfToFloat(wordAt(From + 2));
    Finite &= std::isfinite(Scale) && std::isfinite(Minimum);
    for (int I = 0; I < 32; ++I) {
      float Product = static_cast<float>(fiveBitsAt(From + 4, I)) * Scale;
      Out[I] = Product + Minimum;
    }
  }
  return Finite;
}

/// 256 elements in 16 groups: 16 bytes with a scale (low half) and a minimum
/// (high half) a group, 64 bytes with four elements of 2 bits each, f16 scale
/// of the scales, f16 scale of the minima.
bool decodeQ2_K(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 84, Out += 256) {
    float Scale = halfToFloat(wordAt(From + 80));
    float Minimum = halfToFloat(wordAt(From + 82));
    Finite &= std::isfinite(Scale) && std::isfinite(Minimum);
    for (int I = 0; I < 256; ++I) {
      int Half = I / 128, InHalf = I % 128, Group = byteAt(From, I / 16);
      int Quant =
          byteAt(From, 16 + Half * 32 + InHalf % 32) >> (InHalf / 32 * 2) & 3;
      float GroupScale = Scale * static_cast<float>(Group & 15);
      float GroupMinimum = Minimum * static_cast<float>(Group >> 4);
      float Product = GroupScale * static_cast<float>(Quant);
      Out[I] = Product - GroupMinimum;
    }
  }
  return Finite;
}

/// 256 elements in 16 groups: 32 bytes with a high bit of each, 64 bytes with
/// two low bits each, 12 bytes with a 6-bit scale plus 32 a group, f16 scale of
/// the scales. The three bits of an element are its value plus 4.
bool decodeQ3_K(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 110, Out += 256) {
    float Scale = halfToFloat(wordAt(From + 108));
    Finite &= std::isfinite(Scale);
    const std::byte *Packed = From + 96;
    for (int I = 0; I < 256; ++I) {
      int Group = I / 16, Half = I / 128, InHalf = I % 128;
      int Low = byteAt(Packed, Group % 8) >> (Group / 8 * 4) & 15;
      int High = byteAt(Packed, 8 + Group % 4) >> (Group / 4 * 2) & 3;
      float GroupScale = Scale * static_cast<float>((Low | High << 4) - 32);
      int Quant =
          byteAt(From, 32 + Half * 32 + InHalf % 32) >> (InHalf / 32 * 2) & 3;
      Quant |= (byteAt(From, I % 32) >> (I / 32) & 1) << 2;
      Out[I] = GroupScale * static_cast<float>(Quant - 4);
    }
  }
  return Finite;
}

/// The scales of Q4_K's and Q5_K's blocks: f16 scale of the scales, f16 scale
/// of the minima, 12 bytes with a 6-bit scale and minimum a group.
struct GroupScales {
  explicit GroupScales(const std::byte *From)
      : Scale(halfToFloat(wordAt(From))),
        Minimum(halfToFloat(wordAt(From + 2))) {
    const std::byte *Packed = From + 4;
    for (int Group = 0; Group < 8; ++Group) {
      int S, M;
      if (Group < 4) {
        S = byteAt(Packed, Group) & 63;
        M = byteAt(Packed, Group + 4) & 63;
      } else {
        // Four bits here, two on top of the first groups' six.
        int Low = byteAt(Packed, Group + 4);
        S = (Low & 15) | (byteAt(Packed, Group - 4) >> 6 << 4);
        M = (Low >> 4) | (byteAt(Packed, Group) >> 6 << 4);
      }
      Scales[Group] = Scale * static_cast<float>(S);
      Minima[Group] = Minimum * static_cast<float>(M);
    }
  }
  bool isFinite() const {
    return std::isfinite(Scale) && std::isfinite(Minimum);
  }
  float value(int Group, int Quant) const {
    float Product = Scales[Group] * static_cast<float>(Quant);
    return Product - Minima[Group];
  }

  float Scale, Minimum;
  float Scales[8], Minima[8];
};

/// 256 elements in 8 groups: GroupScales, 128 bytes of 4 bits each.
bool decodeQ4_K(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 144, Out += 256) {
    GroupScales Scales(From);
    Finite &= Scales.isFinite();
    for (int I = 0; I < 256; ++I) {
      int Group = I / 32;
      int Pair = byteAt(From, 16 + Group / 2 * 32 + I % 32);
      Out[I] = Scales.value(Group, Pair >> (Group % 2 * 4) & 15);
    }
  }
  return Finite;
}

/// 256 elements in 8 groups: GroupScales, 32 bytes with a high bit of each,
/// 128 bytes of 4 bits each.
bool decodeQ5_K(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 176, Out += 256) {
    GroupScales Scales(From);
    Finite &= Scales.isFinite();
    for (int I = 0; I < 256; ++I) {
      int Group = I / 32;
      int Low = byteAt(From, 48 + Group / 2 * 32 + I % 32) >> (Group % 2 * 4);
      int High = byteAt(From, 16 + I % 32) >> Group & 1;
      Out[I] = Scales.value(Group, (Low & 15) | High << 4);
    }
  }
  return Finite;
}

/// 256 elements: 128 bytes with four low bits each, 64 with two high bits
/// each, a signed scale for every 16 elements, f16 scale of the scales.
bool decodeQ6_K(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 210, Out += 256) {
    float Scale = halfToFloat(wordAt(From + 208));
    Finite &= std::isfinite(Scale);
    for (int I = 0; I < 256; ++I) {
      int Half = I / 128, InHalf = I % 128;
      int Low = byteAt(From, Half * 64 + InHalf % 64) >> (InHalf / 64 * 4) & 15;
      int High =
          byteAt(From, 128 + Half * 32 + InHalf % 32) >> (InHalf / 32 * 2) & 3;
      float Group =
          Scale * static_cast<float>(signedByteAt(From, 192 + I / 16));
      Out[I] = Group * static_cast<float>((Low | High << 4) - 32);
    }
  }
  return Finite;
}

/// What the 4 bits of IQ4_NL and IQ4_XS stand for.
constexpr int8_t NonLinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

/// 32 elements: f16 scale, 4 bits each as in Q4_0.
bool decodeIQ4_NL(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 18, Out += 32) {
    float Scale = halfToFloat(wordAt(From));
    Finite &= std::isfinite(Scale);
    for (int I = 0; I < 32; ++I)
      Out[I] =
          Scale * static_cast<float>(
                      NonLinear[byteAt(From, 2 + I % 16) >> (I / 16 * 4) & 15]);
  }
  return Finite;
}

/// 256 elements in 8 groups: f16 scale of the scales, 2 high and 4 low bits of
/// a scale plus 32 a group, 16 bytes a group of 4 bits each as in IQ4_NL.
bool decodeIQ4_XS(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 136, Out += 256) {
    float Scale = halfToFloat(wordAt(From));
    int HighBits = wordAt(From + 2);
    Finite &= std::isfinite(Scale);
    for (int I = 0; I < 256; ++I) {
      int Group = I / 32;
      int Low = byteAt(From, 4 + Group / 2) >> (Group % 2 * 4) & 15;
      int High = HighBits >> (Group * 2) & 3;
      float GroupScale = Scale * static_cast<float>((Low | High << 4) - 32);
      int Quant =
          byteAt(From, 8 + Group * 16 + I % 16) >> (I % 32 / 16 * 4) & 15;
      Out[I] = GroupScale * static_cast<float>(NonLinear[Quant]);
    }
  }
  return Finite;
}

/// 32 elements: the exponent of a power of two, E8M0 with bias 127, and 4 bits
/// each, E2M1, as in Q4_0 (OCP Microscaling Formats, version 1.0).
bool decodeMXFP4(const std::byte *From, size_t Blocks, float *Out) {
  // Doubled, so that the smallest scale is halved into a denormal.
  constexpr int8_t Doubled[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                  0, -1, -2, -3, -4, -6, -8, -12};
  for (; Blocks != 0; --Blocks, From += 17, Out += 32) {
    float HalfScale = std::ldexp(1.0f, byteAt(From, 0) - 128);
    for (int I = 0; I < 32; ++I)
      Out[I] = HalfScale *
               static_cast<float>(
                   Doubled[byteAt(From, 1 + I % 16) >> (I / 16 * 4) & 15]);
  }
  return true;
}

constexpr StoredFormat Formats[] = {
    {"F32", 1, 4, ElementType::F32, decodeF32},
    {"F16", 1, 2, ElementType::F16, decodeF16},
    {"BF16", 1, 2, ElementType::BF16, decodeBF16},
    {"Q8_0", 32, 34, ElementType::F32, decodeQ8_0},
    {"Q4_0", 32, 18, ElementType::F32, decodeQ4_0},
    {"Q4_1", 32, 20, ElementType::F32, decodeQ4_1},
    {"Q5_0", 32, 22, ElementType::F32, decodeQ5_0},
    {"Q5_1", 32, 24, ElementType::F32, decodeQ5_1},
    {"Q2_K", 256, 84, ElementType::F32, decodeQ2_K},
    {"Q3_K", 256, 110, ElementType::F32, decodeQ3_K},
    {"Q4_K", 256, 144, ElementType::F32, decodeQ4_K},
    {"Q5_K", 256, 176, ElementType::F32, decodeQ5_K},
    {"Q6_K", 256, 210, ElementType::F32, decodeQ6_K},
    {"IQ4_NL", 32, 18, ElementType::F32, decodeIQ4_NL},
    {"IQ4_XS", 256, 136, ElementType::F32, decodeIQ4_XS},
    {"MXFP4", 32, 17, ElementType::F32, decodeMXFP4}};

} // namespace

std::span<const StoredFormat> tenon::storedFormats() { return Formats; }

const StoredFormat *tenon::storedFormat(std::string_view Name) {
  for (const StoredFormat &Format : Formats)
    if (Format.Name == Name)
      return &Format;
  return nullptr;
}

bool tenon::decodeElements(const StoredFormat &Format,
                           std::span<const std::byte> Bytes, uint64_t First,
                           uint64_t Count, float *Out) {
  bool Finite = true;
  const std::byte *Block =
      Bytes.data() + First / Format.Elements * Format.Bytes;
  // A part of a block is taken out of all of it.
  auto TakePart = [&](uint64_t Begin, uint64_t Size) {
    float Whole[MaxBlockElements];
    Finite &= Format.Decode(Block, 1, Whole);
    std::copy_n(Whole + Begin, Size, Out);
    Out += Size;
    Count -= Size;
    Block += Format.Bytes;
  };
  if (uint64_t Begin = First % Format.Elements; Begin != 0 && Count != 0)
    TakePart(Begin, std::min<uint64_t>(Format.Elements - Begin, Count));
  uint64_t Blocks = Count / Format.Elements;
  if (Blocks != 0) {
    Finite &= Format.Decode(Block, Blocks, Out);
    Out += Blocks * Format.Elements;
    Count -= Blocks * Format.Elements;
    Block += Blocks * Format.Bytes;
  }
  if (Count != 0)
    TakePart(0, Count);
  return Finite;
}

void tenon::dropBytes(std::span<const std::byte> Bytes) {
  if (Bytes.empty())
    return;
  auto Page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto Begin = reinterpret_cast<uintptr_t>(Bytes.data());
  uintptr_t End = Begin + Bytes.size();
  // Outwards to whole pages: a neighbour's page is only read again. That it
  // is advice makes a failure harmless.
  Begin -= Begin % Page;
  ::madvise(reinterpret_cast<void *>(Begin), End - Begin, MADV_DONTNEED);
}
