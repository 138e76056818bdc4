//===- Vit.cpp - Vision Transformer ---------------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

/// A side of a square, or height and width.
static std::pair<int64_t, int64_t>
readSides(ConfigReader &Config, std::string_view Key, int64_t Default) {
  auto Sides = Config.Settings.optionalIntegers(Key, 1, MaxInputSide);
  if (!Sides) {
    Config.fail(Sides.error());
    return {1, 1};
  }
  Config.expect(Sides->size() <= 2, Key, "a side, or height and width");
  if (Sides->empty())
    return {Default, Default};
  return {Sides->front(), Sides->back()};
}

static ModelDescription readVitConfig(ConfigReader &Config) {
  VisionModel Model;
  readVisionSizes(Config, Model);
  ModelSizes &Sizes = Model.Sizes;
  std::tie(Model.Height, Model.Width) = readSides(Config, "image_size", 224);
  std::tie(Model.PatchHeight, Model.PatchWidth) =
      readSides(Config, "patch_size", 16);
  Config.expect(Model.PatchHeight <= Model.Height &&
                    Model.PatchWidth <= Model.Width,
                "patch_size", "at most image_size");
  Sizes.MaxSequence =
      1 + (Model.Height / Model.PatchHeight) * (Model.Width / Model.PatchWidth);
  double Eps = Config.epsOr("layer_norm_eps", 1e-12);

  StackOptions &Stack = Model.Stack;
  Stack.Scope = bodyScope(Config, "vit", "embeddings.cls_token");
  Stack.Layers = "encoder.layer";
  Stack.Width = Sizes.Width;
  Stack.MaxSequence = Sizes.MaxSequence;
  Stack.Embedding.Patches =
      PatchOptions{Model.Channels * Model.PatchHeight * Model.PatchWidth,
                   {"embeddings.patch_embeddings.projection", true, "^flat"},
                   "embeddings.cls_token^flat"};
  Stack.Embedding.Positions = {"embeddings.position_embeddings^flat",
                               Sizes.MaxSequence};
  Stack.FinalNorm = {NormKind::Layer, Eps, "layernorm"};

  LayerOptions Layer;
  Layer.AttentionNorm = {NormKind::Layer, Eps, "layernorm_before"};
  Layer.FeedForwardNorm = {NormKind::Layer, Eps, "layernorm_after"};
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  Attention.HeadDim = Config.headDim(Sizes.Width, Sizes.Heads);
  Attention.Mask = MaskKind::Bidirectional;
  bool Bias = Config.flagOr("qkv_bias", true);
  Attention.Query = {"attention.attention.query", Bias};
  Attention.Key = {"attention.attention.key", Bias};
  Attention.Value = {"attention.attention.value", Bias};
  Attention.Output = {"attention.output.dense", true};
  Layer.FeedForward = {Config.activation("hidden_act", "gelu"),
                       Sizes.FeedForward,
                       {},
                       {"intermediate.dense", true},
                       {"output.dense", true}};
  Stack.Layer = repeat(Layer, Sizes.Layers);

  std::string Architecture = Config.architecture();
  if (Architecture == "ViTForImageClassification") {
    Model.Answer.Labels = readLabels(Config);
    Model.Answer.Pool = PoolKind::Cls;
    Model.Answer.linear("classifier.weight", "classifier.bias",
                        static_cast<int64_t>(Model.Answer.Labels.size()));
  } else if (!Architecture.empty() && Architecture != "ViTModel") {
    Config.refuseArchitecture("ViTModel or ViTForImageClassification");
  }
  // The pooler is no part of hidden states.
  Config.ignore({"encoder_stride", "pooler_output_size", "pooler_act"});
  for (const char *Key : {"pooler.dense.*", "embeddings.mask_token"})
    Model.UnusedTensors.push_back(Stack.nameOf(Key));
  Model.UnusedTensors.push_back("classifier.*");
  return Model;
}

const Family tenon::VitFamily = {"vit", readVitConfig};
