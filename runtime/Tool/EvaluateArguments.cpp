//===- EvaluateArguments.cpp - tenon evaluate, its options ----------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

namespace {
struct EvaluateArguments {
  EvaluateOptions Options;
  ModelOptions Compiling;
};
} // namespace

/// With the artifact to compare with, which is compiled as it is.
static Status evaluateBoth(EvaluateOptions &Options,
                           const ModelOptions &Compiling) {
  if (Options.Against.empty())
    return evaluateModel(Options);
  Result<ModelArgument> Against =
      ModelArgument::open(Options.Against, Compiling);
  if (!Against)
    return Against.error().withContext("--against");
  Options.AgainstName = std::exchange(Options.Against, Against->artifact());
  return Against->named(evaluateModel(Options));
}

Command tool::addEvaluateCommand(CLI::App &App) {
  auto Evaluate = std::make_shared<EvaluateArguments>();
  CLI::App *Added = App.add_subcommand(
      "evaluate", "Print a decoder's perplexity on a text, and how far it is "
                  "from another artifact");
  Added->footer(
      "The text is cut into windows of equal length that share no token; what "
      "fills none at its end is left out. Of a window of n tokens those from "
      "n/2 + 1 on are scored, counted from 0, each given all before it in the "
      "window. Of a text that is shorter than a window all but the first are "
      "scored. The special tokens that the tokenizer puts before a text stand "
      "at the beginning of every window, in place of its own.");
  Added->add_option("file", Evaluate->Options.File, FileHelp)->required();
  auto *Text = Added->add_option_group("text");
  Text->add_option("--text", Evaluate->Options.Text,
                   "File with the text; -: standard input");
  Text->add_option("--token-ids", Evaluate->Options.TokenIds,
                   "Token ids in place of text: 1,2,3 or @FILE.npy")
      ->check(tokenIds());
  Text->require_option(1);
  Added->add_option("--against", Evaluate->Options.Against,
                    "Artifact or model to compare with, the reference "
                    "(a model is compiled as it is): its "
                    "perplexity, the KL divergence from it in nats per "
                    "token, and how often the likeliest tokens agree");
  Added->add_option("--context", Evaluate->Options.Context,
                    "Tokens of a window [512, or the longest sequence "
                    "where that is shorter]");
  addThreads(*Added, Evaluate->Options.Threads);
  Added->add_flag("--json", Evaluate->Options.Json, "Print one JSON object");
  addModelOptions(*Added, Evaluate->Compiling);
  return {Added, [=] {
            return exitStatusOf(
                withModel(Evaluate->Options, Evaluate->Compiling,
                          [&](EvaluateOptions &Options) {
                            return evaluateBoth(
                                Options, Evaluate->Compiling.withoutSettings());
                          }));
          }};
}
