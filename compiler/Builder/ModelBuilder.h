//===- ModelBuilder.h - Writing a model by hand -----------------*- C++ -*-===//
//
// The API that importers and people write model graphs with: a thin layer over
// MLIR that knows the types of the transformer dialect, names locations, and
// shares the functions of equal layers.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BUILDER_MODELBUILDER_H
#define TENON_COMPILER_BUILDER_MODELBUILDER_H

#include "compiler/Checkpoint/ElementType.h"
#include "dialects/Transformer/Transformer.h"
#include "runtime/Support/Result.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <optional>
#include <string>

namespace tenon {

/// What part of a model a parameter counts towards.
enum class Component { Embedding, Attention, FeedForward, Norm, Head };

/// The component's name in the IR: embedding, attention, ffn, norm or head.
llvm::StringRef nameOf(Component Part);

/// Which formats the reader of a parameter takes. F32 overrules what is said of
/// how it is kept.
enum class ParameterUse { Any, PlainNumbers, F32 };

/// The format that the tensor called `Name` (scope and key) of this shape is
/// kept in for this use, or why there is no such tensor. Asked once per
/// parameter and scope.
using ParameterTypes = std::function<Result<StorageFormat>(
    llvm::StringRef Name, llvm::ArrayRef<int64_t> Shape, ParameterUse Use)>;

/// Matrices in `Matrices`, vectors in f32: for models without a checkpoint.
ParameterTypes uniformTypes(ElementType Matrices);

/// "SCOPE.KEY", or the key alone in the empty scope.
std::string parameterName(llvm::StringRef Scope, llvm::StringRef Key);

/// Loads the dialects that model graphs are made of.
void loadModelDialects(mlir::MLIRContext &Context);

/// Verifies a model graph: every op, the cache handles, and that there is an
/// entry function. The first diagnostic becomes the error.
Status verifyModel(mlir::ModuleOp Module);

class FunctionBuilder;

/// A module under construction.
class ModelBuilder {
public:
  /// Starts an empty module of the given family name. `Types` says how
  /// parameters are kept.
  ModelBuilder(mlir::MLIRContext &Context, llvm::StringRef Family,
               ParameterTypes Types);

  /// Token ids are below `Count`.
  void setVocabulary(int64_t Count);
  /// Sequences have at most `Tokens` positions.
  void setMaxSequence(int64_t Tokens);
  /// Token type ids are below `Count`; only for models that use them.
  void setTokenTypes(int64_t Count);
  /// Source texts of an encoder-decoder have at most `Tokens` tokens.
  void setMaxSource(int64_t Tokens);

  mlir::MLIRContext &context() const { return *Builder.getContext(); }
  /// The module as it is now; finish() gives it away.
  mlir::ModuleOp module() { return *Module; }

  /// tensor<?xWidthxf32>: a row per token.
  mlir::RankedTensorType rows(int64_t Width);
  transformer::CacheType
  cache(int64_t KvHeads, int64_t HeadDim, ElementType Type,
        transformer::CacheKind Kind = transformer::CacheKind::Sequence);

  /// Parameters that are kept in f32, though ParameterTypes say otherwise,
  /// because what they are computed together with is: a gate and its up.
  const std::vector<std::string> &widened() const { return Widened; }

  /// The module, verified; or the first thing that went wrong while it was
  /// built. The builder is empty afterwards.
  Result<mlir::OwningOpRef<mlir::ModuleOp>> finish();

private:
  friend class FunctionBuilder;
  void setCount(llvm::StringRef Name, int64_t Value);
  void fail(Error E);
  /// Gives `Function` a name that begins with `Base`, or erases it and answers
  /// the equal function that already has one.
  mlir::func::FuncOp share(mlir::func::FuncOp Function, llvm::StringRef Base);

