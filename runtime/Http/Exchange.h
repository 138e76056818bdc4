//===- Exchange.h - A request and its answer --------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_EXCHANGE_H
#define TENON_RUNTIME_HTTP_EXCHANGE_H

#include "runtime/Http/RequestTrace.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// What a server decided that no client said, of a request that is given again
/// (Replay.h).
struct Decided {
  std::optional<uint64_t> Seed;
  size_t CachedTokens = 0;
  int64_t Completed = 0; ///< Unix seconds of its end.
};

struct HttpRequest {
  std::string Method, Path; ///< Without a query.
  std::string Body;
  std::string Authorization; ///< The header; also "Bearer " and X-Api-Key.
  /// X-Request-Id of the client, or one of the server's.
  std::string Id;
  int64_t Time = 0; ///< Unix seconds of its arrival.
  /// None of what comes from a connection.
  std::optional<Decided> Again = {};
};

struct HttpResponse {
  int Status = 200;
  std::string Type = "application/json";
  std::string Body;
  Headers More = {};
};

/// One request and its answer: one reply(), or beginEvents(), any number of
/// send() and one end(). What is sent to a client that has gone is dropped. One
/// that is given up unanswered has the status 500. All functions are for the
/// server's thread.
class Exchange {
public:
  virtual ~Exchange() = default;

  const HttpRequest &request() const { return Asked; }
  /// What happens to the request.
  RequestTrace &trace() { return *Trace; }
  const std::shared_ptr<RequestTrace> &sharedTrace() { return Trace; }

  virtual void reply(HttpResponse R) = 0;
  /// Begins an answer of server-sent events.
  virtual void beginEvents() = 0;
  /// Sends bytes of events; those that wait for the reader are sent together.
  virtual void send(std::string_view Bytes) = 0;
  virtual void end() = 0;

  /// Calls `Then`, once, if the client goes, or reads too slowly, before the
  /// answer has ended; at once if it has gone.
  virtual void whenGone(std::function<void()> Then) = 0;

protected:
  HttpRequest Asked;
  std::shared_ptr<RequestTrace> Trace = std::make_shared<RequestTrace>();
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_EXCHANGE_H
