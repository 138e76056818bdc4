//===- Weights.h - Exponentials of scores -----------------------*- C++ -*-===//
//
// What a softmax is made of, for a block of tokens at once, the same to the bit
// on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_WEIGHTS_H
#define TENON_RUNTIME_SAMPLING_WEIGHTS_H

#include "runtime/Sampling/MaskedScores.h"

#include <array>

namespace tenon::sampling {

using BlockWeights = std::array<double, BlockSize>;

/// How scores x become weights: exp((x - Largest) * Scale), Largest being the
/// largest, so that nothing overflows.
struct Weighing {
  double Largest = 0, Scale = 1;

  /// By the temperature, however small.
  static Weighing at(double Temperature, double Largest);

  double exponent(float Score) const { return (Score - Largest) * Scale; }
  /// The weights of at most BlockSize scores, and their sum. 0 below about
  /// 1e-304, and of -infinity.
  double operator()(std::span<const float> Scores, BlockWeights &Weights) const;
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_WEIGHTS_H