  mlir::OpBuilder Builder;
  mlir::OwningOpRef<mlir::ModuleOp> Module;
  ParameterTypes Types;
  std::vector<std::string> Widened;
  std::optional<Error> FirstError;
};

/// What attention reads and how; see the dialect's attention op.
struct AttentionShape {
  int64_t Heads = 0;
  int64_t KvHeads = 0;
  double Scale = 1;
  transformer::MaskKind Mask = transformer::MaskKind::Causal;
  /// A query sees the last `Window` keys only, its own included.
  std::optional<int64_t> Window;
  std::optional<double> SoftCap;
  /// Null for none.
  transformer::AlibiAttr Alibi;
  /// Null for none; with them Bias, [buckets, heads].
  transformer::BucketsAttr Buckets;
  mlir::Value Bias;
  /// [heads], or null.
  mlir::Value Sinks;
};

/// What a mixture of experts takes; see the dialect's moe op. Correction
/// and biases may be null.
struct MoeOperands {
  transformer::Activation Act = transformer::Activation::Silu;
  transformer::RouterAttr Router;
  mlir::Value Input, Logits, Correction;
  mlir::Value Gate, Up, Down;
  mlir::Value GateBias, UpBias, DownBias;
  std::optional<double> Limit, UpOffset;
};

/// One function under construction: first its arguments, then ops in program
/// order, then finish(). Ops have the locations "FUNCTION/KEY" of the parameter
/// they use, or "FUNCTION/OP".
class FunctionBuilder {
public:
  /// Starts the private function `Name`. finish() shares it with an equal one
  /// and numbers one that differs: layer, layer_1, ...
  FunctionBuilder(ModelBuilder &Model, llvm::StringRef Name);
  /// Starts the entry point of a role ("step", "encode", "embed" or
  /// "encode_image") and the output ("logits", "hidden", "pooled" or "classes")
  /// that it gives first.
  static FunctionBuilder entry(ModelBuilder &Model, llvm::StringRef Role,
                               llvm::StringRef Output);

  ModelBuilder &model() { return *Model; }

  /// Gives an entry a vocabulary of its own.
  void setVocabulary(int64_t Count);
  /// Gives the entry "encode_image" its own length: the class token and the
  /// patches.
  void setMaxSequence(int64_t Tokens);

  // Arguments.
  /// A scope. `Name` is that of the call being built for: it is what the types
  /// of parameters are asked by.
  mlir::Value scopeArgument(llvm::StringRef Name);
  mlir::Value batchArgument();
  mlir::Value argument(mlir::Type Type);

  // Names.
  /// The parameters whose names begin with `Name`, and the layer of the cache.
  mlir::Value scope(llvm::StringRef Name,
                    std::optional<int64_t> Layer = std::nullopt);
  /// The parameter `Key` of `Scope`.
  mlir::Value parameter(mlir::Value Scope, llvm::StringRef Key, Component Part,
                        llvm::ArrayRef<int64_t> Shape,
                        ParameterUse Use = ParameterUse::Any);

