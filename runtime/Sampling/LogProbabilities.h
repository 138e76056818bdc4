//===- LogProbabilities.h - A row of logits as probabilities ----*- C++ -*-===//

#ifndef TENON_RUNTIME_SAMPLING_LOGPROBABILITIES_H
#define TENON_RUNTIME_SAMPLING_LOGPROBABILITIES_H

#include "runtime/Sampling/MaskedScores.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::sampling {

/// The index of the largest of `Logits` [vocabulary], of equal ones the lowest.
/// Errors: no logits, one that is NaN or +inf, or -inf all.
Result<int32_t> likeliest(std::span<const float> Logits);

/// The same, and puts the largest of each block into `Maxima`.
Result<int32_t> likeliest(const MaskedScores &Logits,
                          std::vector<float> &Maxima);

/// A token, and the natural logarithm of its probability.
struct TokenScore {
  int32_t Token = 0;
  float LogProbability = 0;
};

/// A token of a text, and what else was likely in its place, likeliest first.
struct ScoredToken {
  TokenScore Chosen;
  std::vector<TokenScore> Likeliest;
};

/// A row of logits, to be read as log-probabilities in nats:
/// x - log(sum(exp(x))). In double. The logits must outlive it.
class LogProbabilities {
public:
  /// Errors as likeliest().
  static Result<LogProbabilities> of(std::span<const float> Logits);

  size_t size() const { return Logits.size(); }
  double operator[](size_t Token) const {
    return static_cast<double>(Logits[Token]) - Normalizer;
  }
  /// The token with the largest logit; of several the first.
  size_t likeliest() const { return Likeliest; }

  /// `Token`, -inf where there is no logit for it, and the `Count` likeliest
  /// tokens, of equal ones the lowest first.
  ScoredToken score(int32_t Token, size_t Count) const;

private:
  explicit LogProbabilities(std::span<const float> Logits) : Logits(Logits) {}

  std::span<const float> Logits;
  std::vector<float> Maxima; ///< Of blocks.
  double Normalizer = 0;     ///< log(sum(exp(logits)))
  size_t Likeliest = 0;
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_LOGPROBABILITIES_H
