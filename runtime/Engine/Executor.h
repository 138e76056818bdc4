//===- Executor.h - The threads of sessions ---------------------*- C++ -*-===//
//
// The threads of a session, or of several that share them: one that controls,
// and an OpenMP team that it opens. All work of a session starts on the control
// thread, whichever thread calls the session: an OpenMP region of the caller is
// then no part of it, and oneDNN, which uses the control thread's team too,
// never competes with generated code for the cores.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_EXECUTOR_H
#define TENON_RUNTIME_ENGINE_EXECUTOR_H

#include "runtime/Abi/TenonRt.h"
#include "runtime/Engine/WorkShares.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <memory>

namespace tenon::engine {

/// Threads that no machine has more of; larger requests are refused.
inline constexpr int64_t MaxThreads = 4096;

/// A control thread and its team of a fixed number of threads, of which it is
/// one. Lives in the process that made it: a fork has none of its threads.
class Executor {
public:
  /// `Threads` of 0 means one per core this process may run on.
  static Result<Executor> create(int64_t Threads);
  Executor(Executor &&) noexcept;
  Executor &operator=(Executor &&) noexcept;
  /// Ends the control thread.
  ~Executor();

  int64_t threads() const;

  /// Runs `Work` on the control thread and returns when it is done. From any
  /// thread but the control thread: who calls first is served first.
  template <typename Function> void run(Function &&Work) {
    runErased(call<std::remove_reference_t<Function>>, &Work);
  }
  /// The same, but where others are served or wait it is not run: false.
  template <typename Function> bool tryRun(Function &&Work) {
    return tryRunErased(call<std::remove_reference_t<Function>>, &Work);
  }

  /// On the control thread: runs `Body` on every thread of the team and waits
  /// for all of them.
  void parallel(tenon_rt_body Body, void *Environment);

  /// Inside a body: returns once every thread of the region has arrived.
  /// Waits by spinning for about 20 µs, then by yielding its core: measured
  /// faster than OpenMP's own barrier, idle and beside a busy process.
  void barrier();

  /// Inside a body: the next items of the loop that `Thread` is in, of a team
  /// of `Team`; see WorkShares::claim.
  tenon_rt_items claim(int64_t Thread, int64_t Team, int64_t Total,
                       int64_t Grain);

private:
  struct State;
  explicit Executor(std::unique_ptr<State> Shared);
  template <typename Function> static void call(void *Erased) {
    (*static_cast<Function *>(Erased))();
  }
  void runErased(void (*Work)(void *), void *Argument);
  bool tryRunErased(void (*Work)(void *), void *Argument);

  std::unique_ptr<State> Shared;
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_EXECUTOR_H
