//===- EvaluatorTestSupport.h - What tests of the oracle share --*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_COMPILER_EVALUATORTESTSUPPORT_H
#define TENON_TESTS_UNIT_COMPILER_EVALUATORTESTSUPPORT_H

#include "compiler/Builder/ModelBuilder.h"
#include "compiler/Evaluator/Operations.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

namespace tenon {

inline Tensor2D
matrix(std::initializer_list<std::initializer_list<float>> Rows) {
  Tensor2D Result(static_cast<int64_t>(Rows.size()),
                  static_cast<int64_t>(Rows.begin()->size()));
  Result.Data.clear();
  for (const auto &Row : Rows)
    Result.Data.insert(Result.Data.end(), Row);
  return Result;
}

/// Numbers between -1 and 1 without a pattern.
inline Tensor2D scattered(int64_t Rows, int64_t Columns, uint32_t Seed) {
  Tensor2D Result(Rows, Columns);
  for (float &X : Result.Data) {
    Seed = Seed * 1664525u + 1013904223u;
    X = static_cast<float>(Seed >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return Result;
}

/// The largest difference, relative to the largest magnitude of `Wanted`.
inline double difference(const float *Got, const float *Wanted, size_t Count) {
  double Largest = 0, Error = 0;
  for (size_t I = 0; I < Count; ++I) {
    Largest = std::max(Largest, std::abs(static_cast<double>(Wanted[I])));
    // So that a NaN fails.
    double Off = std::abs(static_cast<double>(Got[I]) - Wanted[I]);
    Error = Off <= Error ? Error : Off;
  }
  return Error / Largest;
}

inline void expectNear(const Tensor2D &Got, const Tensor2D &Wanted,
                       double Tolerance = 1e-6) {
  ASSERT_EQ(Got.Rows, Wanted.Rows);
  ASSERT_EQ(Got.Columns, Wanted.Columns);
  EXPECT_LE(difference(Got.Data.data(), Wanted.Data.data(), Got.Data.size()),
            Tolerance);
  if (testing::Test::HasFailure())
    for (size_t I = 0; I < std::min<size_t>(Got.Data.size(), 16); ++I)
      ADD_FAILURE() << I << ": " << Got.Data[I] << ", wanted "
                    << Wanted.Data[I];
}

/// Tokens 0, 1, ... of each length as sequences 0, 1, ...; all are wanted.
inline EvaluatorBatch batchOf(std::initializer_list<int64_t> Lengths) {
  EvaluatorBatch Batch;
  int64_t Sequence = 0;
  for (int64_t Length : Lengths) {
    std::vector<int64_t> Ids(static_cast<size_t>(Length));
    std::iota(Ids.begin(), Ids.end(), 0);
    Batch.add(Sequence++, Ids, 0, Length);
  }
  return Batch;
}

/// A context with the dialects of model graphs.
class EvaluatorOps : public testing::Test {
protected:
  EvaluatorOps() { loadModelDialects(Context); }

  transformer::RopeAttr
  rope(transformer::RopeStyle Style, int64_t Dim, double Base,
       transformer::RopeScaling Scaling = transformer::RopeScaling::Default,
       std::initializer_list<transformer::Real> Numbers = {}) {
    return transformer::RopeAttr::get(&Context, Style, Dim, Base, Scaling,
                                      Numbers);
  }

  mlir::MLIRContext Context;
};

} // namespace tenon

#endif // TENON_TESTS_UNIT_COMPILER_EVALUATORTESTSUPPORT_H
