//===- StoredFormat.cpp - Blocks of stored elements to f32 ----------------===//
//
// Products and differences are rounded one by one, in ggml's order, so that
// results are equal bit by bit.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/StoredFormat.h"

#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;

namespace {

uint8_t byteAt(const std::byte *From, size_t At) {
  return static_cast<uint8_t>(From[At]);
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

/// Blocks of a format that is kept as it is.
template <StorageFormat Kept>
bool decodeKept(const std::byte *From, size_t Blocks, float *Out) {
  bool Finite = true;
  for (; Blocks != 0; --Blocks, From += storedBlockBytes(Kept),
                      Out += infoOf(Kept).BlockValues)
    Finite &= decodeBlock(Kept, readBlock(Kept, From), Out);
  return Finite;
}

/// A row of the table for it.
template <StorageFormat Kept>
constexpr StoredFormat keptFormat(std::string_view Name) {
  return {Name,
          static_cast<uint32_t>(infoOf(Kept).BlockValues),
          static_cast<uint32_t>(storedBlockBytes(Kept)),
          ElementType::F32,
          decodeKept<Kept>,
          Kept};
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

constexpr StoredFormat Formats[] = {
    {"F32", 1, 4, ElementType::F32, decodeF32},
    {"F16", 1, 2, ElementType::F16, decodeF16},
    {"BF16", 1, 2, ElementType::BF16, decodeBF16},
    keptFormat<StorageFormat::Q8_0>("Q8_0"),
    keptFormat<StorageFormat::Q4_0>("Q4_0"),
    keptFormat<StorageFormat::Q4_1>("Q4_1"),
    keptFormat<StorageFormat::Q5_0>("Q5_0"),
    keptFormat<StorageFormat::Q5_1>("Q5_1"),
    {"Q2_K", 256, 84, ElementType::F32, decodeQ2_K},
    {"Q3_K", 256, 110, ElementType::F32, decodeQ3_K},
    keptFormat<StorageFormat::Q4_K>("Q4_K"),
    keptFormat<StorageFormat::Q5_K>("Q5_K"),
    keptFormat<StorageFormat::Q6_K>("Q6_K"),
    keptFormat<StorageFormat::IQ4_NL>("IQ4_NL"),
    keptFormat<StorageFormat::IQ4_XS>("IQ4_XS"),
    keptFormat<StorageFormat::MXFP4>("MXFP4")};

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
    float Whole[MaxBlockValues];
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
