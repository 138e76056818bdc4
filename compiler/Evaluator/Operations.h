//===- Operations.h - What each transformer op computes ---------*- C++ -*-===//
//
// One plain function per op of the transformer dialect: the oracle that every
// other implementation is compared with. Loops in f32 with sums in double; no
// speed. Shapes are the caller's to check. T tokens, R wanted rows, S
// sequences; x is a row, . the element-wise product.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_OPERATIONS_H
#define TENON_COMPILER_EVALUATOR_OPERATIONS_H

#include "compiler/Evaluator/KeyValueCache.h"
#include "compiler/Evaluator/Tensor2D.h"
#include "dialects/Transformer/Transformer.h"

#include <optional>

/// The functions take weights as they are stored: a matrix [N, K] has N output
/// and K input features, a vector [1, N]. Null stands for an absent operand.
namespace tenon::evaluate {

/// relu max(0, x); gelu x/2 (1 + erf(x / sqrt 2)); gelu_tanh
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016);
/// silu x / (1 + e^-x).
float activate(transformer::Activation Act, float X);

//===----------------------------------------------------------------------===//
// Model ops
//===----------------------------------------------------------------------===//

/// Row t is row Indices[t] of `Table` [V, H]: [T, H]. An error when an index
/// lies outside of the table.
Result<Tensor2D> embedding(const Tensor2D &Table,
                           const std::vector<int64_t> &Indices);

/// Rotates the pairs (a, b) of the first `dim` elements of each of `Heads`
/// heads by angle = position * frequency:
/// (a cos - b sin, b cos + a sin). [T, heads * head_dim] to the same.
Tensor2D rope(const Tensor2D &Input, const std::vector<int64_t> &Positions,
              int64_t Heads, transformer::RopeAttr Rope);

/// (x - mean(x)) / sqrt(var(x) + eps) . weight + bias, biased variance.
Tensor2D layerNorm(const Tensor2D &Input, const Tensor2D &Weight,
                   const Tensor2D &Bias, double Eps);

/// x / sqrt(mean(x^2) + eps) . weight over each of `Groups` parts of the row.
Tensor2D rmsNorm(const Tensor2D &Input, const Tensor2D &Weight, double Eps,
                 int64_t Groups = 1);

/// x * weight^T + bias: [T, K] to [T, N].
Tensor2D linear(const Tensor2D &Input, const Tensor2D &Weight,
                const Tensor2D *Bias);

/// activation(x * up^T + up_bias) * down^T + down_bias.
Tensor2D feedForward(transformer::Activation Act, const Tensor2D &Input,
                     const Tensor2D &Up, const Tensor2D *UpBias,
                     const Tensor2D &Down, const Tensor2D *DownBias);

/// (activation(x * gate^T + gate_bias) . (x * up^T + up_bias)) * down^T +
/// down_bias.
Tensor2D gatedFeedForward(transformer::Activation Act, const Tensor2D &Input,
                          const Tensor2D &Gate, const Tensor2D *GateBias,
                          const Tensor2D &Up, const Tensor2D *UpBias,
                          const Tensor2D &Down, const Tensor2D *DownBias);

/// a + b.
Tensor2D residual(const Tensor2D &Left, const Tensor2D &Right);

/// Stores row t of `Keys` and `Values` [T, kv_heads * head_dim] at token t's
/// sequence and position.
Status cacheAppend(KeyValueCache &Cache, int64_t Layer,
                   const EvaluatorBatch &Batch, const Tensor2D &Keys,
                   const Tensor2D &Values);

/// Heads and mask of attention.
struct AttentionShape {
  int64_t Heads = 1;
  int64_t KvHeads = 1;
  double Scale = 1;
  transformer::MaskKind Mask = transformer::MaskKind::Causal;
  std::optional<int64_t> Window;

  /// Whether a query at position `Query` sees the key at `Key` of its
  /// sequence: all keys when bidirectional, those not after it when causal, of
  /// which only the last `Window`.
  bool sees(int64_t Query, int64_t Key) const;
};

/// softmax(scale * q . k) * v over the keys that a query sees; query head h
/// uses key-value head h / (heads / kv_heads). `Query` [T, heads * head_dim],
/// `Keys` and `Values` [T, kv_heads * head_dim], those of this step.
Tensor2D attention(const Tensor2D &Query, const EvaluatorBatch &Batch,
                   const Tensor2D &Keys, const Tensor2D &Values,
                   const AttentionShape &Shape);

