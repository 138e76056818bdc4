//===- Norms.h - What norms compute -----------------------------*- C++ -*-===//
//
// Layer norm (Ba et al. 2016) and RMS norm (Zhang and Sennrich 2019).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_NORMS_H
#define TENON_COMPILER_EVALUATOR_NORMS_H

#include "compiler/Evaluator/Tensor2D.h"
#include "dialects/Transformer/Transformer.h"

/// Rows have `Groups` equal parts, each normalised by itself. Weight and bias
/// are [1, width of a part], which all parts share, or [1, width of the row].
namespace tenon::evaluate {

/// (x - mean(x)) / sqrt(var(x) + eps) . weight + bias, biased variance.
Tensor2D layerNorm(const Tensor2D &Input, const Tensor2D &Weight,
                   const Tensor2D *Bias, double Eps, int64_t Groups = 1);

/// x / sqrt(mean(x^2) + eps) . (weight + offset).
Tensor2D rmsNorm(const Tensor2D &Input, const Tensor2D &Weight, double Eps,
                 int64_t Groups = 1, double Offset = 0);

struct AddNormResult {
  Tensor2D Sum;
  Tensor2D Normed;
};
/// sum = a + b, normed = norm(sum). `Bias` for layer norm only, `Offset` for
/// RMS norm only.
AddNormResult addNorm(transformer::NormKind Kind, const Tensor2D &Left,
                      const Tensor2D &Right, const Tensor2D &Weight,
                      const Tensor2D *Bias, double Eps, double Offset = 0);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_NORMS_H
