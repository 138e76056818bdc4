//===- OpOverloads.h - Evaluating ops that both dialects have ---*- C++ -*-===//
//
// One overload of evaluateOp for an operation of the transformer dialect and
// its twin in the dnn dialect, whose accessors have the same names. What only
// one dialect has is in EvaluateTransformer.cpp and EvaluateDnn.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_OPOVERLOADS_H
#define TENON_COMPILER_EVALUATOR_OPOVERLOADS_H

#include "compiler/Evaluator/Interpreter.h"
#include "compiler/Evaluator/Operations.h"

#include "llvm/ADT/TypeSwitch.h"

#include <concepts>

namespace tenon {

namespace tr = transformer;

template <typename OpTy, typename... OpTys>
concept OneOf = (std::same_as<OpTy, OpTys> || ...);

/// Calls `Evaluate` with `Op` as what it is of `Ops`, all operations of a
/// dialect: one that has no overload does not compile.
template <typename... Ops, typename Fn>
Status evaluateAs(mlir::Operation *Op, Fn Evaluate) {
  return llvm::TypeSwitch<mlir::Operation *, Status>(Op)
      .Case<Ops...>(Evaluate)
      .Default([](mlir::Operation *) -> Status {
        return Error("operation: expected one that its dialect has");
      });
}

inline double realOf(const llvm::APFloat &Real) {
  return Real.convertToDouble();
}
inline std::optional<double> realOf(const std::optional<llvm::APFloat> &Real) {
  return Real ? std::optional(Real->convertToDouble()) : std::nullopt;
}
inline int64_t integerOf(uint64_t Integer) {
  return static_cast<int64_t>(Integer);
}
inline std::span<const Tensor2D *const>
spanOf(const std::vector<const Tensor2D *> &Tensors) {
  return Tensors;
}

/// Columns of result `Index`.
inline int64_t resultWidth(mlir::Operation *Op, unsigned Index = 0) {
  return llvm::cast<mlir::RankedTensorType>(Op->getResult(Index).getType())
      .getDimSize(1);
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

template <OneOf<tr::ScopeOp, dnn::ScopeOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  EvaluatorScope Named{Op.getName().str(), std::nullopt};
  if (std::optional<uint64_t> Layer = Op.getLayer())
    Named.Layer = integerOf(*Layer);
  F.bind(Op, std::move(Named));
  return {};
}

//===----------------------------------------------------------------------===//
// Rows of the batch
//===----------------------------------------------------------------------===//

template <OneOf<tr::EmbeddingOp, dnn::EmbeddingOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  const EvaluatorBatch &Batch = F.batch();
  auto Lookup = [&](const std::vector<int64_t> &Indices) {
    return F.set(Op, evaluate::embedding(F.tensor(Op.getTable()), Indices,
                                         integerOf(Op.getOffset())));
  };
  switch (Op.getIndex()) {
  case tr::IndexKind::Token:
    return Lookup(Batch.TokenIds);
  case tr::IndexKind::Position:
    return Lookup(Batch.Positions);
  case tr::IndexKind::TokenType:
    if (Batch.TokenTypes.empty())
      return Lookup(std::vector<int64_t>(Batch.TokenIds.size()));
    return Lookup(Batch.TokenTypes);
  }
  return {};
}

/// Whether the batch has a row of input of `Width` values for every token.
inline Status checkFeatures(const EvaluatorBatch &Batch, int64_t Width) {
  const Tensor2D &Features = Batch.Features;
  int64_t Tokens = Batch.tokens();
  if (Features.Rows == Tokens && Features.Columns == Width)
    return {};
  return Error("batch: field 'Features' is " + std::to_string(Features.Rows) +
               " x " + std::to_string(Features.Columns) + ": expected " +
               std::to_string(Tokens) + " x " + std::to_string(Width));
}

template <OneOf<tr::InputFeaturesOp, dnn::InputFeaturesOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  if (Status S = checkFeatures(F.batch(), resultWidth(Op)); !S)
    return S;
  return F.set(Op, F.batch().Features);
}

