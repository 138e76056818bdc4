//===- ThreadPool.h - Threads that run generated code -----------*- C++ -*-===//
//
// Parallel regions and barriers of generated code, on the same OpenMP pool
// that oneDNN uses, so that the two never compete for the cores.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_THREADPOOL_H
#define TENON_RUNTIME_ENGINE_THREADPOOL_H

#include "runtime/Abi/TenonRt.h"
#include "runtime/Support/Result.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace tenon {

/// Threads that no machine has more of; larger requests are refused.
inline constexpr int64_t MaxThreads = 4096;

/// A fixed number of threads. Used from one thread of control at a time.
class ThreadPool {
public:
  /// `Threads` of 0 means one per core this process may run on.
  static Result<ThreadPool> create(int64_t Threads);

  int64_t threads() const { return Threads; }

  /// Runs `Body` on every thread and waits for all of them.
  void parallel(tenon_rt_body Body, void *Environment);

  /// Inside a body: returns once every thread of the region has arrived.
  /// Waits by spinning for about 20 µs, then by yielding its core: measured
  /// faster than OpenMP's own barrier, idle and beside a busy process.
  void barrier();

  /// While it lives, OpenMP regions that others open from this thread (those
  /// of oneDNN) have as many threads as the pool.
  class Limit {
  public:
    explicit Limit(const ThreadPool &Pool);
    ~Limit();
    Limit(const Limit &) = delete;
    Limit &operator=(const Limit &) = delete;

  private:
    int Before;
  };

private:
  explicit ThreadPool(int64_t Threads);

  /// On cache lines of their own: waiting threads read Phase all the time.
  struct Meeting {
    alignas(64) std::atomic<int64_t> Arrived{0};
    alignas(64) std::atomic<uint64_t> Phase{0};
  };

  int64_t Threads;
  std::unique_ptr<Meeting> Meet;
};

} // namespace tenon

#endif // TENON_RUNTIME_ENGINE_THREADPOOL_H
