//===- Llama.cpp - LLaMA and what is built like it ------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static ModelDescription read(ConfigReader &Config) {
  // More would mean slices of matrices, of another rounding.
  Config.sizeOr({"pretraining_tp"}, 1, 1);
  bool Bias = Config.flagOr("attention_bias", false);
  return readLlama(Config,
                   {.QkvBias = Bias,
                    .OutputBias = Bias,
                    .FeedForwardBias = Config.flagOr("mlp_bias", false)});
}

const Family tenon::LlamaFamily = {"llama", read};
