//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// Reading integer arrays and writing float arrays in NumPy's .npy format:
// little-endian, C order.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_NPY_H
#define TENON_RUNTIME_TOOL_NPY_H

#include "runtime/Support/OutputFile.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tool {

/// An array as read: integers of 4 or 8 bytes, or 4-byte floats.
struct NpyArray {
  std::vector<int64_t> Shape;
  /// Filled for '<i4' and '<i8'.
  std::vector<int64_t> Integers;
  /// Filled for '<f4'.
  std::vector<float> Floats;
};

/// Reads the .npy file at `Path`. Anything but a
/// little-endian f4, i4 or i8 array in C order of at most 8 dimensions is an
/// error.
Result<NpyArray> readNpy(const std::string &Path);
/// The same from bytes in memory.
Result<NpyArray> parseNpy(std::string_view Bytes, const std::string &File);

/// Writes a [Rows, Columns] f32 array piece by piece; without finish() nothing
/// is left.
class NpyWriter {
public:
  static Result<NpyWriter> create(OutputFile File, int64_t Rows,
                                  int64_t Columns);
  /// The same of as many rows as will have been appended; `Columns` is above 0.
  static Result<NpyWriter> createGrowing(OutputFile File, int64_t Columns);

  Status append(std::span<const float> Values);
  /// An error when the values appended are not as many as announced, or no
  /// whole rows.
  Status finish();

private:
  NpyWriter(OutputFile File, uint64_t Missing)
      : File(std::move(File)), Missing(Missing) {}

  OutputFile File;
  uint64_t Missing = 0;
  /// Of a growing array.
  std::optional<int64_t> Columns;
};

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_NPY_H
