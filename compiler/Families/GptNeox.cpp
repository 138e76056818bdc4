//===- GptNeox.cpp - GPT-NeoX and Pythia ----------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

/// Refuses the new name of a setting where it says something else: what counts
/// is the older name.
static void expectSame(ConfigReader &Config, std::string_view Key,
                       std::string_view Older, double Default) {
  double Value = Config.numberOr(Older, Default, 0, 1e12);
  Config.expect(Config.numberOr(Key, Value, 0, 1e12) == Value, Key,
                "the value of '" + std::string(Older) + "'");
}

static ModelDescription readGptNeoxConfig(ConfigReader &Config) {
  DecoderModel Model;
  Model.Sizes = Config.sizes();
  double Eps = Config.epsOr("layer_norm_eps", 1e-5);
  auto Norm = [&](const char *Key) {
    return NormOptions{NormKind::Layer, Eps, Key};
  };
  setStack(Config, Model, {"gpt_neox", ""}, "layers", "embed_in.weight");
  Model.Stack.FinalNorm = Norm("final_layer_norm");

  LayerOptions Layer;
  Layer.Form = Config.flagOr("use_parallel_residual", true)
                   ? LayerForm::Parallel
                   : LayerForm::PreNorm;
  Layer.AttentionNorm = Norm("input_layernorm");
  Layer.FeedForwardNorm = Norm("post_attention_layernorm");
  setHeads(Config, Layer.Attention, Model.Sizes);
  Layer.Attention.Rope =
      Config.rope(Layer.Attention.HeadDim, {.Partial = 0.25,
                                            .ReadsPartial = true,
                                            .BaseKey = "rotary_emb_base",
                                            .PartialKey = "rotary_pct"});
  expectSame(Config, "rope_theta", "rotary_emb_base", 10000);
  expectSame(Config, "partial_rotary_factor", "rotary_pct", 0.25);
  bool Bias = Config.flagOr("attention_bias", true);
  setFusedByHead(Layer.Attention, "attention.query_key_value", Bias);
  Layer.Attention.Output = {"attention.dense", Bias};
  Layer.FeedForward = {Config.activation("hidden_act", "gelu"),
                       Model.Sizes.FeedForward,
                       {},
                       {"mlp.dense_h_to_4h", true},
                       {"mlp.dense_4h_to_h", true}};
  Model.Stack.Layer = repeat(Layer, Model.Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", false),
          "embed_out.weight");
  for (const char *Mask : {"bias", "masked_bias"})
    Model.UnusedTensors.push_back(
        Model.Stack.nameOf(std::string("layers.*.attention.") + Mask));
  return Model;
}

static constexpr GgufName GptNeoxGgufOuter[] = {
    {"token_embd", "gpt_neox.embed_in"},
    {"output_norm", "gpt_neox.final_layer_norm"},
    {"output", "embed_out"}};
static constexpr GgufName GptNeoxGgufLayer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_qkv", "attention.query_key_value", GgufForm::FusedByHead},
    {"attn_output", "attention.dense"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_up", "mlp.dense_h_to_4h"},
    {"ffn_down", "mlp.dense_4h_to_h"}};

static void readGptNeoxGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(T, {.KvHeads = ""});
  gguf::readNormEps(T, "layer_norm_eps");
  gguf::readRope(T, "rotary_pct", "rotary_emb_base");
  S.Config["hidden_act"] = "gelu";
  S.Config["use_parallel_residual"] =
      S.optionalFlag("use_parallel_residual").value_or(true);
  S.Config["attention_bias"] = gguf::hasBias(T, "attn_qkv");
  gguf::setNames(T, "gpt_neox.layers.", {GptNeoxGgufOuter}, {GptNeoxGgufLayer});
}

const Family tenon::GptNeoxFamily = {
    "gpt_neox", readGptNeoxConfig, {"gptneox", readGptNeoxGguf}};
