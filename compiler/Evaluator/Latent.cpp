//===- Latent.cpp - What latent attention computes ------------------------===//

#include "compiler/Evaluator/Latent.h"

#include "compiler/Evaluator/Operations.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::evaluate;

Status evaluate::latentAppend(KeyValueCache &Cache, int64_t Layer,
                              const EvaluatorBatch &Batch,
                              const Tensor2D &Latent, const Tensor2D &Rotated) {
  for (int64_t T = 0; T < Latent.Rows; ++T) {
    std::vector<float> Both(Latent.row(T), Latent.row(T) + Latent.Columns);
    Both.insert(Both.end(), Rotated.row(T), Rotated.row(T) + Rotated.Columns);
    if (Status S = Cache.store(Layer, Batch.Sequences[T], Batch.Positions[T],
                               Both.data(), nullptr);
        !S)
      return S;
  }
  return {};
}

/// Keys and values of all heads of the first `Length` positions of a sequence,
/// [Length, heads * (key_dim + value_dim)].
static Tensor2D expanded(const KeyValueCache &Cache, int64_t Layer,
                         int64_t Sequence, int64_t Length,
                         const Tensor2D &Expand) {
  Tensor2D Latent(Length, Expand.Columns);
  for (int64_t P = 0; P < Length; ++P)
    std::copy_n(Cache.key(Layer, Sequence, P), Latent.Columns, Latent.row(P));
  return linear(Latent, Expand, nullptr);
}

Result<Tensor2D>
evaluate::latentAttention(const Tensor2D &Query, const EvaluatorBatch &Batch,
                          const KeyValueCache &Cache, int64_t Layer,
                          const Tensor2D &Expand, const LatentShape &Shape) {
  if (Status S = checkStored(Batch, Cache, Layer); !S)
    return S.error();
  Tensor2D Result(Query.Rows, Shape.Heads * Shape.ValueDim);
  int64_t QueryDim = Query.Columns / Shape.Heads;
  int64_t HeadRows = Shape.KeyDim + Shape.ValueDim;
  Tensor2D KeysAndValues;
  for (int64_t T = 0; T < Query.Rows; ++T) {
    int64_t Sequence = Batch.Sequences[T];
    if (T == 0 || Sequence != Batch.Sequences[T - 1])
      KeysAndValues = expanded(Cache, Layer, Sequence,
                               Cache.length(Layer, Sequence), Expand);
    int64_t Seen = Batch.Positions[T] + 1;
    for (int64_t H = 0; H < Shape.Heads; ++H) {
      const float *Q = Query.row(T) + H * QueryDim;
      std::vector<double> Weights;
      for (int64_t P = 0; P < Seen; ++P) {
        const float *Key = KeysAndValues.row(P) + H * HeadRows;
        const float *Rotated = Cache.key(Layer, Sequence, P) + Expand.Columns;
        double Score = 0;
        for (int64_t D = 0; D < Shape.KeyDim; ++D)
          Score += static_cast<double>(Q[D]) * Key[D];
        for (int64_t D = Shape.KeyDim; D < QueryDim; ++D)
          Score += static_cast<double>(Q[D]) * Rotated[D - Shape.KeyDim];
        Weights.push_back(Shape.Scale * Score);
      }
      double Maximum = *std::max_element(Weights.begin(), Weights.end());
      double Sum = 0;
      for (double &Weight : Weights)
        Sum += Weight = std::exp(Weight - Maximum);
      for (int64_t D = 0; D < Shape.ValueDim; ++D) {
        double Value = 0;
        for (int64_t P = 0; P < Seen; ++P)
          Value +=
              Weights[P] * KeysAndValues.at(P, H * HeadRows + Shape.KeyDim + D);
        Result.at(T, H * Shape.ValueDim + D) = static_cast<float>(Value / Sum);
      }
    }
  }
  return Result;
}
