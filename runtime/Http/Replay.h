//===- Replay.h - Recorded requests, given again ----------------*- C++ -*-===//
//
// Hands the requests of a record to an Api, without connections, and compares
// the answers with those that are recorded.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_REPLAY_H
#define TENON_RUNTIME_HTTP_REPLAY_H

#include "runtime/Http/Api.h"
#include "runtime/Http/Record.h"

namespace tenon::http {

/// What came of a request that was to be given again.
struct Replayed {
  enum class Kind { Same, Differs, Skipped };
  Kind What = Kind::Same;
  std::string Why; ///< It differs, or was skipped; one line.
};

/// Why a request cannot be given again, or says nothing; none: it can.
std::optional<std::string> whySkipped(const RecordedRequest &R);

/// Gives requests again. It must outlive the Api that it is used with, whose
/// engines may still have news.
class Replayer {
public:
  Replayer();
  ~Replayer();

  using Reason =
      std::function<std::optional<std::string>(const RecordedRequest &)>;
  using Listener =
      std::function<void(const RecordedRequest &, const Replayed &)>;

  /// Gives the requests of `All` for which `Skip` has no reason to `Answers`,
  /// one after another, or with `AsRecorded` at the times at which they came.
  /// `Heard` hears of each, in the order of the record.
  ///
  /// What a server decides and no client says is as it was: id, times, seed,
  /// and how much of a prompt the cache had.
  void run(const Record &All, Api &Answers, bool AsRecorded, const Reason &Skip,
           const Listener &Heard);

private:
  struct Implementation;
  std::unique_ptr<Implementation> I;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_REPLAY_H
