//===- Executor.cpp - The threads of sessions -----------------------------===//

#include "runtime/Engine/Executor.h"

#include <atomic>
#include <omp.h>
#include <sched.h>
#include <system_error>
#include <thread>

using namespace tenon;
using namespace tenon::engine;

/// Polls before a waiting thread offers its core to others: about 20 µs, far
/// longer than a balanced wait, far shorter than a scheduler's time slice.
static constexpr int PollsBeforeYield = 1000;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

struct Executor::State {
  explicit State(int64_t Threads) : Threads(Threads), Shares(Threads) {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    if (!Control.joinable())
      return;
    post(nullptr, nullptr);
    Control.join();
  }

  /// Hands `Work` to the control thread, null to end it. Answers the number of
  /// the piece of work.
  uint32_t post(void (*NewWork)(void *), void *NewArgument) {
    Work = NewWork;
    Argument = NewArgument;
    uint32_t Ticket = Posted.load(std::memory_order_relaxed) + 1;
    // Sequentially consistent: notify_one() looks for waiting threads, and must
    // not do so before the store is seen.
    Posted.store(Ticket);
    Posted.notify_one();
    return Ticket;
  }

  /// Runs `Work` in the turn that is on, which is the caller's, and ends it.
  void take(void (*NewWork)(void *), void *NewArgument) {
    uint32_t Ticket = post(NewWork, NewArgument);
    for (uint32_t Now; (Now = Done.load(std::memory_order_acquire)) != Ticket;)
      Done.wait(Now, std::memory_order_acquire);
    Turn.fetch_add(1);
    Turn.notify_all();
  }

  /// What the control thread does.
  void serve() {
    // Regions that oneDNN opens from this thread are as large as ours.
    omp_set_num_threads(static_cast<int>(Threads));
    for (uint32_t Seen = 0;;) {
      Posted.wait(Seen, std::memory_order_acquire);
      Seen = Posted.load(std::memory_order_acquire);
      if (!Work)
        return;
      Work(Argument);
      Done.store(Seen);
      Done.notify_one();
    }
  }

  const int64_t Threads;
  void (*Work)(void *) = nullptr;
  void *Argument = nullptr;
  /// Pieces of work handed over, and done; 32 bits, which the operating system
  /// waits on without a mutex.
  alignas(64) std::atomic<uint32_t> Posted{0};
  alignas(64) std::atomic<uint32_t> Done{0};
  /// Turns of callers: the next to be drawn, and the one that is on.
  alignas(64) std::atomic<uint32_t> NextTurn{0};
  alignas(64) std::atomic<uint32_t> Turn{0};
  /// Of barriers, on cache lines of their own: waiting threads read Phase all
  /// the time.
  alignas(64) std::atomic<int64_t> Arrived{0};
  alignas(64) std::atomic<uint64_t> Phase{0};
  WorkShares Shares;
  std::thread Control;
};

Executor::Executor(std::unique_ptr<State> Shared) : Shared(std::move(Shared)) {}
Executor::Executor(Executor &&) noexcept = default;
Executor &Executor::operator=(Executor &&) noexcept = default;
Executor::~Executor() = default;

Result<Executor> Executor::create(int64_t Threads) {
  if (Threads < 0 || Threads > MaxThreads)
    return Error("threads is " + std::to_string(Threads) +
                 ": expected 0 (one per core) to " +
                 std::to_string(MaxThreads));
  auto Shared =
      std::make_unique<State>(Threads == 0 ? omp_get_num_procs() : Threads);
  try {
    Shared->Control = std::thread([S = Shared.get()] { S->serve(); });
  } catch (const std::system_error &Failure) {
    return Error(ErrorKind::OutOfMemory,
                 std::string("cannot start a thread: ") + Failure.what());
  }
  return Executor(std::move(Shared));
}

int64_t Executor::threads() const { return Shared->Threads; }

void Executor::runErased(void (*Work)(void *), void *Argument) {
  uint32_t Mine = Shared->NextTurn.fetch_add(1);
  for (uint32_t Now; (Now = Shared->Turn.load()) != Mine;)
    Shared->Turn.wait(Now);
  Shared->take(Work, Argument);
}

bool Executor::tryRunErased(void (*Work)(void *), void *Argument) {
  // Equal where nobody is served.
  uint32_t Mine = Shared->Turn.load();
  if (!Shared->NextTurn.compare_exchange_strong(Mine, Mine + 1))
    return false;
  Shared->take(Work, Argument);
  return true;
}

void Executor::parallel(tenon_rt_body Body, void *Environment) {
  if (Shared->Threads == 1) {
    Body(Environment, 0, 1);
    return;
  }
  int64_t Team = 1;
#pragma omp parallel num_threads(static_cast<int>(Shared->Threads))
  {
    if (omp_get_thread_num() == 0)
      Team = omp_get_num_threads();
    Body(Environment, omp_get_thread_num(), omp_get_num_threads());
  }
  Shared->Shares.endRegion(Team);
}

tenon_rt_items Executor::claim(int64_t Thread, int64_t Team, int64_t Total,
                               int64_t Grain) {
  return Shared->Shares.claim(Thread, Team, Total, Grain);
}

void Executor::barrier() {
  // Not Threads: OpenMP may grant fewer than asked for.
  int64_t Team = omp_get_num_threads();
  if (Team == 1)
    return;
  std::atomic<uint64_t> &Current = Shared->Phase;
  uint64_t Phase = Current.load(std::memory_order_acquire);
  if (Shared->Arrived.fetch_add(1, std::memory_order_acq_rel) == Team - 1) {
    Shared->Arrived.store(0, std::memory_order_relaxed);
    Current.store(Phase + 1, std::memory_order_release);
    return;
  }
  for (int Polls = 0; Current.load(std::memory_order_acquire) == Phase;) {
    if (++Polls < PollsBeforeYield)
      relax();
    else
      ::sched_yield();
  }
}
