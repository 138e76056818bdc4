//===- Llama.cpp - LLaMA and what is built like it ------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;

static ModelDescription readLlamaConfig(ConfigReader &Config) {
  // Falcon 3 names its gate as well.
  Config.expect(Config.wordOr("activation", "swiglu") == "swiglu", "activation",
                "swiglu");
  bool Bias = Config.flagOr("attention_bias", false);
  return readLlama(Config,
                   {.QkvBias = Bias,
                    .OutputBias = Bias,
                    .FeedForwardBias = Config.flagOr("mlp_bias", false)});
}

/// With experts it is Mixtral.
static bool isDense(GgufSettings &S) { return !gguf::hasExperts(S); }

static void readLlamaGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  S.optionalSize("expert_count", 0);
  S.optionalSize("expert_used_count", 0);
  gguf::readLlamaLike(T);
  T.Naming.Pairs = true;
  if (gguf::hasQueryBias(T) && !gguf::hasBias(T, "attn_output")) {
    // In LLaMA's config biases are all or none; these are those of Qwen 2.
    S.Config["model_type"] = "qwen2";
  } else {
    S.Config["attention_bias"] = gguf::hasQueryBias(T);
    S.Config["mlp_bias"] = gguf::hasBias(T, "ffn_gate");
  }
  gguf::setLlamaNames(T);
}

const Family tenon::LlamaFamily = {
    "llama", readLlamaConfig, {"llama", readLlamaGguf, isDense}};
