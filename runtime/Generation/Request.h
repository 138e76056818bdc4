//===- Request.h - What to generate -----------------------------*- C++ -*-===//
//
// Settings of one generation, completed by those of the model: how tokens are
// chosen, and when the text ends.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GENERATION_REQUEST_H
#define TENON_RUNTIME_GENERATION_REQUEST_H

#include "runtime/Engine/Session.h"
#include "runtime/Sampling/BeamSearch.h"
#include "runtime/Sampling/Sampler.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::generation {

/// Where neither the caller nor the model says otherwise.
inline constexpr int64_t DefaultNewTokens = 128;

/// What a caller asks for; what is not set is as the model's own settings say.
struct Settings {
  std::optional<int64_t> MaxNewTokens;
  /// 0 takes the likeliest token.
  std::optional<double> Temperature;
  std::optional<int64_t> TopK;  ///< 0: all.
  std::optional<double> TopP;   ///< 1: all.
  std::optional<int64_t> Beams; ///< 1: no beam search.
  std::optional<double> LengthPenalty;
  std::optional<bool> EarlyStopping;
  uint64_t Seed = 0;
  /// Tokens that end a text do not.
  bool IgnoreEndOfSequence = false;
  /// So many first tokens of the prompt see each other, in models with a
  /// prefix mask.
  int64_t Prefix = 0;
  /// The tokens that an encoder-decoder's answer begins with; empty: the
  /// model's start token.
  std::vector<int32_t> AnswerStart;
  /// Errors name fields as options of a command line: "--num-beams" instead
  /// of "num_beams".
  bool NamesAreOptions = false;
};

/// How the tokens of a text are chosen.
struct Choice {
  sampling::SamplingOptions Sampling;
  int64_t Beams = 1;
  double LengthPenalty = 1;
  bool EarlyStopping = false;
};

/// One text to generate, all settings decided.
struct Request {
  /// The text to go on with; of an encoder-decoder the start of the answer.
  std::vector<int32_t> Prompt;
  /// What an encoder-decoder reads; else empty.
  std::vector<int32_t> Source;
  /// Most new tokens; what is longer ends with the reason Length, or Context
  /// when it is cut by that. The prompt runs, but nothing is chosen, where it
  /// is not positive.
  int64_t MaxNewTokens = 0;
  /// Fewer than were asked for: the model's longest sequence allows no more.
  bool IsCutByContext = false;
  Choice How;
  sampling::LogitsRules Rules;
  int64_t Prefix = 0;
};

/// How `S` chooses tokens of `M`. An error for settings that contradict each
/// other.
Result<Choice> choiceOf(const engine::Model &M, const Settings &S);

/// The request to go on with the tokens `Prompt`, or of an encoder-decoder to
/// answer them. Errors: settings that contradict each other, a prefix in a
/// model without a prefix mask, no start of an answer.
Result<Request> makeRequest(const engine::Model &M, const Settings &S,
                            std::vector<int32_t> Prompt);

/// The cache that a session needs to generate all of `Requests` at once, in
/// whole pages. `Threads` is left alone.
engine::SessionOptions roomFor(const engine::Model &M,
                               std::span<const Request> Requests);

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_REQUEST_H
