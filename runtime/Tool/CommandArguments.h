//===- CommandArguments.h - The commands of tenon ---------------*- C++ -*-===//
//
// Each command adds its options, and says what it does with them, in a file of
// its own: EmbedArguments.cpp. What several need is here.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_COMMANDARGUMENTS_H
#define TENON_RUNTIME_TOOL_COMMANDARGUMENTS_H

#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/ModelArgument.h"
#include "runtime/Tool/RunArguments.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::tool {

/// A command of the tool.
struct Command {
  CLI::App *App;
  /// Runs it with the options that were parsed, and answers the exit status.
  /// They live as long as this does.
  std::function<int()> Run;
};

/// Each adds one to `App`.
Command addRunCommand(CLI::App &App);
Command addChatCommand(CLI::App &App);
Command addServeCommand(CLI::App &App);
Command addReplayCommand(CLI::App &App);
Command addExplainCommand(CLI::App &App);
Command addEmbedCommand(CLI::App &App);
Command addEvaluateCommand(CLI::App &App);
Command addTokenizeCommand(CLI::App &App);
Command addGrammarCommand(CLI::App &App);
Command addTemplateCommand(CLI::App &App);
Command addInspectCommand(CLI::App &App);
Command addBenchCommand(CLI::App &App);
Command addCacheCommand(CLI::App &App);
Command addCompletionCommand(CLI::App &App);

/// Runs `Run` on the artifact that `Options.File` stands for.
template <typename CommandOptions, typename Function>
Status withModel(CommandOptions &Options, const ModelOptions &Compiling,
                 Function Run) {
  Result<ModelArgument> Model = ModelArgument::open(Options.File, Compiling);
  if (!Model)
    return Model.error();
  Options.File = Model->artifact();
  if constexpr (requires { Options.ModelFiles; })
    Options.ModelFiles = Model->files();
  return Model->named(Run(Options));
}

/// Runs `Run` on the models that `All` names, each FILE or NAME=FILE.
Status withModels(const std::vector<std::string> &All, ServeOptions &Options,
                  const ModelOptions &Compiling,
                  const std::function<Status()> &Run);

/// Options of the engines that serve, or replay.
void addEngineOptions(CLI::App &App, ServeOptions &Options);

/// Whether the file begins like an artifact; false for a directory too.
Result<bool> isPacked(const std::string &Path);

/// What a command does with a tokenizer; the text is what it prints.
using TokenizerCommand =
    std::function<Status(const tokenizer::Tokenizer &T, std::string &Out)>;

/// With the tokenizer of an artifact, of a tokenizer.json, or of a model. A
/// directory's tokenizer.json is what its artifact would have: nothing is
/// compiled for it.
Status withTokenizerOf(const std::string &Path, const ModelOptions &Compiling,
                       const TokenizerCommand &Run);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_COMMANDARGUMENTS_H
