//===- WorkShares.h - Loops whose items threads claim -----------*- C++ -*-===//
//
// A loop over items begins with an equal share of neighbouring items for each
// thread, which goes through it from the front. Where shares differ, by an
// item, the larger ones go to other threads in the next loop. Who has nothing
// left steals from the back of others' shares: a thread that loses its core to
// another process, or has a slower core, does fewer items, and nobody waits for
// it longer than for one claim. Without such a loss nothing is stolen, and each
// thread reads one stretch of memory (static stealing, as OpenMP runtimes call
// it).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_WORKSHARES_H
#define TENON_RUNTIME_ENGINE_WORKSHARES_H

#include "runtime/Abi/TenonRt.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace tenon::engine {

/// Items that a loop has at most.
inline constexpr int64_t MaxSharedItems = (1 << 24) - 1;

/// The shares of the loop that a team of threads is in. Every thread of the
/// team goes through the same loops in the same order, each until claim()
/// answers that nothing is left. Loops may follow each other without a barrier.
class WorkShares {
public:
  /// For teams of at most `Threads`.
  explicit WorkShares(int64_t Threads)
      : Threads(Threads),
        Shares(std::make_unique<Share[]>(static_cast<size_t>(Threads))) {}

  /// The next items of [0, Total), Total at most MaxSharedItems, for `Thread`
  /// of a team of `Team`: half of what its share still has, but `Grain` at
  /// least, which is 1 or more. None: the loop has ended for this thread, and
  /// its next call begins the next loop.
  tenon_rt_items claim(int64_t Thread, int64_t Team, int64_t Total,
                       int64_t Grain);

  /// A team of `Team` threads has run. The next one may be larger.
  void endRegion(int64_t Team);

private:
  /// What a thread has not claimed yet of a loop, as one word: the loop's
  /// number, the first item, and what is behind the last one.
  struct Range {
    uint64_t Loop : 16 = 0;
    uint64_t First : 24 = 0;
    uint64_t End : 24 = 0;
  };
  static_assert(std::atomic<Range>::is_always_lock_free);
  /// On a cache line of its own: without thieves its thread alone writes it.
  struct alignas(64) Share {
    std::atomic<Range> Left{Range()};
    /// The loop that the thread is in. Only it reads this.
    uint16_t Loop = 1;
  };

  static int64_t portion(Range Left, int64_t Grain);
  static Range shareOf(uint16_t Loop, int64_t Thread, int64_t Team,
                       int64_t Total);
  tenon_rt_items claimOwn(int64_t Thread, int64_t Team, int64_t Total,
                          int64_t Grain);
  tenon_rt_items steal(int64_t Victim, uint16_t Loop, int64_t Team,
                       int64_t Total, int64_t Grain);

  int64_t Threads;
  std::unique_ptr<Share[]> Shares;
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_WORKSHARES_H