template <OneOf<tr::MergeFeaturesOp, dnn::MergeFeaturesOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto Token = static_cast<int64_t>(Op.getToken());
  // A batch without the token needs no rows.
  if (llvm::is_contained(F.batch().TokenIds, Token))
    if (Status S = checkFeatures(F.batch(), resultWidth(Op)); !S)
      return S;
  return F.set(
      Op, evaluate::mergeFeatures(F.tensor(Op.getInput()), F.batch(), Token));
}

template <OneOf<tr::ClassTokenOp, dnn::ClassTokenOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op, evaluate::classToken(F.tensor(Op.getInput()), F.batch(),
                                        F.tensor(Op.getToken())));
}

template <OneOf<tr::SelectOutputRowsOp, dnn::SelectOutputRowsOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op,
               evaluate::selectOutputRows(F.tensor(Op.getInput()), F.batch()));
}

template <OneOf<tr::PoolOp, dnn::PoolOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op, evaluate::pool(Op.getKind(), F.tensor(Op.getInput()),
                                  F.batch(), Op.getNormalize()));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

template <OneOf<tr::LayerNormOp, dnn::LayerNormOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(
      Op, evaluate::layerNorm(F.tensor(Op.getInput()), F.tensor(Op.getWeight()),
                              F.optional(Op.getBias()), realOf(Op.getEps()),
                              integerOf(Op.getGroups())));
}

template <OneOf<tr::RmsNormOp, dnn::RmsNormOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(
      Op, evaluate::rmsNorm(F.tensor(Op.getInput()), F.tensor(Op.getWeight()),
                            realOf(Op.getEps()), integerOf(Op.getGroups()),
                            realOf(Op.getOffset())));
}

template <OneOf<tr::AddNormOp, dnn::AddNormOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto Both = evaluate::addNorm(Op.getKind(), F.tensor(Op.getLhs()),
                                F.tensor(Op.getRhs()), F.tensor(Op.getWeight()),
                                F.optional(Op.getBias()), realOf(Op.getEps()),
                                realOf(Op.getOffset()));
  if (Status S = F.set(Op, 0, std::move(Both.Sum)); !S)
    return S;
  return F.set(Op, 1, std::move(Both.Normed));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

template <OneOf<tr::ResidualOp, dnn::ResidualOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(
      Op, evaluate::residual(F.tensor(Op.getLhs()), F.tensor(Op.getRhs())));
}

template <OneOf<tr::ActivationOp, dnn::ActivationOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op, evaluate::activation(Op.getKind(), F.tensor(Op.getInput())));
}

template <OneOf<tr::ScaleOp, dnn::ScaleOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(
      Op, evaluate::scale(F.tensor(Op.getInput()), realOf(Op.getFactor())));
}

template <OneOf<tr::SoftCapOp, dnn::SoftCapOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(
      Op, evaluate::softCap(F.tensor(Op.getInput()), realOf(Op.getBound())));
}

template <OneOf<tr::ClampOp, dnn::ClampOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op,
               evaluate::clamp(F.tensor(Op.getInput()), realOf(Op.getBound())));
}

template <OneOf<tr::SigmoidGateOp, dnn::SigmoidGateOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op, evaluate::sigmoidGate(F.tensor(Op.getInput()),
                                         F.tensor(Op.getGate())));
}

template <OneOf<tr::SliceOp, dnn::SliceOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op, evaluate::slice(F.tensor(Op.getInput()),
                                   integerOf(Op.getFirst()), resultWidth(Op)));
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

template <OneOf<tr::GatedMatmulOp, dnn::GatedMatmulOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  return F.set(Op, evaluate::gatedMatmul(
                       Op.getActivation(), F.tensor(Op.getInput()),
                       F.tensor(Op.getGate()), F.optional(Op.getGateBias()),
                       F.tensor(Op.getUp()), F.optional(Op.getUpBias())));
}

