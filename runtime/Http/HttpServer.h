//===- HttpServer.h - Listens, and serves connections -----------*- C++ -*-===//
//
// HTTP/1.1 on sockets of TCP and of the file system: the listener, the loop
// of events, what connections share, and the end of all. What happens on one
// connection is in Connection.h. It knows nothing of models.
//
// One thread does all input and output; what takes long goes to workers of
// low priority.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_HTTPSERVER_H
#define TENON_RUNTIME_HTTP_HTTPSERVER_H

#include "runtime/Http/Exchange.h"
#include "runtime/Http/Limits.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tenon::http {

/// Where a server listens.
struct Address {
  std::string Host = "127.0.0.1"; ///< A number, or a name.
  uint16_t Port = 8080;           ///< 0: any that is free.
  /// The path of a socket, instead of host and port; empty: none.
  std::string UnixSocket;
};

class HttpServer {
public:
  /// Takes a request, on the server's thread.
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  /// Makes the answer to a request that cannot be read, or was given up, of
  /// its path, as far as that is known, a status and what is wrong.
  using Refuser =
      std::function<HttpResponse(std::string_view, int, std::string)>;
  /// Hears of each request when its answer has been sent, or its client has
  /// gone.
  using Watcher = std::function<void(const RequestTrace &)>;

  /// Listens at `Where`. An error names the address. With `KeepsContent`,
  /// traces have what was said.
  static Result<std::unique_ptr<HttpServer>>
  listen(const Address &Where, const Limits &Bounds, Handler Take,
         Refuser Refuse, Watcher Watch = nullptr, bool KeepsContent = false);
  virtual ~HttpServer() = default;

  /// Where it listens, as a URL, or "unix:PATH".
  virtual std::string address() const = 0;

  /// Serves until stop(). `OnSignal` is called at SIGINT and SIGTERM, each time
  /// with how often that was, on the server's thread. An error, before anything
  /// is served, where there is no room for the threads of workers.
  virtual Status run(std::function<void(int)> OnSignal) = 0;

  /// Any thread: does `Work` on the server's thread.
  virtual void post(std::function<void()> Work) = 0;
  /// Any thread: the same, but not before the next post(), which must come
  /// soon. Waking the server's thread for each of many costs more than they do.
  virtual void postLater(std::function<void()> Work) = 0;
  /// Any thread: does `Work` on a worker.
  virtual void work(std::function<void()> Work) = 0;
  /// Any thread: takes no more connections, and ends run() when all answers
  /// have been sent, or after `Seconds`; of several calls, at the first of
  /// their deadlines.
  virtual void stop(double Seconds) = 0;

  virtual size_t connections() const = 0;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_HTTPSERVER_H
