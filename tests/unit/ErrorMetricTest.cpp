//===- ErrorMetricTest.cpp - What errors of weights cost ------------------===//

#include "BlocksTestSupport.h"

#include "runtime/Packing/ErrorMetric.h"
#include "runtime/Packing/Packer.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tenon;

namespace {

/// Two blocks of columns, the last of them not whole.
constexpr int64_t K = FeedbackColumns + 72;

/// So many rows of input say all that a metric asks for.
constexpr int64_t Plenty = 1 << 20;

/// Moments of inputs that share a few directions, and of unequal sizes.
std::vector<double> correlatedMoments() {
  constexpr int64_t Rows = 900, Shared = 20;
  std::vector<float> Directions = normalValues(Shared * K, 1);
  std::vector<float> Parts = normalValues(Rows * Shared, 2);
  std::vector<float> X = normalValues(Rows * K, 3);
  for (int64_t Row = 0; Row < Rows; ++Row)
    for (int64_t I = 0; I < K; ++I) {
      float &Each = X[static_cast<size_t>(Row * K + I)];
      Each *= 0.3f;
      for (int64_t S = 0; S < Shared; ++S)
        Each += Parts[static_cast<size_t>(Row * Shared + S)] *
                Directions[static_cast<size_t>(S * K + I)];
      Each *= 1 + static_cast<float>(I % 5);
    }
  std::vector<float> Sums(static_cast<size_t>(K * FeedbackColumns));
  addMoments(X, K, Sums);
  std::vector<double> Moments(Sums.begin(), Sums.end());
  for (double &Each : Moments)
    Each /= Rows;
  return Moments;
}

double momentOf(const std::vector<double> &Moments, int64_t I, int64_t J) {
  auto [Row, Column] = std::minmax(I, J);
  return Moments[static_cast<size_t>(Row * FeedbackColumns +
                                     Column % FeedbackColumns)];
}

/// e^T H e of values from `First` on, by the moments alone: those of
/// ofMoments() have a share of a block's mean on the diagonal, and a mean of 1
/// in all.
double squareOf(const std::vector<double> &Moments,
                const std::vector<float> &Values, int64_t First,
                double Damping = 0.01) {
  double Mean = 0, BlockMean = 0;
  for (int64_t I = 0; I < K; ++I)
    Mean += momentOf(Moments, I, I) / K;
  int64_t Begin = First / FeedbackColumns * FeedbackColumns;
  int64_t End = std::min(Begin + FeedbackColumns, K);
  for (int64_t I = Begin; I < End; ++I)
    BlockMean += momentOf(Moments, I, I) / static_cast<double>(End - Begin);
  double Sum = 0;
  for (size_t I = 0; I < Values.size(); ++I)
    for (size_t J = 0; J < Values.size(); ++J)
      Sum += (momentOf(Moments, First + static_cast<int64_t>(I),
                       First + static_cast<int64_t>(J)) +
              (I == J ? Damping * BlockMean : 0)) *
             Values[I] * Values[J];
  return Sum / Mean;
}

/// Few inputs add more to the diagonal, of the second, smaller block less.
TEST(ErrorMetricTest, KnowsTheSquareOfAnOutput) {
  std::vector<double> Moments = correlatedMoments();
  struct Case {
    int64_t Rows, First, Count;
    double Damping;
  };
  constexpr int64_t Rest = K - FeedbackColumns;
  for (Case C : {Case{Plenty, 0, FeedbackColumns, 0.01},
                 {Plenty, FeedbackColumns, Rest, 0.01},
                 {FeedbackColumns / 4, 0, FeedbackColumns, 2},
                 {FeedbackColumns / 4, FeedbackColumns, Rest,
                  2. * Rest / FeedbackColumns}}) {
    ErrorMetric Metric = ErrorMetric::ofMoments(Moments, C.Rows);
    std::vector<float> Values = normalValues(C.Count, 5);
    double Expected = squareOf(Moments, Values, C.First, C.Damping);
    EXPECT_NEAR(Metric.outputSquare(Values, C.First), Expected, 1e-4 * Expected)
        << C.Rows << " " << C.First;
  }
}

TEST(ErrorMetricTest, SquaresAloneAreWeights) {
  std::vector<double> Squares(static_cast<size_t>(K), 1);
  Squares[3] = 1 + 2. * K;
  ErrorMetric Metric = ErrorMetric::ofSquares(Squares);
  EXPECT_FALSE(Metric.hasFeedback());
  EXPECT_EQ(Metric.feedback(0), nullptr);
  EXPECT_FLOAT_EQ(Metric.importance(0)[2], 1. / 3);
  EXPECT_FLOAT_EQ(Metric.importance(3)[0], (1 + 2. * K) / 3);
  std::vector<float> Values = {3, 2};
  EXPECT_FLOAT_EQ(Metric.outputSquare(Values, 2), (9 + 4 * (1 + 2. * K)) / 3);
}

/// Whatever the errors of the first values, no other change of those behind
/// them leaves less of it.
TEST(ErrorMetricTest, LaterValuesMakeUpForErrors) {
  std::vector<double> Moments = correlatedMoments();
  ErrorMetric Metric = ErrorMetric::ofMoments(Moments, Plenty);
  constexpr int64_t First = FeedbackColumns, Count = K - FeedbackColumns;
  constexpr int64_t Given = 7;
  // Values that become 0 have themselves as errors; none is stored behind them.
  std::vector<float> Values(static_cast<size_t>(Count));
  std::vector<float> Errors = normalValues(Given, 8);
  std::vector<float> Total = Values;
  for (int64_t I = 0; I < Given; ++I) {
    auto At = static_cast<size_t>(I);
    // What this value had become before its own error.
    Total[At] = Errors[At] - Values[At];
    Values[At] = Errors[At];
    makeUpForErrors(std::span(Values).subspan(At), 1,
                    Metric.feedback(First + I) + I);
  }
  for (size_t I = Given; I < Total.size(); ++I)
    Total[I] = -Values[I];
  double Least = squareOf(Moments, Total, First);
  std::vector<float> Alone = Total;
  std::fill(Alone.begin() + Given, Alone.end(), 0.0f);
  EXPECT_LT(Least, 0.5 * squareOf(Moments, Alone, First));
  for (size_t I = Given; I < Total.size(); ++I)
    for (float Change : {0.01f, -0.01f}) {
      std::vector<float> Other = Total;
      Other[I] += Change;
      EXPECT_GT(squareOf(Moments, Other, First), Least) << I;
    }
}

/// Four errors at a time and one by one.
TEST(ErrorMetricTest, ErrorsAddUp) {
  ErrorMetric Metric = ErrorMetric::ofMoments(correlatedMoments(), Plenty);
  std::vector<float> Values = normalValues(100, 9);
  std::vector<float> Expected = Values;
  constexpr int64_t Count = 6, First = 40;
  const float *Feedback = Metric.feedback(First) + First;
  for (size_t J = Count; J < Values.size(); ++J)
    for (size_t I = 0; I < Count; ++I)
      Expected[J] -= Values[I] * Feedback[I * FeedbackColumns + J];
  makeUpForErrors(Values, Count, Feedback);
  for (size_t I = 0; I < Values.size(); ++I)
    EXPECT_NEAR(Values[I], Expected[I], 1e-5) << I;
}

/// Packs rows of K values and adds up what that has changed.
QuantisationError packed(StorageFormat Format, const std::vector<float> &X,
                         const ErrorMetric *Metric,
                         std::vector<std::byte> *Bytes = nullptr) {
  QuantisationError Error;
  Packer Pack({LayoutKind::Panels, Format}, static_cast<int64_t>(X.size()) / K,
              K, [&](std::span<const std::byte> Next) -> Status {
                if (Bytes)
                  Bytes->insert(Bytes->end(), Next.begin(), Next.end());
                return {};
              });
  Pack.measure(Error);
  EXPECT_TRUE(Pack.append(X, Metric));
  EXPECT_TRUE(Pack.finish());
  return Error;
}

TEST(ErrorMetricTest, OutputsOfQuantisedRowsAreNearer) {
  std::vector<double> Moments = correlatedMoments();
  std::vector<double> Squares;
  for (int64_t I = 0; I < K; ++I)
    Squares.push_back(momentOf(Moments, I, I));
  ErrorMetric Metric = ErrorMetric::ofMoments(Moments, Plenty);
  ErrorMetric Weights = ErrorMetric::ofSquares(Squares);
  constexpr int64_t Rows = 21;
  std::vector<float> X = normalValues(Rows * K, 6);
  for (const StorageFormatInfo &Info : StorageFormats) {
    if (!Info.isQuantised())
      continue;
    // Errors of outputs, measured by the moments themselves.
    auto Outputs = [&](const ErrorMetric *Used) {
      std::vector<std::byte> Bytes;
      packed(Info.Value, X, Used, &Bytes);
      double Sum = 0;
      for (int64_t Row = 0; Row < Rows; ++Row)
        for (int64_t First = 0; First < K; First += FeedbackColumns) {
          std::vector<float> Errors;
          for (int64_t I = First; I < std::min(First + FeedbackColumns, K); ++I)
            Errors.push_back(X[static_cast<size_t>(Row * K + I)] -
                             valueAt(Info.Value, Bytes.data(), Row, I));
          Sum += squareOf(Moments, Errors, First);
        }
      return Sum;
    };
    double With = Outputs(&Metric), Without = Outputs(&Weights);
    EXPECT_LT(With, 0.5 * Without) << Info.Name;
    QuantisationError Told = packed(Info.Value, X, &Metric);
    EXPECT_NEAR(Told.OutputError, With, 1e-3 * With) << Info.Name;
    EXPECT_LT(Told.OutputError / Told.OutputSquare, Told.Error / Told.Square)
        << Info.Name;
  }
}

/// Inputs that have nothing to do with each other have weights only.
TEST(ErrorMetricTest, IndependentInputsFeedNothingBack) {
  std::vector<double> Squares,
      Moments(static_cast<size_t>(K * FeedbackColumns));
  for (int64_t I = 0; I < K; ++I)
    Squares.push_back(Moments[static_cast<size_t>(I * FeedbackColumns +
                                                  I % FeedbackColumns)] =
                          1 + I % 7);
  std::vector<float> X = normalValues(5 * K, 7);
  ErrorMetric Metric = ErrorMetric::ofMoments(Moments, Plenty);
  ErrorMetric Weights = ErrorMetric::ofSquares(Squares);
  for (StorageFormat Format :
       {StorageFormat::IQ4_NL, StorageFormat::Q6_0, StorageFormat::Q4_K}) {
    std::vector<std::byte> A, B;
    packed(Format, X, &Metric, &A);
    packed(Format, X, &Weights, &B);
    EXPECT_EQ(A, B) << infoOf(Format).Name;
  }
}

/// Inputs that were zero in a whole block leave numbers finite.
TEST(ErrorMetricTest, BlocksWithoutInputsAreQuantised) {
  std::vector<double> Moments = correlatedMoments();
  std::fill(Moments.begin() + FeedbackColumns * FeedbackColumns, Moments.end(),
            0.0);
  ErrorMetric Metric = ErrorMetric::ofMoments(Moments, Plenty);
  std::vector<float> X = normalValues(3 * K, 10);
  std::vector<std::byte> Bytes;
  QuantisationError Error = packed(StorageFormat::IQ4_NL, X, &Metric, &Bytes);
  EXPECT_TRUE(std::isfinite(Error.OutputError));
  for (int64_t I = FeedbackColumns; I < K; ++I)
    EXPECT_NEAR(valueAt(StorageFormat::IQ4_NL, Bytes.data(), 1, I),
                X[static_cast<size_t>(K + I)], 0.5);
}

} // namespace
