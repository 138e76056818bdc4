//===- Executor.cpp - The threads of sessions -----------------------------===//

#include "runtime/Engine/Executor.h"

#include "runtime/Support/Thread.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <omp.h>
#include <optional>
#include <sched.h>

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

  /// Hands `Work` to the control thread, null to end it.
  void post(void (*NewWork)(void *), void *NewArgument) {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Work = NewWork;
      Argument = NewArgument;
      IsPosted = true;
    }
    Posted.notify_one();
  }

  uint64_t drawTurn() {
    std::lock_guard<std::mutex> Guard(Lock);
    return NextTurn++;
  }

  /// Nothing where others are served or wait.
  std::optional<uint64_t> drawTurnIfIdle() {
    std::lock_guard<std::mutex> Guard(Lock);
    if (NextTurn != Turn)
      return std::nullopt;
    return NextTurn++;
  }

  /// Waits for the caller's turn, `Mine`, runs `Work` in it, and ends it.
  void take(uint64_t Mine, void (*NewWork)(void *), void *NewArgument) {
    std::unique_lock<std::mutex> Guard(Lock);
    TurnEnded.wait(Guard, [&] { return Turn == Mine; });
    Guard.unlock();
    post(NewWork, NewArgument);
    Guard.lock();
    Done.wait(Guard, [&] { return !IsPosted; });
    ++Turn;
    Guard.unlock();
    TurnEnded.notify_all();
  }

  /// What the control thread does.
  void serve() {
    // Regions that oneDNN opens from this thread are as large as ours.
    omp_set_num_threads(static_cast<int>(Threads));
    for (;;) {
      {
        std::unique_lock<std::mutex> Guard(Lock);
        Posted.wait(Guard, [&] { return IsPosted; });
      }
      if (!Work)
        return;
      Work(Argument);
      {
        std::lock_guard<std::mutex> Guard(Lock);
        IsPosted = false;
      }
      Done.notify_one();
    }
  }

  const int64_t Threads;
  // Condition variables, not std::atomic::wait(): callers sleep at once, where
  // that yields first and each yield takes a core from the team.
  std::mutex Lock;
  std::condition_variable Posted, Done, TurnEnded;
  /// The piece of work that the control thread has or gets; a null `Work` ends
  /// it.
  bool IsPosted = false;
  void (*Work)(void *) = nullptr;
  void *Argument = nullptr;
  /// Turns of callers: the next to be drawn, and the one that is on.
  uint64_t NextTurn = 0;
  uint64_t Turn = 0;
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
  Result<std::thread> Control = startThread([S = Shared.get()] { S->serve(); });
  if (!Control)
    return Control.error();
  Shared->Control = std::move(*Control);
  return Executor(std::move(Shared));
}

int64_t Executor::threads() const { return Shared->Threads; }

void Executor::runErased(void (*Work)(void *), void *Argument) {
  Shared->take(Shared->drawTurn(), Work, Argument);
}

bool Executor::tryRunErased(void (*Work)(void *), void *Argument) {
  std::optional<uint64_t> Mine = Shared->drawTurnIfIdle();
  if (Mine)
    Shared->take(*Mine, Work, Argument);
  return Mine.has_value();
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
