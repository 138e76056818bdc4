//===- Bert.cpp - BERT and its heads --------------------------------------===//

#include "compiler/Families/BertLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

/// Beside the head that is wanted, checkpoints keep others.
static void ignoreOthers(EncoderModel &Model) {
  std::string Pooler = Model.Stack.nameOf("pooler.dense.*");
  for (const std::string &Pattern :
       {Pooler, std::string("cls.*"), std::string("classifier.*"),
        std::string("qa_outputs.*")})
    Model.UnusedTensors.push_back(Pattern);
}

static ModelDescription readBertConfig(ConfigReader &Config) {
  EncoderModel Model = readBertLike(Config, {.Scope = "bert"});
  AnswerReader Answer(Config, Model);
  Activation Act = Model.Stack.Layer.front().FeedForward.Act;
  std::string Pooler = Model.Stack.nameOf("pooler.dense");
  if (Answer.is("ForMaskedLM") || Answer.is("ForPreTraining"))
    Answer.masked({"cls.predictions.transform.dense",
                   "cls.predictions.transform.LayerNorm",
                   "cls.predictions.decoder", "cls.predictions.bias",
                   "cls.predictions.decoder.bias"},
                  Act, Model.Sizes.Width);
  else if (Answer.is("ForSequenceClassification"))
    Answer.perText(Pooler, Activation::Tanh, "classifier");
  else if (Answer.is("ForTokenClassification"))
    Answer.perToken("classifier", Answer.labels());
  else if (Answer.is("ForQuestionAnswering"))
    Answer.perToken("qa_outputs", 2);
  else if (!Answer.isBare())
    Answer.refuse("BertModel, or BertFor with MaskedLM, PreTraining, "
                  "SequenceClassification, TokenClassification or "
                  "QuestionAnswering");
  ignoreOthers(Model);
  // It ties a head that hidden states do not need.
  Config.ignore({"tie_word_embeddings"});
  return Model;
}

const Family tenon::BertFamily = {"bert", readBertConfig};
