//===- Connection.h - One client's requests and answers ---------*- C++ -*-===//
//
// Reads a request, hands it on as an exchange, sends its answer, and reads the
// next one. What a connection shares with others is its server's, and behind
// ConnectionOwner. All functions are for the server's thread.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_CONNECTION_H
#define TENON_RUNTIME_HTTP_CONNECTION_H

#include "runtime/Http/Exchange.h"
#include "runtime/Http/Limits.h"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace tenon::http {

class ConnectionOwner;

/// Lives while an operation on it, or an answer to it, does.
class Connection {
public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  /// `Owner` outlives it.
  static std::shared_ptr<Connection> create(ConnectionOwner &Owner,
                                            Socket Taken);
  virtual ~Connection() = default;

  /// Takes requests, one after the other, until the client or the server ends.
  virtual void serve() = 0;
  /// Answers with an error what is not read; the connection ends behind it.
  virtual void refuse(int Status, std::string Message) = 0;
  /// Sends what has been given of an answer of events.
  virtual void flush() = 0;
};

/// What connections ask of their server, and tell it.
class ConnectionOwner {
public:
  virtual boost::asio::io_context &io() = 0;
  virtual const Limits &limits() const = 0;
  /// Whether traces have what was said.
  virtual bool keepsContent() const = 0;
  /// An id for a request that has none.
  virtual std::string newId() = 0;

  /// Whether connections end behind the answers that are being given.
  virtual bool isStopping() const = 0;
  /// Whether nothing is sent any more.
  virtual bool isOver() const = 0;

  /// Counts bytes of a body that is read, or being answered: `Now` where
  /// `Before` were.
  virtual void holdBody(size_t Before, size_t Now) = 0;
  /// Whether all bytes so counted are within the limit.
  virtual bool hasRoomForBodies() const = 0;

  /// Takes a request that is to be answered.
  virtual void take(std::shared_ptr<Exchange> E) = 0;
  /// The answer to a request that cannot be read, or was given up.
  virtual HttpResponse refusal(std::string_view Path, int Status,
                               std::string Message) = 0;
  virtual void answerBegins() = 0;
  /// The answer that began has been sent, or nobody takes it.
  virtual void answerEnds(const RequestTrace &T) = 0;
  /// Flushes `C` behind the work that is being performed: its events go
  /// together.
  virtual void flushSoon(std::shared_ptr<Connection> C) = 0;
  /// Hears that `C` ends.
  virtual void forget(Connection &C) = 0;

protected:
  ~ConnectionOwner() = default;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_CONNECTION_H
