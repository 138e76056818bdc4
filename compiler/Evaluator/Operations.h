//===- Operations.h - What each operation computes ---------*- C++ -*-===//
//
// One plain function per op of the transformer dialect, which its twin in the
// dnn dialect shares: the oracle that every other implementation is compared
// with. Loops in f32 with sums in double; no
// speed. Shapes are the caller's to check. T tokens, R output rows, S
// sequences; x is a row, . the element-wise product.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_OPERATIONS_H
#define TENON_COMPILER_EVALUATOR_OPERATIONS_H

#include "compiler/Evaluator/Attention.h"
#include "compiler/Evaluator/Latent.h"
#include "compiler/Evaluator/Moe.h"
#include "compiler/Evaluator/Norms.h"
#include "compiler/Evaluator/Rope.h"

/// The functions take weights as they are stored: a matrix [N, K] has N output
/// and K input features, a vector [1, N]. Null stands for an absent operand.
namespace tenon::evaluate {

/// relu max(0, x); gelu x/2 (1 + erf(x / sqrt 2)); gelu_tanh
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016);
/// silu x / (1 + e^-x); quick_gelu x / (1 + e^(-1.702 x)); tanh; sigmoid
/// 1 / (1 + e^-x).
float activate(transformer::Activation Act, float X);

//===----------------------------------------------------------------------===//
// Model ops
//===----------------------------------------------------------------------===//

/// Row t is row Indices[t] + Offset of `Table` [V, H]: [T, H]. An error when
/// an index lies outside of the table.
Result<Tensor2D> embedding(const Tensor2D &Table,
                           const std::vector<int64_t> &Indices,
                           int64_t Offset = 0);

/// Pair i is sine and cosine of position * 10000^(-2i/Width): side by side when
/// interleaved (Vaswani et al. 2017), all sines before all cosines when half
/// (Marian). An odd width has one sine more. [T, Width].
Tensor2D sinusoid(const std::vector<int64_t> &Positions, int64_t Width,
                  transformer::RopeStyle Style);

/// Rows of tokens with the id `Token` become the batch's rows of input.
Tensor2D mergeFeatures(const Tensor2D &Input, const EvaluatorBatch &Batch,
                       int64_t Token);

/// Rows at position 0 become `Token` [1, H] (Dosovitskiy et al. 2021).
Tensor2D classToken(const Tensor2D &Input, const EvaluatorBatch &Batch,
                    const Tensor2D &Token);

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

/// activate, of every element.
Tensor2D activation(transformer::Activation Act, Tensor2D Input);

/// x * factor.
Tensor2D scale(Tensor2D Input, double Factor);

/// bound * tanh(x / bound).
Tensor2D softCap(Tensor2D Input, double Bound);

/// max(-bound, min(x, bound)).
Tensor2D clamp(Tensor2D Input, double Bound);

/// x[t] * sigmoid(gate[t]), `Gate` [T, 1].
Tensor2D sigmoidGate(const Tensor2D &Input, const Tensor2D &Gate);

/// Columns [First, First + Count).
Tensor2D slice(const Tensor2D &Input, int64_t First, int64_t Count);

/// The output rows: [T, H] to [R, H].
Tensor2D selectOutputRows(const Tensor2D &Input, const EvaluatorBatch &Batch);

/// x[output rows] * weight^T + bias: [R, V].
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
Tensor2D matmul(const Tensor2D &Input, std::span<const Tensor2D *const> Weights,
                std::span<const Tensor2D *const> Biases,
                transformer::Activation Act, const Tensor2D *Multiplier,
                const Tensor2D *Residual);

/// activation(x * gate^T + gate_bias) . (x * up^T + up_bias).
Tensor2D gatedMatmul(transformer::Activation Act, const Tensor2D &Input,
                     const Tensor2D &Gate, const Tensor2D *GateBias,
                     const Tensor2D &Up, const Tensor2D *UpBias);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_OPERATIONS_H
