//===- Gptj.cpp - GPT-J ---------------------------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readGptjConfig(ConfigReader &Config) {
  DecoderModel Model = readGptLike(Config);
  double Eps = Config.epsOr("layer_norm_epsilon", 1e-5);
  Model.Stack.FinalNorm = {NormKind::Layer, Eps, "ln_f"};
  Config.ignore({"n_ctx"});
  // Said by published configs, and what the model always does.
  Config.fixed("rotary", true);
  Config.fixed("scale_attn_weights", true);

  LayerOptions Layer;
  Layer.Form = LayerForm::Parallel;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "ln_1"};
  AttentionOptions &Attention = Layer.Attention;
  setHeads(Config, Attention, Model.Sizes, {"n_embd", "hidden_size"});
  int64_t Dim = Config.sizeOr({"rotary_dim"}, 64, Attention.HeadDim);
  Config.expect(Dim % 2 == 0 && !Config.Settings.isNull("rotary_dim"),
                "rotary_dim", "an even number of elements per head");
  if (!Config.error())
    Attention.Rope =
        RopeAttr::get(&Config.Input.Context, RopeStyle::Interleaved, Dim,
                      10000.0, RopeScaling::Default, {});
  Attention.Query = {"attn.q_proj"};
  Attention.Key = {"attn.k_proj"};
  Attention.Value = {"attn.v_proj"};
  Attention.Output = {"attn.out_proj"};
  Layer.FeedForward = {Config.activation("activation_function", "gelu_new"),
                       Model.Sizes.FeedForward,
                       {},
                       {"mlp.fc_in", true},
                       {"mlp.fc_out", true}};
  Model.Stack.Layer = repeat(Layer, Model.Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", false));
  Model.Head.Bias = "lm_head.bias";
  return Model;
}

const Family tenon::GptjFamily = {"gptj", readGptjConfig};
