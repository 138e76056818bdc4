//===- Blocks.h - The blocks that model families share ----------*- C++ -*-===//
//
// Norms, attention, feed-forwards, MoE layers and whole layers from option
// structs: what two families have in common is written here once. Keys are
// relative to the scope that a block is built in.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BUILDER_BLOCKS_H
#define TENON_COMPILER_BUILDER_BLOCKS_H

#include "compiler/Builder/ModelBuilder.h"

namespace tenon {

/// A norm over rows; none when `Key` is empty.
struct NormOptions {
  transformer::NormKind Kind = transformer::NormKind::Rms;
  double Eps = 1e-6;
  /// The module: its tensors are `Key`.weight and, in a layer norm with one,
  /// `Key`.bias.
  std::string Key = {};
  /// Of a layer norm.
  bool Bias = true;
  /// Added to the weight of an RMS norm.
  double Offset = 0;
  /// Older checkpoints call these gamma and beta.
  std::string WeightName = "weight";
  std::string BiasName = "bias";

  /// The same kind of norm under another key.
  NormOptions of(std::string Other) const {
    NormOptions Norm = *this;
    Norm.Key = std::move(Other);
    return Norm;
  }
};

/// A linear layer: `Key`.weight and `Key`.bias, or the parts of these that
/// `View` and `BiasView` say (see TensorView.h). None when `Key` is empty.
struct LinearOptions {
  std::string Key;
  bool Bias = false;
  std::string View = {};
  std::string BiasView = {};
};

/// A norm of queries or keys between their projection and attention.
struct HeadNormOptions {
  enum class Extent {
    /// Each head by itself, all with the same weight.
    Head,
    /// Each head by itself, with weights of its own.
    OwnHead,
    /// All heads together.
    Row
  };
  transformer::NormKind Kind = transformer::NormKind::Rms;
  Extent Over = Extent::Head;
  double Eps = 1e-6;
  /// Whole keys; a layer norm may have a bias.
  std::string Weight = {}, Bias = {};
  double Offset = 0;
};

/// Attention with its projections.
struct AttentionOptions {
  int64_t Heads = 0;
  int64_t KvHeads = 0;
  int64_t HeadDim = 0;
  transformer::MaskKind Mask = transformer::MaskKind::Causal;
  /// Keys so many positions away, or more, are not seen.
  std::optional<int64_t> Window;
  /// Rotates queries and keys; null for none.
  transformer::RopeAttr Rope;
  transformer::AlibiAttr Alibi;
  /// Buckets of a learned bias in the scope of biases (Frame), whole key
  /// `Bias`, and what they are; null for none.
  transformer::BucketsAttr Buckets;
  std::string Bias;
  /// By default 1 / sqrt(HeadDim).
  std::optional<double> Scale;
  std::optional<double> SoftCap;
  /// Whole key of a sink per head; empty for none.
  std::string Sinks;
  /// Queries, keys and values are kept within this bound.
  std::optional<double> Clamp;
  std::optional<HeadNormOptions> QueryNorm, KeyNorm;
  LinearOptions Query, Key, Value, Output;
};

/// Multi-head latent attention (DeepSeek-V2).
struct LatentAttentionOptions {
  int64_t Heads = 0;
  /// Of a head's key: what comes out of the latent vector, and what rotates.
  int64_t KeyDim = 0;
  int64_t RopeDim = 0;
  int64_t ValueDim = 0;
  int64_t Rank = 0;
  double Scale = 1;
  transformer::RopeAttr Rope;
  /// Queries by one matmul, or by way of QueryRank values and a norm.
  LinearOptions Query;
  std::optional<int64_t> QueryRank;
  LinearOptions QueryDown;
  NormOptions QueryNorm;
  /// Rank values and RopeDim of the rotated key, the norm of the former.
  LinearOptions Down;
  NormOptions LatentNorm;
  /// Whole key of the expansion to keys and values.
  std::string Expand;
  LinearOptions Output;
};

/// A feed-forward, gated when `Gate` has a key.
struct FeedForwardOptions {
  transformer::Activation Act = transformer::Activation::Silu;
  int64_t Inner = 0;
  LinearOptions Gate, Up, Down;
};

/// A mixture of experts and what goes with it.
struct MoeOptions {
  transformer::Activation Act = transformer::Activation::Silu;
  transformer::RouterAttr Router;
  int64_t Experts = 0;
  int64_t Inner = 0;
  LinearOptions Routing;
  /// Whole keys; empty where there is none.
  std::string Correction;
  std::string Gate, Up, Down;
  std::string GateBias, UpBias, DownBias;
  std::optional<double> Limit, UpOffset;
  /// An expert that every token goes through; none without a width.
  FeedForwardOptions Shared;
  /// The sigmoid of this matmul [1, H] scales the shared expert.
  LinearOptions SharedGate;
};

/// How a layer's blocks are put together.
enum class LayerForm {
  /// x + block(norm(x)), one block after the other (GPT-2, LLaMA).
  PreNorm,
  /// norm(x + block(x)) (the original Transformer, BERT).
  PostNorm,
  /// x + attention(norm(x)) + feed_forward(norm'(x)) (GPT-J, Falcon).
  Parallel
};

/// A layer: attention and feed-forward with their norms and residuals.
struct LayerOptions {
  LayerForm Form = LayerForm::PreNorm;
  /// Before a block, or after the residual in PostNorm. A parallel
  /// feed-forward without a norm of its own shares that of attention.
  NormOptions AttentionNorm, CrossNorm, FeedForwardNorm;
  /// Of a block's result, before the residual (Gemma 2, OLMo 2).
  NormOptions AttentionAfter, FeedForwardAfter;
  /// Residuals start from the normed rows (BLOOM's option).
  bool ResidualFromNorm = false;
  /// Blocks' results are multiplied by this (Granite).
  double ResidualScale = 1;
  AttentionOptions Attention;
  /// Instead of Attention.
  std::optional<LatentAttentionOptions> Latent;
  /// Attention to the source text, after Attention.
  std::optional<AttentionOptions> Cross;
  FeedForwardOptions FeedForward;
  /// Instead of FeedForward.
  std::optional<MoeOptions> Moe;
};

/// What the blocks of one function work on.
struct Frame {
  FunctionBuilder &Function;
  mlir::Value Scope;
  mlir::Value Batch;
  /// Attention appends to this cache and leaves the next handle here; without
  /// one it sees this step's keys and values.
  mlir::Value Cache = {};
  /// What cross-attention reads.
  mlir::Value CrossCache = {};
  /// Where relative biases lie, which layers share; the scope if null.
  mlir::Value BiasScope = {};
};

/// `Input` itself when there is no norm.
mlir::Value normBlock(Frame &F, mlir::Value Input, const NormOptions &Options);

/// A linear layer with `Outputs` output features.
mlir::Value linearBlock(Frame &F, mlir::Value Input,
                        const LinearOptions &Options, int64_t Outputs,
                        Component Part);

/// Attention from the projections of `Input` to the output projection, which
/// is as wide as `Input`.
mlir::Value attentionBlock(Frame &F, mlir::Value Input,
                           const AttentionOptions &Options);
/// Attention of `Input` to the cross-attention cache.
mlir::Value crossAttentionBlock(Frame &F, mlir::Value Input,
                                const AttentionOptions &Options);
/// Fills the cross-attention cache with the keys and values of `Source`, the
/// rows of an encoder, that crossAttentionBlock of the same scope and options
/// reads.
void crossCacheBlock(Frame &F, mlir::Value Source,
                     const AttentionOptions &Options);
mlir::Value latentAttentionBlock(Frame &F, mlir::Value Input,
                                 const LatentAttentionOptions &Options);

/// A feed-forward that is as wide as `Input`.
mlir::Value feedForwardBlock(Frame &F, mlir::Value Input,
                             const FeedForwardOptions &Options);
mlir::Value moeBlock(Frame &F, mlir::Value Input, const MoeOptions &Options);

mlir::Value layerBlock(Frame &F, mlir::Value Input,
                       const LayerOptions &Options);

/// A name that says what is particular about a layer: layer, layer_window,
/// layer_moe, ...
std::string layerName(const LayerOptions &Options);

/// What a layer function is called with besides a scope, a batch and rows.
struct LayerSignature {
  transformer::CacheType Cache;
  transformer::CacheType CrossCache;
  /// Name of the scope of relative biases; empty without them.
  std::string BiasScope;
};

/// Builds the private function of one layer whose parameters lie in `Scope`:
/// (scope, batch, [cache], [cross cache], [scope of biases], rows) ->
/// (rows, [cache], [cross cache]).
mlir::func::FuncOp layerFunction(ModelBuilder &Model, llvm::StringRef Scope,
                                 int64_t Width, const LayerSignature &Signature,
                                 const LayerOptions &Options);

} // namespace tenon

#endif // TENON_COMPILER_BUILDER_BLOCKS_H
