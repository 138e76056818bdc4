//===- Starcoder2.cpp - StarCoder2 ----------------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readStarcoder2Config(ConfigReader &Config) {
  DecoderModel Model;
  Model.Sizes = Config.sizes();
  double Eps = Config.epsOr("norm_epsilon", 1e-5);
  bool Bias = Config.flagOr("use_bias", true);
  setStack(Config, Model, {"model", ""}, "layers", "embed_tokens.weight");
  Model.Stack.FinalNorm = {NormKind::Layer, Eps, "norm"};
  Config.expect(Config.wordOr("norm_type", "layer_norm") == "layer_norm",
                "norm_type", "layer_norm");
  Config.expect(Config.wordOr("mlp_type", "default") == "default", "mlp_type",
                "default");
  // What the code that they were trained with calls the same.
  Config.ignore({"activation_function", "attention_softmax_in_fp32",
                 "layer_norm_epsilon", "scale_attention_softmax_in_fp32",
                 "scale_attn_weights"});

  LayerOptions Layer;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "input_layernorm"};
  Layer.FeedForwardNorm = {NormKind::Layer, Eps, "post_attention_layernorm"};
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Model.Sizes.Heads;
  Attention.HeadDim = Config.headDim(Model.Sizes.Width, Attention.Heads);
  Attention.KvHeads = Config.kvHeads(Model.Sizes.Heads, 2);
  Attention.Rope = Config.rope(Attention.HeadDim);
  Attention.Window = readWindow(Config, std::nullopt);
  Attention.Query = {"self_attn.q_proj", Bias};
  Attention.Key = {"self_attn.k_proj", Bias};
  Attention.Value = {"self_attn.v_proj", Bias};
  Attention.Output = {"self_attn.o_proj", Bias};
  Layer.FeedForward = {Config.activation("hidden_act", "gelu_pytorch_tanh"),
                       Model.Sizes.FeedForward,
                       {},
                       {"mlp.c_fc", Bias},
                       {"mlp.c_proj", Bias}};
  Model.Stack.Layer = repeat(Layer, Model.Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true));
  return Model;
}

static constexpr GgufName Starcoder2GgufLayer[] = {{"ffn_up", "mlp.c_fc"},
                                                   {"ffn_down", "mlp.c_proj"}};

static void readStarcoder2Gguf(GgufTranslation &T) {
  gguf::readSizes(T);
  gguf::readNormEps(T, "norm_epsilon");
  gguf::readRope(T);
  T.Settings.Config["hidden_act"] = "gelu_pytorch_tanh";
  T.Settings.Config["use_bias"] = gguf::hasBias(T, "attn_output");
  T.Settings.Config["sliding_window"] = nullptr;
  gguf::setLlamaNames(T,
                      {gguf::PreNorms, gguf::Attention, Starcoder2GgufLayer});
}

const Family tenon::Starcoder2Family = {
    "starcoder2", readStarcoder2Config, {"starcoder2", readStarcoder2Gguf}};
