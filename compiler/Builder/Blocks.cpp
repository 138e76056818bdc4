//===- Blocks.cpp - The blocks that model families share ------------------===//

#include "compiler/Builder/Blocks.h"

#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// The parameters of a linear layer; Bias is null without one.
struct LinearValues {
  Value Weight, Bias;
};

LinearValues linearParameters(Frame &F, const LinearOptions &Options,
                              int64_t Outputs, int64_t Inputs, Component Part) {
  LinearValues Result;
  Result.Weight = F.Function.parameter(
      F.Scope, Options.Key + ".weight" + Options.View, Part, {Outputs, Inputs});
  if (Options.Bias)
    Result.Bias = F.Function.parameter(
        F.Scope, Options.Key + ".bias" + Options.BiasView, Part, {Outputs});
  return Result;
}

/// `Input` [T, heads * head_dim] normed as `Options` says, if at all.
Value headNorm(Frame &F, Value Input, int64_t Heads,
               const std::optional<HeadNormOptions> &Options) {
  if (!Options)
    return Input;
  int64_t Width = widthOf(Input);
  using Extent = HeadNormOptions::Extent;
  int64_t Groups = Options->Over == Extent::Row ? 1 : Heads;
  int64_t Elements = Options->Over == Extent::Head ? Width / Heads : Width;
  Value Weight = F.Function.parameter(F.Scope, Options->Weight, Component::Norm,
                                      {Elements});
  if (Options->Kind == NormKind::Rms)
    return F.Function.rmsNorm(Input, Weight, Options->Eps, Groups,
                              Options->Offset);
  Value Bias;
  if (!Options->Bias.empty())
    Bias = F.Function.parameter(F.Scope, Options->Bias, Component::Norm,
                                {Elements});
  return F.Function.layerNorm(Input, Weight, Bias, Options->Eps, Groups);
}

/// What attention is, but for where keys and values come from.
AttentionShape shapeOf(Frame &F, const AttentionOptions &Options) {
  AttentionShape Shape;
  Shape.Heads = Options.Heads;
  Shape.KvHeads = Options.KvHeads;
  Shape.Scale = Options.Scale.value_or(
      1 / std::sqrt(static_cast<double>(Options.HeadDim)));
  Shape.Mask = Options.Mask;
  Shape.Window = Options.Window;
  Shape.SoftCap = Options.SoftCap;
  Shape.Alibi = Options.Alibi;
  Shape.Buckets = Options.Buckets;
  if (Options.Buckets)
    Shape.Bias = F.Function.parameter(
        F.BiasScope ? F.BiasScope : F.Scope, Options.Bias, Component::Attention,
        {Options.Buckets.getCount(), Options.Heads},
        ParameterUse::PlainNumbers);
  if (!Options.Sinks.empty())
    Shape.Sinks = F.Function.parameter(F.Scope, Options.Sinks,
                                       Component::Attention, {Options.Heads});
  return Shape;
}

} // namespace

Value tenon::normBlock(Frame &F, Value Input, const NormOptions &Options) {
  if (Options.Key.empty())
    return Input;
  int64_t Width = widthOf(Input);
  Value Weight =
      F.Function.parameter(F.Scope, Options.Key + "." + Options.WeightName,
                           Component::Norm, {Width});
  if (Options.Kind == NormKind::Rms)
    return F.Function.rmsNorm(Input, Weight, Options.Eps, /*Groups=*/1,
                              Options.Offset);
  Value Bias;
  if (Options.Bias)
    Bias = F.Function.parameter(F.Scope, Options.Key + "." + Options.BiasName,
                                Component::Norm, {Width});
  return F.Function.layerNorm(Input, Weight, Bias, Options.Eps);
}

Value tenon::linearBlock(Frame &F, Value Input, const LinearOptions &Options,
                         int64_t Outputs, Component Part) {
  LinearValues Layer =
      linearParameters(F, Options, Outputs, widthOf(Input), Part);
  return F.Function.linear(Input, Layer.Weight, Layer.Bias);
}

