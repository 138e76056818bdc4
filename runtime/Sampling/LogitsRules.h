//===- LogitsRules.h - Rules of generation on a row of scores ---*- C++ -*-===//
//
// Changes the scores of the next token by what the sequence already holds and
// by what a request or its model's generation settings ask for.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_LOGITSRULES_H
#define TENON_RUNTIME_SAMPLING_LOGITSRULES_H

#include "runtime/Sampling/SettingNames.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::sampling {

struct TokenBias {
  int32_t Token = 0;
  float Bias = 0;
};

/// In the order in which they are applied to scores x, that of Transformers;
/// vLLM's differs only between rules that exclude tokens, which commute.
/// Lengths count every token of the sequence: a decoder's prompt, the start
/// token of an encoder-decoder.
struct LogitsRules {
  /// x + bias. As logit_bias of OpenAI and vLLM.
  std::vector<TokenBias> Bias;
  /// Of tokens that occur in the sequence, the prompt included: x / penalty
  /// where x >= 0, else x * penalty; 1 does nothing. As Transformers.
  double RepetitionPenalty = 1;
  /// x - frequency penalty * c - presence penalty * (c > 0), c being how often
  /// a token occurs among the new ones. As OpenAI and vLLM; 0 does nothing.
  double FrequencyPenalty = 0;
  double PresencePenalty = 0;
  /// N-grams of this size occur once at most; 0: as often as they like.
  int64_t NoRepeatNgram = 0;
  /// Sequences of tokens that never occur: the last of one is excluded behind
  /// the others, which the prompt may hold.
  std::vector<std::vector<int32_t>> BadWords;
  /// Tokens that are never chosen.
  std::vector<int32_t> Suppressed;
  /// Tokens that end the sequence; not before it has MinLength tokens, of which
  /// MinNewTokens are new.
  std::vector<int32_t> EndOfSequence;
  int64_t MinLength = 0;
  int64_t MinNewTokens = 0;
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
  /// after `Sequence`, whose first `PromptTokens` are not new. Excluded tokens
  /// get -infinity.
  void apply(std::span<const int32_t> Sequence, size_t PromptTokens,
             std::span<float> Scores) const;
};

/// Whether penalties, biases and bad words lie in their ranges, and all tokens
/// that they name below `Vocabulary`.
Status check(const LogitsRules &Rules, int64_t Vocabulary,
             SettingNames Name = {});

/// Turns logits into log-probabilities: x - max - log(sum of exp(x - max)).
/// Left alone when every score is -infinity.
void logSoftmax(std::span<float> Scores);

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_LOGITSRULES_H
