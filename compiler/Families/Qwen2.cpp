//===- Qwen2.cpp - LLaMA with biases of queries, keys and values ----------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Qwen.h"

using namespace tenon;

static ModelDescription read(ConfigReader &Config) {
  DecoderModel Model =
      readLlama(Config, {.QkvBias = true, .DefaultKvHeads = 32});
  setQwenWindows(Config, Model);
  return Model;
}

static void readGguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  gguf::setLlamaNames(T);
}

const Family tenon::Qwen2Family = {"qwen2", read, {"qwen2", readGguf}};
