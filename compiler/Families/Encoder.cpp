//===- Encoder.cpp - Encoders of the BERT kind ----------------------------===//

#include "compiler/Families/Encoder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// The functions that both entries call.
struct EncoderFunctions {
  func::FuncOp Embed;
  SmallVector<func::FuncOp> Layers;
};

std::string layerScope(const EncoderModel &Encoder, int64_t Layer) {
  return parameterName(Encoder.Prefix,
                       "encoder.layer." + std::to_string(Layer));
}

func::FuncOp embedFunction(ModelBuilder &Model, const EncoderModel &Encoder) {
  FunctionBuilder Embed(Model, "embeddings");
  Value Scope =
      Embed.scopeArgument(parameterName(Encoder.Prefix, "embeddings"));
  Value Batch = Embed.batchArgument();
  // The small tables are only gathered from: widening them costs nothing.
  auto LookUp = [&](IndexKind Index, StringRef Key, int64_t Rows,
                    std::optional<ElementType> Kept = std::nullopt) {
    return Embed.embedding(Index, Batch,
                           Embed.parameter(Scope, Key, Component::Embedding,
                                           {Rows, Encoder.Sizes.Width}, Kept));
  };
  Value Words = LookUp(IndexKind::Token, "word_embeddings.weight",
                       Encoder.Sizes.Vocabulary);
  Value Types = LookUp(IndexKind::TokenType, "token_type_embeddings.weight",
                       Encoder.TokenTypes, ElementType::F32);
  Value Positions = LookUp(IndexKind::Position, "position_embeddings.weight",
                           Encoder.Positions, ElementType::F32);
  Value Sum = Embed.residual(Embed.residual(Words, Types), Positions);
  Frame F{Embed, Scope, Batch, Value()};
  return Embed.finish(normBlock(F, Sum, Encoder.EmbeddingNorm));
}

/// The layers' result within an entry.
Value callLayers(FunctionBuilder &Entry, Value Batch,
                 const EncoderModel &Encoder,
                 const EncoderFunctions &Functions) {
  Value Rows =
      Entry
          .call(
              Functions.Embed,
              {Entry.scope(parameterName(Encoder.Prefix, "embeddings")), Batch})
          .front();
  for (auto [I, Layer] : llvm::enumerate(Functions.Layers))
    Rows = Entry.call(Layer, {Entry.scope(layerScope(Encoder, I)), Batch, Rows})
               .front();
  return Rows;
}

} // namespace

void tenon::buildEncoder(ModelBuilder &Model, const EncoderModel &Encoder,
                         const std::optional<PoolingOptions> &Pooling) {
  const ModelSizes &Sizes = Encoder.Sizes;
  Model.setVocabulary(Sizes.Vocabulary);
  Model.setMaxSequence(Sizes.MaxSequence);
  Model.setTokenTypes(Encoder.TokenTypes);

  EncoderFunctions Functions;
  Functions.Embed = embedFunction(Model, Encoder);
  for (int64_t I = 0; I < Sizes.Layers; ++I)
    Functions.Layers.push_back(
        layerFunction(Model, "layer", layerScope(Encoder, I), Sizes.Width,
                      CacheType(), Encoder.Layer));

  auto BuildEntry = [&](StringRef Role, StringRef Output, StringRef LastName,
                        auto Last) {
    FunctionBuilder End(Model, LastName);
    Value EndBatch = End.batchArgument();
    Value EndRows = End.argument(Model.rows(Sizes.Width));
    Value Ended = Last(End, EndRows, EndBatch);
    func::FuncOp EndFunction = End.finish(Ended);
    FunctionBuilder Entry = FunctionBuilder::entry(Model, Role, Output);
    Value Batch = Entry.batchArgument();
    Value Rows = callLayers(Entry, Batch, Encoder, Functions);
    Entry.finish(Entry.call(EndFunction, {Batch, Rows}));
  };
  BuildEntry("encode", "hidden", "wanted_rows",
             [](FunctionBuilder &End, Value Rows, Value Batch) {
               return End.selectRows(Rows, Batch);
             });
  if (Pooling)
    BuildEntry("embed", "pooled", "pool",
               [&](FunctionBuilder &End, Value Rows, Value Batch) {
                 return End.pool(Pooling->Kind, Rows, Batch,
                                 Pooling->Normalize);
               });
}
