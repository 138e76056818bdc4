//===- Sampler.h - Choice of the next token ---------------------*- C++ -*-===//
//
// Turns a row of scores into a token: the likeliest, or one that is drawn.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_SAMPLER_H
#define TENON_RUNTIME_SAMPLING_SAMPLER_H

#include "runtime/Sampling/LogProbabilities.h"
#include "runtime/Sampling/MaskedScores.h"
#include "runtime/Sampling/SettingNames.h"
#include "runtime/Sampling/Weights.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::sampling {

/// Steps from scores x to a distribution, in the order of Transformers, which
/// is that of the fields. After each, what is left is a distribution again: p
/// sums to 1 over the tokens that are left.
struct SamplingOptions {
  /// 0 takes the largest score, and nothing below matters; otherwise
  /// p = softmax(x / temperature).
  double Temperature = 0;
  /// Keeps the K largest scores, of equal ones those of the lowest ids (where
  /// Transformers and vLLM keep all that equal the K-th); 0 keeps all.
  int64_t TopK = 0;
  /// Keeps the fewest likeliest tokens with sum(p) >= top-p; 1 keeps all.
  double TopP = 1;
  /// Keeps tokens with p >= min-p * max(p); 0 keeps all.
  double MinP = 0;
  /// Locally typical sampling (Meister et al. 2022): of the tokens in the order
  /// of |-log(p) - H|, H = -sum(p log(p)), keeps the fewest first with
  /// sum(p) >= typical-p, and all that are as typical as the last; 1 keeps all.
  double TypicalP = 1;
  uint64_t Seed = 0;
};

/// Whether all options lie in their ranges.
Status check(const SamplingOptions &Options, SettingNames Name = {});

struct TokenProbability {
  int32_t Token = 0;
  double Probability = 0;
};

/// The tokens that may follow in a text, for whom finding all of them costs
/// more than looking at one.
class AllowedTokens {
public:
  virtual bool allows(int32_t Token) = 0;
  /// All of them, as MaskedScores has it. It lives until the next call.
  virtual std::span<const uint64_t> mask(size_t Vocabulary) = 0;

protected:
  ~AllowedTokens() = default;
};

/// Chooses tokens. What it draws depends on the scores, the options, and where
/// the token stands; not on what was drawn before, nor on the machine.
class Sampler {
public:
  /// Errors as check().
  static Result<Sampler> create(const SamplingOptions &Options);

  /// The index into `Scores` [vocabulary] that choice `Choice` of a request has
  /// at `Position` of its sequence, the tokens before it. -inf is never chosen,
  /// nor what is not in `Only`. Draws by inversion, with the number uniformAt()
  /// of Philox.h. Errors as likeliest().
  ///
  /// Where the options leave every token, one is drawn as if all were allowed,
  /// which is mostly true of what a model finds likely. If it is not, three
  /// more are, and then one from those that are allowed, each with the next
  /// number of this place. All are distributed as if the others were excluded
  /// first: with a share A of allowed ones, p + (1 - A) * p / A = p / A.
  Result<int32_t> pick(std::span<const float> Scores, int64_t Position,
                       uint32_t Choice = 0, AllowedTokens *Only = nullptr);

  /// What is drawn from: the tokens that the options leave.
  Result<std::vector<TokenProbability>>
  distribution(std::span<const float> Scores);

private:
  struct Candidate {
    int32_t Token;
    double Exponent;      ///< (x - max(x)) / temperature
    double Weight = 0;    ///< exp(Exponent)
    double Deviation = 0; ///< |-log(p) - H|
  };

  explicit Sampler(const SamplingOptions &Options) : Options(Options) {}
  bool keepsAll() const;
  Result<int32_t> draw(const MaskedScores &Scores, double Uniform);
  int32_t drawn(const MaskedScores &Scores, double Uniform) const;
  Status narrow(const MaskedScores &Scores);
  void takeTopK(const MaskedScores &Scores);
  void takeHeavy(const MaskedScores &Scores, double Least);
  void takeNucleus(const MaskedScores &Scores);
  double sumBlocks(const MaskedScores &Scores);
  void keepNucleus(double Mass);
  void keepTypical();
  template <typename Function>
  void forEachOf(const MaskedScores &Scores, size_t Block, Function Do) const;

  SamplingOptions Options;
  Weighing Weigh;
  /// Kept between calls to save allocations. What is left is in the order of
  /// ids.
  std::vector<Candidate> Left, Sorted;
  /// Of the scores of blocks.
  std::vector<float> Maxima;
  bool IsWhole = false;     ///< Nothing is left out, and Left has nothing.
  std::vector<double> Sums; ///< Of the weights of blocks then.
  double Total = 0;
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_SAMPLER_H
