//===- InputStatistics.cpp - What matrices are multiplied with ------------===//

#include "compiler/Packing/InputStatistics.h"

#include <cassert>

using namespace tenon;

void InputStatistics::add(const std::string &Tensor, int64_t Matrices,
                          int64_t Matrix, const Tensor2D &Rows) {
  Sums &S = Tensors[Tensor];
  if (S.Rows.empty()) {
    S.Columns = Rows.Columns;
    S.Rows.resize(static_cast<size_t>(Matrices));
    S.Squares.resize(static_cast<size_t>(Matrices * Rows.Columns));
  }
  assert(S.Columns == Rows.Columns && "a tensor has one number of columns");
  S.Rows[static_cast<size_t>(Matrix)] += Rows.Rows;
  double *Squares = S.Squares.data() + Matrix * S.Columns;
  for (int64_t Row = 0; Row < Rows.Rows; ++Row) {
    const float *X = Rows.row(Row);
    for (int64_t K = 0; K < S.Columns; ++K)
      Squares[K] += static_cast<double>(X[K]) * X[K];
  }
}

std::vector<double> InputStatistics::meanSquares(const std::string &Tensor,
                                                 int64_t Matrix) const {
  auto Found = Tensors.find(Tensor);
  if (Found == Tensors.end())
    return {};
  const Sums &S = Found->second;
  std::vector<double> Means(static_cast<size_t>(S.Columns));
  auto Count = static_cast<int64_t>(S.Rows.size());
  bool IsSeen = S.Rows[static_cast<size_t>(Matrix)] > 0;
  int64_t Total = 0;
  for (int64_t M = 0; M < Count; ++M) {
    if (IsSeen && M != Matrix)
      continue;
    Total += S.Rows[static_cast<size_t>(M)];
    for (int64_t K = 0; K < S.Columns; ++K)
      Means[static_cast<size_t>(K)] +=
          S.Squares[static_cast<size_t>(M * S.Columns + K)];
  }
  for (double &Mean : Means)
    Mean /= static_cast<double>(Total);
  return Means;
}

std::vector<int64_t> InputStatistics::unseen(const std::string &Tensor) const {
  std::vector<int64_t> Matrices;
  auto Found = Tensors.find(Tensor);
  if (Found != Tensors.end())
    for (size_t M = 0; M < Found->second.Rows.size(); ++M)
      if (Found->second.Rows[M] == 0)
        Matrices.push_back(static_cast<int64_t>(M));
  return Matrices;
}
