//===- Latent.h - What latent attention computes ----------------*- C++ -*-===//
//
// Multi-head latent attention (MLA, DeepSeek-V2, 2024), in its expanded form.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_LATENT_H
#define TENON_COMPILER_EVALUATOR_LATENT_H

#include "compiler/Evaluator/Batch.h"
#include "compiler/Evaluator/KeyValueCache.h"

namespace tenon::evaluate {

/// Stores row t of `Latent` [T, rank] and of `Rotated` [T, rope_dim] side by
/// side at token t's sequence and position.
Status latentAppend(KeyValueCache &Cache, int64_t Layer,
                    const EvaluatorBatch &Batch, const Tensor2D &Latent,
                    const Tensor2D &Rotated);

struct LatentShape {
  int64_t Heads = 1;
  int64_t KeyDim = 1;
  int64_t ValueDim = 1;
  double Scale = 1;
};

/// Causal attention over what `Cache` holds in `Layer`, latent vectors c and
/// rotated keys r: softmax(scale * q . [K c, r]) * V c per head, with `Expand`
/// [heads * (key_dim + value_dim), rank] the K and V of each head one below
/// another. `Query` [T, heads * (key_dim + rope_dim)] to
/// [T, heads * value_dim]. An error when the cache lacks a query's own
/// position.
Result<Tensor2D> latentAttention(const Tensor2D &Query,
                                 const EvaluatorBatch &Batch,
                                 const KeyValueCache &Cache, int64_t Layer,
                                 const Tensor2D &Expand,
                                 const LatentShape &Shape);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_LATENT_H
