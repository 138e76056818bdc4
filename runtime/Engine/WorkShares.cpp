//===- WorkShares.cpp - Loops whose items threads claim -------------------===//

#include "runtime/Engine/WorkShares.h"

#include <algorithm>

using namespace tenon::engine;

/// Shares that are looked into, one's own included. Each may be on its way
/// between two cores, about 100 ns: large teams do not ask everybody.
static constexpr int64_t SharesAsked = 8;

/// As a field of 24 bits, or the number of a loop.
static uint64_t bits(int64_t Number) {
  return static_cast<uint64_t>(Number) & MaxSharedItems;
}

/// How many items are claimed at once: half of what is left. A claim drains the
/// core's loads, which costs more than the claim itself where items stream
/// memory.
int64_t WorkShares::portion(Range Left, int64_t Grain) {
  int64_t First = Left.First, End = Left.End;
  return std::min(End - First, std::max((End - First) / 2, Grain));
}

WorkShares::Range WorkShares::shareOf(uint16_t Loop, int64_t Thread,
                                      int64_t Team, int64_t Total) {
  int64_t Place = (Thread + Loop) % Team;
  return {Loop, bits(Total * Place / Team), bits(Total * (Place + 1) / Team)};
}

tenon_rt_items WorkShares::claimOwn(int64_t Thread, int64_t Team, int64_t Total,
                                    int64_t Grain) {
  Share &Own = Shares[static_cast<size_t>(Thread)];
  Range Seen = Own.Left.load(std::memory_order_acquire);
  for (;;) {
    Range Left = Seen;
    auto Ahead = static_cast<int16_t>(Seen.Loop - Own.Loop);
    // Thieves are in a later loop already: this one has nothing left.
    if (Ahead > 0)
      return {};
    if (Ahead < 0)
      Left = shareOf(Own.Loop, Thread, Team, Total);
    int64_t First = Left.First;
    tenon_rt_items Mine = {First, portion(Left, Grain)};
    if (Ahead == 0 && Mine.count == 0)
      return Mine;
    // An empty share that has just begun is written too: it shows thieves of
    // the next loop that the thread has nothing left of this one.
    Left.First = bits(First + Mine.count);
    if (Own.Left.compare_exchange_weak(Seen, Left, std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      return Mine;
  }
}

tenon_rt_items WorkShares::steal(int64_t Victim, uint16_t Loop, int64_t Team,
                                 int64_t Total, int64_t Grain) {
  std::atomic<Range> &Word = Shares[static_cast<size_t>(Victim)].Left;
  Range Seen = Word.load(std::memory_order_acquire);
  for (;;) {
    Range Left = Seen;
    if (static_cast<uint16_t>(Seen.Loop + 1) == Loop && Seen.First == Seen.End)
      Left = shareOf(Loop, Victim, Team, Total); // Has not begun.
    else if (Seen.Loop != Loop)
      return {}; // Is busy with an earlier loop, or has left this one.
    int64_t End = Left.End;
    int64_t Count = portion(Left, Grain);
    if (Count == 0)
      return {};
    Left.End = bits(End - Count);
    if (Word.compare_exchange_weak(Seen, Left, std::memory_order_acq_rel,
                                   std::memory_order_acquire))
      return {End - Count, Count};
  }
}

tenon_rt_items WorkShares::claim(int64_t Thread, int64_t Team, int64_t Total,
                                 int64_t Grain) {
  tenon_rt_items Found = claimOwn(Thread, Team, Total, Grain);
  Share &Own = Shares[static_cast<size_t>(Thread)];
  // Whoever has but one item is in the middle of it.
  int64_t Asked = Total < 2 * Team ? 1 : std::min(Team, SharesAsked);
  for (int64_t I = 1; I < Asked && Found.count == 0; ++I)
    Found =
        steal((Thread + I * Team / Asked) % Team, Own.Loop, Team, Total, Grain);
  if (Found.count == 0)
    ++Own.Loop;
  return Found;
}

void WorkShares::endRegion(int64_t Team) {
  for (int64_t I = Team; I < Threads; ++I) {
    Share &Absent = Shares[static_cast<size_t>(I)];
    Absent.Loop = Shares[0].Loop;
    Range Nothing;
    Nothing.Loop = static_cast<uint16_t>(Absent.Loop - 1);
    Absent.Left.store(Nothing, std::memory_order_relaxed);
  }
}