/// What of experts the operation has.
template <typename OpTy> evaluate::Experts expertsOf(OpTy Op, const Frame &F) {
  evaluate::Experts Stored;
  if constexpr (requires { Op.getGate(); }) {
    Stored.Gate = &F.tensor(Op.getGate());
    Stored.Up = &F.tensor(Op.getUp());
    Stored.GateBias = F.optional(Op.getGateBias());
    Stored.UpBias = F.optional(Op.getUpBias());
    Stored.Limit = realOf(Op.getLimit());
    Stored.UpOffset = realOf(Op.getUpOffset()).value_or(0);
  }
  if constexpr (requires { Op.getDown(); }) {
    Stored.Down = &F.tensor(Op.getDown());
    Stored.DownBias = F.optional(Op.getDownBias());
  }
  return Stored;
}

//===----------------------------------------------------------------------===//
// Attention and its cache
//===----------------------------------------------------------------------===//

/// The rotation of `Op`, by its table when it has one. An error when that lacks
/// a position of the batch.
template <typename OpTy>
Result<evaluate::Rotation> rotationOf(OpTy Op, const Frame &F) {
  evaluate::Rotation Rope = Op.getRopeAttr();
  if constexpr (requires { Op.getTable(); })
    Rope.Table = F.optional(Op.getTable());
  if (Rope.Table)
    for (int64_t Position : F.batch().Positions)
      if (Position >= Rope.Table->Rows)
        return Error(
            "position " + std::to_string(Position) + ": expected one below " +
            std::to_string(Rope.Table->Rows) + ", the rows of the table");
  return Rope;
}

template <OneOf<tr::RopeOp, dnn::RopeOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto Rope = rotationOf(Op, F);
  if (!Rope)
    return Rope.error();
  return F.set(Op, evaluate::rope(F.tensor(Op.getInput()), F.batch().Positions,
                                  integerOf(Op.getHeads()),
                                  integerOf(Op.getOffset()), *Rope));
}

/// Gives an append that has a handle as result the next one.
inline void advance(mlir::Operation *Op, const Frame::CacheLayer &To,
                    Frame &F) {
  for (mlir::Value Result : Op->getResults())
    if (llvm::isa<tr::CacheType>(Result.getType()))
      F.bind(Result, F.next(To.Taken));
}

template <OneOf<tr::CacheAppendOp, dnn::CacheAppendOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto To = F.cacheLayer(Op.getCache(), Op.getScope());
  if (!To)
    return To.error();
  advance(Op, *To, F);
  return evaluate::cacheAppend(*To->Cache, To->Layer, F.batch(),
                               F.tensor(Op.getKeys()),
                               F.tensor(Op.getValues()));
}

template <OneOf<tr::LatentAppendOp, dnn::LatentAppendOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto To = F.cacheLayer(Op.getCache(), Op.getScope());
  if (!To)
    return To.error();
  advance(Op, *To, F);
  return evaluate::latentAppend(*To->Cache, To->Layer, F.batch(),
                                F.tensor(Op.getLatent()),
                                F.tensor(Op.getRotated()));
}

template <typename OpTy>
Result<evaluate::SplitShape> splitShapeOf(OpTy Op, const Frame &F) {
  auto Rope = rotationOf(Op, F);
  if (!Rope)
    return Rope.error();
  evaluate::SplitShape Shape;
  Shape.Heads = integerOf(Op.getHeads());
  Shape.KvHeads = integerOf(Op.getKvHeads());
  Shape.QueryNorm = F.optional(Op.getQueryNorm());
  Shape.KeyNorm = F.optional(Op.getKeyNorm());
  Shape.Eps = realOf(Op.getEps()).value_or(0);
  Shape.NormOffset = realOf(Op.getNormOffset());
  Shape.Rope = *Rope;
  return Shape;
}

template <OneOf<tr::SplitAppendOp, dnn::SplitAppendOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto To = F.cacheLayer(Op.getCache(), Op.getScope());
  if (!To)
    return To.error();
  auto Shape = splitShapeOf(Op, F);
  if (!Shape)
    return Shape.error();
  advance(Op, *To, F);
  return F.set(Op,
               evaluate::splitAppend(spanOf(F.tensors(Op.getQkv())), *To->Cache,
                                     To->Layer, F.batch(), *Shape));
}

