//===- ThreadPool.cpp - Threads that run generated code -------------------===//

#include "runtime/Engine/ThreadPool.h"

#include <omp.h>
#include <sched.h>

using namespace tenon;

/// Polls before a waiting thread offers its core to others: about 20 µs, far
/// longer than a balanced wait, far shorter than a scheduler's time slice.
static constexpr int PollsBeforeYield = 1000;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

ThreadPool::ThreadPool(int64_t Threads)
    : Threads(Threads), Meet(std::make_unique<Meeting>()) {}

Result<ThreadPool> ThreadPool::create(int64_t Threads) {
  if (Threads < 0 || Threads > MaxThreads)
    return Error("threads is " + std::to_string(Threads) +
                 ": expected 0 (one per core) to " +
                 std::to_string(MaxThreads));
  return ThreadPool(Threads == 0 ? omp_get_num_procs() : Threads);
}

void ThreadPool::parallel(tenon_rt_body Body, void *Environment) {
  if (Threads == 1) {
    Body(Environment, 0, 1);
    return;
  }
#pragma omp parallel num_threads(static_cast<int>(Threads))
  Body(Environment, omp_get_thread_num(), omp_get_num_threads());
}

void ThreadPool::barrier() {
  // Not Threads: OpenMP may grant fewer than asked for.
  int64_t Team = omp_get_num_threads();
  if (Team == 1)
    return;
  uint64_t Phase = Meet->Phase.load(std::memory_order_acquire);
  if (Meet->Arrived.fetch_add(1, std::memory_order_acq_rel) == Team - 1) {
    Meet->Arrived.store(0, std::memory_order_relaxed);
    Meet->Phase.store(Phase + 1, std::memory_order_release);
    return;
  }
  for (int Polls = 0; Meet->Phase.load(std::memory_order_acquire) == Phase;) {
    if (++Polls < PollsBeforeYield)
      relax();
    else
      ::sched_yield();
  }
}

ThreadPool::Limit::Limit(const ThreadPool &Pool)
    : Before(omp_get_max_threads()) {
  omp_set_num_threads(static_cast<int>(Pool.Threads));
}

ThreadPool::Limit::~Limit() { omp_set_num_threads(Before); }
