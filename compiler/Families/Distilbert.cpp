//===- Distilbert.cpp - DistilBERT ----------------------------------------===//

#include "compiler/Families/BertLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readDistilbertConfig(ConfigReader &Config) {
  EncoderModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes = Config.sizes({.Width = "dim",
                        .Layers = "n_layers",
                        .FeedForward = "hidden_dim",
                        .Heads = "n_heads"});
  expectEncoder(Config);
  // It only says what the stored table began as.
  Config.ignore({"sinusoidal_pos_embds"});
  constexpr double Eps = 1e-12;

  StackOptions &Stack = Model.Stack;
  Stack.Scope =
      bodyScope(Config, "distilbert", "embeddings.word_embeddings.weight");
  Stack.Layers = "transformer.layer";
  Stack.Width = Sizes.Width;
  Stack.MaxSequence = Sizes.MaxSequence;
  Stack.Embedding.Tokens = "embeddings.word_embeddings.weight";
  Stack.Embedding.Positions = {
      "embeddings.position_embeddings.weight",
      Config.size({"max_position_embeddings"}, MaxContext)};
  Stack.Embedding.Norm = {NormKind::Layer, Eps, "embeddings.LayerNorm"};

  LayerOptions Layer;
  Layer.Form = LayerForm::PostNorm;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "sa_layer_norm"};
  Layer.FeedForwardNorm = {NormKind::Layer, Eps, "output_layer_norm"};
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  Config.expect(Sizes.Width % Sizes.Heads == 0, "dim", "a multiple of n_heads");
  Attention.HeadDim = std::max<int64_t>(Sizes.Width / Sizes.Heads, 1);
  Attention.Mask = MaskKind::Bidirectional;
  Attention.Query = {"attention.q_lin", true};
  Attention.Key = {"attention.k_lin", true};
  Attention.Value = {"attention.v_lin", true};
  Attention.Output = {"attention.out_lin", true};
  Activation Act = Config.activation("activation", "gelu");
  Layer.FeedForward = {
      Act, Sizes.FeedForward, {}, {"ffn.lin1", true}, {"ffn.lin2", true}};
  Stack.Layer = repeat(Layer, Sizes.Layers);

  AnswerReader Answer(Config, Model);
  if (Answer.is("ForMaskedLM"))
    Answer.masked({"vocab_transform", "vocab_layer_norm", "vocab_projector",
                   "vocab_projector.bias", ""},
                  Act, Sizes.Width);
  else if (Answer.is("ForSequenceClassification"))
    Answer.perText("pre_classifier", Activation::Relu, "classifier");
  else if (Answer.is("ForTokenClassification"))
    Answer.perToken("classifier", Answer.labels());
  else if (Answer.is("ForQuestionAnswering"))
    Answer.perToken("qa_outputs", 2);
  else if (!Answer.isBare())
    Answer.refuse("DistilBertModel, or DistilBertFor with MaskedLM, "
                  "SequenceClassification, TokenClassification or "
                  "QuestionAnswering");
  for (const char *Pattern :
       {"vocab_*", "pre_classifier.*", "classifier.*", "qa_outputs.*"})
    Model.UnusedTensors.push_back(Pattern);
  // Rates of dropout, and what its heads tie.
  Config.ignore({"tie_word_embeddings", "tie_weights_", "qa_dropout",
                 "seq_classif_dropout"});
  return Model;
}

const Family tenon::DistilbertFamily = {"distilbert", readDistilbertConfig};
