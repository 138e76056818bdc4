//===- Qwen3.cpp - LLaMA with norms of query and key heads ----------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static Result<ModelDescription> read(const FamilyInput &Input) {
  auto Model = readDecoder(Input, {.QkvBias = {false, "attention_bias"},
                                   .OutputBias = {false, "attention_bias"},
                                   .HeadNorms = true,
                                   .Windows = WindowRule::PerLayer,
                                   .DefaultHeadDim = 128,
                                   .DefaultKvHeads = 32});
  if (!Model)
    return Model.error();
  return ModelDescription(*Model);
}

const Family tenon::Qwen3Family = {"qwen3", read};