/// The same over what `Cache` holds in `Layer`. An error when it lacks a
/// query's own position.
Result<Tensor2D> cachedAttention(const Tensor2D &Query,
                                 const EvaluatorBatch &Batch,
                                 const KeyValueCache &Cache, int64_t Layer,
                                 const AttentionShape &Shape);

/// The rows whose output is wanted: [T, H] to [R, H].
Tensor2D selectRows(const Tensor2D &Input, const EvaluatorBatch &Batch);

/// x[wanted] * weight^T + bias: [R, V].
Tensor2D lmHead(const Tensor2D &Input, const EvaluatorBatch &Batch,
                const Tensor2D &Weight, const Tensor2D *Bias);

/// The mean of a sequence's rows, its first or its last: [S, H]; with
/// `Normalize` x / max(|x|, 1e-12).
Tensor2D pool(transformer::PoolKind Kind, const Tensor2D &Input,
              const EvaluatorBatch &Batch, bool Normalize);

//===----------------------------------------------------------------------===//
// Fused ops
//===----------------------------------------------------------------------===//

/// activation(x * W^T + b) . multiplier + residual, with W the weights one
/// after another along their rows and b the biases (none, or one each).
Tensor2D product(const Tensor2D &Input,
                 std::span<const Tensor2D *const> Weights,
                 std::span<const Tensor2D *const> Biases,
                 transformer::Activation Act, const Tensor2D *Multiplier,
                 const Tensor2D *Residual);

/// activation(x * gate^T + gate_bias) . (x * up^T + up_bias).
Tensor2D gatedProduct(transformer::Activation Act, const Tensor2D &Input,
                      const Tensor2D &Gate, const Tensor2D *GateBias,
                      const Tensor2D &Up, const Tensor2D *UpBias);

struct AddNormResult {
  Tensor2D Sum;
  Tensor2D Normed;
};
/// sum = a + b, normed = norm(sum). `Bias` for layer norm only.
AddNormResult addNorm(transformer::NormKind Kind, const Tensor2D &Left,
                      const Tensor2D &Right, const Tensor2D &Weight,
                      const Tensor2D *Bias, double Eps);

/// How queries, keys and values are taken apart and prepared.
struct SplitShape {
  int64_t Heads = 1;
  int64_t KvHeads = 1;
  /// [1, head_dim] each, or null.
  const Tensor2D *QueryNorm = nullptr;
  const Tensor2D *KeyNorm = nullptr;
  double Eps = 0;
  /// Null for no rotation.
  transformer::RopeAttr Rope;
};

struct SplitParts {
  Tensor2D Query, Keys, Values;
};
/// Takes `Qkv` (one [T, (heads + 2 kv_heads) * head_dim], or three) apart,
/// normalises queries and keys per head, and rotates them.
SplitParts split(std::span<const Tensor2D *const> Qkv,
                 const EvaluatorBatch &Batch, const SplitShape &Shape);

/// split, then cacheAppend; answers the queries.
Result<Tensor2D> splitAppend(std::span<const Tensor2D *const> Qkv,
                             KeyValueCache &Cache, int64_t Layer,
                             const EvaluatorBatch &Batch,
                             const SplitShape &Shape);

struct SplitStageResult {
  Tensor2D Query;
  Tensor2D Staged;
};
/// split, then keys and values in the layout of cache pages: row c of `Staged`
/// holds tokens [64 c, 64 c + 64), keys [kv_heads][4][head_dim][16], then
/// values [kv_heads][64][head_dim rounded up to 16], zero where there is
/// nothing.
SplitStageResult splitStage(std::span<const Tensor2D *const> Qkv,
                            const EvaluatorBatch &Batch,
                            const SplitShape &Shape);

/// attention over staged keys and values, page by page. With m the largest
/// score so far, s the sum of e^(score - m) and o that of e^(score - m) v, a
/// page whose largest score is m' first scales s and o by
/// e^(m - max(m, m')); the result is o / s (Milakov and Gimelshein 2018).
Tensor2D onlineAttention(const Tensor2D &Query, const EvaluatorBatch &Batch,
                         const Tensor2D &Staged, const AttentionShape &Shape);

/// The same over what `Cache` holds in `Layer`, in pages of 64 positions.
Result<Tensor2D> cachedOnlineAttention(const Tensor2D &Query,
                                       const EvaluatorBatch &Batch,
                                       const KeyValueCache &Cache,
                                       int64_t Layer,
                                       const AttentionShape &Shape);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_OPERATIONS_H