  // One method per op; see the dialect for what each computes. Optional
  // operands may be null.
  mlir::Value embedding(transformer::IndexKind Index, mlir::Value Batch,
                        mlir::Value Table, int64_t Offset = 0);
  mlir::Value sinusoid(transformer::RopeStyle Style, mlir::Value Batch,
                       int64_t Width);
  mlir::Value inputFeatures(mlir::Value Batch, int64_t Width);
  mlir::Value classToken(mlir::Value Input, mlir::Value Batch,
                         mlir::Value Token);
  mlir::Value mergeFeatures(mlir::Value Input, mlir::Value Batch,
                            int64_t Token);
  /// `From` is the first element of a head that rotates.
  mlir::Value rope(mlir::Value Input, mlir::Value Batch, int64_t Heads,
                   transformer::RopeAttr Rope, int64_t From = 0);
  mlir::Value layerNorm(mlir::Value Input, mlir::Value Weight, mlir::Value Bias,
                        double Eps, int64_t Groups = 1);
  mlir::Value rmsNorm(mlir::Value Input, mlir::Value Weight, double Eps,
                      int64_t Groups = 1, double Offset = 0);
  mlir::Value activation(transformer::Activation Kind, mlir::Value Input);
  mlir::Value scale(mlir::Value Input, double Factor);
  mlir::Value softCap(mlir::Value Input, double Bound);
  mlir::Value clamp(mlir::Value Input, double Bound);
  mlir::Value sigmoidGate(mlir::Value Input, mlir::Value Gate);
  mlir::Value slice(mlir::Value Input, int64_t First, int64_t Count);
  mlir::Value linear(mlir::Value Input, mlir::Value Weight,
                     mlir::Value Bias = {});
  mlir::Value residual(mlir::Value Left, mlir::Value Right);
  mlir::Value feedForward(transformer::Activation Act, mlir::Value Input,
                          mlir::Value Up, mlir::Value Down,
                          mlir::Value UpBias = {}, mlir::Value DownBias = {});
  /// `Gate` and `Up` are parameters; where their types differ, both become f32,
  /// which holds the values of every format.
  mlir::Value gatedFeedForward(transformer::Activation Act, mlir::Value Input,
                               mlir::Value Gate, mlir::Value Up,
                               mlir::Value Down, mlir::Value GateBias = {},
                               mlir::Value UpBias = {},
                               mlir::Value DownBias = {});
  /// The next handle of the cache.
  mlir::Value cacheAppend(mlir::Value Cache, mlir::Value Scope,
                          mlir::Value Batch, mlir::Value Keys,
                          mlir::Value Values);
  /// Attention over this step's keys and values.
  mlir::Value attention(mlir::Value Query, mlir::Value Keys, mlir::Value Values,
                        mlir::Value Batch, const AttentionShape &Shape);
  /// Attention over what the cache holds in the layer of `Scope`.
  mlir::Value cachedAttention(mlir::Value Query, mlir::Value Cache,
                              mlir::Value Scope, mlir::Value Batch,
                              const AttentionShape &Shape);
  /// The next handle of a latent cache.
  mlir::Value latentAppend(mlir::Value Cache, mlir::Value Scope,
                           mlir::Value Batch, mlir::Value Latent,
                           mlir::Value Rotated);
  mlir::Value latentAttention(mlir::Value Query, mlir::Value Cache,
                              mlir::Value Scope, mlir::Value Batch,
                              mlir::Value Expand, int64_t Heads, int64_t KeyDim,
                              int64_t ValueDim, double Scale);
  /// `Gate` and `Up` as of gatedFeedForward.
  mlir::Value moe(const MoeOperands &Operands);
  mlir::Value selectOutputRows(mlir::Value Input, mlir::Value Batch);
  mlir::Value lmHead(mlir::Value Input, mlir::Value Batch, mlir::Value Weight,
                     mlir::Value Bias = {});
  mlir::Value pool(transformer::PoolKind Kind, mlir::Value Input,
                   mlir::Value Batch, bool Normalize);

  /// Calls a finished function.
  llvm::SmallVector<mlir::Value> call(mlir::func::FuncOp Callee,
                                      mlir::ValueRange Arguments);

  /// Returns `Results` from the function and ends it. The answer may be an
  /// equal function built earlier. Nothing may be added afterwards.
  mlir::func::FuncOp finish(mlir::ValueRange Results);

private:
  mlir::Location at(llvm::StringRef What);
  mlir::Location atWeight(mlir::Value Weight);
  /// Keeps both parameters in f32 where their types differ.
  void keepInOneType(mlir::Value A, mlir::Value B);
  template <typename OpTy, typename... ArgTys>
  mlir::Value create(mlir::Location Where, ArgTys &&...Args);

  ModelBuilder *Model;
  std::string Name;
  bool IsEntry = false;
  /// Owned until finish() moves it into the module.
  mlir::OwningOpRef<mlir::func::FuncOp> Function;
  mlir::OpBuilder Builder;
  llvm::DenseMap<mlir::Value, std::string> ScopeNames;
};

} // namespace tenon

#endif // TENON_COMPILER_BUILDER_MODELBUILDER_H
