//===- ServeCommand.cpp - tenon serve -------------------------------------===//

#include "runtime/Engine/Executor.h"
#include "runtime/Http/Api.h"
#include "runtime/Serving/PrefixFile.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tool/Commands.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <thread>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::http;
using namespace tenon::serving;
using namespace tenon::tool;

/// The keys of a file, one a line.
static Result<std::vector<std::string>> readKeys(const std::string &Path) {
  constexpr uint64_t MostBytes = 1 << 20;
  Result<std::string> Text = readFile(Path, MostBytes);
  if (!Text)
    return Text.error();
  std::vector<std::string> Keys;
  for (size_t From = 0; From < Text->size();) {
    size_t End = std::min(Text->find('\n', From), Text->size());
    std::string Line = Text->substr(From, End - From);
    From = End + 1;
    while (!Line.empty() && (Line.back() == '\r' || Line.back() == ' '))
      Line.pop_back();
    if (!Line.empty())
      Keys.push_back(std::move(Line));
  }
  if (Keys.empty())
    return Error(Path + ": has no keys: expected one a line");
  return Keys;
}

/// What a model is called that was not given a name.
static std::string nameOfFile(const std::string &Path) {
  std::filesystem::path P(Path);
  if (!P.has_filename())
    P = P.parent_path();
  return P.extension() == ".tenon" || P.extension() == ".gguf"
             ? P.stem().string()
             : P.filename().string();
}

/// What runs `M`: an engine for one that generates, else an encoder.
static Result<std::variant<serving::Engine, Encoder>>
runnerOf(std::shared_ptr<const Model> M, const ServeOptions &Options,
         const Resources &Shared) {
  using Runner = std::variant<serving::Engine, Encoder>;
  if (!M->hasEntry("step")) {
    Result<Encoder> Texts = Encoder::create(
        std::move(M), {0, 0, 0, Shared}, static_cast<size_t>(Options.MaxTexts));
    if (!Texts)
      return Texts.error();
    return Runner(std::move(*Texts));
  }
  SessionOptions Room = defaultRoom(*M, Options.MaxRunning, Shared);
  if (Options.MaxSeq != 0)
    Room.CacheTokens = Options.MaxSeq;
  SchedulerOptions Rules;
  Rules.MaxRunning = Options.MaxRunning;
  Rules.MaxQueued = static_cast<size_t>(Options.MaxQueued);
  Rules.MaxStepMs = Options.MaxStepMs;
  Rules.CachesPrefixes = !Options.NoPrefixCache;
  Result<serving::Engine> Texts =
      serving::Engine::create(std::move(M), Room, std::move(Rules));
  if (!Texts)
    return Texts.error();
  return Runner(std::move(*Texts));
}

static Result<std::unique_ptr<ServedModel>>
openModel(const ServeOptions &Options, const ServeOptions::Source &From,
          const Resources &Shared) {
  Result<std::shared_ptr<const Model>> Loaded = Model::load(From.File);
  if (!Loaded)
    return Loaded.error();
  auto Runs = runnerOf(*Loaded, Options, Shared);
  if (!Runs)
    return Runs.error().withContext(From.Given);
  std::ostringstream Fingerprint;
  Fingerprint << "fp_" << std::hex << bindingOf(**Loaded);
  return std::unique_ptr<ServedModel>(
      new ServedModel{From.Name.empty() ? nameOfFile(From.Given) : From.Name,
                      std::move(Fingerprint).str(), std::move(*Runs)});
}

/// One line of JSON for each request, without what was said.
static void logRequest(const HttpRequest &R, int Status, double Seconds) {
  Json Line = {{"id", R.Id},
               {"method", R.Method},
               {"path", R.Path},
               {"status", Status},
               {"seconds", Seconds}};
  std::fputs((wireText(Line) + "\n").c_str(), stderr);
}

Status tool::serveModels(const ServeOptions &Options) {
  std::vector<std::string> Keys;
  if (!Options.KeyFile.empty()) {
    Result<std::vector<std::string>> Read = readKeys(Options.KeyFile);
    if (!Read)
      return Read.error();
    Keys = std::move(*Read);
  }
  Result<Executor> Threads = Executor::create(Options.Threads);
  if (!Threads)
    return Threads.error();
  Resources Shared;
  Shared.Threads = std::make_shared<Executor>(std::move(*Threads));
  std::vector<std::unique_ptr<ServedModel>> Models;
  for (const ServeOptions::Source &From : Options.Models) {
    auto Opened = openModel(Options, From, Shared);
    if (!Opened)
      return Opened.error();
    for (const auto &Other : Models)
      if (Other->Name == (*Opened)->Name)
        return Error("there are two models called " + printable(Other->Name) +
                     ": expected NAME=FILE");
    Models.push_back(std::move(*Opened));
  }
  if (!Options.DefaultModel.empty() &&
      std::none_of(Models.begin(), Models.end(), [&](const auto &M) {
        return M->Name == Options.DefaultModel;
      }))
    return Error("--default-model is " + printable(Options.DefaultModel) +
                 ": expected the name of a model that is served, such as " +
                 printable(Models.front()->Name));
  Limits Bounds;
  Api *Service = nullptr;
  HttpServer *Listener = nullptr;
  Address Where{Options.Host, Options.Port, Options.UnixSocket};
  Result<std::unique_ptr<HttpServer>> Server = HttpServer::listen(
      Where, Bounds,
      [&](std::shared_ptr<Exchange> E) {
        Service->take(*Listener, std::move(E));
      },
      [](std::string_view Path, int Status, std::string Message) {
        return errorAnswer(Path, {Status, std::move(Message)});
      },
      Options.LogRequests ? logRequest : HttpServer::Logger());
  if (!Server)
    return Server.error();
  Listener = Server->get();
  Api Answers(std::move(Models), std::move(Keys), Options.DefaultModel, Bounds);
  Service = &Answers;
  printNote("listens at " + Listener->address());

  // The first signal lets requests end, the second one does not.
  std::thread Drain;
  Listener->run([&](int Count) {
    if (Count > 1)
      return Listener->stop(0);
    Answers.beginDraining();
    Drain = std::thread([&] {
      constexpr double SendSeconds = 5;
      Answers.drain(Options.DrainSeconds);
      Listener->stop(SendSeconds);
    });
  });
  if (Drain.joinable())
    Drain.join();
  return {};
}
