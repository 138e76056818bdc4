//===- Olmo2.cpp - LLaMA with norms after its blocks ----------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;

static ModelDescription readOlmo2Config(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  DecoderModel Model = readLlama(Config, {.QkvBias = Bias,
                                          .OutputBias = Bias,
                                          .HeadNorms = true,
                                          .Norm = {.Eps = 1e-5},
                                          .DefaultAct = "silu"});
  for (LayerOptions &Layer : Model.Stack.Layer) {
    Layer.AttentionAfter = Layer.FeedForwardNorm;
    Layer.FeedForwardAfter =
        Layer.FeedForwardNorm.of("post_feedforward_layernorm");
    Layer.AttentionNorm = Layer.FeedForwardNorm = {};
    Layer.Attention.QueryNorm->Over = HeadNormOptions::Extent::Row;
    Layer.Attention.KeyNorm->Over = HeadNormOptions::Extent::Row;
  }
  return Model;
}

static constexpr GgufName Olmo2GgufLayer[] = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"}};

static void readOlmo2Gguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  gguf::setLlamaNames(
      T, {Olmo2GgufLayer, gguf::Attention, gguf::GatedFeedForward});
}

const Family tenon::Olmo2Family = {
    "olmo2", readOlmo2Config, {"olmo2", readOlmo2Gguf}};
