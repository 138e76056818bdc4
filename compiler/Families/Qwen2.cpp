//===- Qwen2.cpp - LLaMA with biases of queries, keys and values ----------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Qwen.h"

using namespace tenon;

static ModelDescription readQwen2Config(ConfigReader &Config) {
  DecoderModel Model =
      readLlama(Config, {.QkvBias = true, .DefaultKvHeads = 32});
  setQwenWindows(Config, Model);
  return Model;
}

static void readQwen2Gguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  gguf::setLlamaNames(T);
}

const Family tenon::Qwen2Family = {
    "qwen2", readQwen2Config, {"qwen2", readQwen2Gguf}};
