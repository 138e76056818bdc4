//===- Mistral.cpp - LLaMA with a sliding window and no biases ------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static Result<ModelDescription> read(const FamilyInput &Input) {
  auto Model = readDecoder(
      Input, {.Windows = WindowRule::EveryLayer, .DefaultKvHeads = 8});
  if (!Model)
    return Model.error();
  return ModelDescription(*Model);
}

const Family tenon::MistralFamily = {"mistral", read};
