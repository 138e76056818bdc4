//===- Packer.h - Packing of weights into their layouts ---------*- C++ -*-===//
//
// Moves f32 rows of a weight into a packed layout, panel by panel, so that no
// whole weight is ever held. Values are only rounded to the stored type.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PACKING_PACKER_H
#define TENON_RUNTIME_PACKING_PACKER_H

#include "runtime/Packing/Layout.h"
#include "runtime/Support/Result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tenon {

/// Bytes of one panel of 64 output features of K columns.
constexpr int64_t panelBytes(PackedLayout Layout, int64_t K) {
  return PanelWidth *
         storedBytes(Layout.Format, paddedInFeatures(Layout.Format, K));
}

/// Packs `Rows` (1 to 64) output features, Source [Rows][K], into one panel of
/// panelBytes(Layout, K) bytes. Missing rows and columns become zero.
void packPanel(PackedLayout Layout, int64_t K, int64_t Rows,
               const float *Source, std::byte *Panel);

/// Converts `Count` elements into a rows layout, in order; returns through
/// `Packed`, storedBytes(Layout.Format, Count) bytes.
void packRows(PackedLayout Layout, int64_t Count, const float *Source,
              std::byte *Packed);

/// Packs a vector of N elements into packedBytes(Layout, N, 1) bytes.
void packVector(PackedLayout Layout, int64_t N, const float *Source,
                std::byte *Packed);

/// Packs a weight of N rows and K columns that arrives in pieces of whole
/// rows (or elements of a vector, K = 1), handing packed bytes on in order.
class Packer {
public:
  using Sink = std::function<Status(std::span<const std::byte>)>;

  /// N and K are at least 1. `Emit` receives
  /// packedBytes(Layout, N, K) bytes in all, in pieces of its own size.
  Packer(PackedLayout Layout, int64_t N, int64_t K, Sink Emit);

  /// Packs the next Source.size() / K rows.
  Status append(std::span<const float> Source);

  /// Hands on what is left; an error when rows are missing.
  Status finish();

private:
  Status emitGroup(int64_t Rows, const float *Source);

  PackedLayout Layout;
  int64_t N;
  int64_t K;
  Sink Emit;
  int64_t GroupRows;          ///< Rows that are packed at once.
  int64_t Taken = 0;          ///< Rows seen so far.
  std::vector<float> Pending; ///< Rows of an incomplete group.
  std::vector<std::byte> Packed;
};

} // namespace tenon

#endif // TENON_RUNTIME_PACKING_PACKER_H
