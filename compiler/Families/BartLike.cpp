//===- BartLike.cpp - What BART and Marian share --------------------------===//

#include "compiler/Families/BartLike.h"

#include "compiler/Families/Encoder.h"

#include <cmath>

using namespace tenon;
using namespace tenon::transformer;

/// Of every norm; no key says it.
static constexpr double Eps = 1e-5;

static AttentionOptions attentionOptions(int64_t Width, int64_t Heads,
                                         const std::string &Key) {
  AttentionOptions Attention;
  Attention.Heads = Attention.KvHeads = Heads;
  Attention.HeadDim = std::max<int64_t>(Width / Heads, 1);
  Attention.Query = {Key + ".q_proj", true};
  Attention.Key = {Key + ".k_proj", true};
  Attention.Value = {Key + ".v_proj", true};
  Attention.Output = {Key + ".out_proj", true};
  return Attention;
}

std::string tenon::bartScope(const ConfigReader &Config) {
  return Config.scopeOf("encoder.layers.0.fc1.weight", {"model", ""});
}

/// One of the two stacks; `Side` is encoder or decoder.
static StackOptions readStack(ConfigReader &Config, const BartTraits &Traits,
                              const std::string &Side, int64_t Width,
                              int64_t MaxSequence, double Scale,
                              Activation Act) {
  bool IsDecoder = Side == "decoder";
  auto Norm = [&](const char *Key) {
    return NormOptions{NormKind::Layer, Eps, Key};
  };
  const std::string LayersKey = Side + "_layers",
                    HeadsKey = Side + "_attention_heads",
                    InnerKey = Side + "_ffn_dim";
  int64_t Layers =
      IsDecoder ? Config.size({LayersKey}, MaxLayers)
                : Config.size({LayersKey, "num_hidden_layers"}, MaxLayers);
  int64_t Heads = Config.size({HeadsKey}, MaxWidth);
  Config.expect(Width % Heads == 0, HeadsKey, "a divisor of d_model");

  StackOptions Stack;
  Stack.Scope = parameterName(bartScope(Config), Side);
  Stack.Layers = "layers";
  Stack.Width = Width;
  Stack.MaxSequence = MaxSequence;
  Stack.Embedding.Scale = Scale;
  if (Traits.IsLearned) {
    // The first two rows were for padding once.
    Stack.Embedding.Positions = {
        "embed_positions.weight",
        Config.size({"max_position_embeddings"}, MaxContext) + 2, 2};
    Stack.Embedding.Norm = Norm("layernorm_embedding");
  } else if (Config.hasTensor(Stack.nameOf("embed_positions.weight"))) {
    // Published files hold the table, and rounded as they are it counts.
    Stack.Embedding.Positions = {
        "embed_positions.weight",
        Config.size({"max_position_embeddings"}, MaxContext)};
  } else {
    Stack.Embedding.Sinusoid = RopeStyle::Half;
  }
  LayerOptions Layer;
  Layer.Form = LayerForm::PostNorm;
  Layer.AttentionNorm = Norm("self_attn_layer_norm");
  Layer.Attention = attentionOptions(Width, Heads, "self_attn");
  Layer.Attention.Mask = IsDecoder ? MaskKind::Causal : MaskKind::Bidirectional;
  if (IsDecoder) {
    Layer.CrossNorm = Norm("encoder_attn_layer_norm");
    Layer.Cross = attentionOptions(Width, Heads, "encoder_attn");
  }
  Layer.FeedForwardNorm = Norm("final_layer_norm");
  Layer.FeedForward = {Act,
                       Config.size({InnerKey}, MaxFeedForward),
                       {},
                       {"fc1", true},
                       {"fc2", true}};
  Stack.Layer = repeat(Layer, Layers);
  return Stack;
}

TranslationModel tenon::readBartLike(ConfigReader &Config,
                                     const BartTraits &Traits) {
  TranslationModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes.Width = Config.size({"d_model", "hidden_size"}, MaxWidth);
  Sizes.MaxSequence = Config.maxSequence();
  Model.MaxSource = Sizes.MaxSequence;
  int64_t Vocabulary = Config.size({"vocab_size"}, MaxVocabulary);
  Sizes.Vocabulary = Vocabulary;
  bool IsScaled = Config.flagOr("scale_embedding", false);
  double Scale = IsScaled ? std::sqrt(static_cast<double>(Sizes.Width)) : 1;
  Activation Act = Config.activation("activation_function", Traits.DefaultAct);
  Model.Encoder = readStack(Config, Traits, "encoder", Sizes.Width,
                            Sizes.MaxSequence, Scale, Act);
  Model.Decoder = readStack(Config, Traits, "decoder", Sizes.Width,
                            Sizes.MaxSequence, Scale, Act);
  Sizes.Layers = static_cast<int64_t>(Model.Decoder.Layer.size());
  // How older code laid out its tables, and what forms have that were never
  // published.
  Config.ignore({"classif_dropout", "_num_labels"});
  int64_t Extra = Config.sizeOr({"extra_pos_embeddings"}, 2, MaxContext, 0);
  Config.expect(!Traits.IsLearned || Extra == 2, "extra_pos_embeddings", "2");
  for (const char *Key : {"add_bias_logits", "add_final_layer_norm",
                          "do_blenderbot_90_layernorm", "normalize_before"})
    Config.fixed(Key, false);
  Config.fixed("normalize_embedding", Traits.IsLearned);
  Config.fixed("static_position_embeddings", !Traits.IsLearned);
  Config.fixed("is_encoder_decoder", true);
  std::string Architecture = Config.architecture();
  if (!Architecture.empty() && Architecture != Traits.Architecture &&
      Architecture != Traits.Body)
    Config.refuseArchitecture(std::string(Traits.Architecture) + " or " +
                              std::string(Traits.Body));
  return Model;
}
