//===- ExplainArguments.cpp - tenon explain, its options ------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

static void addExplainOptions(CLI::App &App, ExplainOptions &O) {
  App.add_option(
         "id", O.Id,
         "The request: X-Request-Id of its answer, or the answer's \"id\"")
      ->required();
  App.add_option("--url", O.Url,
                 "The server: http://HOST:PORT or unix:PATH "
                 "[http://127.0.0.1:8080]");
  App.add_option("--api-key-file", O.KeyFile,
                 "File whose first key is the one that the request came with");
  App.add_flag("--json", O.Json, "Print one JSON object");
}

Command tool::addExplainCommand(CLI::App &App) {
  auto Explain = std::make_shared<ExplainOptions>();
  CLI::App *Added = App.add_subcommand(
      "explain", "Say what happened to a request of tenon serve");
  addExplainOptions(*Added, *Explain);
  return {Added, [=] { return exitStatusOf(explainRequest(*Explain)); }};
}
