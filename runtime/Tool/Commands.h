//===- Commands.h - The commands of the tool --------------------*- C++ -*-===//
//
// What each subcommand of `tenon` does, apart from parsing its options. Every
// command writes its results to standard output.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_COMMANDS_H
#define TENON_RUNTIME_TOOL_COMMANDS_H

#include "runtime/Grammar/GrammarCommand.h"
#include "runtime/Sampling/SettingNames.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tool {

struct ModelOptions;

/// An error for a path where neither an artifact nor a model to compile can be,
/// with what to give for what is there: weights, a file in MLIR.
Status checkArtifactPath(const std::string &Path);

struct RunOptions {
  std::string File;
  /// What File was compiled from: no output may replace these.
  std::vector<std::string> ModelFiles;
  std::vector<std::string> Prompts;
  /// A file, or "-" for standard input.
  std::string PromptFile;
  /// Prompts are messages of a user, which the artifact's chat template makes
  /// prompts of, each behind the message System of the system unless that is
  /// empty.
  bool Chat = false;
  std::string System;
  /// JSON file with the tools that the model may call; none if empty.
  std::string Tools;
  /// Each as parseTokens reads it.
  std::vector<std::string> TokenIds;
  std::string TokenTypes;
  /// What an encoder-decoder's answer begins with, as parseTokens reads it;
  /// empty: the artifact's start token.
  std::string DecoderTokenIds;
  /// PNG, JPEG, or .npy of pixel values [C,H,W] in f32: one, or those of the
  /// prompt.
  std::vector<std::string> Images;
  /// Default: the artifact's or DefaultNewTokens, or 0 when only Output is
  /// asked for.
  std::optional<int64_t> MaxNewTokens;
  /// Where not set: the artifact's.
  std::optional<int64_t> MinNewTokens;
  std::optional<double> Temperature;
  std::optional<int64_t> TopK;
  std::optional<double> TopP;
  std::optional<double> MinP;
  std::optional<double> TypicalP;
  std::optional<int64_t> Beams;
  std::optional<double> LengthPenalty;
  /// "true", "false" or "never"; empty: the artifact's.
  std::string EarlyStopping;
  std::optional<double> RepetitionPenalty;
  std::optional<double> PresencePenalty;
  std::optional<double> FrequencyPenalty;
  /// Each "ID=BIAS".
  std::vector<std::string> LogitBias;
  /// Words as text, and as parseTokens reads them.
  std::vector<std::string> BadWords;
  std::vector<std::string> BadWordIds;
  std::vector<std::string> Stop;
  std::vector<int32_t> StopTokenIds;
  bool IncludeStop = false;
  /// Texts to generate of each prompt, and the number of the first.
  std::optional<int64_t> Choices;
  std::optional<int64_t> FirstChoice;
  std::optional<int64_t> LogProbabilities;
  std::optional<int64_t> Lookup;
  bool Echo = false;
  /// A fresh one by default.
  std::optional<uint64_t> Seed;
  /// So many first tokens of the prompt see each other.
  int64_t PrefixTokens = 0;
  int64_t Threads = 0;
  /// Tokens the cache holds; 0: what the prompts can need.
  int64_t MaxSeq = 0;
  bool IgnoreEos = false;
  grammar::GrammarChoice Must;
  std::string Output;
  bool Json = false;
  /// A file of requests, one JSON value a line, or "-" for standard input.
  std::string Requests;
  /// With Requests: serving::SchedulerOptions.
  int64_t MaxNumSeqs = 8;
  double MaxStepMs = 100;
  bool NoPrefixCache = false;
  /// Cached prefixes are read from this file and written to it; empty: neither.
  std::string PrefixFile;
  /// What errors call all these: options, or fields of a line of Requests.
  sampling::SettingNames Names = {/*AreOptions=*/true};
};

/// What is wrong with options taken together, before the artifact is looked at;
/// empty: nothing.
std::string usageErrorOf(const RunOptions &Options);
/// The same of a constraint: settings of a schema that is not given.
std::string usageErrorOf(const grammar::GrammarChoice &Must,
                         sampling::SettingNames Name = {/*AreOptions=*/true});

/// Generates text, names the classes of a text or an image, or writes the raw
/// output for every input position.
Status runModel(const RunOptions &Options);

/// Generates what a file of requests asks for, many at once, and prints one
/// line of JSON for each, in their order.
Status runRequests(const RunOptions &Options);

/// Talks with a model: messages from standard input, answers to standard
/// output, until the input ends. Of the options those that addChatOptions()
/// reads.
Status chatWithModel(const RunOptions &Options);

