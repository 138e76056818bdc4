//===- Moe.h - What mixtures of experts compute -----------------*- C++ -*-===//
//
// Sparsely gated experts (Shazeer et al. 2017); groups of experts and their
// correction (DeepSeek-V2 and V3, 2024).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_MOE_H
#define TENON_COMPILER_EVALUATOR_MOE_H

#include "compiler/Evaluator/Tensor2D.h"
#include "dialects/Transformer/Transformer.h"
#include "runtime/Support/Result.h"

#include <optional>
#include <span>

namespace tenon::evaluate {

/// The experts that one token goes through and what they weigh.
struct Choice {
  std::vector<int64_t> Experts;
  std::vector<double> Weights;
};

/// Chooses among as many experts as there are logits. Scores are the softmax or
/// the sigmoid of the logits; those plus `Correction` (or null) rank experts
/// and, by their best expert or the sum of their best two, groups. The chosen
/// weigh scale * score, or scale * score / sum of chosen scores; the sum of
/// sigmoids has 1e-20 added. Of equals the first is taken.
Choice route(std::span<const float> Logits, const Tensor2D *Correction,
             transformer::RouterAttr Router);

/// The stored matrices of E experts one below another: gate and up [E * I, H],
/// down [E * H, I]; biases [E, I] and [E, H], or null.
struct Experts {
  const Tensor2D *Gate = nullptr;
  const Tensor2D *Up = nullptr;
  const Tensor2D *Down = nullptr;
  const Tensor2D *GateBias = nullptr;
  const Tensor2D *UpBias = nullptr;
  const Tensor2D *DownBias = nullptr;
  /// Gates are kept below it, up between it and its negative.
  std::optional<double> Limit;
  /// Added to up, after the limit.
  double UpOffset = 0;
};

/// sum over chosen e of weight_e *
///   ((activation(min(g, limit)) . (clamp(u, limit) + up_offset)) * down_e^T
///    + down_bias_e)
/// with g = x * gate_e^T + gate_bias_e and u likewise. `Logits` [T, E].
Tensor2D moe(transformer::Activation Act, const Tensor2D &Input,
             const Tensor2D &Logits, const Tensor2D *Correction,
             const Experts &Stored, transformer::RouterAttr Router);

//===----------------------------------------------------------------------===//
// Step by step, as placed
//===----------------------------------------------------------------------===//

/// Choice j of token t, of k, has the number t k + j; what has a row per choice
/// is [T, k * width].
struct MoeRoutes {
  Tensor2D Choices; ///< [T, k] numbers of experts.
  Tensor2D Weights; ///< [T, k]
};
/// route, of every token.
MoeRoutes moeRoute(const Tensor2D &Logits, const Tensor2D *Correction,
                   transformer::RouterAttr Router);

/// Choices expert by expert, those of one expert ascending.
struct MoeGroups {
  Tensor2D Order;   ///< [T, k] numbers of choices.
  Tensor2D Offsets; ///< [1, E + 1] where those of each expert begin.
};
/// An error when a choice is not below `Experts`.
Result<MoeGroups> moeGroup(const Tensor2D &Choices, int64_t Experts);

/// activation(min(g, limit)) . (clamp(u, limit) + up_offset) of each choice's
/// expert and token: `Input` [T, H] to [T, k * I]. An error when `Groups` are
/// not those of T k choices.
Result<Tensor2D> moeGateUp(transformer::Activation Act, const Tensor2D &Input,
                           const MoeGroups &Groups, const Experts &Stored);

/// x * down_e^T + down_bias_e of each choice: [T, k * I] to [T, k * H].
Result<Tensor2D> moeDown(const Tensor2D &Input, const MoeGroups &Groups,
                         const Experts &Stored);

/// The sum of a token's choices, weighted: [T, k * H] to [T, H].
Tensor2D moeCombine(const Tensor2D &Input, const Tensor2D &Weights);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_MOE_H
