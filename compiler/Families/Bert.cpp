//===- Bert.cpp - BERT ----------------------------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static Result<ModelDescription> read(const FamilyInput &Input) {
  // What turns hidden states into other answers, and a stored buffer.
  static const EncoderTraits Traits = {
      "bert",
      {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"},
      {"cls.predictions.bias", "cls.predictions.transform.dense.weight",
       "cls.predictions.transform.dense.bias",
       "cls.predictions.transform.LayerNorm.weight",
       "cls.predictions.transform.LayerNorm.bias",
       "cls.predictions.transform.LayerNorm.gamma",
       "cls.predictions.transform.LayerNorm.beta",
       "cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
       "cls.seq_relationship.weight", "cls.seq_relationship.bias",
       "classifier.weight", "classifier.bias", "qa_outputs.weight",
       "qa_outputs.bias"}};
  auto Model = readEncoder(Input, Traits);
  if (!Model)
    return Model.error();
  return ModelDescription(*Model);
}

const Family tenon::BertFamily = {"bert", read};
