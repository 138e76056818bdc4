//===- EvaluationTest.cpp - The arithmetic of tenon evaluate --------------===//

#include "runtime/Tool/Evaluation.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tenon;
using namespace tenon::tool;

static constexpr float Inf = std::numeric_limits<float>::infinity();

static LogProbabilities rowOf(const std::vector<float> &Logits) {
  Result<LogProbabilities> Row = LogProbabilities::of(Logits);
  EXPECT_TRUE(Row);
  return *Row;
}

TEST(EvaluationTest, LogProbabilities) {
  std::vector<float> Logits = {0, std::log(3.0f), 0};
  LogProbabilities Row = rowOf(Logits);
  EXPECT_EQ(Row.likeliest(), 1u);
  EXPECT_NEAR(Row[0], std::log(0.2), 1e-7);
  EXPECT_NEAR(Row[1], std::log(0.6), 1e-7);
  // Neither large nor small logits overflow, and of equal ones the first is
  // the likeliest.
  for (float Offset : {3e38f, -3e38f}) {
    std::vector<float> Far(4, Offset);
    LogProbabilities Same = rowOf(Far);
    EXPECT_EQ(Same.likeliest(), 0u);
    EXPECT_EQ(Same.size(), 4u);
  }
  std::vector<float> Equal(1000, 500.0f);
  EXPECT_NEAR(rowOf(Equal)[999], -std::log(1000.0), 1e-12);
  std::vector<float> Excluded = {-Inf, 2};
  EXPECT_EQ(rowOf(Excluded)[0], -Inf);
  EXPECT_EQ(rowOf(Excluded)[1], 0);
}

TEST(EvaluationTest, UnusableLogits) {
  auto MessageOf = [](const std::vector<float> &Logits) {
    Result<LogProbabilities> Row = LogProbabilities::of(Logits);
    return Row ? "" : Row.error().message();
  };
  EXPECT_EQ(MessageOf({1, std::nanf("")}),
            "logit of token 1 is NaN: the model's output is unusable");
  EXPECT_EQ(MessageOf({Inf, 1}),
            "logit of token 0 is infinite: the model's output is unusable");
  EXPECT_EQ(MessageOf({-Inf}),
            "every logit is -infinity: the model's output is unusable");
  EXPECT_EQ(MessageOf({}), "sampling from 0 logits: expected 1 to 2^31-1");
}

TEST(EvaluationTest, Divergence) {
  std::vector<float> Even = {0, 0}, Odd = {0, std::log(3.0f)},
                     First = {0, -Inf};
  double Expected = 0.5 * std::log(0.5 / 0.25) + 0.5 * std::log(0.5 / 0.75);
  EXPECT_NEAR(divergence(rowOf(Even), rowOf(Odd)), Expected, 1e-7);
  EXPECT_NEAR(divergence(rowOf(First), rowOf(Even)), std::log(2), 1e-12);
  EXPECT_EQ(divergence(rowOf(Even), rowOf(First)), Inf);
  EXPECT_EQ(divergence(rowOf(First), rowOf(First)), 0);
  std::vector<float> Many;
  for (int I = 0; I < 5000; ++I)
    Many.push_back(static_cast<float>((I * 37) % 101) / 7);
  EXPECT_EQ(divergence(rowOf(Many), rowOf(Many)), 0);
}

TEST(EvaluationTest, Percentiles) {
  // As numpy.percentile.
  EXPECT_EQ(percentile({4}, 0.99), 4);
  EXPECT_NEAR(percentile({3, 1, 2}, 0.5), 2, 1e-12);
  EXPECT_NEAR(percentile({10, 0}, 0.99), 9.9, 1e-12);
  EXPECT_NEAR(percentile({1, 5, 2, 8, 3}, 0.6), 3.8, 1e-12);
  EXPECT_EQ(percentile({1, 5, 2, 8, 3}, 1), 8);
  double Inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(percentile({Inf, 1, Inf}, 0.9), Inf);
  EXPECT_EQ(percentile({Inf, 1}, 0), 1);
}

TEST(EvaluationTest, CutsTextsIntoWindows) {
  struct {
    int64_t Length, Context, Given, Count, Tokens, FirstScored, Unused, Scored;
  } Cases[] = {{150, 64, 1, 2, 64, 33, 22, 62}, {150, 37, 1, 4, 37, 19, 2, 72},
               {9, 3, 1, 3, 3, 2, 0, 3},        {64, 64, 1, 1, 64, 33, 0, 31},
               {63, 64, 1, 1, 63, 1, 0, 62},    {2, 3, 1, 1, 2, 1, 0, 1},
               {9, 4, 3, 2, 4, 3, 1, 2},        {3, 4, 2, 1, 3, 2, 0, 1},
               {1, 4, 1, 1, 1, 1, 0, 0},        {9, 3, 3, 3, 3, 3, 0, 0}};
  for (const auto &C : Cases) {
    Windows Cut = windowsOf(C.Length, C.Context, C.Given);
    SCOPED_TRACE(std::to_string(C.Length) + " in " + std::to_string(C.Context));
    EXPECT_EQ(Cut.Count, C.Count);
    EXPECT_EQ(Cut.Tokens, C.Tokens);
    EXPECT_EQ(Cut.FirstScored, C.FirstScored);
    EXPECT_EQ(Cut.Unused, C.Unused);
    EXPECT_EQ(Cut.scored(), C.Scored);
  }
}
