//===- InputStatistics.cpp - What matrices are multiplied with ------------===//

#include "compiler/Packing/InputStatistics.h"

#include <algorithm>
#include <cassert>

using namespace tenon;

void InputStatistics::add(std::span<const std::string> Names, int64_t Matrices,
                          int64_t Matrix, const Tensor2D &Rows) {
  auto [Found, IsNew] =
      Groups.try_emplace(std::vector<std::string>(Names.begin(), Names.end()));
  Sums &S = Found->second;
  if (IsNew) {
    S.Columns = Rows.Columns;
    S.Rows.resize(static_cast<size_t>(Matrices));
    S.Squares.resize(static_cast<size_t>(Matrices * Rows.Columns));
    if (Matrices == 1)
      S.Moments.resize(static_cast<size_t>(Rows.Columns * FeedbackColumns));
    for (const std::string &Name : Names)
      Tensors[Name].push_back(&S);
  }
  assert(S.Columns == Rows.Columns && "a tensor has one number of columns");
  S.Rows[static_cast<size_t>(Matrix)] += Rows.Rows;
  double *Squares = S.Squares.data() + Matrix * S.Columns;
  for (int64_t Row = 0; Row < Rows.Rows; ++Row) {
    const float *X = Rows.row(Row);
    for (int64_t K = 0; K < S.Columns; ++K)
      Squares[K] += static_cast<double>(X[K]) * X[K];
  }
  if (!S.Moments.empty())
    addMoments(Rows.Data, S.Columns, S.Moments);
}

std::vector<double> InputStatistics::meanSquares(const std::string &Tensor,
                                                 int64_t Matrix) const {
  auto Found = Tensors.find(Tensor);
  if (Found == Tensors.end())
    return {};
  auto Columns = static_cast<size_t>(Found->second.front()->Columns);
  auto Matrices = static_cast<int64_t>(Found->second.front()->Rows.size());
  bool IsSeen = rowsOf(Found->second, Matrix) > 0;
  std::vector<double> Means(Columns);
  int64_t Total = 0;
  for (int64_t M = 0; M < Matrices; ++M) {
    if (IsSeen && M != Matrix)
      continue;
    Total += rowsOf(Found->second, M);
    for (const Sums *S : Found->second)
      for (size_t K = 0; K < Columns; ++K)
        Means[K] += S->Squares[static_cast<size_t>(M) * Columns + K];
  }
  for (double &Mean : Means)
    Mean /= static_cast<double>(Total);
  return Means;
}

std::vector<double>
InputStatistics::meanMoments(const std::string &Tensor) const {
  auto Found = Tensors.find(Tensor);
  if (Found == Tensors.end())
    return {};
  std::vector<double> Means(Found->second.front()->Moments.size());
  for (const Sums *S : Found->second)
    std::ranges::transform(Means, S->Moments, Means.begin(), std::plus());
  auto Total = static_cast<double>(rowsOf(Found->second, 0));
  for (double &Mean : Means)
    Mean /= Total;
  return Means;
}

int64_t InputStatistics::rowsOf(std::span<const Sums *const> All,
                                int64_t Matrix) {
  int64_t Rows = 0;
  for (const Sums *S : All)
    Rows += S->Rows[static_cast<size_t>(Matrix)];
  return Rows;
}

int64_t InputStatistics::rows(const std::string &Tensor, int64_t Matrix) const {
  auto Found = Tensors.find(Tensor);
  return Found == Tensors.end() ? 0 : rowsOf(Found->second, Matrix);
}

std::vector<int64_t> InputStatistics::unseen(const std::string &Tensor) const {
  std::vector<int64_t> Matrices;
  auto Found = Tensors.find(Tensor);
  if (Found == Tensors.end())
    return {};
  auto Count = static_cast<int64_t>(Found->second.front()->Rows.size());
  for (int64_t M = 0; M < Count; ++M)
    if (rowsOf(Found->second, M) == 0)
      Matrices.push_back(M);
  return Matrices;
}
