//===- Qwen2.cpp - LLaMA with biases of queries, keys and values ----------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static Result<ModelDescription> read(const FamilyInput &Input) {
  auto Model = readDecoder(Input, {.QkvBias = {true, ""},
                                   .Windows = WindowRule::PerLayer,
                                   .DefaultKvHeads = 32});
  if (!Model)
    return Model.error();
  return ModelDescription(*Model);
}

const Family tenon::Qwen2Family = {"qwen2", read};
