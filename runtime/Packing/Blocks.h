//===- Blocks.h - Blocks of quantised formats -------------------*- C++ -*-===//
//
// Codes and scales of a block, apart from how a file or a panel lays them out:
// read from ggml's layout, made from f32, turned into f32, laid into a panel.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PACKING_BLOCKS_H
#define TENON_RUNTIME_PACKING_BLOCKS_H

#include "runtime/Abi/Types.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon {

/// The largest block, in values.
inline constexpr int64_t MaxBlockValues = 256;

/// 32 codes and what they are scaled with, as bits.
struct CodeGroup {
  /// Of 8 bits, as two's complement.
  std::array<uint8_t, GroupValues> Codes = {};
  /// f16, an exponent, or a signed byte, as the format's ScaleKind says; one
  /// for each ScaleValues.
  std::array<uint16_t, 2> Scales = {};
  /// f16, an unsigned byte or a zero point, of formats that have it.
  uint16_t Minimum = 0;
};

/// One block of a quantised format.
struct CodeBlock {
  /// f16 that scales and minima are multiplied with, of ScaleKind::Integer.
  uint16_t Scale = 0;
  uint16_t MinimumScale = 0;
  /// As many as the format's blocks have.
  std::array<CodeGroup, MaxBlockValues / GroupValues> Groups;
};

/// Bytes of a block as readBlock() takes it.
constexpr int64_t storedBlockBytes(StorageFormat Format) {
  int64_t InPanel = infoOf(Format).BlockBytes;
  switch (Format) {
  case StorageFormat::Q4_K:
  case StorageFormat::Q5_K:
    return InPanel - 4; // Scales and minima have 6 bits.
  case StorageFormat::IQ4_XS:
    return InPanel - 2; // Scales have 6 bits.
  case StorageFormat::F32:
  case StorageFormat::BF16:
  case StorageFormat::Q8_0:
  case StorageFormat::Q4_0:
  case StorageFormat::Q4_1:
  case StorageFormat::Q5_0:
  case StorageFormat::Q5_1:
  case StorageFormat::Q6_0:
  case StorageFormat::Q6_K:
  case StorageFormat::IQ4_NL:
  case StorageFormat::MXFP4:
  case StorageFormat::U4_ZP:
    return InPanel;
  }
  return InPanel;
}

/// The block of `Format` at `Stored`, as ggml lays it out; of U4_ZP f16 scale,
/// zero point, then codes as in Q4_0.
CodeBlock readBlock(StorageFormat Format, const std::byte *Stored);

/// Writes the block's values, those that ggml computes, exactly: products and
/// sums are rounded one by one in its order. False when a scale is infinite or
/// no number.
bool decodeBlock(StorageFormat Format, const CodeBlock &Block, float *Out);

/// The largest magnitude that quantiseBlock() keeps in `Format`, whatever else
/// is in the block; larger ones are clipped sooner or later. Infinite for what
/// has no scales of f16, or minima beside them.
float largestQuantised(StorageFormat Format);

/// The block of `Format` that is close to `Values`, BlockValues finite numbers:
/// scales are searched that make the squared error small, in which large values
/// count a little more. Codes are the nearest under those scales. With
/// `Importance`, a number that is not negative for each value, errors that a
/// searched scale makes are weighted with that instead, unless it is zero for
/// all values of the scale.
CodeBlock quantiseBlock(StorageFormat Format, const float *Values,
                        const float *Importance = nullptr);

/// As quantiseBlock(), value by value: each error is made up for by the values
/// behind it, before these get codes. `Feedback` is ErrorMetric::feedback() of
/// the block's first value, at the column of that value. Leaves in `Values` the
/// errors: what each value had become, less what is stored.
CodeBlock quantiseWithFeedback(StorageFormat Format, float *Values,
                               const float *Importance, const float *Feedback);

/// Writes the block as output feature `Feature` (0 to 63) of a panel's block at
/// `Target`, which has 64 of them. A feature's bits must be zero before.
void layBlock(StorageFormat Format, const CodeBlock &Block, int64_t Feature,
              std::byte *Target);

} // namespace tenon

#endif // TENON_RUNTIME_PACKING_BLOCKS_H
