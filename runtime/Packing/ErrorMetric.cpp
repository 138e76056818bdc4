//===- ErrorMetric.cpp - What errors of weights cost ----------------------===//
//
// With H = M D M^T, M unit upper triangular, e^T H e is the sum of D_k v_k^2
// for v = M^T e. In the order of columns, v_k is the error of value k if each
// value j > k was lowered by R_kj times v_k before, where I + R = inverse of M.
//
//===----------------------------------------------------------------------===//

#include "runtime/Packing/ErrorMetric.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tenon;

/// What is added to the diagonal of a block of `N` columns, as a share of its
/// mean, with moments of `Rows` inputs.
static double dampingOf(int64_t N, int64_t Rows) {
  constexpr double Least = 0.01; // GPTQ's.
  return std::max(Least,
                  static_cast<double>(N) / (2 * static_cast<double>(Rows)));
}

/// Mean squares divided by their mean.
static std::vector<float> importanceOf(std::span<const double> Squares) {
  double Sum = std::accumulate(Squares.begin(), Squares.end(), 0.0);
  assert(Sum > 0 && "inputs that are all zero say nothing");
  double Factor = static_cast<double>(Squares.size()) / Sum;
  std::vector<float> Importance;
  Importance.reserve(Squares.size());
  for (double Square : Squares)
    Importance.push_back(static_cast<float>(Square * Factor));
  return Importance;
}

/// Writes R and D of N x N moments, the upper triangle of `H`, which is
/// overwritten, to rows of FeedbackColumns numbers.
static void factorise(double *H, int64_t N, double Damping, float *Feedback) {
  auto Row = [&](int64_t I) { return H + I * FeedbackColumns; };
  double Mean = 0;
  for (int64_t I = 0; I < N; ++I)
    Mean += Row(I)[I] / static_cast<double>(N);
  // Inputs that were all zero: any errors will do.
  double Added = Mean > 0 ? Damping * Mean : 1;
  for (int64_t I = 0; I < N; ++I)
    Row(I)[I] += Added;
  // M and D in place, from the last column to the first.
  std::vector<double> Column(static_cast<size_t>(N));
  for (int64_t J = N - 1; J > 0; --J) {
    for (int64_t I = 0; I < J; ++I) {
      Column[static_cast<size_t>(I)] = Row(I)[J];
      Row(I)[J] /= Row(J)[J];
    }
    for (int64_t I = 0; I < J; ++I) {
      double Factor = Row(I)[J];
      double *Into = Row(I);
#pragma omp simd
      for (int64_t K = I; K < J; ++K)
        Into[K] -= Factor * Column[K];
    }
  }
  // Each row of the inverse of M, from its diagonal on.
  std::vector<double> Inverse(static_cast<size_t>(N));
  for (int64_t I = 0; I < N; ++I) {
    std::fill(Inverse.begin() + I, Inverse.end(), 0.0);
    Inverse[static_cast<size_t>(I)] = 1;
    for (int64_t J = I; J < N; ++J) {
      double Factor = Inverse[static_cast<size_t>(J)];
      const double *From = Row(J);
#pragma omp simd
      for (int64_t K = J + 1; K < N; ++K)
        Inverse[K] -= Factor * From[K];
    }
    float *Into = Feedback + I * FeedbackColumns;
    Into[I] = static_cast<float>(Row(I)[I]);
    for (int64_t J = I + 1; J < N; ++J)
      Into[J] = static_cast<float>(Inverse[static_cast<size_t>(J)]);
  }
}

ErrorMetric ErrorMetric::ofSquares(std::span<const double> Squares) {
  ErrorMetric Metric;
  Metric.Importance = importanceOf(Squares);
  return Metric;
}

