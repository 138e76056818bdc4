//===- TextBatchesTest.cpp - Which texts share a step ---------------------===//

#include "runtime/Engine/TextBatches.h"

#include "runtime/Abi/StagedPages.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace tenon;
using namespace tenon::engine;

namespace {

/// The tokens of each batch, where every text must be once.
std::vector<int64_t> fillsOf(const std::vector<int64_t> &Lengths,
                             int64_t MostTokens) {
  std::vector<int64_t> Fills;
  std::vector<int> Seen(Lengths.size());
  for (const std::vector<size_t> &Texts : planBatches(Lengths, MostTokens)) {
    EXPECT_FALSE(Texts.empty());
    int64_t &Fill = Fills.emplace_back();
    for (size_t Text : Texts) {
      ++Seen[Text];
      Fill += Lengths[Text];
    }
    EXPECT_LE(Fill, MostTokens);
  }
  EXPECT_EQ(std::count(Seen.begin(), Seen.end(), 1),
            static_cast<ptrdiff_t>(Seen.size()));
  return Fills;
}

TEST(TextBatches, NoTextFitsInAnEarlierBatch) {
  std::mt19937 Random(5);
  for (int Round = 0; Round < 400; ++Round) {
    int64_t Most = 1 + static_cast<int64_t>(Random() % 600);
    std::vector<int64_t> Lengths(Random() % 200);
    for (int64_t &Length : Lengths)
      Length = 1 + static_cast<int64_t>(Random()) % Most;
    std::vector<int64_t> Fills = fillsOf(Lengths, Most);
    int64_t Sum = std::accumulate(Lengths.begin(), Lengths.end(), int64_t{0});
    EXPECT_LE(static_cast<int64_t>(Fills.size()), 2 * Sum / Most + 1) << Round;
  }
}

TEST(TextBatches, BatchesAreFull) {
  std::vector<int64_t> Mixed(40, 24);
  Mixed.insert(Mixed.end(), 40, 104);
  EXPECT_EQ(fillsOf(Mixed, 512), std::vector<int64_t>(10, 512));
  EXPECT_EQ(fillsOf(std::vector<int64_t>(10, 70), 512).size(), 2u);
  EXPECT_EQ(fillsOf({}, 512).size(), 0u);
  EXPECT_EQ(planBatches(std::vector<int64_t>{7, 9, 9, 500}, 512),
            (std::vector<std::vector<size_t>>{{3, 1}, {2, 0}}));
}

/// Places these sequences in pages; how many pages there are.
int64_t place(const std::vector<int64_t> &Lengths) {
  StagedPages Staged;
  int64_t End = 0;
  for (int64_t Length : Lengths) {
    int64_t Begin = Staged.add(Length), Slot = Begin % PageTokens;
    EXPECT_GE(Begin, End);
    EXPECT_LT(Begin - End, PageTokens) << "no page is left empty";
    EXPECT_EQ(Begin % 2, 0);
    EXPECT_TRUE(Slot == 0 || Slot + Length <= PageTokens) << Slot;
    End = Begin + Length;
  }
  EXPECT_EQ(Staged.count(), (End + PageTokens - 1) / PageTokens);
  int64_t Tokens = std::accumulate(Lengths.begin(), Lengths.end(), int64_t{0});
  EXPECT_LE(Staged.count(), StagedPages::most(Tokens));
  return Staged.count();
}

TEST(StagedPages, SequencesLieAsTheyDoAlone) {
  EXPECT_EQ(place({64, 64}), 2);
  EXPECT_EQ(place({32, 30, 2, 1}), 2);
  EXPECT_EQ(place({33, 30}), 1);
  EXPECT_EQ(place({33, 31}), 2);
  EXPECT_EQ(place({65, 63, 62}), 4);
  // The emptiest pages.
  EXPECT_EQ(place(std::vector<int64_t>(512, 1)), StagedPages::most(511));
  std::mt19937 Random(7);
  const int64_t Cruel[] = {1, 1, 1, 2, 3, 33, 61, 62, 63, 65, 129};
  for (int Round = 0; Round < 4000; ++Round) {
    std::vector<int64_t> Lengths(Random() % 40);
    for (int64_t &Length : Lengths)
      Length = Round % 2 == 0 ? Cruel[Random() % std::size(Cruel)]
                              : 1 + static_cast<int64_t>(Random() % 200);
    place(Lengths);
  }
}

} // namespace
