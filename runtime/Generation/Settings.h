//===- Settings.h - What a caller may ask for -------------------*- C++ -*-===//
//
// Settings of one generation as a caller gives them, and what they and the
// model's own make together. docs/generation.md lists them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GENERATION_SETTINGS_H
#define TENON_RUNTIME_GENERATION_SETTINGS_H

#include "runtime/Engine/Model.h"
#include "runtime/Grammar/GrammarStore.h"
#include "runtime/Sampling/BeamSearch.h"
#include "runtime/Sampling/Sampler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::generation {

/// Where neither the caller nor the model says otherwise.
inline constexpr int64_t DefaultNewTokens = 128;
/// More would only cost memory.
inline constexpr int64_t MaxChoices = 1024;
/// More than a step is likely to accept.
inline constexpr int64_t MaxLookup = 64;

/// What a caller asks for; what is not set is as the model's own settings say.
struct Settings {
  std::optional<int64_t> MaxNewTokens;
  /// End tokens, stop tokens and stop strings end nothing before.
  std::optional<int64_t> MinNewTokens;

  /// How tokens are drawn: SamplingOptions. A temperature of 0 takes the
  /// likeliest token.
  std::optional<double> Temperature;
  std::optional<int64_t> TopK;
  std::optional<double> TopP;
  std::optional<double> MinP;
  std::optional<double> TypicalP;
  uint64_t Seed = 0;
  /// So many texts are generated. They draw as the choices FirstChoice,
  /// FirstChoice + 1, ... of the seed; of a beam search they are the best.
  int64_t Choices = 1;
  int64_t FirstChoice = 0;

  std::optional<int64_t> Beams; ///< 1: no beam search.
  std::optional<double> LengthPenalty;
  std::optional<sampling::EarlyStopping> EarlyStopping;

  /// What changes scores before the choice: LogitsRules.
  std::optional<double> RepetitionPenalty;
  double PresencePenalty = 0;
  double FrequencyPenalty = 0;
  std::vector<sampling::TokenBias> LogitBias;
  /// Besides those of the model; see tokensOfWord().
  std::vector<std::vector<int32_t>> BadWords;

  /// At most so many tokens are guessed from what followed the last ones where
  /// they occurred before, and checked in one step; 0: none. What is generated
  /// is the same.
  int64_t Lookup = 0;

  /// What a text must be; null: anything. Not with beams. What ends a text does
  /// so only where the grammar lets it end, and nothing but MaxNewTokens and
  /// stop strings ends it elsewhere.
  grammar::Grammar::Ptr Grammar;
  /// The tools that a conversation offers, as OpenAI defines them; null: none.
  /// Without a grammar of the caller's, calls are of these and fulfil the
  /// schemas of those that are strict, if any is or calls are limited.
  Json Tools;
  bool IsSingleCall = false; ///< At most one call.
  /// Keeps the grammars of calls; may be null.
  grammar::GrammarCache *Grammars = nullptr;

  /// Tokens that end a text do not.
  bool IgnoreEndOfSequence = false;
  /// Texts and tokens that end a text, besides those of the model.
  std::vector<std::string> StopStrings;
  std::vector<int32_t> StopTokens;
  /// What has ended a text is a part of it.
  bool IncludeStop = false;

  /// Log-probabilities of the chosen tokens, and of so many likeliest ones in
  /// their places: of the model's logits, before anything changes them.
  std::optional<int64_t> LogProbabilities;
  /// The text begins with the prompt, which gets log-probabilities too.
  bool Echo = false;

  /// So many first tokens of the prompt see each other, in models with a
  /// prefix mask.
  int64_t Prefix = 0;
  /// The tokens that an encoder-decoder's answer begins with; empty: the
  /// model's start token.
  std::vector<int32_t> AnswerStart;
  /// Errors name fields as options of a command line: "--num-beams" instead
  /// of "num_beams".
  bool NamesAreOptions = false;

  sampling::SettingNames names() const { return {NamesAreOptions}; }
};

/// How the tokens of a text are chosen.
struct Strategy {
  sampling::SamplingOptions Sampling;
  int64_t Choices = 1;
  uint32_t FirstChoice = 0;
  int64_t Beams = 1;
  double LengthPenalty = 1;
  sampling::EarlyStopping EarlyStopping = sampling::EarlyStopping::No;
  int64_t Lookup = 0;
};

/// How `S` chooses tokens of `M`. An error for settings out of range, and for
/// some that contradict each other.
Result<Strategy> strategyOf(const engine::Model &M, const Settings &S);

/// The tokens of a word that must not occur, as it is written at the beginning
/// of a text, and behind a space where that makes other tokens (as vLLM does):
/// for Settings::BadWords. An error where the word has none.
Result<std::vector<std::vector<int32_t>>>
tokensOfWord(const tokenizer::Tokenizer &T, std::string_view Word);

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_SETTINGS_H
