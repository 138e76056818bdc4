//===- TraceWriter.cpp - Traces to a file, on a thread --------------------===//

#include "runtime/Http/TraceWriter.h"

#include "runtime/Support/Thread.h"

using namespace tenon;
using namespace tenon::http;

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(Writer Write,
                                                         size_t MostBytes) {
  std::unique_ptr<TraceWriter> Made(
      new TraceWriter(std::move(Write), MostBytes));
  Result<std::thread> Runner = startThread([Own = Made.get()] { Own->run(); });
  if (!Runner)
    return Runner.error();
  Made->Runner = std::move(*Runner);
  return Made;
}

TraceWriter::~TraceWriter() {
  if (!Runner.joinable())
    return;
  {
    std::lock_guard Guard(Lock);
    IsEnding = true;
  }
  Work.notify_one();
  Runner.join();
}

void TraceWriter::add(RequestTrace T) {
  constexpr size_t OwnBytes = 4096; // About, with the slices of its prompts.
  size_t Size = OwnBytes;
  if (T.Said)
    Size += T.Said->Body.size() + T.Said->Answer.value_or("").size();
  {
    std::lock_guard Guard(Lock);
    if (Bytes + Size > MostBytes) {
      ++Dropped;
      return;
    }
    Bytes += Size;
    Queue.push_back({std::move(T), std::exchange(Dropped, 0), Size});
  }
  Work.notify_one();
}

void TraceWriter::run() {
  std::unique_lock Guard(Lock);
  for (;;) {
    Work.wait(Guard, [&] { return IsEnding || !Queue.empty(); });
    if (Queue.empty())
      return;
    // It counts until it has been written.
    Waiting Next = std::move(Queue.front());
    Queue.pop_front();
    Guard.unlock();
    Write(Next.Trace, Next.Dropped);
    Guard.lock();
    Bytes -= Next.Bytes;
  }
}
