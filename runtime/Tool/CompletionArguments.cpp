//===- CompletionArguments.cpp - tenon completion, its options ------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/CommandTree.h"

using namespace tenon;
using namespace tenon::tool;

Command tool::addCompletionCommand(CLI::App &App) {
  auto Shell = std::make_shared<std::string>();
  CLI::App *Added = App.add_subcommand(
      "completion", "Print a script that makes a shell complete the words of "
                    "tenon: source it, or store it where the shell looks");
  Added->add_option("shell", *Shell, "The shell")
      ->required()
      ->check(oneOf({"bash", "zsh", "fish"}));
  return {Added, [=] { return exitStatusOf(print(completionScript(*Shell))); }};
}
