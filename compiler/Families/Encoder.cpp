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

/// Reads what could make this another model than an encoder of absolute
/// positions.
Status checkKind(const Config &Settings) {
  for (std::string_view Key : {"is_decoder", "add_cross_attention"}) {
    auto IsOn = Settings.booleanOr(Key, false);
    if (!IsOn)
      return IsOn.error();
    if (*IsOn)
      return Settings.expected(Key, "false, for an encoder");
  }
  auto Positions = Settings.stringOr("position_embedding_type", "absolute");
  if (!Positions)
    return Positions.error();
  if (*Positions != "absolute")
    return Settings.expected("position_embedding_type", "absolute");
  // It ties a head that hidden states do not need.
  auto Tied = Settings.booleanOr("tie_word_embeddings", true);
  return Tied ? Status() : Tied.error();
}

} // namespace

Result<EncoderModel> tenon::readEncoder(const FamilyInput &Input,
                                        const EncoderTraits &Traits) {
  const Config &Settings = Input.Settings;
  if (Status S = checkKind(Settings); !S)
    return S.error();
  auto Sizes = readSizes(Settings);
  if (!Sizes)
    return Sizes.error();
  auto TokenTypes = Settings.integerOr("type_vocab_size", 2, 1, MaxTokenTypes);
  auto Eps = Settings.numberOr("layer_norm_eps", 1e-12, 0.0, 0.5);
  auto Act = readActivation(Settings, "hidden_act");
  if (!TokenTypes)
    return TokenTypes.error();
  if (!Eps || !Act)
    return Eps ? Act.error() : Eps.error();
  if (Sizes->Width % Sizes->Heads != 0)
    return Settings.expected("hidden_size",
                             "a multiple of num_attention_heads");

  EncoderModel Model;
  Model.Sizes = *Sizes;
  Model.TokenTypes = *TokenTypes;
  Model.Positions = Sizes->MaxSequence;
  auto Has = [&](const std::string &Name) {
    return Input.Weights && Input.Weights->find(Name);
  };
  std::string Words = "embeddings.word_embeddings.weight";
  if (Has(parameterName(Traits.Prefix, Words)))
    Model.Prefix = Traits.Prefix;
  bool IsOld = Has(parameterName(Model.Prefix, "embeddings.LayerNorm.gamma"));
  auto Norm = [&](const char *Key) {
    return NormOptions{NormKind::Layer, *Eps, Key, IsOld ? "gamma" : "weight",
                       IsOld ? "beta" : "bias"};
  };
  Model.EmbeddingNorm = Norm("LayerNorm");
  Model.Layer.PreNorm = false;
  Model.Layer.AttentionNorm = Norm("attention.output.LayerNorm");
  Model.Layer.FeedForwardNorm = Norm("output.LayerNorm");
  AttentionOptions &Attention = Model.Layer.Attention;
  Attention.Heads = Attention.KvHeads = Sizes->Heads;
  Attention.HeadDim = Sizes->Width / Sizes->Heads;
  Attention.Mask = MaskKind::Bidirectional;
  Attention.Query = {"attention.self.query", true};
  Attention.Key = {"attention.self.key", true};
  Attention.Value = {"attention.self.value", true};
  Attention.Output = {"attention.output.dense", true};
  Model.Layer.FeedForward = {*Act,
                             Sizes->FeedForward,
                             {},
                             {"intermediate.dense", true},
                             {"output.dense", true}};
  for (const char *Name : Traits.Unused)
    Model.UnusedTensors.push_back(parameterName(Model.Prefix, Name));
  if (!Model.Prefix.empty())
    Model.UnusedTensors.insert(Model.UnusedTensors.end(),
                               Traits.UnusedHeads.begin(),
                               Traits.UnusedHeads.end());
  return Model;
}

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
