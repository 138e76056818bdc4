//===- ServeArguments.cpp - tenon serve, its options ----------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Generation/Settings.h"
#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

namespace {
struct ServeArguments {
  std::vector<std::string> Models; ///< Each FILE or NAME=FILE.
  ServeOptions Options;
  ModelOptions Compiling;
};
} // namespace

static void addServeOptions(CLI::App &App, ServeArguments &Serve) {
  ServeOptions &O = Serve.Options;
  App.add_option("files", Serve.Models,
                 "Artifacts or models; NAME=FILE: what clients call it [the "
                 "file's name]")
      ->required();
  App.add_option("--default-model", O.DefaultModel,
                 "Name of the model of requests that name none [these are "
                 "refused]");
  auto *Host = App.add_option("--host", O.Host, "Where to listen [127.0.0.1]");
  auto *Port = App.add_option("--port", O.Port, "0: any that is free [8080]")
                   ->check(between<int64_t>(0, UINT16_MAX));
  App.add_option("--unix-socket", O.UnixSocket,
                 "Listen on this path instead of host and port")
      ->excludes(Host)
      ->excludes(Port);
  App.add_option("--api-key-file", O.KeyFile,
                 "File of keys, one a line; requests need one of them");
  addEngineOptions(App, O);
  App.add_option("--max-num-seqs", O.MaxNumSeqs,
                 "Most sequences that a model generates at once [8]")
      ->check(between(int64_t(1), generation::MaxChoices));
  App.add_option("--max-queued", O.MaxQueued,
                 "Most requests that wait; further ones get 429 [256]")
      ->check(atLeast<int64_t>(0));
  App.add_option("--max-step-ms", O.MaxStepMs,
                 "Time of a step in milliseconds: longer prompts are "
                 "prefilled in chunks [100]")
      ->check(aboveZero());
  auto *NoPrefixes =
      App.add_flag("--no-prefix-cache", O.NoPrefixCache,
                   "Keep no prompts for requests that begin as they do");
  App.add_option("--prefix-cache", O.PrefixFolder,
                 "Folder for what is kept at the end, to begin with the next "
                 "time; it holds what users said")
      ->excludes(NoPrefixes);
  App.add_option("--drain-timeout", O.DrainSeconds,
                 "Seconds that requests may go on after SIGTERM [30]")
      ->check(atLeast(0.0));
  App.add_flag("--log-requests", O.LogRequests,
               "A line of JSON on standard error for each request, without "
               "what was said");
  App.add_flag("--log-content", O.LogContent, "The same with what was said");
  auto *Record = App.add_option(
      "--record", O.RecordFile,
      "Keep requests and answers in this file, for tenon replay; it holds what "
      "users said, and is readable by its owner alone");
  constexpr uint64_t MostMebibytes = 1 << 20;
  App.add_option("--record-mib", O.RecordMebibytes,
                 "Mebibytes of the record, behind which it becomes FILE.1 "
                 "[256]")
      ->check(between(uint64_t(1), MostMebibytes))
      ->needs(Record);
}

Command tool::addServeCommand(CLI::App &App) {
  auto Serve = std::make_shared<ServeArguments>();
  CLI::App *Added = App.add_subcommand(
      "serve", "Answer requests over HTTP: OpenAI's and Anthropic's APIs");
  addServeOptions(*Added, *Serve);
  addModelOptions(*Added, Serve->Compiling);
  return {Added, [=] {
            return exitStatusOf(
                withModels(Serve->Models, Serve->Options, Serve->Compiling,
                           [&] { return serveModels(Serve->Options); }));
          }};
}
