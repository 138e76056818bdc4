//===- Opt.cpp - OPT ------------------------------------------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GptLike.h"

using namespace tenon;
using namespace tenon::transformer;

static ModelDescription readOptConfig(ConfigReader &Config) {
  DecoderModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes = Config.sizes({.FeedForward = "ffn_dim"});
  setStack(Config, Model, {"model.decoder", "decoder"}, "layers",
           "embed_tokens.weight");
  constexpr double Eps = 1e-5;
  bool PreNorm = Config.flagOr("do_layer_norm_before", true);
  if (!Config.flagOr("_remove_final_layer_norm", false) && PreNorm)
    Model.Stack.FinalNorm = {NormKind::Layer, Eps, "final_layer_norm"};
  Config.fixed("layer_norm_elementwise_affine", true);
  // The first two rows were for padding once.
  Model.Stack.Embedding.Positions = {
      "embed_positions.weight",
      Config.size({"max_position_embeddings"}, MaxContext) + 2, 2};
  int64_t Table = Config.sizeOr({"word_embed_proj_dim"}, Sizes.Width, MaxWidth);
  if (Table != Sizes.Width) {
    Model.Stack.Embedding.Width = Table;
    Model.Stack.Embedding.Project = {"project_in"};
    Model.Head.Width = Table;
    Model.Head.Project = {"project_out"};
  }

  LayerOptions Layer;
  Layer.Form = PreNorm ? LayerForm::PreNorm : LayerForm::PostNorm;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "self_attn_layer_norm"};
  Layer.FeedForwardNorm = {NormKind::Layer, Eps, "final_layer_norm"};
  setHeads(Config, Layer.Attention, Sizes);
  bool Bias = Config.flagOr("enable_bias", true);
  Layer.Attention.Query = {"self_attn.q_proj", Bias};
  Layer.Attention.Key = {"self_attn.k_proj", Bias};
  Layer.Attention.Value = {"self_attn.v_proj", Bias};
  Layer.Attention.Output = {"self_attn.out_proj", Bias};
  Layer.FeedForward = {Config.activation("activation_function", "relu"),
                       Sizes.FeedForward,
                       {},
                       {"fc1", Bias},
                       {"fc2", Bias}};
  Model.Stack.Layer = repeat(Layer, Sizes.Layers);
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true));
  return Model;
}

const Family tenon::OptFamily = {"opt", readOptConfig};
