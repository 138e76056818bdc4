//===- Electra.cpp - ELECTRA, generators and discriminators ---------------===//

#include "compiler/Families/BertLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readElectraConfig(ConfigReader &Config) {
  EncoderModel Model =
      readBertLike(Config, {.Scope = "electra", .ProjectsEmbedding = true});
  AnswerReader Answer(Config, Model);
  int64_t Width = Model.Stack.Embedding.Width.value_or(Model.Sizes.Width);
  if (Answer.is("ForMaskedLM")) {
    Answer.masked({"generator_predictions.dense",
                   "generator_predictions.LayerNorm", "generator_lm_head",
                   "generator_lm_head.bias", ""},
                  Activation::Gelu, Width);
  } else if (Answer.is("ForPreTraining")) {
    Answer.linear("discriminator_predictions.dense", Model.Sizes.Width);
    Model.Answer.activation(Model.Stack.Layer.front().FeedForward.Act);
    Answer.linear("discriminator_predictions.dense_prediction", 1);
  } else if (Answer.is("ForSequenceClassification")) {
    Answer.perText("classifier.dense", Activation::Gelu, "classifier.out_proj");
  } else if (Answer.is("ForTokenClassification")) {
    Answer.perToken("classifier", Answer.labels());
  } else if (Answer.is("ForQuestionAnswering")) {
    Answer.perToken("qa_outputs", 2);
  } else if (!Answer.isBare()) {
    Answer.refuse("ElectraModel, or ElectraFor with MaskedLM, PreTraining, "
                  "SequenceClassification, TokenClassification or "
                  "QuestionAnswering");
  }
  for (const char *Pattern :
       {"generator_*", "discriminator_*", "classifier.*", "qa_outputs.*"})
    Model.UnusedTensors.push_back(Pattern);
  // Of a head for multiple choice.
  Config.ignore({"tie_word_embeddings", "summary_activation",
                 "summary_last_dropout", "summary_type", "summary_use_proj"});
  return Model;
}

const Family tenon::ElectraFamily = {"electra", readElectraConfig};
