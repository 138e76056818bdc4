//===- RunSupport.h - What tenon run shares between its files ---*- C++ -*-===//
//
// Prompts, raw outputs, classes, and how long it took.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_RUNSUPPORT_H
#define TENON_RUNTIME_TOOL_RUNSUPPORT_H

#include "runtime/Generation/Generator.h"
#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Serving/PrefixFile.h"
#include "runtime/Support/Json.h"
#include "runtime/Support/OutputFile.h"
#include "runtime/Tool/Commands.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::tool {

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

/// The first given option that only matters to generated text.
std::optional<std::string> firstTextOption(const RunOptions &Options);

/// What is asked of `M`, but for the seed. `Grammars`, which it refers to, has
/// those that were compiled before.
Result<generation::Settings> settingsOf(const engine::Model &M,
                                        const RunOptions &Options,
                                        grammar::GrammarCache &Grammars);

/// What has come of a request; `HasText` where it has text. With `Tools` that
/// are not null its calls of them are told from the text.
Json answerJson(const engine::Model &M, const generation::Request &R,
                const generation::Answer &A, bool HasText, const Json &Tools);

/// Says what of a file of cached prefixes was not taken.
void notePrefixes(const std::string &File, const serving::PrefixesRead &Done);

/// The tools of --tools, an array in OpenAI's form; null without the option.
Result<Json> readTools(const std::string &File);

/// Writes the raw output for every token of `R`'s prompt, of an
/// encoder-decoder's decoder after its source.
Status writeOutputs(engine::Session &S, const generation::Request &R,
                    const std::vector<int32_t> &Types, OutputFile Out);

/// Tokens of cache for the prompts in the artifact of `M`.
int64_t artifactPromptTokens(const engine::Model &M);
/// Notes which of them are not used, and why.
void noteArtifactPrompts(const engine::Model &M,
                         const serving::PrefixesRead &Read);

/// The pixel values [C,H,W] of the PNG, JPEG or .npy file at `Path`, for a
/// model that takes images.
Result<std::vector<float>> readImageInput(const engine::Model &M,
                                          const std::string &Path);

/// The images of a prompt, of a model that reads them.
Result<std::vector<generation::PromptImage::Ptr>>
readPromptImages(const engine::Model &M, const std::vector<std::string> &Paths);

/// Runs a model on an image, or on a text that it puts into classes: writes
/// the raw output to `Out`, if there is one, or prints the likeliest classes.
Status classify(const std::shared_ptr<const engine::Model> &M,
                const RunOptions &Options, std::optional<OutputFile> Out,
                double Begin);

/// What `tenon run` does with a model.
enum class ModelKind { Decoder, EncoderDecoder, Encoder, Classifier, Image };
ModelKind kindOf(const engine::Model &M);

/// The token ids of every prompt, in the order of the options; conversations
/// may call `Tools`. Images of the options have one image token each: where the
/// text has them, or before it, behind what begins every text.
Result<std::vector<std::vector<int32_t>>>
readPrompts(const engine::Model &M, const RunOptions &Options,
            const Json &Tools = Json());
/// The token ids of a text that is a prompt, at least one.
Result<std::vector<int32_t>> tokensOfPrompt(const engine::Model &M,
                                            const std::string &Text);
/// The --token-types, one for each token of `Prompt`; empty without them.
Result<std::vector<int32_t>> readTokenTypes(const RunOptions &Options,
                                            const std::vector<int32_t> &Prompt);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_RUNSUPPORT_H