Value tenon::attentionBlock(Frame &F, Value Input,
                            const AttentionOptions &Options) {
  FunctionBuilder &B = F.Function;
  int64_t Width = widthOf(Input);
  int64_t QueryWidth = Options.Heads * Options.HeadDim;
  int64_t KvWidth = Options.KvHeads * Options.HeadDim;
  // All parameters first: merging the three matmuls then needs no reordering.
  LinearValues ToQuery = linearParameters(F, Options.Query, QueryWidth, Width,
                                          Component::Attention);
  LinearValues ToKey =
      linearParameters(F, Options.Key, KvWidth, Width, Component::Attention);
  LinearValues ToValue =
      linearParameters(F, Options.Value, KvWidth, Width, Component::Attention);
  auto Project = [&](const LinearValues &To) {
    Value Rows = B.linear(Input, To.Weight, To.Bias);
    return Options.Clamp ? B.clamp(Rows, *Options.Clamp) : Rows;
  };
  Value Query = Project(ToQuery);
  Value Key = Project(ToKey);
  Value Values = Project(ToValue);
  Query = headNorm(F, Query, Options.Heads, Options.QueryNorm);
  Key = headNorm(F, Key, Options.KvHeads, Options.KeyNorm);
  if (Options.Rope) {
    Query = B.rope(Query, F.Batch, Options.Heads, Options.Rope);
    Key = B.rope(Key, F.Batch, Options.KvHeads, Options.Rope);
  }
  AttentionShape Shape = shapeOf(F, Options);
  Value Heads;
  if (F.Cache) {
    F.Cache = B.cacheAppend(F.Cache, F.Scope, F.Batch, Key, Values);
    Heads = B.cachedAttention(Query, F.Cache, F.Scope, F.Batch, Shape);
  } else {
    Heads = B.attention(Query, Key, Values, F.Batch, Shape);
  }
  return linearBlock(F, Heads, Options.Output, Width, Component::Attention);
}

Value tenon::crossAttentionBlock(Frame &F, Value Input,
                                 const AttentionOptions &Options) {
  Value Query =
      linearBlock(F, Input, Options.Query, Options.Heads * Options.HeadDim,
                  Component::Attention);
  AttentionShape Shape = shapeOf(F, Options);
  Shape.Mask = MaskKind::Bidirectional;
  Value Heads =
      F.Function.cachedAttention(Query, F.CrossCache, F.Scope, F.Batch, Shape);
  return linearBlock(F, Heads, Options.Output, widthOf(Input),
                     Component::Attention);
}

void tenon::crossCacheBlock(Frame &F, Value Source,
                            const AttentionOptions &Options) {
  int64_t Width = Options.KvHeads * Options.HeadDim;
  Value Keys = linearBlock(F, Source, Options.Key, Width, Component::Attention);
  Value Values =
      linearBlock(F, Source, Options.Value, Width, Component::Attention);
  F.CrossCache =
      F.Function.cacheAppend(F.CrossCache, F.Scope, F.Batch, Keys, Values);
}