template <OneOf<tr::SplitStageOp, dnn::SplitStageOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto Shape = splitShapeOf(Op, F);
  if (!Shape)
    return Shape.error();
  auto Split =
      evaluate::splitStage(spanOf(F.tensors(Op.getQkv())), F.batch(), *Shape,
                           dnn::stagedFormat(Op->getResult(1)));
  if (Status S = F.set(Op, 0, std::move(Split.Query)); !S)
    return S;
  return F.set(Op, 1, std::move(Split.Staged));
}

/// All but biases by position.
template <typename OpTy>
evaluate::AttentionShape attentionShapeOf(OpTy Op, const Frame &F) {
  evaluate::AttentionShape Shape;
  Shape.Heads = integerOf(Op.getHeads());
  Shape.KvHeads = integerOf(Op.getKvHeads());
  Shape.Scale = realOf(Op.getScale());
  Shape.Mask = Op.getMask();
  if (std::optional<uint64_t> Window = Op.getWindow())
    Shape.Window = integerOf(*Window);
  Shape.SoftCap = realOf(Op.getSoftCap());
  Shape.Sinks = F.optional(Op.getSinks());
  return Shape;
}

/// Results but the first are scratch of a kernel: nothing may depend on it.
inline Status setScratch(mlir::Operation *Op, int64_t Rows, Frame &F) {
  for (unsigned I = 1; I < Op->getNumResults(); ++I) {
    Tensor2D Scratch(Rows, resultWidth(Op, I));
    llvm::fill(Scratch.Data, std::numeric_limits<float>::quiet_NaN());
    if (Status S = F.set(Op, I, std::move(Scratch)); !S)
      return S;
  }
  return {};
}

/// Page by page, over staged keys and values or those of a cache.
template <typename OpTy>
Status evaluateOnline(OpTy Op, const evaluate::AttentionShape &Shape,
                      Frame &F) {
  const Tensor2D &Query = F.tensor(Op.getQuery());
  if (Status S = setScratch(Op, Query.Rows, F); !S)
    return S;
  if (Op.getStaged())
    return F.set(Op, evaluate::onlineAttention(
                         Query, F.batch(), F.tensor(Op.getStaged()), Shape));
  auto From = F.cacheLayer(Op.getCache(), Op.getScope());
  if (!From)
    return From.error();
  return F.set(Op, evaluate::cachedOnlineAttention(
                       Query, F.batch(), *From->Cache, From->Layer, Shape));
}

template <OneOf<tr::LatentAttentionOp, dnn::LatentAttentionOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto From = F.cacheLayer(Op.getCache(), Op.getScope());
  if (!From)
    return From.error();
  evaluate::LatentShape Shape;
  Shape.Heads = integerOf(Op.getHeads());
  Shape.KeyDim = integerOf(Op.getKeyDim());
  Shape.ValueDim = integerOf(Op.getValueDim());
  Shape.Scale = realOf(Op.getScale());
  const Tensor2D &Query = F.tensor(Op.getQuery());
  if (Status S = setScratch(Op, Query.Rows, F); !S)
    return S;
  return F.set(Op, evaluate::latentAttention(Query, F.batch(), *From->Cache,
                                             From->Layer,
                                             F.tensor(Op.getExpand()), Shape));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

template <OneOf<tr::DispatchOp, dnn::DispatchOp> OpTy>
Status evaluateOp(OpTy Op, Frame &F) {
  auto FewTokens =
      Op->template getParentOfType<mlir::ModuleOp>()
          ->template getAttrOfType<mlir::IntegerAttr>(tr::attr::FewTokens);
  bool IsFew =
      F.batch().count(Op.getCount()) <= (FewTokens ? FewTokens.getInt() : 0);
  auto Results = F.interpreter().call(Op, IsFew ? Op.getFew() : Op.getMany(),
                                      F[Op.getInputs()]);
  if (!Results)
    return Results.error();
  for (auto [Value, Given] : llvm::zip(Op->getResults(), *Results))
    F.bind(Value, Given);
  return {};
}

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_OPOVERLOADS_H
