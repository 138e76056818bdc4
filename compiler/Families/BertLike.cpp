//===- BertLike.cpp - What encoders of the BERT kind share ----------------===//

#include "compiler/Families/BertLike.h"

using namespace tenon;
using namespace tenon::transformer;

EncoderModel tenon::readBertLike(ConfigReader &Config,
                                 const BertTraits &Traits) {
  EncoderModel Model;
  expectEncoder(Config);
  Model.Sizes = Config.sizes();
  ModelSizes &Sizes = Model.Sizes;
  int64_t Positions = Config.size({"max_position_embeddings"}, MaxContext);
  int64_t Offset = 0;
  if (Traits.PositionsAfterPadding) {
    Config.expect(!Config.Settings.isNull("pad_token_id"), "pad_token_id",
                  "a token, as positions begin behind its id");
    Offset = Config.sizeOr({"pad_token_id"}, 1, MaxVocabulary, 0) + 1;
    Config.expect(Offset < Positions, "max_position_embeddings",
                  "more than pad_token_id + 1");
    int64_t Most = std::max<int64_t>(Positions - Offset, 1);
    if (Config.Input.MaxSequence && Sizes.MaxSequence > Most)
      Config.fail(Error("a sequence length of " +
                        std::to_string(Sizes.MaxSequence) + ": expected 1 to " +
                        std::to_string(Most) +
                        ", the positions behind pad_token_id"));
    Sizes.MaxSequence = std::min(Sizes.MaxSequence, Most);
  }
  double Eps = Config.epsOr("layer_norm_eps", 1e-12);

  StackOptions &Stack = Model.Stack;
  Stack.Scope =
      bodyScope(Config, Traits.Scope, "embeddings.word_embeddings.weight");
  Stack.Layers = "encoder.layer";
  Stack.Width = Sizes.Width;
  Stack.MaxSequence = Sizes.MaxSequence;
  bool IsOld = Config.hasTensor(Stack.nameOf("embeddings.LayerNorm.gamma"));
  auto Norm = [&](const char *Key) {
    NormOptions Options{NormKind::Layer, Eps, Key};
    if (IsOld) {
      Options.WeightName = "gamma";
      Options.BiasName = "beta";
    }
    return Options;
  };
  EmbeddingOptions &Embedding = Stack.Embedding;
  Embedding.Tokens = "embeddings.word_embeddings.weight";
  Embedding.TokenTypes = "embeddings.token_type_embeddings.weight";
  Embedding.TokenTypeCount =
      Config.sizeOr({"type_vocab_size"}, 2, MaxTokenTypes);
  Embedding.Positions = {"embeddings.position_embeddings.weight", Positions,
                         Offset};
  Embedding.Norm = Norm("embeddings.LayerNorm");
  if (Traits.ProjectsEmbedding) {
    int64_t Width = Config.sizeOr({"embedding_size"}, 128, MaxWidth);
    if (Width != Sizes.Width) {
      Embedding.Width = Width;
      Embedding.Project = {"embeddings_project", true};
      Embedding.ProjectLast = true;
    }
  }

  LayerOptions Layer;
  Layer.Form = LayerForm::PostNorm;
  Layer.AttentionNorm = Norm("attention.output.LayerNorm");
  Layer.FeedForwardNorm = Norm("output.LayerNorm");
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  Config.expect(Sizes.Width % Sizes.Heads == 0, "hidden_size",
                "a multiple of num_attention_heads");
  Attention.HeadDim = std::max<int64_t>(Sizes.Width / Sizes.Heads, 1);
  Attention.Mask = MaskKind::Bidirectional;
  Attention.Query = {"attention.self.query", true};
  Attention.Key = {"attention.self.key", true};
  Attention.Value = {"attention.self.value", true};
  Attention.Output = {"attention.output.dense", true};
  Layer.FeedForward = {Config.activation("hidden_act", "gelu"),
                       Sizes.FeedForward,
                       {},
                       {"intermediate.dense", true},
                       {"output.dense", true}};
  Stack.Layer = repeat(Layer, Sizes.Layers);
  Model.UnusedTensors.push_back(Stack.nameOf("embeddings.position_ids"));
  return Model;
}

AnswerReader::AnswerReader(ConfigReader &Config, EncoderModel &Model)
    : Config(Config), Model(Model), Architecture(Config.architecture()) {
  if (!Model.Stack.Scope.empty() ||
      Architecture.find("For") == std::string::npos)
    return;
  // What the checkpoint does not hold cannot be asked of it.
  if (Config.Input.Notes)
    Config.Input.Notes->push_back(Config.Settings.file() + ": names " +
                                  printable(Architecture) +
                                  ", of which the checkpoint has no head: the "
                                  "model gives hidden states");
  Architecture.clear();
}

bool AnswerReader::is(std::string_view Suffix) const {
  return Architecture.ends_with(Suffix);
}

bool AnswerReader::isBare() const {
  // BertLMHeadModel continues text.
  return Architecture.empty() || isBody(Architecture);
}

void AnswerReader::refuse(std::string_view Known) {
  Config.refuseArchitecture(Known);
}

int64_t AnswerReader::labels() {
  if (Model.Answer.Labels.empty())
    Model.Answer.Labels = readLabels(Config);
  return std::max<int64_t>(static_cast<int64_t>(Model.Answer.Labels.size()), 1);
}

void AnswerReader::perToken(const std::string &Key, int64_t Outputs) {
  linear(Key, Outputs);
}

void AnswerReader::perText(const std::string &Dense, Activation Act,
                           const std::string &Final) {
  Model.Answer.Pool = PoolKind::Cls;
  linear(Dense, Model.Sizes.Width);
  Model.Answer.activation(Act);
  linear(Final, labels());
}

void AnswerReader::masked(const MaskedNames &Names, Activation Act,
                          int64_t Width) {
  linear(Names.Dense, Width);
  Model.Answer.activation(Act);
  NormOptions Norm = Model.Stack.Embedding.Norm;
  Norm.Key = Names.Norm;
  Model.Answer.norm(Norm);
  std::string Table = Model.Stack.nameOf(Model.Stack.Embedding.Tokens);
  std::string Own = Names.Decoder + ".weight";
  bool IsTied = Config.sharesTable(Config.flagOr("tie_word_embeddings", true),
                                   Own, Table);
  std::string Bias = Names.TiedBias;
  std::string OwnBias = Names.Bias.empty() ? Bias : Names.Bias;
  // An untied head has its own; some files only have the shared one.
  if (!IsTied && Config.hasTensor(OwnBias))
    Bias = OwnBias;
  Model.Answer.linear(IsTied ? Table : Own, Bias, Model.Sizes.Vocabulary);
  for (const std::string &Copy : {Own, Names.TiedBias, OwnBias})
    Model.UnusedTensors.push_back(Copy);
}
