//===- RunArguments.h - The options of tenon run ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_RUNARGUMENTS_H
#define TENON_RUNTIME_TOOL_RUNARGUMENTS_H

#include "runtime/Grammar/GrammarCommand.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/ModelArgument.h"

#include <CLI/CLI.hpp>

namespace tenon::tool {

/// What commands say of the file that they run.
inline constexpr const char *FileHelp =
    "Artifact; or a model, which is compiled and kept (tenon cache): a Hugging "
    "Face directory or a GGUF file";

/// Options of how a model is compiled that is kept, below `Group` in the help.
void addCompileSettings(CLI::App &App, ModelOptions &Options,
                        const std::string &Group);
/// Those and --no-cache, for a command that runs it.
void addModelOptions(CLI::App &App, ModelOptions &Options);

/// Makes `App` parse its options into `Run`, which must outlive it.
void addRunOptions(CLI::App &App, RunOptions &Run);

/// The same of how one text is generated: its end, how tokens are drawn, beams
/// and rules.
void addGenerationOptions(CLI::App &App, RunOptions &Run);

/// The same of `tenon chat`.
void addChatOptions(CLI::App &App, RunOptions &Run);

/// The option --threads: none, or at most several per CPU.
void addThreads(CLI::App &App, int64_t &Threads);

/// What an answer must be; and how a schema is read.
void addGrammarChoice(CLI::App &App, grammar::GrammarChoice &Choice);
void addGrammarSettings(CLI::App &App, grammar::GrammarChoice &Choice);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_RUNARGUMENTS_H