struct ServeOptions {
  /// A model, and what clients call it.
  struct Source {
    std::string Given; ///< As on the command line.
    std::string File;  ///< The artifact.
    std::string Name;  ///< Empty: as the file is called.
  };
  std::vector<Source> Models;
  /// Of requests that name none; empty: these are refused.
  std::string DefaultModel;
  std::string Host = "127.0.0.1";
  uint16_t Port = 8080;
  /// Instead of host and port; empty: none.
  std::string UnixSocket;
  /// One key a line; empty: nobody needs one.
  std::string KeyFile;
  int64_t Threads = 0;
  /// Of each model: tokens of its cache; 0: serving::defaultRoom().
  int64_t MaxSeq = 0;
  int64_t MaxNumSeqs = 8;
  int64_t MaxQueued = 256;
  /// Of each model that encodes: texts that wait.
  int64_t MaxTexts = 8192;
  double MaxStepMs = 100;
  bool NoPrefixCache = false;
  /// Where prompts are kept between two runs, a file for each model; empty:
  /// nowhere.
  std::string PrefixFolder;
  /// How long requests that run may go on after SIGTERM.
  double DrainSeconds = 30;
  bool LogRequests = false;
  bool LogContent = false; ///< And requests.
  /// Where requests and answers are recorded; empty: nowhere.
  std::string RecordFile;
  uint64_t RecordMebibytes = 256;
};

/// Answers requests over HTTP until SIGINT or SIGTERM.
Status serveModels(const ServeOptions &Options);

struct ReplayOptions {
  std::string File; ///< The record.
  /// Models, threads and cache; the other members mean nothing.
  ServeOptions Serve;
  /// Default: as recorded.
  std::optional<int64_t> MaxNumSeqs;
  /// At the times at which they came, instead of one after another.
  bool AsRecorded = false;
  bool Json = false;
};

/// Gives recorded requests again and compares the answers; an error if one
/// differs.
Status replayRequests(const ReplayOptions &Options);

struct ExplainOptions {
  std::string Id;
  std::string Url = "http://127.0.0.1:8080";
  /// Its first key goes with the question; empty: none does.
  std::string KeyFile;
  bool Json = false;
};

/// Prints what a server says of one of its last requests.
Status explainRequest(const ExplainOptions &Options);

struct EmbedOptions {
  std::string File;
  /// As of RunOptions.
  std::vector<std::string> ModelFiles;
  std::vector<std::string> Texts;
  /// A file with one text a line, or "-" for standard input.
  std::string TextFile;
  /// A file with a JSON string or an object with a "text" a line, or "-".
  std::string Input;
  /// With Input: the .npy file of all embeddings; empty: JSON lines to standard
  /// output.
  std::string Output;
  int64_t Threads = 0;
  bool Json = false;
};

/// What is wrong with options taken together; empty: nothing.
std::string usageErrorOf(const EmbedOptions &Options);

/// Prints one pooled embedding per text.
Status embedTexts(const EmbedOptions &Options);
/// The same of any number of texts, of which a part at a time is in memory.
Status embedInput(const EmbedOptions &Options);

struct EvaluateOptions {
  std::string File;
  /// The artifact to compare with; empty: none.
  std::string Against;
  /// What the output calls it, where that is not its path.
  std::string AgainstName;
  /// A file, or "-" for standard input.
  std::string Text;
  /// As parseTokens reads it.
  std::string TokenIds;
  /// Tokens of a window; default: 512, or the longest sequence if that is less.
  std::optional<int64_t> Context;
  int64_t Threads = 0;
  bool Json = false;
};

/// Prints a decoder's perplexity on a text and, with another artifact, how far
/// its probabilities are from that one's.
Status evaluateModel(const EvaluateOptions &Options);

struct BenchOptions {
  std::string File;
  /// As of RunOptions.
  std::vector<std::string> ModelFiles;
  /// Default: 512 and 32, or what the model's length leaves.
  std::optional<int64_t> PromptTokens;
  std::optional<int64_t> NewTokens;
  int64_t Batch = 1;
  int64_t Repeat = 3;
  int64_t Threads = 0;
  bool Json = false;
  /// Says what every kernel took, also layer by layer.
  bool Profile = false;
  bool ProfileLayers = false;
  /// The file of its picture; empty: none.
  std::string ProfileSvg;
};

/// Measures prefill and decode with random tokens.
Status benchModel(const BenchOptions &Options);

/// Prints what is in the folder of compiled models.
Status listCache(bool AsJson);
/// Removes what was last used so many days ago, or everything.
Status clearCache(std::optional<double> OlderThanDays);
/// Prints where that folder is.
Status printCachePath();
/// Prints the path of a model's artifact, after compiling it into that folder
/// if it is not there. `Model` is no artifact.
Status addToCache(const std::string &Model, const ModelOptions &Options);

/// Replaces this process by `tenon-compile` beside this executable. Returns
/// only when that fails.
Error startCompiler(const std::vector<std::string> &Arguments);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_COMMANDS_H
