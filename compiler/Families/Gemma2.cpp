//===- Gemma2.cpp - Gemma with norms all around, windows and soft caps ----===//

#include "compiler/Families/Family.h"
#include "compiler/Families/Gemma.h"

using namespace tenon;

static ModelDescription read(ConfigReader &Config) {
  LlamaTraits Traits = gemmaTraits(Config);
  Traits.DefaultKvHeads = 4;
  DecoderModel Model = readGemma(Config, Traits);
  setGemma2(Config, Model, 50, 30);
  setWindows(Config, Model, readWindow(Config, 4096),
             [](int64_t I) { return I % 2 == 0; });
  return Model;
}

const Family tenon::Gemma2Family = {"gemma2", read};
