//===- Blocks.cpp - The blocks that model families share ------------------===//

#include "compiler/Builder/Blocks.h"

#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

int64_t tenon::widthOf(Value Rows) {
  return cast<RankedTensorType>(Rows.getType()).getDimSize(1);
}

namespace {

/// The parameters of a linear layer; Bias is null without one.
struct LinearValues {
  Value Weight, Bias;
};

LinearValues linearParameters(Frame &F, const LinearOptions &Options,
                              int64_t Outputs, int64_t Inputs, Component Part) {
  LinearValues Result;
  Result.Weight = F.Function.parameter(F.Scope, Options.Key + ".weight", Part,
                                       {Outputs, Inputs});
  if (Options.Bias)
    Result.Bias =
        F.Function.parameter(F.Scope, Options.Key + ".bias", Part, {Outputs});
  return Result;
}

} // namespace

Value tenon::normBlock(Frame &F, Value Input, const NormOptions &Options) {
  int64_t Width = widthOf(Input);
  Value Weight =
      F.Function.parameter(F.Scope, Options.Key + "." + Options.WeightName,
                           Component::Norm, {Width});
  if (Options.Kind == NormKind::Rms)
    return F.Function.rmsNorm(Input, Weight, Options.Eps);
  Value Bias = F.Function.parameter(
      F.Scope, Options.Key + "." + Options.BiasName, Component::Norm, {Width});
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
  // All parameters first: merging the three products then needs no reordering.
  LinearValues ToQuery = linearParameters(F, Options.Query, QueryWidth, Width,
                                          Component::Attention);
  LinearValues ToKey =
      linearParameters(F, Options.Key, KvWidth, Width, Component::Attention);
  LinearValues ToValue =
      linearParameters(F, Options.Value, KvWidth, Width, Component::Attention);
  Value Query = B.linear(Input, ToQuery.Weight, ToQuery.Bias);
  Value Key = B.linear(Input, ToKey.Weight, ToKey.Bias);
  Value Values = B.linear(Input, ToValue.Weight, ToValue.Bias);
  if (Options.HeadNormEps) {
    Value QueryNorm = B.parameter(F.Scope, Options.QueryNorm + ".weight",
                                  Component::Norm, {Options.HeadDim});
    Value KeyNorm = B.parameter(F.Scope, Options.KeyNorm + ".weight",
                                Component::Norm, {Options.HeadDim});
    Query = B.rmsNorm(Query, QueryNorm, *Options.HeadNormEps, Options.Heads);
    Key = B.rmsNorm(Key, KeyNorm, *Options.HeadNormEps, Options.KvHeads);
  }
  if (Options.Rope) {
    Query = B.rope(Query, F.Batch, Options.Heads, Options.Rope);
    Key = B.rope(Key, F.Batch, Options.KvHeads, Options.Rope);
  }
  AttentionShape Shape;
  Shape.Heads = Options.Heads;
  Shape.KvHeads = Options.KvHeads;
  Shape.Scale = 1 / std::sqrt(static_cast<double>(Options.HeadDim));
  Shape.Mask = Options.Mask;
  Shape.Window = Options.Window;
  Value Heads;
  if (F.Cache) {
    F.Cache = B.cacheAppend(F.Cache, F.Scope, F.Batch, Key, Values);
    Heads = B.cachedAttention(Query, F.Cache, F.Scope, F.Batch, Shape);
  } else {
    Heads = B.attention(Query, Key, Values, F.Batch, Shape);
  }
  return linearBlock(F, Heads, Options.Output, Width, Component::Attention);
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

Value tenon::layerBlock(Frame &F, Value Input, const LayerOptions &Options) {
  auto WithResidual = [&](Value X, const NormOptions &Norm, auto Block) {
    if (Options.PreNorm)
      return F.Function.residual(X, Block(normBlock(F, X, Norm)));
    return normBlock(F, F.Function.residual(X, Block(X)), Norm);
  };
  Value Attended =
      WithResidual(Input, Options.AttentionNorm, [&](Value X) -> Value {
        return attentionBlock(F, X, Options.Attention);
      });
  return WithResidual(Attended, Options.FeedForwardNorm, [&](Value X) -> Value {
    return feedForwardBlock(F, X, Options.FeedForward);
  });
}

func::FuncOp tenon::layerFunction(ModelBuilder &Model, StringRef Name,
                                  StringRef Scope, int64_t Width,
                                  CacheType Cache,
                                  const LayerOptions &Options) {
  FunctionBuilder Layer(Model, Name);
  Value ScopeValue = Layer.scopeArgument(Scope);
  Value Batch = Layer.batchArgument();
  Value CacheValue = Cache ? Layer.argument(Cache) : Value();
  Value Input = Layer.argument(Model.rows(Width));
  Frame F{Layer, ScopeValue, Batch, CacheValue};
  SmallVector<Value> Results = {layerBlock(F, Input, Options)};
  if (F.Cache)
    Results.push_back(F.Cache);
  return Layer.finish(Results);
}
