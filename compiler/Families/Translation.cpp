//===- Translation.cpp - Encoder-decoders ---------------------------------===//

#include "compiler/Families/Translation.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

/// (scope, batch, rows) -> the encoder's final rows.
static func::FuncOp finalNorm(ModelBuilder &Model, const StackOptions &Stack) {
  FunctionBuilder Function(Model, "encoded");
  Value Scope = Function.scopeArgument(Stack.Scope);
  Frame F{Function, Scope, Function.batchArgument()};
  return Function.finish(normBlock(
      F, Function.argument(Model.rows(Stack.Width)), Stack.FinalNorm));
}

/// (scope, batch, cross cache, rows) -> cross cache: one layer's keys and
/// values.
static func::FuncOp crossCacheFunction(ModelBuilder &Model,
                                       const StackOptions &Encoder,
                                       const StackOptions &Decoder,
                                       int64_t Layer, CacheType CrossCache) {
  FunctionBuilder Function(Model, "cross_cache");
  Value Scope = Function.scopeArgument(Decoder.layerScope(Layer));
  Frame F{Function, Scope, Function.batchArgument()};
  F.CrossCache = Function.argument(CrossCache);
  crossCacheBlock(F, Function.argument(Model.rows(Encoder.Width)),
                  *Decoder.Layer[static_cast<size_t>(Layer)].Cross);
  return Function.finish(F.CrossCache);
}

/// (batch, rows) -> output rows.
static func::FuncOp wantedRows(ModelBuilder &Model, int64_t Width) {
  FunctionBuilder Function(Model, "output_rows");
  Value Batch = Function.batchArgument();
  return Function.finish(
      Function.selectOutputRows(Function.argument(Model.rows(Width)), Batch));
}

void tenon::buildTranslation(ModelBuilder &Model,
                             const TranslationModel &Translation,
                             ElementType CacheElement) {
  const StackOptions &Source = Translation.Encoder;
  const StackOptions &Target = Translation.Decoder;
  Model.setVocabulary(Translation.Sizes.Vocabulary);
  Model.setMaxSequence(Translation.Sizes.MaxSequence);
  Model.setMaxSource(Translation.MaxSource);
  const LayerOptions &Layer = Target.Layer.front();
  CacheType Cache = Model.cache(Layer.Attention.KvHeads,
                                Layer.Attention.HeadDim, CacheElement);
  CacheType CrossCache = Model.cache(Layer.Cross->KvHeads, Layer.Cross->HeadDim,
                                     CacheElement, CacheKind::Cross);

  StackFunctions Encoder(Model, Source);
  func::FuncOp Encoded;
  if (!Source.FinalNorm.Key.empty())
    Encoded = finalNorm(Model, Source);
  SmallVector<func::FuncOp> Fill;
  for (size_t I = 0; I < Target.Layer.size(); ++I)
    Fill.push_back(crossCacheFunction(Model, Source, Target,
                                      static_cast<int64_t>(I), CrossCache));
  func::FuncOp Wanted = wantedRows(Model, Source.Width);
  StackFunctions Decoder(Model, Target, Cache, CrossCache);
  func::FuncOp Head = headFunction(Model, Target, Translation.Head,
                                   Translation.Sizes.Vocabulary);

  // First, so that caches are numbered in the order that steps take them.
  FunctionBuilder Step = FunctionBuilder::entry(Model, "step", "logits");
  Value Batch = Step.batchArgument();
  Value Handle = Step.argument(Cache);
  Value Rows = Decoder.call(Step, Batch, Handle, Step.argument(CrossCache));
  Value Logits = callHead(Step, Head, Target, Batch, Rows);
  Step.finish({Logits, Decoder.Cache, Decoder.CrossCache});

  FunctionBuilder Encode = FunctionBuilder::entry(Model, "encode", "hidden");
  if (Source.Embedding.Vocabulary)
    Encode.setVocabulary(*Source.Embedding.Vocabulary);
  Batch = Encode.batchArgument();
  Value Filled = Encode.argument(CrossCache);
  Rows = Encoder.call(Encode, Batch, /*Cache=*/{}, /*CrossCache=*/{});
  if (Encoded)
    Rows =
        Encode.call(Encoded, {Encode.scope(Source.Scope), Batch, Rows}).front();
  for (auto [I, Function] : llvm::enumerate(Fill)) {
    auto Number = static_cast<int64_t>(I);
    Filled =
        Encode
            .call(Function, {Encode.scope(Target.layerScope(Number), Number),
                             Batch, Filled, Rows})
            .front();
  }
  Rows = Encode.call(Wanted, {Batch, Rows}).front();
  Encode.finish({Rows, Filled});
}
