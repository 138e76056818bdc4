//===- Sampler.h - Choice of the next token ---------------------*- C++ -*-===//
//
// Turns a row of logits into a token: greedy, temperature, top-k, top-p.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_SAMPLER_H
#define TENON_RUNTIME_SAMPLING_SAMPLER_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tenon::sampling {

struct SamplingOptions {
  /// 0 takes the largest logit; otherwise logits are divided by it.
  double Temperature = 0;
  /// Keeps the K largest logits; 0 keeps all.
  int64_t TopK = 0;
  /// Keeps the fewest most likely tokens that together reach this probability
  /// (after top-k); 1 keeps all.
  double TopP = 1;
  uint64_t Seed = 0;
};

/// The index of the largest of `Logits` [vocabulary], of equal ones the lowest.
/// Errors: no logits, one that is NaN or +inf, or -inf all.
Result<int32_t> likeliest(std::span<const float> Logits);

/// A stream of choices. The same options and logits give the same tokens on
/// every machine.
class Sampler {
public:
  /// Refuses negative, infinite or NaN parameters, naming them.
  static Result<Sampler> create(const SamplingOptions &Options);

  /// The chosen index into `Logits` [vocabulary]. Of equal logits the lower
  /// index comes first; -inf is never chosen. Errors as likeliest().
  Result<int32_t> pick(std::span<const float> Logits);

private:
  explicit Sampler(const SamplingOptions &Options)
      : Options(Options), Engine(Options.Seed) {}

  /// [0,1) in steps of 2^-53. The standard's distributions differ between
  /// libraries; this does not.
  double uniform() { return static_cast<double>(Engine() >> 11) * 0x1p-53; }

  SamplingOptions Options;
  std::mt19937_64 Engine;
  /// Kept between calls to save allocations.
  std::vector<int32_t> Order;
  std::vector<double> Weights;
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_SAMPLER_H
