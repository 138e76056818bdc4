//===- Llama.cpp - LLaMA and what is built like it ------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static Result<ModelDescription> read(const FamilyInput &Input) {
  // More would mean slices of matrices, of another rounding.
  auto Slices = Input.Settings.integerOr("pretraining_tp", 1, 1, 1);
  if (!Slices)
    return Slices.error();
  auto Model = readDecoder(Input, {.QkvBias = {false, "attention_bias"},
                                   .OutputBias = {false, "attention_bias"},
                                   .FeedForwardBias = {false, "mlp_bias"}});
  if (!Model)
    return Model.error();
  return ModelDescription(*Model);
}

const Family tenon::LlamaFamily = {"llama", read};
