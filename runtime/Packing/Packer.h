//===- Packer.h - Packing of weights into their layouts ---------*- C++ -*-===//
//
// Moves rows of a weight into a packed layout, panel by panel, so that no whole
// weight is ever held. f32 values are rounded to the stored type or quantised;
// blocks that a file stores in the wanted format keep their bits.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PACKING_PACKER_H
#define TENON_RUNTIME_PACKING_PACKER_H

#include "runtime/Packing/ErrorMetric.h"
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

/// What quantising has changed: sums of squares of values and of their errors,
/// and of what both are of the outputs by an ErrorMetric, or equal to the first
/// two without any.
struct QuantisationError {
  double Square = 0, Error = 0;
  double OutputSquare = 0, OutputError = 0;

  QuantisationError &operator+=(const QuantisationError &Other);
};

/// Packs `Rows` (1 to 64) output features, Source [Rows][K], into one panel of
/// panelBytes(Layout, K) bytes. Missing rows and columns become zero.
/// `Metrics`, if not empty, has the metric of each row or null. What is
/// quantised adds to `Error`, if that is given.
void packPanel(PackedLayout Layout, int64_t K, int64_t Rows,
               const float *Source, std::byte *Panel,
               std::span<const ErrorMetric *const> Metrics = {},
               QuantisationError *Error = nullptr);

/// The same of rows that a file stores as blocks of the layout's quantised
/// format, `RowBytes` bytes each.
void packStoredPanel(PackedLayout Layout, int64_t K, int64_t Rows,
                     const std::byte *Source, int64_t RowBytes,
                     std::byte *Panel);

/// Converts `Count` elements into a rows layout of a plain format, in order;
/// returns through `Packed`, storedBytes(Layout.Format, Count) bytes.
void packRows(PackedLayout Layout, int64_t Count, const float *Source,
              std::byte *Packed);

/// Packs a vector of N elements, of a plain format, into
/// packedBytes(Layout, N, 1) bytes.
void packVector(PackedLayout Layout, int64_t N, const float *Source,
                std::byte *Packed);

/// Packs a weight of N rows and K columns that arrives in pieces of whole
/// rows (or elements of a vector, K = 1), handing packed bytes on in order.
class Packer {
public:
  using Sink = std::function<Status(std::span<const std::byte>)>;

  /// N and K are at least 1; quantised formats come in panels. `Emit` receives
  /// packedBytes(Layout, N, K) bytes in all, in pieces of its own size.
  Packer(PackedLayout Layout, int64_t N, int64_t K, Sink Emit);

  /// Packs the next Source.size() / K rows. `Metric`, if it is not null, is of
  /// K values and outlives the packer.
  Status append(std::span<const float> Source,
                const ErrorMetric *Metric = nullptr);

  /// Packs the next `Rows` rows, stored as blocks of the layout's quantised
  /// format. One packer takes rows in one of both forms.
  Status appendStored(std::span<const std::byte> Source, int64_t Rows);

  /// Hands on what is left; an error when rows are missing.
  Status finish();

  /// Whether rows came as blocks.
  bool isStored() const { return IsStored; }

  /// Adds what quantising changes to `Error`, which takes its time.
  void measure(QuantisationError &Error) { Measured = &Error; }

private:
  Status appendRows(const std::byte *Source, int64_t Rows,
                    const ErrorMetric *Metric);
  Status emitGroup(int64_t Rows, const std::byte *Source);

  PackedLayout Layout;
  int64_t N;
  int64_t K;
  Sink Emit;
  int64_t GroupRows;              ///< Rows that are packed at once.
  int64_t Taken = 0;              ///< Rows seen so far.
  int64_t RowBytes = 0;           ///< Of a row of the source.
  bool IsStored = false;          ///< Whether the source is blocks.
  std::vector<std::byte> Pending; ///< Rows of an incomplete group.
  /// Of the rows of the group, those that are pending among them.
  std::vector<const ErrorMetric *> Metrics;
  QuantisationError *Measured = nullptr;
  std::vector<std::byte> Packed;
};

} // namespace tenon

#endif // TENON_RUNTIME_PACKING_PACKER_H
