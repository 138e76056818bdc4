//===- Bert.cpp - BERT ----------------------------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

/// Heads that turn hidden states into other answers, and a stored buffer.
/// After the prefix; the heads themselves have none.
static constexpr const char *UnusedPrefixed[] = {
    "embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"};
static constexpr const char *UnusedHeads[] = {
    "cls.predictions.bias",
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias",
    "cls.predictions.transform.LayerNorm.gamma",
    "cls.predictions.transform.LayerNorm.beta",
    "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias",
    "cls.seq_relationship.weight",
    "cls.seq_relationship.bias",
    "classifier.weight",
    "classifier.bias",
    "qa_outputs.weight",
    "qa_outputs.bias"};

/// Reads what could make this another model than an encoder of absolute
/// positions.
static Status checkKind(const Config &Settings) {
  for (std::string_view Key : {"is_decoder", "add_cross_attention"}) {
    auto IsOn = Settings.booleanOr(Key, false);
    if (!IsOn)
      return IsOn.error();
    if (*IsOn)
      return Settings.expected(Key, "false: BERT is an encoder here");
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

static Result<ModelDescription> read(const FamilyInput &Input) {
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
  auto Has = [&](const char *Name) {
    return Input.Weights && Input.Weights->find(Name);
  };
  // Models with a head save the encoder below "bert".
  if (Has("bert.embeddings.word_embeddings.weight"))
    Model.Prefix = "bert";
  std::string FirstNorm =
      parameterName(Model.Prefix, "embeddings.LayerNorm.gamma");
  bool IsOld = Has(FirstNorm.c_str());
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
  for (const char *Name : UnusedPrefixed)
    Model.UnusedTensors.push_back(parameterName(Model.Prefix, Name));
  if (!Model.Prefix.empty())
    Model.UnusedTensors.insert(Model.UnusedTensors.end(),
                               std::begin(UnusedHeads), std::end(UnusedHeads));
  return ModelDescription(Model);
}

const Family tenon::BertFamily = {"bert", read};
