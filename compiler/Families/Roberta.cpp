//===- Roberta.cpp - RoBERTa and XLM-RoBERTa ------------------------------===//

#include "compiler/Families/BertLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readRobertaConfig(ConfigReader &Config) {
  EncoderModel Model =
      readBertLike(Config, {.Scope = "roberta", .PositionsAfterPadding = true});
  AnswerReader Answer(Config, Model);
  if (Answer.is("ForMaskedLM"))
    // Always this activation, whatever the layers have.
    Answer.masked({"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder",
                   "lm_head.bias", "lm_head.decoder.bias"},
                  Activation::Gelu, Model.Sizes.Width);
  else if (Answer.is("ForSequenceClassification"))
    Answer.perText("classifier.dense", Activation::Tanh, "classifier.out_proj");
  else if (Answer.is("ForTokenClassification"))
    Answer.perToken("classifier", Answer.labels());
  else if (Answer.is("ForQuestionAnswering"))
    Answer.perToken("qa_outputs", 2);
  else if (!Answer.isBare())
    Answer.refuse("RobertaModel, or RobertaFor with MaskedLM, "
                  "SequenceClassification, TokenClassification or "
                  "QuestionAnswering");
  for (const char *Pattern : {"lm_head.*", "classifier.*", "qa_outputs.*"})
    Model.UnusedTensors.push_back(Pattern);
  Model.UnusedTensors.push_back(Model.Stack.nameOf("pooler.dense.*"));
  Config.ignore({"tie_word_embeddings"});
  return Model;
}

const Family tenon::RobertaFamily = {"roberta", readRobertaConfig};
const Family tenon::XlmRobertaFamily = {"xlm-roberta", readRobertaConfig};
