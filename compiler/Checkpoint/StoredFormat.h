//===- StoredFormat.h - Blocks of stored elements to f32 --------*- C++ -*-===//
//
// The types of a GGUF file's tensors that are read: plain floats and blocks of
// quantised ones.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_STOREDFORMAT_H
#define TENON_COMPILER_CHECKPOINT_STOREDFORMAT_H

#include "compiler/Checkpoint/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tenon {

/// Elements stored in blocks of `Elements` in `Bytes` bytes, little-endian.
struct StoredFormat {
  /// As files spell it: "F32", "Q4_K".
  std::string_view Name;
  uint32_t Elements;
  uint32_t Bytes;
  /// What plain elements are; f32 for quantised ones.
  ElementType Type;
  /// Writes Elements × `Blocks` values, those that ggml computes, exactly.
  /// False when a block's scale is infinite or no number.
  bool (*Decode)(const std::byte *From, size_t Blocks, float *Out);
  /// What such blocks are packed as without a change; empty when they must be
  /// widened, and for plain elements.
  std::optional<StorageFormat> Kept = {};

  bool isQuantised() const { return Elements > 1; }
};

/// The format of that name; null for one that is not read.
const StoredFormat *storedFormat(std::string_view Name);

/// All formats that are read.
std::span<const StoredFormat> storedFormats();

/// Writes elements [First, First + Count) of the blocks in `Bytes`, which has
/// them all, to `Out`. False when a scale is infinite or no number.
bool decodeElements(const StoredFormat &Format,
                    std::span<const std::byte> Bytes, uint64_t First,
                    uint64_t Count, float *Out);

/// Tells the kernel that these bytes of a mapping will not be read again;
/// reading them later still works.
void dropBytes(std::span<const std::byte> Bytes);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_STOREDFORMAT_H
