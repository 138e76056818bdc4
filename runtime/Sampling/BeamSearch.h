//===- BeamSearch.h - The likeliest sequence found by several ---*- C++ -*-===//
//
// Keeps the best unfinished and finished continuations of one prompt. Only
// bookkeeping: who runs the model hands in the scores of the next token.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_BEAMSEARCH_H
#define TENON_RUNTIME_SAMPLING_BEAMSEARCH_H

#include "runtime/Sampling/EarlyStopping.h"
#include "runtime/Sampling/LogProbabilities.h"
#include "runtime/Sampling/LogitsRules.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tenon::sampling {

/// More would only cost memory.
inline constexpr int64_t MaxBeams = 1024;

struct BeamOptions {
  int64_t Beams = 4;
  /// Scores of finished sequences are divided by new tokens ^ this.
  double LengthPenalty = 1;
  EarlyStopping Stops = EarlyStopping::No;
  /// Rules.MaxLength is where every beam ends; it must exceed the prompt.
  LogitsRules Rules;
  /// Whether new tokens end a text with the last of them, besides those that
  /// Rules.EndOfSequence has: as a stop string does. May be empty.
  std::function<bool(std::span<const int32_t> NewTokens)> EndsText;
  /// Keeps log-probabilities of the chosen tokens, and of so many likeliest
  /// ones in their places.
  std::optional<size_t> Scored;
};

/// Beam search as the Transformers library (5.x) does it: of every step the
/// `Beams * max(2, 1 + end tokens)` likeliest continuations are looked at;
/// those among the first `Beams` that end are finished; the best `Beams` of the
/// others go on.
class BeamSearch {
public:
  /// One beam of the next step: the beam it continues, and the token after it.
  struct Continuation {
    size_t Parent = 0;
    int32_t Token = 0;
  };

  /// `Prompt`: at least one token. Refuses options out of range.
  static Result<BeamSearch> create(const BeamOptions &Options,
                                   std::vector<int32_t> Prompt);

  /// Beams that wait for their next token: 1 at first, then Options.Beams.
  size_t running() const { return Beams.size(); }
  /// Whether the search has ended; best() is its result.
  bool finished() const { return Ended; }
  /// How many finished sequences there are, at most Options.Beams.
  size_t found() const { return Finished.size(); }

  /// Takes the `Logits` [running()][vocabulary] of the next token of every
  /// running beam and moves all of them on. The beams that go on, of which
  /// there are none when the search has ended. A NaN or +inf logit is an
  /// error.
  Result<std::vector<Continuation>>
  advance(std::span<const std::span<const float>> Logits);

  /// New tokens of the best finished sequence, or of the one in place `Rank`
  /// behind it, and its score: the sum of log-probabilities / new tokens ^
  /// length penalty.
  const std::vector<int32_t> &best(size_t Rank = 0) const {
    return Finished[Rank].Tokens;
  }
  float bestScore(size_t Rank = 0) const { return Finished[Rank].Score; }
  /// Log-probabilities of the new tokens by the logits as they were handed in;
  /// none unless asked for.
  const std::vector<ScoredToken> &bestTokenScores(size_t Rank = 0) const {
    return Finished[Rank].Scored;
  }

private:
  struct Beam {
    std::vector<int32_t> Tokens; ///< Of running beams with the prompt.
    float Score = 0;
    std::vector<ScoredToken> Scored; ///< Of the new tokens, if asked for.
  };
  /// A token after a running beam.
  struct Candidate {
    float Score = 0;
    size_t Parent = 0;
    int32_t Token = 0;
    bool Ends = false;
  };

  BeamSearch(const BeamOptions &Options, std::vector<int32_t> Prompt);
  Result<std::vector<Candidate>>
  likeliest(std::span<const std::span<const float>> Logits);
  bool endsText(const Candidate &C) const;
  Beam grown(const Candidate &C,
             std::span<const std::span<const float>> Logits) const;
  void finish(std::span<const Candidate> Candidates,
              std::span<const std::span<const float>> Logits);
  bool canImprove() const;

  BeamOptions Options;
  size_t PromptLength;
  std::vector<Beam> Beams;
  /// Best first; at most Options.Beams.
  std::vector<Beam> Finished;
  bool Ended = false;
  std::vector<float> Scores; ///< Kept between calls to save allocations.
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_BEAMSEARCH_H
