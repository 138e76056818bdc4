//===- GrammarArguments.cpp - tenon grammar, its options ------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Grammar/GrammarCommand.h"
#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

namespace {
struct GrammarArguments {
  std::string File;
  grammar::GrammarOptions Options;
  ModelOptions Compiling;
};
} // namespace

/// What is wrong with options taken together; empty: nothing.
static std::string grammarUsageError(const grammar::GrammarOptions &O) {
  if (!O.BatchFile.empty())
    return O.TextsFile.empty() ? "" : "--batch takes no --texts";
  if (std::string Wrong = usageErrorOf(O.What); !Wrong.empty())
    return Wrong;
  return O.Times && !O.AsJson ? "--times needs --json or --batch" : "";
}

Command tool::addGrammarCommand(CLI::App &App) {
  auto Given = std::make_shared<GrammarArguments>();
  CLI::App *Added = App.add_subcommand(
      "grammar", "Say which texts a constraint of the output accepts, token by "
                 "token");
  Added
      ->add_option("file", Given->File,
                   "Artifact, tokenizer.json, or a directory that holds one; "
                   "or a GGUF file, which is compiled and kept (tenon cache)")
      ->required();
  auto *Constraint = Added->add_option_group("constraint");
  addGrammarChoice(*Constraint, Given->Options.What);
  Constraint->add_option(
      "--batch", Given->Options.BatchFile,
      "JSON file: an array of objects of schema, regex, ebnf or choices, and "
      "texts");
  Constraint->require_option(1);
  addGrammarSettings(*Added, Given->Options.What);
  Added->add_option("--texts", Given->Options.TextsFile,
                    "JSON file: an array of texts [none: only whether the "
                    "constraint is valid]");
  Added->add_flag("--json", Given->Options.AsJson, "Print one JSON object");
  Added->add_flag("--times", Given->Options.Times,
                  "In JSON: what compiling and each mask took of a core");
  addModelOptions(*Added, Given->Compiling);
  return {Added, [=] {
            const grammar::GrammarOptions &O = Given->Options;
            if (std::string Wrong = grammarUsageError(O); !Wrong.empty())
              return fail("grammar: " + Wrong, ExitUsage);
            return exitStatusOf(withTokenizerOf(
                Given->File, Given->Compiling,
                [&](const tokenizer::Tokenizer &T, std::string &Out) {
                  return grammar::runGrammar(T, O, Out);
                }));
          }};
}
