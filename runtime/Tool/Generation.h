//===- Generation.h - What tenon run shares between its files ---*- C++ -*-===//
//
// Prompts, what is generated after them, and how long it took.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_GENERATION_H
#define TENON_RUNTIME_TOOL_GENERATION_H

#include "runtime/Engine/Session.h"
#include "runtime/Sampling/LogitsRules.h"
#include "runtime/Sampling/Sampler.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Commands.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// One prompt and what is generated after it.
struct Generation {
  explicit Generation(Sampler Choice) : Choice(std::move(Choice)) {}

  /// The text to go on with; of an encoder-decoder the start of the answer.
  std::vector<int32_t> Prompt;
  /// What an encoder-decoder reads; else empty.
  std::vector<int32_t> Source;
  /// Most new tokens; what is longer ends with the reason "length".
  int64_t Limit = 0;
  LogitsRules Rules;
  Sampler Choice;
  std::optional<StreamingDecoder> Decoder;

  SequenceId Sequence{};
  std::vector<int32_t> NewTokens;
  std::string Text;
  /// Empty while it goes on; then "eos", "length" or "error".
  std::string FinishReason;
  std::optional<float> Score; ///< Of beam search.
  std::optional<Error> Failure;

  bool isEnd(int32_t Token) const;
};

struct Timings {
  double Load = 0;
  double FirstToken = 0; ///< Since the start of the process.
  double Prefill = 0;
  double Decode = 0;
  int64_t PromptTokens = 0;
  int64_t DecodedTokens = 0;
};

Json timingsJson(const Timings &T);

/// `J` on one line; text that is not UTF-8 gets replacement characters.
std::string lineOf(const Json &J);

/// Encodes the source text of every generation that has one, whose sequence
/// must exist. What goes wrong with one of them is its Failure.
Status encodeSources(Session &S, std::vector<Generation> &All);

/// Chooses token after token for all prompts at once. Text is printed as it
/// comes when `Stream` is set.
Status generate(Session &S, std::vector<Generation> &All, bool Stream,
                Timings &Times);

/// What beam search needs beside a generation's rules.
struct BeamSettings {
  int64_t Beams = 1;
  double LengthPenalty = 1;
  bool EarlyStopping = false;
};

/// Finds the likeliest continuation of every prompt by beam search, all beams
/// of all prompts in one step.
Status generateByBeams(Session &S, std::vector<Generation> &All,
                       const BeamSettings &Settings, Timings &Times);

/// Ends a generation with `Reason`, which keeps no sequence.
void fail(Generation &G, const Error &Reason);

/// Writes the raw output of a decoder or an encoder for every token of `Ids`.
Status writeOutputs(Session &S, const std::vector<int32_t> &Ids,
                    const std::vector<int32_t> &Types, const std::string &Path);
/// The same of an encoder-decoder's decoder for `Ids`, after `Source`.
Status writeDecoderOutputs(Session &S, const std::vector<int32_t> &Source,
                           const std::vector<int32_t> &Ids,
                           const std::string &Path);

/// Runs a model on an image, or on a text that it puts into classes: writes
/// the raw output or prints the likeliest classes.
Status classify(const std::shared_ptr<const Model> &M,
                const RunOptions &Options, double Begin);

/// What `tenon run` does with a model.
enum class ModelKind { Decoder, EncoderDecoder, Encoder, Classifier, Image };
ModelKind kindOf(const Model &M);

/// The token ids of every prompt, in the order of the options.
Result<std::vector<std::vector<int32_t>>>
readPrompts(const Model &M, const RunOptions &Options);
/// The --token-types, one for each token of `Prompt`; empty without them.
Result<std::vector<int32_t>> readTokenTypes(const RunOptions &Options,
                                            const std::vector<int32_t> &Prompt);

} // namespace tenon

#endif // TENON_RUNTIME_TOOL_GENERATION_H
