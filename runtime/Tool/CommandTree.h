//===- CommandTree.h - What a tool's options tell others --------*- C++ -*-===//
//
// Shell completion and manual pages, made of the commands and options that
// CLI11 knows, so that no list is kept by hand.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_COMMANDTREE_H
#define TENON_RUNTIME_TOOL_COMMANDTREE_H

#include "runtime/Support/Result.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::tool {

/// A word that may stand there, and what it means.
struct Candidate {
  std::string Word, Help;
};

/// What the last of `Words` may become, `Words` being what follows the tool's
/// name. Empty where nothing is known, as for files and numbers.
std::vector<Candidate> completionsOf(const CLI::App &App,
                                     std::span<const std::string> Words);

/// The script that asks `tenon __complete` in "bash", "zsh" or "fish".
std::string completionScript(std::string_view Shell);

/// The manual page, in roff's man macros, of `App`, or of its command
/// `Command`.
std::string manualPage(const CLI::App &App, const CLI::App *Command = nullptr);

/// Answers what scripts and the build ask: the exit status; none for other
/// command lines.
///   __complete WORDS...  completionsOf, a line each
///   __manual FOLDER      writes tenon-COMMAND.1 of `Pages`, which names
///                        commands; with an empty name tenon.1
std::optional<int> answerScripts(const CLI::App &App, int Count, char **Values,
                                 std::span<const std::string> Pages);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_COMMANDTREE_H
