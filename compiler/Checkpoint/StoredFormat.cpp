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

/// 256 elements in 8 groups: f16 scale of the scales, f16 scale of the minima,
/// 12 bytes with a 6-bit scale and minimum a group, 128 bytes of 4 bits each.
bool decodeQ4_K(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += 144, Out += 256) {
    float Scale = halfToFloat(wordAt(From));
    float Minimum = halfToFloat(wordAt(From + 2));
    Finite &= std::isfinite(Scale) && std::isfinite(Minimum);
    const std::byte *Packed = From + 4, *Quants = From + 16;
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
      float GroupScale = Scale * static_cast<float>(S);
      float GroupMinimum = Minimum * static_cast<float>(M);
      int Shift = Group % 2 * 4;
      for (int I = 0; I < 32; ++I) {
        int Quant = (byteAt(Quants, Group / 2 * 32 + I) >> Shift) & 15;
        float Product = GroupScale * static_cast<float>(Quant);
        Out[Group * 32 + I] = Product - GroupMinimum;
      }
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

constexpr StoredFormat Formats[] = {
    {"F32", 1, 4, ElementType::F32, decodeF32},
    {"F16", 1, 2, ElementType::F16, decodeF16},
    {"BF16", 1, 2, ElementType::BF16, decodeBF16},
    {"Q8_0", 32, 34, ElementType::F32, decodeQ8_0},
    {"Q4_0", 32, 18, ElementType::F32, decodeQ4_0},
    {"Q4_K", 256, 144, ElementType::F32, decodeQ4_K},
    {"Q6_K", 256, 210, ElementType::F32, decodeQ6_K}};

} // namespace

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
