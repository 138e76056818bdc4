//===- ServeCommand.cpp - tenon serve -------------------------------------===//

#include "runtime/Http/RecordFile.h"
#include "runtime/Http/TraceWriter.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Thread.h"
#include "runtime/Tool/ServedModels.h"

#include <algorithm>
#include <unistd.h>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::tool;

namespace {

/// The log on standard error, and the record, where they are wanted.
class Witnesses {
public:
  static Result<std::unique_ptr<Witnesses>>
  create(const ServeOptions &Options,
         const std::vector<std::unique_ptr<ServedModel>> &Models,
         const Limits &Bounds);

  bool wantContent() const { return Record || LogsContent; }
  void hear(const RequestTrace &T) {
    if (Log)
      Log->add(T);
    // Whoever has no key writes nothing, and what is not for a model cannot be
    // given again.
    if (Record && T.IsCall)
      Record->add(T);
  }

private:
  bool LogsContent = false;
  std::unique_ptr<RecordFile> File;
  // They end before what they write to.
  std::unique_ptr<TraceWriter> Log, Record;
};

} // namespace

Result<std::unique_ptr<Witnesses>>
Witnesses::create(const ServeOptions &Options,
                  const std::vector<std::unique_ptr<ServedModel>> &Models,
                  const Limits &Bounds) {
  auto Made = std::make_unique<Witnesses>();
  Made->LogsContent = Options.LogContent;
  if (Options.LogRequests || Options.LogContent) {
    auto Log = TraceWriter::create(
        [WithContent = Options.LogContent](const RequestTrace &T,
                                           size_t Dropped) {
          if (Dropped > 0)
            printNote("the log: " + std::to_string(Dropped) +
                      " requests before this one are missing");
          // Nobody can be told when this fails.
          (void)writeAll(STDERR_FILENO, logLineOf(T, WithContent));
        },
        Bounds.UnwrittenBytes);
    if (!Log)
      return Log.error();
    Made->Log = std::move(*Log);
  }
  if (Options.RecordFile.empty())
    return Made;
  RecordHeader Served;
  Served.MaxNumSeqs = Options.MaxNumSeqs;
  Served.DefaultModel = Options.DefaultModel;
  for (const auto &M : Models)
    Served.Models.push_back(recordedModelOf(*M));
  constexpr uint64_t Mebibyte = 1 << 20;
  auto File = RecordFile::open(Options.RecordFile, std::move(Served),
                               Options.RecordMebibytes * Mebibyte);
  if (!File)
    return File.error().withContext("--record");
  Made->File = std::move(*File);
  auto Record = TraceWriter::create(
      [Own = Made->File.get()](const RequestTrace &T, size_t Dropped) {
        Own->add(T, Dropped);
      },
      Bounds.UnwrittenBytes);
  if (!Record)
    return Record.error();
  Made->Record = std::move(*Record);
  return Made;
}

Status tool::serveModels(const ServeOptions &Options) {
  std::vector<std::string> Keys;
  if (!Options.KeyFile.empty()) {
    Result<std::vector<std::string>> Read = readKeys(Options.KeyFile);
    if (!Read)
      return Read.error();
    Keys = std::move(*Read);
  }
  auto Opened = openServedModels(Options);
  if (!Opened)
    return Opened.error();
  std::vector<std::unique_ptr<ServedModel>> Models = std::move(*Opened);
  if (!Options.DefaultModel.empty() &&
      std::none_of(Models.begin(), Models.end(), [&](const auto &M) {
        return M->Name == Options.DefaultModel;
      }))
    return Error("--default-model is " + printable(Options.DefaultModel) +
                 ": expected the name of a model that is served, such as " +
                 printable(Models.front()->Name));
  if (Status Loaded = loadKeptPrompts(Models, Options.PrefixFolder); !Loaded)
    return Loaded;
  Limits Bounds;
  auto Heard = Witnesses::create(Options, Models, Bounds);
  if (!Heard)
    return Heard.error();
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
      [&](const RequestTrace &T) { (*Heard)->hear(T); },
      (*Heard)->wantContent());
  if (!Server)
    return Server.error();
  Listener = Server->get();
  Api Answers(std::move(Models), std::move(Keys), Options.DefaultModel, Bounds);
  Service = &Answers;
  printNote("listens at " + Listener->address());

  // The first signal lets requests end, the second one does not.
  std::thread Drain;
  Status Served = Listener->run([&](int Count) {
    auto GiveUp = [&] {
      Answers.giveUp();
      Listener->stop(0);
    };
    if (Count > 1)
      return GiveUp();
    Answers.beginDraining();
    Result<std::thread> Waits = startThread([&] {
      constexpr double SendSeconds = 5;
      Answers.drain(Options.DrainSeconds);
      Listener->stop(SendSeconds);
    });
    if (!Waits) {
      printNote("requests are given up: " + Waits.error().message());
      return GiveUp();
    }
    Drain = std::move(*Waits);
  });
  if (Drain.joinable())
    Drain.join();
  if (!Served)
    return Served;
  return saveKeptPrompts(Answers.models(), Options.PrefixFolder);
}
