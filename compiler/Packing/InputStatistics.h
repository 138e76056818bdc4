//===- InputStatistics.h - What matrices are multiplied with ----*- C++ -*-===//
//
// Second moments of the inputs of matrices, recorded while a model reads text:
// what ErrorMetric is made of.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PACKING_INPUTSTATISTICS_H
#define TENON_COMPILER_PACKING_INPUTSTATISTICS_H

#include "compiler/Evaluator/Tensor2D.h"
#include "runtime/Packing/ErrorMetric.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tenon {

/// Sums over rows of inputs, by the full names of tensors; what several
/// operations multiply with one adds up. A tensor may be a stack of matrices,
/// whose inputs differ: of these there are squares only, as many matrices would
/// need as many sums, and most see few rows.
class InputStatistics {
public:
  InputStatistics() = default;
  // Tensors point to groups, which stay where they are.
  InputStatistics(InputStatistics &&) = default;
  InputStatistics &operator=(InputStatistics &&) = default;

  /// Adds rows of input of matrix `Matrix` of `Matrices`, which are stored as
  /// the tensors `Names`, one below another.
  void add(std::span<const std::string> Names, int64_t Matrices, int64_t Matrix,
           const Tensor2D &Rows);

  bool contains(const std::string &Tensor) const {
    return Tensors.contains(Tensor);
  }

  /// The mean square of each input feature of a matrix; of one that had no
  /// rows those of all rows of its stack. Empty for an unknown tensor.
  std::vector<double> meanSquares(const std::string &Tensor,
                                  int64_t Matrix) const;

  /// Mean products of input features with those of their block, as
  /// ErrorMetric::ofMoments() takes them. Empty for a stack and an unknown
  /// tensor.
  std::vector<double> meanMoments(const std::string &Tensor) const;

  /// Rows of input that a matrix had.
  int64_t rows(const std::string &Tensor, int64_t Matrix) const;

  /// Matrices of a stack that had no rows.
  std::vector<int64_t> unseen(const std::string &Tensor) const;

private:
  /// Of tensors that are always multiplied with the same.
  struct Sums {
    int64_t Columns = 0;
    std::vector<int64_t> Rows;   ///< By matrix.
    std::vector<double> Squares; ///< [matrix][column]
    std::vector<float> Moments;  ///< [column][FeedbackColumns], not of a stack.
  };
  static int64_t rowsOf(std::span<const Sums *const> All, int64_t Matrix);

  std::map<std::vector<std::string>, Sums> Groups;
  std::map<std::string, std::vector<const Sums *>> Tensors;
};

} // namespace tenon

#endif // TENON_COMPILER_PACKING_INPUTSTATISTICS_H
