//===- TextBatchesTest.cpp - Which texts share a step ---------------------===//

#include "runtime/Engine/TextBatches.h"

#include "runtime/Abi/Types.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace tenon;
using namespace tenon::engine;

namespace {

struct Planned {
  size_t Batches = 0;
  int64_t Filled = 0, Tokens = 0;
};

/// Checks that all texts are there once, and that each has the result that it
/// has alone.
Planned check(const std::vector<int64_t> &Lengths, const BatchLimits &Limits) {
  Planned All;
  std::vector<int> Seen(Lengths.size());
  for (const std::vector<BatchItem> &Batch : planBatches(Lengths, Limits)) {
    ++All.Batches;
    int64_t Position = 0;
    EXPECT_FALSE(Batch.empty());
    for (const BatchItem &Item : Batch) {
      int64_t End = Position + Item.Tokens;
      if (Item.Text) {
        EXPECT_EQ(Item.Tokens, Lengths[*Item.Text]);
        ++Seen[*Item.Text];
        if (Position % PageTokens != 0) {
          EXPECT_EQ(Position % 2, 0);
          EXPECT_LE(End - Position / PageTokens * PageTokens, PageTokens);
        }
        All.Tokens += Item.Tokens;
      } else {
        EXPECT_GT(Item.Tokens, 0);
        EXPECT_LE(Item.Tokens, Limits.MostFiller);
        All.Filled += Item.Tokens;
      }
      Position = End;
    }
    EXPECT_LE(Position, Limits.MostTokens);
    EXPECT_TRUE(Batch.back().Text) << "filled for nothing";
  }
  EXPECT_EQ(std::count(Seen.begin(), Seen.end(), 1),
            static_cast<ptrdiff_t>(Seen.size()));
  return All;
}

TEST(TextBatches, EveryTextIsAsItIsAlone) {
  std::mt19937 Random(5);
  for (int Round = 0; Round < 400; ++Round) {
    BatchLimits Limits;
    Limits.MostTokens = 1 + static_cast<int64_t>(Random() % 600);
    Limits.MostFiller = static_cast<int64_t>(Random() % 80);
    int64_t Longest = 1 + static_cast<int64_t>(Random() % 600);
    std::vector<int64_t> Lengths(Random() % 200);
    for (int64_t &Length : Lengths)
      Length = static_cast<int64_t>(Random()) %
               (std::min(Longest, Limits.MostTokens) + 1);
    Planned All = check(Lengths, Limits);
    EXPECT_LE(All.Batches, Lengths.size());
    EXPECT_LE(All.Filled * 3, All.Tokens + 64) << Round;
  }
}

TEST(TextBatches, BatchesAreFull) {
  BatchLimits Limits{512, 512};
  // Pages of short texts, long ones with short ones behind them.
  EXPECT_EQ(check(std::vector<int64_t>(64, 32), Limits).Batches, 4u);
  EXPECT_EQ(check(std::vector<int64_t>(84, 10), Limits).Batches, 2u);
  std::vector<int64_t> Mixed(40, 24);
  Mixed.insert(Mixed.end(), 40, 104);
  Planned All = check(Mixed, Limits);
  EXPECT_EQ(All.Batches, 10u);
  EXPECT_EQ(All.Filled, 0);
  // Gaps that are too large for filling.
  EXPECT_EQ(check(std::vector<int64_t>(10, 70), Limits).Batches, 10u);
  EXPECT_EQ(check(std::vector<int64_t>(10, 70), Limits).Filled, 0);
  EXPECT_EQ(check(std::vector<int64_t>(8, 121), Limits).Batches, 2u);
  EXPECT_EQ(check({}, Limits).Batches, 0u);
}

} // namespace
