//===- ReplayCommand.cpp - tenon replay -----------------------------------===//

#include "runtime/Http/Replay.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/ServedModels.h"

#include <array>
#include <limits>
#include <set>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::tool;

/// Says how `Now` is another than the record's, and makes answers name what the
/// record names.
static void matchModel(ServedModel &M, const RecordedModel &Then,
                       std::set<std::string> &Said) {
  RecordedModel Now = recordedModelOf(M);
  M.Fingerprint = Then.Fingerprint;
  std::string Differences;
  auto Compare = [&](const char *What, const std::string &Old,
                     const std::string &New) {
    if (Old != New)
      Differences += (Differences.empty() ? " " : ", ") + std::string(What) +
                     " " + printable(New) + ", recorded " + printable(Old);
  };
  Compare("artifact", Then.Artifact, Now.Artifact);
  Compare("version", Then.Version, Now.Version);
  Compare("CPU level", Then.Level, Now.Level);
  if (Differences.empty() && Then.Fingerprint != Now.Fingerprint)
    Differences = " another CPU than the recorded one";
  if (!Differences.empty() && Said.insert(M.Name + Differences).second)
    printNote("model " + printable(M.Name) + ":" + Differences +
              ": answers may differ");
}

namespace {

/// What came of all, and how each is told.
struct Report {
  bool AsJson = false;
  std::array<size_t, 3> Counts{}; ///< By Replayed::Kind.
  Status Printed;                 ///< The first failure.

  void add(const RecordedRequest &R, const Replayed &Got);
  size_t count(Replayed::Kind What) const {
    return Counts[static_cast<size_t>(What)];
  }
};

} // namespace

void Report::add(const RecordedRequest &R, const Replayed &Got) {
  ++Counts[static_cast<size_t>(Got.What)];
  constexpr std::array<const char *, 3> Names = {"same", "differs", "skipped"};
  const char *What = Names[static_cast<size_t>(Got.What)];
  std::string Line;
  if (AsJson) {
    Json J = {
        {"line", R.Line}, {"id", R.Id}, {"path", R.Path}, {"result", What}};
    if (!Got.Why.empty())
      J["why"] = Got.Why;
    Line = wireText(J) + "\n";
  } else if (Got.What != Replayed::Kind::Same) {
    Line = "line " + std::to_string(R.Line) + ", " + escaped(R.Id) + " " +
           escaped(R.Path) + ": " + What + ": " + Got.Why + "\n";
  }
  if (Printed)
    Printed = print(Line);
}

Status tool::replayRequests(const ReplayOptions &Options) {
  Result<Record> All = readRecord(Options.File);
  if (!All)
    return All.error();
  ServeOptions Serve = Options.Serve;
  // Nothing that was answered is refused for want of room in a queue.
  Serve.MaxQueued = std::numeric_limits<int64_t>::max();
  Serve.MaxTexts = std::numeric_limits<int64_t>::max();
  Serve.MaxNumSeqs =
      Options.MaxNumSeqs.value_or(All->Servers.front().MaxNumSeqs);
  const std::string &Default = All->Servers.front().DefaultModel;
  auto Models = openServedModels(Serve);
  if (!Models)
    return Models.error();
  std::set<std::string> Names, Notes;
  std::vector<ServedModel *> Served;
  for (const auto &M : *Models) {
    Names.insert(M->Name);
    Served.push_back(M.get());
  }
  size_t Server = std::numeric_limits<size_t>::max();
  auto Skip = [&](const RecordedRequest &R) -> std::optional<std::string> {
    const RecordHeader &Of = All->Servers[R.Server];
    if (Of.MaxNumSeqs != Serve.MaxNumSeqs && !Options.MaxNumSeqs)
      return "it was recorded with --max-num-seqs " +
             std::to_string(Of.MaxNumSeqs);
    if (Of.DefaultModel != Default)
      return "it was recorded with --default-model " +
             printable(Of.DefaultModel);
    if (!R.Model.empty() && !Names.contains(R.Model))
      return "its model " + printable(R.Model) + " was not given";
    if (std::exchange(Server, R.Server) != R.Server)
      for (const RecordedModel &Then : Of.Models)
        for (ServedModel *M : Served)
          if (M->Name == Then.Name)
            matchModel(*M, Then, Notes);
    return whySkipped(R);
  };
  using enum Replayed::Kind;
  Report Told;
  Told.AsJson = Options.Json;
  Replayer Again;
  Api Answers(std::move(*Models), {}, Default, Limits());
  Again.run(
      *All, Answers, Options.AsRecorded, Skip,
      [&](const RecordedRequest &R, const Replayed &Got) { Told.add(R, Got); });
  if (All->IsCut)
    printNote(Options.File + ": the last line is not whole, and left out");
  if (All->Dropped > 0)
    printNote(Options.File + ": " + std::to_string(All->Dropped) +
              " requests were not recorded, for they could not be written");
  if (!Told.Printed)
    return Told.Printed;
  if (!Options.Json)
    if (Status Done =
            print(std::to_string(All->Requests.size()) + " requests: " +
                  std::to_string(Told.count(Same)) + " the same, " +
                  std::to_string(Told.count(Differs)) + " different, " +
                  std::to_string(Told.count(Skipped)) + " skipped\n");
        !Done)
      return Done;
  if (Told.count(Differs) > 0)
    return Error(std::to_string(Told.count(Differs)) + " of " +
                 std::to_string(All->Requests.size()) +
                 " answers are not as recorded");
  return {};
}
