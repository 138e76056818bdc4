//===- Main.cpp - The command line of tenon -------------------------------===//
//
// Finds the command that is given, and runs it. Errors are one line on standard
// error; CommandLine.h has the exit statuses.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tool/CommandArguments.h"
#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/CommandTree.h"

#include <cstring>

using namespace tenon;
using namespace tenon::tool;

static bool isCompilers(std::string_view Command) {
  return Command == "compile" || Command == "bisect";
}

int main(int Count, char **Values) {
  holdStandardStreams();
  // The compiler parses its own options.
  if (Count > 1 && isCompilers(Values[1]))
    return fail(startCompiler({Values + 1, Values + Count}).message());

  CLI::App App("Compiles Transformer models into single files and runs them.",
               "tenon");
  App.set_version_flag("--version", "tenon " TENON_VERSION);
  App.require_subcommand(1);
  App.add_subcommand("compile",
                     "Compile a model into an artifact (see tenon compile "
                     "--help)");
  App.add_subcommand("bisect",
                     "Name the pass, layer and operation that a model is first "
                     "wrong after (see tenon bisect --help)");

  std::vector<Command> Commands;
  for (Command (*Add)(CLI::App &) :
       {addRunCommand, addChatCommand, addServeCommand, addReplayCommand,
        addExplainCommand, addEmbedCommand, addEvaluateCommand,
        addTokenizeCommand, addGrammarCommand, addTemplateCommand,
        addInspectCommand, addBenchCommand, addCacheCommand,
        addCompletionCommand})
    Commands.push_back(Add(App));

  // The compiler completes the words of its own commands.
  if (Count > 3 && std::strcmp(Values[1], "__complete") == 0 &&
      isCompilers(Values[2]))
    return fail(startCompiler({Values + 1, Values + Count}).message());
  std::vector<std::string> Pages = {""};
  for (const CLI::App *Each : App.get_subcommands(nullptr))
    if (!isCompilers(Each->get_name()))
      Pages.push_back(Each->get_name());
  if (std::optional<int> Answered = answerScripts(App, Count, Values, Pages))
    return *Answered;

  auto IsCommand = [&](const CLI::App *Each) {
    return Each->check_name(Values[1]);
  };
  if (Count > 1 && Values[1][0] != '-' &&
      App.get_subcommands(IsCommand).empty())
    return fail(unknownCommand(App, Values[1]) + " (see --help)", ExitUsage);
  if (std::optional<int> Ended = parseCommandLine(App, Count, Values))
    return *Ended;

  for (const Command &Given : Commands)
    if (Given.App->parsed())
      return Given.Run();
  return 0; // One is required.
}
