//===- InputStatistics.h - What matrices are multiplied with ----*- C++ -*-===//
//
// Mean squares of the input features of matrices, recorded while a model reads
// text. An error of a weight changes an output by that error times its input:
// the mean square of an output's error is, when inputs are independent, the sum
// of squared errors times these.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PACKING_INPUTSTATISTICS_H
#define TENON_COMPILER_PACKING_INPUTSTATISTICS_H

#include "compiler/Evaluator/Tensor2D.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tenon {

/// Sums of squares by the full name of a tensor; one that several operations
/// read adds up. A tensor may be a stack of matrices, whose inputs differ.
class InputStatistics {
public:
  /// Adds rows of input of matrix `Matrix` of the `Matrices` of `Tensor`.
  void add(const std::string &Tensor, int64_t Matrices, int64_t Matrix,
           const Tensor2D &Rows);

  bool contains(const std::string &Tensor) const {
    return Tensors.contains(Tensor);
  }

  /// The mean square of each input feature of a matrix; of one that had no
  /// rows those of all rows of its stack. Empty for an unknown tensor.
  std::vector<double> meanSquares(const std::string &Tensor,
                                  int64_t Matrix) const;

  /// Matrices of a stack that had no rows.
  std::vector<int64_t> unseen(const std::string &Tensor) const;

private:
  struct Sums {
    int64_t Columns = 0;
    std::vector<int64_t> Rows;   ///< By matrix.
    std::vector<double> Squares; ///< [matrix][column]
  };
  std::map<std::string, Sums> Tensors;
};

} // namespace tenon

#endif // TENON_COMPILER_PACKING_INPUTSTATISTICS_H
