//===- TraceWriter.h - Traces to a file, on a thread ------------*- C++ -*-===//
//
// A log or a record on a disk or a pipe may be slow: whoever writes it waits on
// a thread of its own, and the server for nobody.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_TRACEWRITER_H
#define TENON_RUNTIME_HTTP_TRACEWRITER_H

#include "runtime/Http/RequestTrace.h"
#include "runtime/Support/Result.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace tenon::http {

/// Hands traces to a function on a thread of its own, in their order.
class TraceWriter {
public:
  /// Takes a trace, and how many before it were dropped since the last one.
  using Writer = std::function<void(const RequestTrace &, size_t Dropped)>;

  /// At most about `MostBytes` wait; what comes then is dropped. An error where
  /// there is no room for the thread.
  static Result<std::unique_ptr<TraceWriter>> create(Writer Write,
                                                     size_t MostBytes);
  /// Writes what waits.
  ~TraceWriter();
  TraceWriter(const TraceWriter &) = delete;
  TraceWriter &operator=(const TraceWriter &) = delete;

  /// Never waits for the writer.
  void add(RequestTrace T);

private:
  struct Waiting {
    RequestTrace Trace;
    size_t Dropped = 0, Bytes = 0;
  };
  TraceWriter(Writer Write, size_t MostBytes)
      : Write(std::move(Write)), MostBytes(MostBytes) {}
  void run();

  const Writer Write;
  const size_t MostBytes;
  std::mutex Lock;
  std::condition_variable Work;
  std::deque<Waiting> Queue;
  size_t Bytes = 0, Dropped = 0;
  bool IsEnding = false;
  std::thread Runner;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_TRACEWRITER_H
