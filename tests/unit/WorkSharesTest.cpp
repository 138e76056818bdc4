//===- WorkSharesTest.cpp - Loops whose items threads claim ---------------===//

#include "runtime/Engine/WorkShares.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

using namespace tenon::engine;

namespace {

/// Loops of many lengths, one after the other without a barrier, in which each
/// thread counts the items that it claims.
struct Loops {
  static constexpr int64_t Number = 400;
  static int64_t length(int64_t Loop) { return Loop * 7 % 41; }

  /// Goes through all loops; `Delay` is called with each item.
  template <typename Function>
  void run(WorkShares &Shares, int64_t Thread, int64_t Team, Function Delay) {
    for (int64_t Loop = 0; Loop < Number; ++Loop)
      for (;;) {
        tenon_rt_items Mine =
            Shares.claim(Thread, Team, length(Loop), /*Grain=*/1 + Loop % 3);
        if (Mine.count == 0)
          break;
        for (int64_t I = Mine.first; I < Mine.first + Mine.count; ++I) {
          ++Done[static_cast<size_t>(Loop)][static_cast<size_t>(I)];
          Delay();
        }
      }
  }

  std::vector<std::array<std::atomic<int>, 41>> Done{Number};
};

/// Runs `Team` threads of `Shares`; the first has nothing to wait for.
void runTeam(WorkShares &Shares, int64_t Team, Loops &All) {
  std::vector<std::thread> Others;
  for (int64_t Thread = 1; Thread < Team; ++Thread)
    Others.emplace_back([&, Thread] {
      All.run(Shares, Thread, Team, [] { std::this_thread::yield(); });
    });
  All.run(Shares, 0, Team, [] {});
  for (std::thread &Other : Others)
    Other.join();
  Shares.endRegion(Team);
}

} // namespace

TEST(WorkSharesTest, EveryItemIsClaimedOnce) {
  WorkShares Shares(11);
  // Larger and smaller teams take turns.
  for (int64_t Team : {11, 2, 1, 3, 11, 5}) {
    Loops All;
    runTeam(Shares, Team, All);
    for (int64_t Loop = 0; Loop < Loops::Number; ++Loop)
      for (int64_t I = 0; I < 41; ++I)
        ASSERT_EQ(All.Done[static_cast<size_t>(Loop)][static_cast<size_t>(I)],
                  I < Loops::length(Loop))
            << "item " << I << " of loop " << Loop << ", team of " << Team;
  }
}

TEST(WorkSharesTest, ClaimsAreHalvesOfWhatIsLeft) {
  WorkShares Shares(2);
  std::vector<int64_t> Counts;
  // Both shares by one thread: its own, then the other's.
  for (tenon_rt_items Mine; (Mine = Shares.claim(1, 2, 42, 3)).count != 0;)
    Counts.push_back(Mine.count);
  EXPECT_EQ(Counts, (std::vector<int64_t>{10, 5, 3, 3, 10, 5, 3, 3}));
}

TEST(WorkSharesTest, AThreadThatDoesNotComeIsNotWaitedFor) {
  WorkShares Shares(2);
  std::vector<int64_t> First;
  for (int64_t Loop = 0; Loop < 2; ++Loop) {
    First.clear();
    for (tenon_rt_items Mine; (Mine = Shares.claim(0, 2, 10, 2)).count != 0;)
      for (int64_t I = 0; I < Mine.count; ++I)
        First.push_back(Mine.first + I);
    if (Loop == 0) {
      // Its own from the front, the other's from the back.
      EXPECT_EQ(First, (std::vector<int64_t>{5, 6, 7, 8, 9, 3, 4, 1, 2, 0}));
    } else {
      // The other has left nothing behind, so that its next share is open too.
      EXPECT_EQ(First.size(), 10u);
    }
  }
  // It finds both loops done, and its share of the third.
  EXPECT_EQ(Shares.claim(1, 2, 10, 2).count, 0);
  EXPECT_EQ(Shares.claim(1, 2, 10, 2).count, 0);
  EXPECT_EQ(Shares.claim(1, 2, 10, 2).first, 0);
}

TEST(WorkSharesTest, AShareOfALoopToComeIsNotStolen) {
  WorkShares Shares(2);
  // Nothing is stolen of loops of one item each: the first thread leaves this
  // one before the other has come.
  EXPECT_EQ(Shares.claim(0, 2, 2, 1).count, 1);
  EXPECT_EQ(Shares.claim(0, 2, 2, 1).count, 0);
  // The other is still to do its item of it.
  EXPECT_EQ(Shares.claim(0, 2, 8, 8).count, 4);
  EXPECT_EQ(Shares.claim(0, 2, 8, 8).count, 0);
  EXPECT_EQ(Shares.claim(1, 2, 2, 1).first, 0);
  EXPECT_EQ(Shares.claim(1, 2, 2, 1).count, 0);
  EXPECT_EQ(Shares.claim(1, 2, 8, 8).first, 4);
  EXPECT_EQ(Shares.claim(1, 2, 8, 8).count, 0);
}

/// Items of a loop that `Thread` gets if nobody else comes.
static int64_t claimAll(WorkShares &Shares, int64_t Thread, int64_t Total) {
  int64_t Items = 0;
  for (tenon_rt_items Mine;
       (Mine = Shares.claim(Thread, 2, Total, 1)).count != 0;)
    Items += Mine.count;
  return Items;
}

TEST(WorkSharesTest, WhoHadNoShareIsHelpedInTheNextLoop) {
  WorkShares Shares(2);
  // The only item is the first thread's.
  EXPECT_EQ(Shares.claim(1, 2, 1, 1).count, 0);
  EXPECT_EQ(claimAll(Shares, 0, 1), 1);
  EXPECT_EQ(claimAll(Shares, 0, 8), 8);
  EXPECT_EQ(Shares.claim(1, 2, 8, 1).count, 0);
}

TEST(WorkSharesTest, LargerSharesTakeTurns) {
  WorkShares Shares(2);
  std::vector<int64_t> First, Second;
  for (int64_t Loop = 0; Loop < 4; ++Loop) {
    First.push_back(Shares.claim(0, 2, 3, 3).count);
    Second.push_back(Shares.claim(1, 2, 3, 3).count);
    EXPECT_EQ(Shares.claim(0, 2, 3, 3).count, 0);
    EXPECT_EQ(Shares.claim(1, 2, 3, 3).count, 0);
  }
  EXPECT_EQ(First, (std::vector<int64_t>{2, 1, 2, 1}));
  EXPECT_EQ(Second, (std::vector<int64_t>{1, 2, 1, 2}));
}

TEST(WorkSharesTest, WhoWasAbsentIsHelpedInTheNextRegion) {
  WorkShares Shares(2);
  EXPECT_EQ(Shares.claim(0, 1, 4, 4).count, 4);
  EXPECT_EQ(Shares.claim(0, 1, 4, 4).count, 0);
  Shares.endRegion(1);
  EXPECT_EQ(claimAll(Shares, 0, 8), 8);
  EXPECT_EQ(Shares.claim(1, 2, 8, 1).count, 0);
}
