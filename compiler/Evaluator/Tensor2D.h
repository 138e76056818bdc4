//===- Tensor2D.h - What the evaluator computes with ------------*- C++ -*-===//

#ifndef TENON_COMPILER_EVALUATOR_TENSOR2D_H
#define TENON_COMPILER_EVALUATOR_TENSOR2D_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

/// A dense row-major f32 matrix; a stored vector is one row. Numbers of experts
/// and of their choices are held as f32, too: exact below 2^24.
struct Tensor2D {
  Tensor2D() = default;
  /// Zeros.
  Tensor2D(int64_t Rows, int64_t Columns)
      : Rows(Rows), Columns(Columns),
        Data(static_cast<size_t>(Rows) * static_cast<size_t>(Columns)) {}

  float &at(int64_t Row, int64_t Column) { return row(Row)[Column]; }
  float at(int64_t Row, int64_t Column) const { return row(Row)[Column]; }

  float *row(int64_t Row) { return Data.data() + Row * Columns; }
  const float *row(int64_t Row) const { return Data.data() + Row * Columns; }

  int64_t Rows = 0;
  int64_t Columns = 0;
  std::vector<float> Data;
};

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_TENSOR2D_H