ErrorMetric ErrorMetric::ofMoments(std::span<const double> Moments,
                                   int64_t Rows) {
  auto K = static_cast<int64_t>(Moments.size()) / FeedbackColumns;
  std::vector<double> Squares;
  for (int64_t I = 0; I < K; ++I)
    Squares.push_back(Moments[static_cast<size_t>(I * FeedbackColumns +
                                                  I % FeedbackColumns)]);
  ErrorMetric Metric = ofSquares(Squares);
  // Whole blocks, so that values that fill up a row have rows, too.
  Metric.Feedback.resize(static_cast<size_t>((K + FeedbackColumns - 1) /
                                             FeedbackColumns * FeedbackColumns *
                                             FeedbackColumns));
  double Sum = std::accumulate(Squares.begin(), Squares.end(), 0.0);
  double Factor = static_cast<double>(K) / Sum;
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t First = 0; First < K; First += FeedbackColumns) {
    int64_t N = std::min(FeedbackColumns, K - First);
    auto Block = Moments.subspan(static_cast<size_t>(First * FeedbackColumns),
                                 static_cast<size_t>(N * FeedbackColumns));
    std::vector<double> H(Block.size());
    std::ranges::transform(Block, H.begin(),
                           [&](double X) { return X * Factor; });
    factorise(H.data(), N, dampingOf(N, Rows),
              Metric.Feedback.data() + First * FeedbackColumns);
  }
  return Metric;
}

double ErrorMetric::outputSquare(std::span<float> Values, int64_t First) const {
  double Sum = 0;
  for (size_t I = 0; I < Values.size(); ++I) {
    int64_t Column = First + static_cast<int64_t>(I);
    double Square = static_cast<double>(Values[I]) * Values[I];
    if (!hasFeedback()) {
      Sum += Importance[static_cast<size_t>(Column)] * Square;
      continue;
    }
    const float *Row = feedback(Column) + Column % FeedbackColumns;
    Sum += *Row * Square;
    makeUpForErrors(Values.subspan(I), 1, Row);
  }
  return Sum;
}

/// addMoments() for the columns of a block, [First, First + Count).
static void addBlockMoments(std::span<const float> Rows, int64_t K,
                            int64_t First, int64_t Count, float *Sums) {
  // A call's rows add up by themselves: sums may be large already.
  std::vector<float> Products(static_cast<size_t>(Count * FeedbackColumns));
  const std::vector<float> Zeros(static_cast<size_t>(Count));
  auto RowCount = static_cast<int64_t>(Rows.size()) / K;
  constexpr int64_t Together = 4;
  for (int64_t Row = 0; Row < RowCount; Row += Together) {
    const float *X[Together];
    for (int64_t I = 0; I < Together; ++I)
      X[I] = Row + I < RowCount ? Rows.data() + (Row + I) * K + First
                                : Zeros.data();
    for (int64_t I = 0; I < Count; ++I) {
      float *Into = Products.data() + I * FeedbackColumns;
      float A = X[0][I], B = X[1][I], C = X[2][I], D = X[3][I];
#pragma omp simd
      for (int64_t J = I; J < Count; ++J)
        Into[J] += (A * X[0][J] + B * X[1][J]) + (C * X[2][J] + D * X[3][J]);
    }
  }
  for (size_t I = 0; I < Products.size(); ++I)
    Sums[I] += Products[I];
}

void tenon::addMoments(std::span<const float> Rows, int64_t K,
                       std::span<float> Sums) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t First = 0; First < K; First += FeedbackColumns)
    addBlockMoments(Rows, K, First, std::min(FeedbackColumns, K - First),
                    Sums.data() + First * FeedbackColumns);
}

void tenon::makeUpForErrors(std::span<float> Values, int64_t Count,
                            const float *Feedback) {
  auto End = static_cast<int64_t>(Values.size());
  int64_t I = 0;
  // Four errors at a time: values are loaded and stored once for them.
  for (; I + 4 <= Count; I += 4) {
    const float *Row = Feedback + I * FeedbackColumns;
    float A = Values[I], B = Values[I + 1], C = Values[I + 2],
          D = Values[I + 3];
#pragma omp simd
    for (int64_t J = Count; J < End; ++J)
      Values[J] -=
          (A * Row[J] + B * Row[FeedbackColumns + J]) +
          (C * Row[2 * FeedbackColumns + J] + D * Row[3 * FeedbackColumns + J]);
  }
  for (; I < Count; ++I) {
    const float *Row = Feedback + I * FeedbackColumns;
    float Error = Values[I];
#pragma omp simd
    for (int64_t J = Count; J < End; ++J)
      Values[J] -= Error * Row[J];
  }
}
