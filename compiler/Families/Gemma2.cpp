//===- Gemma2.cpp - Gemma with norms all around, windows and soft caps ----===//

#include "compiler/Families/Family.h"
#include "compiler/Families/Gemma.h"

using namespace tenon;

static ModelDescription readGemma2Config(ConfigReader &Config) {
  LlamaTraits Traits = gemmaTraits(Config);
  Traits.DefaultKvHeads = 4;
  DecoderModel Model = readGemma(Config, Traits);
  setGemma2(Config, Model, 50, 30);
  // What the first files call the window too; nothing reads it.
  Config.ignore({"sliding_window_size"});
  setWindows(Config, Model, readWindow(Config, 4096),
             [](int64_t I) { return I % 2 == 0; });
  return Model;
}

static void readGemma2Gguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  readNewerGemmaGguf(T, 46);
  S.Config["attn_logit_softcapping"] =
      S.optionalNumber("attn_logit_softcapping").value_or(50);
  S.Config["final_logit_softcapping"] =
      S.optionalNumber("final_logit_softcapping").value_or(30);
  S.Config["sliding_window"] =
      S.optionalSize("attention.sliding_window").value_or(4096);
}

const Family tenon::Gemma2Family = {
    "gemma2", readGemma2Config, {"gemma2", readGemma2Gguf}};
