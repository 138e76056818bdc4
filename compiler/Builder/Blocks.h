//===- Blocks.h - The blocks that model families share ----------*- C++ -*-===//
//
// Norms, attention, feed-forwards and whole layers from option structs: what
// two families have in common is written here once. Keys are relative to the
// layer's scope and name modules; ".weight" and ".bias" are added.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BUILDER_BLOCKS_H
#define TENON_COMPILER_BUILDER_BLOCKS_H

#include "compiler/Builder/ModelBuilder.h"

namespace tenon {

/// A norm over rows: RMS with a weight, or layer norm with weight and bias.
struct NormOptions {
  transformer::NormKind Kind = transformer::NormKind::Rms;
  double Eps = 1e-6;
  std::string Key;
  /// Older checkpoints call these gamma and beta.
  std::string WeightName = "weight";
  std::string BiasName = "bias";
};

/// A linear layer.
struct LinearOptions {
  std::string Key;
  bool Bias = false;
};

/// Self-attention with its projections.
struct AttentionOptions {
  int64_t Heads = 0;
  int64_t KvHeads = 0;
  int64_t HeadDim = 0;
  transformer::MaskKind Mask = transformer::MaskKind::Causal;
  std::optional<int64_t> Window;
  /// Rotates queries and keys; null for none.
  transformer::RopeAttr Rope;
  /// RMS norm of every query and key head, of this epsilon.
  std::optional<double> HeadNormEps;
  LinearOptions Query, Key, Value, Output;
  std::string QueryNorm, KeyNorm;
};

/// A feed-forward, gated when `Gate` has a key.
struct FeedForwardOptions {
  transformer::Activation Act = transformer::Activation::Silu;
  int64_t Inner = 0;
  LinearOptions Gate, Up, Down;
};

/// A layer: attention and feed-forward, each with a norm and a residual.
struct LayerOptions {
  /// Norm before each block (LLaMA) or after its residual (BERT).
  bool PreNorm = true;
  NormOptions AttentionNorm, FeedForwardNorm;
  AttentionOptions Attention;
  FeedForwardOptions FeedForward;
};

/// What the blocks of one function work on.
struct Frame {
  FunctionBuilder &Function;
  mlir::Value Scope;
  mlir::Value Batch;
  /// Attention appends to this cache and leaves the next handle here; without
  /// one it sees this step's keys and values.
  mlir::Value Cache;
};

/// The width of `Rows`, a tensor<?xWxf32>.
int64_t widthOf(mlir::Value Rows);

mlir::Value normBlock(Frame &F, mlir::Value Input, const NormOptions &Options);

/// A linear layer with `Outputs` output features.
mlir::Value linearBlock(Frame &F, mlir::Value Input,
                        const LinearOptions &Options, int64_t Outputs,
                        Component Part);

/// Attention from the projections of `Input` to the output projection, which
/// is as wide as `Input`.
mlir::Value attentionBlock(Frame &F, mlir::Value Input,
                           const AttentionOptions &Options);

/// A feed-forward that is as wide as `Input`.
mlir::Value feedForwardBlock(Frame &F, mlir::Value Input,
                             const FeedForwardOptions &Options);

mlir::Value layerBlock(Frame &F, mlir::Value Input,
                       const LayerOptions &Options);

/// Builds the private function `Name` (scope, batch, cache if any, rows) ->
/// (rows, cache if any) of one layer whose parameters lie in `Scope`.
mlir::func::FuncOp layerFunction(ModelBuilder &Model, llvm::StringRef Name,
                                 llvm::StringRef Scope, int64_t Width,
                                 transformer::CacheType Cache,
                                 const LayerOptions &Options);

} // namespace tenon

#endif // TENON_COMPILER_BUILDER_BLOCKS_H
