//===- Mistral.cpp - LLaMA with a sliding window and no biases ------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

static ModelDescription readMistralConfig(ConfigReader &Config) {
  DecoderModel Model = readLlama(Config, {.DefaultKvHeads = 8});
  std::optional<int64_t> Window = readWindow(Config, 4096);
  for (LayerOptions &Layer : Model.Stack.Layer)
    Layer.Attention.Window = Window;
  return Model;
}

const Family tenon::MistralFamily = {"mistral", readMistralConfig};
