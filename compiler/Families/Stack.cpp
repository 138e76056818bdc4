//===- Stack.cpp - An embedding, layers and a final norm ------------------===//

#include "compiler/Families/Stack.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

std::string StackOptions::nameOf(StringRef Key) const {
  return parameterName(Scope, Key);
}

std::string StackOptions::layerScope(int64_t Number) const {
  return nameOf(Layers + "." + std::to_string(Number));
}

std::vector<LayerOptions> tenon::repeat(const LayerOptions &Layer,
                                        int64_t Layers) {
  return std::vector<LayerOptions>(static_cast<size_t>(Layers), Layer);
}

StackFunctions::StackFunctions(ModelBuilder &Model, const StackOptions &Stack,
                               CacheType Cache, CacheType CrossCache,
                               StringRef EmbedName)
    : Stack(Stack), HasCaches(Cache || CrossCache) {
  Embed = embedFunction(Model, EmbedName);
  LayerSignature Signature{Cache, CrossCache, {}};
  if (!Stack.BiasScope.empty())
    Signature.BiasScope = Stack.nameOf(Stack.BiasScope);
  for (auto [I, Options] : llvm::enumerate(Stack.Layer)) {
    LayerOptions Layer = Options;
    // A window as long as the sequence hides nothing.
    if (Layer.Attention.Window && *Layer.Attention.Window >= Stack.MaxSequence)
      Layer.Attention.Window = std::nullopt;
    Layers.push_back(layerFunction(Model,
                                   Stack.layerScope(static_cast<int64_t>(I)),
                                   Stack.Width, Signature, Layer));
  }
}

func::FuncOp StackFunctions::embedFunction(ModelBuilder &Model,
                                           StringRef Name) {
  const EmbeddingOptions &Options = Stack.Embedding;
  FunctionBuilder Function(Model, Name);
  Value Scope = Function.scopeArgument(Stack.Scope);
  Value TokensScope = Options.TokensScope
                          ? Function.scopeArgument(*Options.TokensScope)
                          : Scope;
  Value Batch = Function.batchArgument();
  Frame F{Function, Scope, Batch};
  int64_t Width = Options.Width.value_or(Stack.Width);
  auto LookUp = [&](IndexKind Index, Value In, StringRef Key, int64_t Rows,
                    int64_t Columns, int64_t Offset, ParameterUse Use) {
    return Function.embedding(
        Index, Batch,
        Function.parameter(In, Key, Component::Embedding, {Rows, Columns}, Use),
        Offset);
  };
  Value Rows;
  if (Options.Patches) {
    Rows =
        linearBlock(F, Function.inputFeatures(Batch, Options.Patches->Width),
                    Options.Patches->Projection, Width, Component::Embedding);
    Rows = Function.classToken(
        Rows, Batch,
        Function.parameter(Scope, Options.Patches->ClassToken,
                           Component::Embedding, {Width}));
  } else {
    auto Vocabulary =
        Model.module()->getAttrOfType<IntegerAttr>(attr::Vocabulary);
    Rows = LookUp(IndexKind::Token, TokensScope, Options.Tokens,
                  Options.Vocabulary.value_or(Vocabulary.getInt()), Width, 0,
                  ParameterUse::Any);
  }
  auto Merge = [&] {
    if (Options.ImageToken)
      Rows = Function.mergeFeatures(Rows, Batch, *Options.ImageToken);
  };
  if (!Options.ScalesTable)
    Merge();
  if (Options.Scale != 1)
    Rows = Function.scale(Rows, Options.Scale);
  if (Options.ScalesTable)
    Merge();
  auto Project = [&] {
    if (!Options.Project.Key.empty())
      Rows = linearBlock(F, Rows, Options.Project, Stack.Width,
                         Component::Embedding);
  };
  if (!Options.ProjectLast)
    Project();
  int64_t RowWidth = widthOf(Rows);
  // The small tables are only gathered from: widening them costs nothing.
  if (!Options.TokenTypes.empty())
    Rows = Function.residual(
        Rows, LookUp(IndexKind::TokenType, Scope, Options.TokenTypes,
                     Options.TokenTypeCount, RowWidth, 0, ParameterUse::F32));
  if (Options.Positions)
    Rows = Function.residual(
        Rows, LookUp(IndexKind::Position, Scope, Options.Positions->Key,
                     Options.Positions->Rows, RowWidth,
                     Options.Positions->Offset, ParameterUse::F32));
  if (Options.Sinusoid)
    Rows = Function.residual(
        Rows, Function.sinusoid(*Options.Sinusoid, Batch, RowWidth));
  Rows = normBlock(F, Rows, Options.Norm);
  if (Options.ProjectLast)
    Project();
  return Function.finish(Rows);
}

Value StackFunctions::call(FunctionBuilder &Entry, Value Batch, Value CacheIn,
                           Value CrossCacheIn) {
  Cache = CacheIn;
  CrossCache = CrossCacheIn;
  SmallVector<Value> Arguments = {Entry.scope(Stack.Scope)};
  if (Stack.Embedding.TokensScope)
    Arguments.push_back(Entry.scope(*Stack.Embedding.TokensScope));
  Arguments.push_back(Batch);
  Value Rows = Entry.call(Embed, Arguments).front();
  Value BiasScope;
  if (!Stack.BiasScope.empty())
    BiasScope = Entry.scope(Stack.nameOf(Stack.BiasScope));
  for (auto [I, Layer] : llvm::enumerate(Layers)) {
    auto Number = static_cast<int64_t>(I);
    Arguments = {Entry.scope(Stack.layerScope(Number),
                             HasCaches ? std::optional(Number) : std::nullopt),
                 Batch};
    for (Value Optional : {Cache, CrossCache, BiasScope})
      if (Optional)
        Arguments.push_back(Optional);
    Arguments.push_back(Rows);
    auto Results = Entry.call(Layer, Arguments);
    Rows = Results.front();
    size_t Next = 1;
    if (Cache)
      Cache = Results[Next++];
    if (CrossCache)
      CrossCache = Results[Next++];
  }
  return Rows;
}

func::FuncOp tenon::headFunction(ModelBuilder &Model, const StackOptions &Stack,
                                 const HeadOptions &Head, int64_t Vocabulary) {
  FunctionBuilder Function(Model, "head");
  Value Scope = Function.scopeArgument(Stack.Scope);
  Value Root = Function.scopeArgument("");
  Value Batch = Function.batchArgument();
  Frame F{Function, Scope, Batch};
  Value Rows =
      normBlock(F, Function.argument(Model.rows(Stack.Width)), Stack.FinalNorm);
  if (!Head.Project.Key.empty())
    Rows = linearBlock(F, Rows, Head.Project, Head.Width.value_or(Stack.Width),
                       Component::Head);
  Value Weight = Function.parameter(Root, Head.Weight, Component::Head,
                                    {Vocabulary, widthOf(Rows)});
  Value Bias;
  if (!Head.Bias.empty())
    Bias = Function.parameter(Root, Head.Bias, Component::Head, {Vocabulary});
  Value Logits = Function.lmHead(Rows, Batch, Weight, Bias);
  if (Head.Scale != 1)
    Logits = Function.scale(Logits, Head.Scale);
  if (Head.SoftCap)
    Logits = Function.softCap(Logits, *Head.SoftCap);
  return Function.finish(Logits);
}

Value tenon::callHead(FunctionBuilder &Entry, func::FuncOp Function,
                      const StackOptions &Stack, Value Batch, Value Rows) {
  return Entry
      .call(Function, {Entry.scope(Stack.Scope), Entry.scope(""), Batch, Rows})
      .front();
}
