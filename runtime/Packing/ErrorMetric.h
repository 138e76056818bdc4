//===- ErrorMetric.h - What errors of weights cost --------------*- C++ -*-===//
//
// A weight is quantised well if its outputs change little, not its values. For
// inputs x with second moments H = E[x x^T], an error e of a row of the weight
// changes the output by e^T H e in the mean square. That gives every value an
// importance, the diagonal of H, and says how values that are not quantised yet
// make up for errors of those that are: Frantar et al., "GPTQ: Accurate
// Post-Training Quantization for Generative Pre-trained Transformers", 2022,
// here with H in blocks on the diagonal.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PACKING_ERRORMETRIC_H
#define TENON_RUNTIME_PACKING_ERRORMETRIC_H

#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

/// Columns of a block of second moments: values make up for errors of values of
/// their block. A multiple of every format's block.
inline constexpr int64_t FeedbackColumns = 512;

/// What errors of the K values of a row cost.
class ErrorMetric {
public:
  /// Of K mean squares of inputs, not all of them zero: nothing makes up for an
  /// error.
  static ErrorMetric ofSquares(std::span<const double> Squares);

  /// Of K x FeedbackColumns second moments: row k has at column j those of
  /// inputs k and k / FeedbackColumns * FeedbackColumns + j; below the diagonal
  /// nothing is read. The diagonal is not all zeros. They are means of `Rows`
  /// inputs, at least one: to the diagonal of a block of N columns,
  /// max(1 %, N / (2 Rows)) of its mean is added, as correlations that few
  /// inputs show are mostly chance.
  static ErrorMetric ofMoments(std::span<const double> Moments, int64_t Rows);

  /// Mean squares of the inputs from `Column` to K, around 1.
  const float *importance(int64_t Column) const {
    return Importance.data() + Column;
  }

  bool hasFeedback() const { return !Feedback.empty(); }

  /// FeedbackColumns numbers for each column from `Column` on: that of column k
  /// has behind its diagonal what the other values of the block are lowered by
  /// for an error of 1, value less stored, of value k; on the diagonal what the
  /// square of that error costs then. Null without feedback.
  const float *feedback(int64_t Column) const {
    return hasFeedback() ? Feedback.data() + Column * FeedbackColumns : nullptr;
  }

  /// The mean square of the output of values [First, First + Values.size()) of
  /// a row, which are in one block. `Values` is overwritten.
  double outputSquare(std::span<float> Values, int64_t First) const;

private:
  std::vector<float> Importance; ///< [K]
  std::vector<float> Feedback;   ///< [K, in whole blocks][FeedbackColumns]
};

/// Adds to `Sums`, K x FeedbackColumns numbers that ErrorMetric::ofMoments()
/// takes when they are divided by the number of rows, the products of inputs in
/// `Rows`, whole rows of K.
void addMoments(std::span<const float> Rows, int64_t K, std::span<float> Sums);

/// Lets values behind the first `Count` of `Values` make up for the errors that
/// these are: `Feedback` has the rows of the first and begins at the same
/// column as `Values`.
void makeUpForErrors(std::span<float> Values, int64_t Count,
                     const float *Feedback);

} // namespace tenon

#endif // TENON_RUNTIME_PACKING_ERRORMETRIC_H
