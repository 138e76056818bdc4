//===- Gemma.cpp - LLaMA with gated GELU and scaled embeddings ------------===//

#include "compiler/Families/Gemma.h"

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

#include <cmath>

using namespace tenon;
using namespace tenon::transformer;

LlamaTraits tenon::gemmaTraits(ConfigReader &Config) {
  bool Bias = Config.flagOr("attention_bias", false);
  LlamaTraits Traits;
  Traits.QkvBias = Traits.OutputBias = Bias;
  Traits.DefaultHeadDim = 256;
  Traits.Norm.Offset = 1;
  Traits.ActKey = "hidden_activation";
  Traits.DefaultAct = "gelu_pytorch_tanh";
  Traits.DefaultTied = true;
  return Traits;
}

DecoderModel tenon::readGemma(ConfigReader &Config, const LlamaTraits &Traits) {
  DecoderModel Model = readLlama(Config, Traits);
  Model.Stack.Embedding.Scale =
      std::sqrt(static_cast<double>(Model.Sizes.Width));
  Model.Stack.Embedding.ScalesTable = true;
  Config.fixed("use_bidirectional_attention", false);
  // Of Python's cache.
  Config.ignore({"cache_implementation"});
  return Model;
}

void tenon::setGemma2(ConfigReader &Config, DecoderModel &Model,
                      std::optional<double> Attention,
                      std::optional<double> Logits) {
  double Scale =
      1 / std::sqrt(Config.numberOr("query_pre_attn_scalar", 256, 1e-6, 1e12));
  auto Cap = [&](std::string_view Key, std::optional<double> Default) {
    if (Config.Settings.isNull(Key))
      return std::optional<double>();
    auto Bound = Config.optionalNumber(Key, 1e-6, 1e12);
    return Bound ? Bound : Default;
  };
  auto ScoreCap = Cap("attn_logit_softcapping", Attention);
  Model.Head.SoftCap = Cap("final_logit_softcapping", Logits);
  // Older files name the activation of Gemma 1 too.
  Config.ignore({"hidden_act"});
  for (LayerOptions &Layer : Model.Stack.Layer) {
    const NormOptions &Norm = Layer.AttentionNorm;
    Layer.AttentionAfter = Layer.FeedForwardNorm;
    Layer.FeedForwardNorm = Norm.of("pre_feedforward_layernorm");
    Layer.FeedForwardAfter = Norm.of("post_feedforward_layernorm");
    Layer.Attention.Scale = Scale;
    Layer.Attention.SoftCap = ScoreCap;
  }
}

static ModelDescription readGemmaConfig(ConfigReader &Config) {
  LlamaTraits Traits = gemmaTraits(Config);
  Traits.DefaultKvHeads = 16;
  Traits.ActKey = "hidden_act";
  DecoderModel Model = readGemma(Config, Traits);
  for (LayerOptions &Layer : Model.Stack.Layer) {
    // The first files say gelu and mean its tanh form.
    Activation &Act = Layer.FeedForward.Act;
    if (Act == Activation::Gelu)
      Act = Activation::GeluTanh;
  }
  if (Config.Settings.has("hidden_activation"))
    Config.expect(Config.activation("hidden_activation") ==
                      Model.Stack.Layer.front().FeedForward.Act,
                  "hidden_activation", "the function that hidden_act names");
  return Model;
}

static constexpr GgufName SandwichNorms[] = {
    {"attn_norm", "input_layernorm"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"}};

void tenon::readNewerGemmaGguf(GgufTranslation &T, int64_t WideLayers) {
  GgufSettings &S = T.Settings;
  gguf::readLlamaLike(T);
  S.Config.erase("hidden_act");
  S.Config["hidden_activation"] = "gelu_pytorch_tanh";
  S.Config["query_pre_attn_scalar"] =
      T.Naming.LayerCount == WideLayers
          ? S.size("embedding_length") / T.Naming.Heads
          : T.HeadDim;
  T.Naming.NormOffset = 1;
  gguf::setLlamaNames(T,
                      {SandwichNorms, gguf::Attention, gguf::GatedFeedForward});
}

static void readGemmaGguf(GgufTranslation &T) {
  gguf::readLlamaLike(T);
  T.Settings.Config["hidden_act"] = "gelu_pytorch_tanh";
  T.Naming.NormOffset = 1;
  gguf::setLlamaNames(T);
}

const Family tenon::GemmaFamily = {
    "gemma", readGemmaConfig, {"gemma", readGemmaGguf}};
