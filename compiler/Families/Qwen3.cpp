//===- Qwen3.cpp - LLaMA with norms of query and key heads ----------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/Qwen.h"

using namespace tenon;

static ModelDescription readQwen3Config(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  DecoderModel Model = readLlama(Config, {.QkvBias = Bias,
                                          .OutputBias = Bias,
                                          .HeadNorms = true,
                                          .DefaultKvHeads = 32,
                                          .DefaultHeadDim = 128});
  setQwenWindows(Config, Model);
  return Model;
}

static void readQwen3Gguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  T.Settings.Config["attention_bias"] = gguf::hasQueryBias(T);
  gguf::setLlamaNames(T);
}

const Family tenon::Qwen3Family = {
    "qwen3", readQwen3Config, {"qwen3", readQwen3Gguf}};
