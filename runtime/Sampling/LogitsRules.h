//===- LogitsRules.h - Rules of generation on a row of scores ---*- C++ -*-===//
//
// Changes the scores of the next token by what the sequence already holds and
// by what a model's generation settings ask for.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_LOGITSRULES_H
#define TENON_RUNTIME_SAMPLING_LOGITSRULES_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::sampling {

/// Lengths count every token of the sequence: a decoder's prompt, the start
/// token of an encoder-decoder.
struct LogitsRules {
  /// Scores of tokens that occur are divided by this, negative ones
  /// multiplied; 1 does nothing.
  double RepetitionPenalty = 1;
  /// N-grams of this size occur once at most; 0: as often as they like.
  int64_t NoRepeatNgram = 0;
  /// Tokens that are never chosen.
  std::vector<int32_t> Suppressed;
  /// Tokens that end the sequence; not before it has MinLength tokens.
  std::vector<int32_t> EndOfSequence;
  int64_t MinLength = 0;
  /// The only choice after the first token.
  std::optional<int32_t> ForcedFirst;
  /// The only choice for the last token that MaxLength allows.
  std::optional<int32_t> ForcedLast;
  int64_t MaxLength = 0;
  /// Scores become log-probabilities again at the end.
  bool Renormalize = false;

  /// Whether apply() can change anything.
  bool any() const;

  /// Changes `Scores` [vocabulary] (logits, or log-probabilities) of the token
  /// after `Sequence`, in the order of the Transformers library: repetition,
  /// n-grams, suppressed tokens, minimum length, forced tokens. Excluded
  /// tokens get -infinity.
  void apply(std::span<const int32_t> Sequence, std::span<float> Scores) const;
};

/// Turns logits into log-probabilities: x - max - log(sum of exp(x - max)).
/// Left alone when every score is -infinity.
void logSoftmax(std::span<float> Scores);

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_LOGITSRULES_H