Value tenon::latentAttentionBlock(Frame &F, Value Input,
                                  const LatentAttentionOptions &Options) {
  FunctionBuilder &B = F.Function;
  constexpr Component Part = Component::Attention;
  Value ToQuery = Input;
  if (Options.QueryRank)
    ToQuery = normBlock(
        F, linearBlock(F, Input, Options.QueryDown, *Options.QueryRank, Part),
        Options.QueryNorm);
  int64_t HeadDim = Options.KeyDim + Options.RopeDim;
  Value Query =
      linearBlock(F, ToQuery, Options.Query, Options.Heads * HeadDim, Part);
  Query = B.rope(Query, F.Batch, Options.Heads, Options.Rope, Options.KeyDim);
  Value Down =
      linearBlock(F, Input, Options.Down, Options.Rank + Options.RopeDim, Part);
  Value Latent =
      normBlock(F, B.slice(Down, 0, Options.Rank), Options.LatentNorm);
  Value Rotated = B.rope(B.slice(Down, Options.Rank, Options.RopeDim), F.Batch,
                         /*Heads=*/1, Options.Rope);
  F.Cache = B.latentAppend(F.Cache, F.Scope, F.Batch, Latent, Rotated);
  Value Expand = B.parameter(
      F.Scope, Options.Expand, Part,
      {Options.Heads * (Options.KeyDim + Options.ValueDim), Options.Rank},
      ParameterUse::PlainNumbers);
  Value Heads =
      B.latentAttention(Query, F.Cache, F.Scope, F.Batch, Expand, Options.Heads,
                        Options.KeyDim, Options.ValueDim, Options.Scale);
  return linearBlock(F, Heads, Options.Output, widthOf(Input), Part);
}

Value tenon::feedForwardBlock(Frame &F, Value Input,
                              const FeedForwardOptions &Options) {
  int64_t Width = widthOf(Input);
  bool IsGated = !Options.Gate.Key.empty();
  LinearValues Gate;
  if (IsGated)
    Gate = linearParameters(F, Options.Gate, Options.Inner, Width,
                            Component::FeedForward);
  LinearValues Up = linearParameters(F, Options.Up, Options.Inner, Width,
                                     Component::FeedForward);
  LinearValues Down = linearParameters(F, Options.Down, Width, Options.Inner,
                                       Component::FeedForward);
  if (IsGated)
    return F.Function.gatedFeedForward(Options.Act, Input, Gate.Weight,
                                       Up.Weight, Down.Weight, Gate.Bias,
                                       Up.Bias, Down.Bias);
  return F.Function.feedForward(Options.Act, Input, Up.Weight, Down.Weight,
                                Up.Bias, Down.Bias);
}

Value tenon::moeBlock(Frame &F, Value Input, const MoeOptions &Options) {
  FunctionBuilder &B = F.Function;
  constexpr Component Part = Component::FeedForward;
  int64_t Width = widthOf(Input);
  int64_t Experts = Options.Experts;
  MoeOperands M;
  M.Act = Options.Act;
  M.Router = Options.Router;
  M.Input = Input;
  // Routers are small, and choices must not depend on how they are rounded:
  // they are always kept in f32.
  Value Routing = B.parameter(
      F.Scope, Options.Routing.Key + ".weight" + Options.Routing.View, Part,
      {Experts, Width}, ParameterUse::F32);
  Value RoutingBias;
  if (Options.Routing.Bias)
    RoutingBias =
        B.parameter(F.Scope, Options.Routing.Key + ".bias", Part, {Experts});
  M.Logits = B.linear(Input, Routing, RoutingBias);
  if (!Options.Correction.empty())
    M.Correction = B.parameter(F.Scope, Options.Correction, Part, {Experts});
  M.Gate =
      B.parameter(F.Scope, Options.Gate, Part, {Experts, Options.Inner, Width});
  M.Up =
      B.parameter(F.Scope, Options.Up, Part, {Experts, Options.Inner, Width});
  M.Down =
      B.parameter(F.Scope, Options.Down, Part, {Experts, Width, Options.Inner});
  auto Bias = [&](const std::string &Key, int64_t Features) {
    return Key.empty() ? Value()
                       : B.parameter(F.Scope, Key, Part, {Experts, Features},
                                     ParameterUse::F32);
  };
  M.GateBias = Bias(Options.GateBias, Options.Inner);
  M.UpBias = Bias(Options.UpBias, Options.Inner);
  M.DownBias = Bias(Options.DownBias, Width);
  M.Limit = Options.Limit;
  M.UpOffset = Options.UpOffset;
  Value Routed = B.moe(M);
  if (Options.Shared.Inner == 0)
    return Routed;
  Value Shared = feedForwardBlock(F, Input, Options.Shared);
  if (!Options.SharedGate.Key.empty())
    Shared = B.sigmoidGate(Shared,
                           linearBlock(F, Input, Options.SharedGate, 1, Part));
  return B.residual(Routed, Shared);
}

