//===- TraceWriter.cpp - Traces to a file, on a thread --------------------===//

#include "runtime/Http/TraceWriter.h"

using namespace tenon;
using namespace tenon::http;

TraceWriter::TraceWriter(Writer Write, size_t MostBytes)
    : Write(std::move(Write)), MostBytes(MostBytes), Runner([this] { run(); }) {
}

TraceWriter::~TraceWriter() {
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
