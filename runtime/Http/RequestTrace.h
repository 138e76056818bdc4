//===- RequestTrace.h - What happened to a request --------------*- C++ -*-===//
//
// One for each request, from its arrival until its answer has been sent. The
// log, `tenon explain` and the record (docs/server.md) are made of it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_REQUESTTRACE_H
#define TENON_RUNTIME_HTTP_REQUESTTRACE_H

#include "runtime/Serving/Scheduler.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::http {

/// What was said.
struct Content {
  std::string Body;
  /// What the client was given; of a stream, what its connection has taken.
  /// None where it is longer than Limits::KeptAnswerBytes.
  std::optional<std::string> Answer = "";
};

/// A prompt of a request, which is a request of the engine.
struct PromptTrace {
  serving::RequestId Id{};
  // When it has ended:
  serving::RequestUsage Usage;
  std::shared_ptr<const serving::Timeline> Went;
  std::vector<std::string> Finished; ///< Why each choice has ended.
};

/// On the server's thread alone; monotonic times are those of secondsNow().
struct RequestTrace {
  // What the connection knows.
  std::string Id, Method, Path;
  double Time = 0;  ///< Unix seconds of its arrival.
  double Begin = 0; ///< Its arrival, monotonic.
  std::optional<double> End;
  int Status = 0; ///< 0: not answered yet; 499: the client went before.
  bool IsStream = false;
  /// The client went, or read too slowly, before it had the whole answer.
  bool IsGone = false;
  size_t AnswerBytes = 0;
  /// Until End, where somebody wants it.
  std::shared_ptr<Content> Said;

  // What the API knows.
  bool IsCall = false; ///< A request with a body that an endpoint has taken.
  size_t Key = 0;      ///< The number of its key.

  // What endpoints know.
  std::string Model; ///< As it is served; empty: none was found.
  std::optional<uint64_t> Seed;
  std::optional<double> Submitted; ///< To the engine, monotonic.
  double GrammarSeconds = 0;       ///< Of compiling one.
  int64_t Completed = 0;           ///< Unix seconds of its end.
  size_t PromptTokens = 0, CachedTokens = 0, NewTokens = 0;
  std::vector<PromptTrace> Prompts;

  /// The id of its answer, which has the kind of it before the request's.
  std::string answerId() const;
};

/// Seconds as milliseconds with three digits behind the point.
double msOf(double Seconds);

/// The line of the log, of a request that has ended; with `Said`, what was
/// said.
std::string logLineOf(const RequestTrace &T, bool WithContent);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_REQUESTTRACE_H