Value tenon::layerBlock(Frame &F, Value Input, const LayerOptions &Options) {
  FunctionBuilder &B = F.Function;
  auto Attention = [&](Value X) {
    return Options.Latent ? latentAttentionBlock(F, X, *Options.Latent)
                          : attentionBlock(F, X, Options.Attention);
  };
  auto Cross = [&](Value X) {
    return crossAttentionBlock(F, X, *Options.Cross);
  };
  auto FeedForward = [&](Value X) {
    return Options.Moe ? moeBlock(F, X, *Options.Moe)
                       : feedForwardBlock(F, X, Options.FeedForward);
  };
  /// A block's result on its way to the residual.
  auto Finished = [&](Value Y, const NormOptions &After) {
    Y = normBlock(F, Y, After);
    return Options.ResidualScale == 1 ? Y : B.scale(Y, Options.ResidualScale);
  };
  if (Options.Form == LayerForm::Parallel) {
    Value Normed = normBlock(F, Input, Options.AttentionNorm);
    Value Other = Options.FeedForwardNorm.Key.empty()
                      ? Normed
                      : normBlock(F, Input, Options.FeedForwardNorm);
    Value Attended = Finished(Attention(Normed), Options.AttentionAfter);
    return B.residual(B.residual(Input, Attended),
                      Finished(FeedForward(Other), Options.FeedForwardAfter));
  }
  auto WithResidual = [&](Value X, const NormOptions &Norm,
                          const NormOptions &After, auto Block) {
    if (Options.Form == LayerForm::PostNorm)
      return normBlock(F, B.residual(X, Finished(Block(X), After)), Norm);
    Value Normed = normBlock(F, X, Norm);
    return B.residual(Options.ResidualFromNorm ? Normed : X,
                      Finished(Block(Normed), After));
  };
  Value Rows = WithResidual(Input, Options.AttentionNorm,
                            Options.AttentionAfter, Attention);
  if (Options.Cross)
    Rows = WithResidual(Rows, Options.CrossNorm, NormOptions(), Cross);
  return WithResidual(Rows, Options.FeedForwardNorm, Options.FeedForwardAfter,
                      FeedForward);
}

std::string tenon::layerName(const LayerOptions &Options) {
  std::string Name = Options.Cross ? "decoder_layer" : "layer";
  if (!Options.Latent && Options.Attention.Window)
    Name += "_window";
  if (Options.Moe)
    Name += "_moe";
  return Name;
}

func::FuncOp tenon::layerFunction(ModelBuilder &Model, StringRef Scope,
                                  int64_t Width,
                                  const LayerSignature &Signature,
                                  const LayerOptions &Options) {
  FunctionBuilder Layer(Model, layerName(Options));
  Value ScopeValue = Layer.scopeArgument(Scope);
  Value Batch = Layer.batchArgument();
  Frame F{Layer, ScopeValue, Batch};
  if (Signature.Cache)
    F.Cache = Layer.argument(Signature.Cache);
  if (Signature.CrossCache)
    F.CrossCache = Layer.argument(Signature.CrossCache);
  if (!Signature.BiasScope.empty())
    F.BiasScope = Layer.scopeArgument(Signature.BiasScope);
  Value Input = Layer.argument(Model.rows(Width));
  SmallVector<Value> Results = {layerBlock(F, Input, Options)};
  if (F.Cache)
    Results.push_back(F.Cache);
  if (F.CrossCache)
    Results.push_back(F.CrossCache);
  return Layer.finish(Results);
}
