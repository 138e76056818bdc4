//===- ReplayArguments.cpp - tenon replay, its options --------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Generation/Settings.h"
#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

namespace {
struct ReplayArguments {
  std::vector<std::string> Models; ///< Each FILE or NAME=FILE.
  ReplayOptions Options;
  ModelOptions Compiling;
};
} // namespace

static void addReplayOptions(CLI::App &App, ReplayArguments &Replay) {
  ReplayOptions &O = Replay.Options;
  App.add_option("record", O.File, "What tenon serve --record has written")
      ->required();
  App.add_option("files", Replay.Models,
                 "Artifacts or models; NAME=FILE: what requests call it [the "
                 "file's name]")
      ->required();
  App.add_flag("--as-recorded", O.AsRecorded,
               "Give requests at the times at which they came [one after "
               "another]");
  App.add_option("--max-num-seqs", O.MaxNumSeqs,
                 "Most sequences that a model generates at once [as recorded]")
      ->check(between(int64_t(1), generation::MaxChoices));
  addEngineOptions(App, O.Serve);
  App.add_flag("--json", O.Json, "A JSON object a line for each request");
}

Command tool::addReplayCommand(CLI::App &App) {
  auto Replay = std::make_shared<ReplayArguments>();
  CLI::App *Added = App.add_subcommand(
      "replay", "Give the requests of a record of tenon serve again, and "
                "compare the answers");
  addReplayOptions(*Added, *Replay);
  addModelOptions(*Added, Replay->Compiling);
  return {Added, [=] {
            return exitStatusOf(withModels(
                Replay->Models, Replay->Options.Serve, Replay->Compiling,
                [&] { return replayRequests(Replay->Options); }));
          }};
}
