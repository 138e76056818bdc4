//===- T5.cpp - T5, of plain and gated feed-forwards ----------------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GptLike.h"

#include <cmath>

using namespace tenon;
using namespace tenon::transformer;

/// Positions are relative: nothing ends sequences, and texts this long are
/// what models are trained for.
static constexpr int64_t T5DefaultSequence = 512;

namespace {

/// What encoder and decoder share.
struct T5Sizes {
  int64_t Width, Heads, HeadDim, FeedForward, Buckets, MaxDistance;
  double Eps;
  Activation Act;
  bool IsGated;
};

AttentionOptions attention(const T5Sizes &Sizes, const std::string &Key) {
  AttentionOptions Attention;
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  Attention.HeadDim = Sizes.HeadDim;
  Attention.Scale = 1;
  Attention.Query = {Key + ".q"};
  Attention.Key = {Key + ".k"};
  Attention.Value = {Key + ".v"};
  Attention.Output = {Key + ".o"};
  return Attention;
}

StackOptions stack(ConfigReader &Config, const T5Sizes &Sizes, bool IsDecoder,
                   int64_t Layers, int64_t MaxSequence) {
  auto Norm = [&](const std::string &Key) {
    return NormOptions{NormKind::Rms, Sizes.Eps, Key};
  };
  StackOptions Stack;
  Stack.Scope = IsDecoder ? "decoder" : "encoder";
  Stack.Layers = "block";
  Stack.Width = Sizes.Width;
  Stack.MaxSequence = MaxSequence;
  Stack.Embedding.Tokens = "shared.weight";
  Stack.Embedding.TokensScope = "";
  Stack.FinalNorm = Norm("final_layer_norm");
  // All layers add the biases that the first one has.
  Stack.BiasScope = "block.0.layer.0.SelfAttention";

  LayerOptions Layer;
  Layer.AttentionNorm = Norm("layer.0.layer_norm");
  Layer.Attention = attention(Sizes, "layer.0.SelfAttention");
  Layer.Attention.Mask = IsDecoder ? MaskKind::Causal : MaskKind::Bidirectional;
  Layer.Attention.Bias = "relative_attention_bias.weight";
  if (!Config.error())
    Layer.Attention.Buckets =
        BucketsAttr::get(&Config.Input.Context, Sizes.Buckets,
                         Sizes.MaxDistance, /*bidirectional=*/!IsDecoder);
  if (IsDecoder) {
    Layer.CrossNorm = Norm("layer.1.layer_norm");
    Layer.Cross = attention(Sizes, "layer.1.EncDecAttention");
  }
  std::string Last = IsDecoder ? "layer.2." : "layer.1.";
  Layer.FeedForwardNorm = Norm(Last + "layer_norm");
  std::string Dense = Last + "DenseReluDense.";
  Layer.FeedForward.Act = Sizes.Act;
  Layer.FeedForward.Inner = Sizes.FeedForward;
  if (Sizes.IsGated)
    Layer.FeedForward.Gate = {Dense + "wi_0"};
  Layer.FeedForward.Up = {Dense + (Sizes.IsGated ? "wi_1" : "wi")};
  Layer.FeedForward.Down = {Dense + "wo"};
  Stack.Layer = repeat(Layer, Layers);
  return Stack;
}

/// feed_forward_proj: "relu", "gated-gelu", ... ; what newer files derive from
/// it must agree.
void readFeedForward(ConfigReader &Config, T5Sizes &Sizes) {
  std::string Name = Config.wordOr("feed_forward_proj", "relu");
  Sizes.IsGated = Name.starts_with("gated-");
  std::string Act = Sizes.IsGated ? Name.substr(6) : Name;
  if (Name == "gated-gelu")
    Act = "gelu_new";
  auto Known = ConfigReader::activationNamed(Act);
  Config.expect(Known.has_value(), "feed_forward_proj",
                ConfigReader::knownActivations() +
                    ", or one of them after 'gated-'");
  Sizes.Act = Known.value_or(Activation::None);
  std::string Given = Config.wordOr("dense_act_fn", Act);
  Config.expect(Given == Act, "dense_act_fn",
                Act + ", as feed_forward_proj has it");
  Config.expect(Config.flagOr("is_gated_act", Sizes.IsGated) == Sizes.IsGated,
                "is_gated_act", "what feed_forward_proj says");
}

} // namespace

static ModelDescription readT5Config(ConfigReader &Config) {
  TranslationModel Model;
  T5Sizes Sizes{};
  Sizes.Width = Config.size({"d_model"}, MaxWidth);
  Sizes.Heads = Config.size({"num_heads"}, MaxWidth);
  Sizes.HeadDim = Config.size({"d_kv"}, MaxWidth);
  Sizes.FeedForward = Config.size({"d_ff"}, MaxFeedForward);
  Sizes.Buckets =
      Config.sizeOr({"relative_attention_num_buckets"}, 32, 1 << 16);
  Sizes.MaxDistance =
      Config.sizeOr({"relative_attention_max_distance"}, 128, 1 << 20);
  Config.expect(Sizes.Buckets % 2 == 0 && Sizes.Buckets >= 4,
                "relative_attention_num_buckets", "an even number from 4 on");
  Config.expect(Sizes.MaxDistance > Sizes.Buckets / 2,
                "relative_attention_max_distance",
                "more than half of relative_attention_num_buckets");
  Sizes.Eps = Config.epsOr("layer_norm_epsilon", 1e-6);
  readFeedForward(Config, Sizes);
  int64_t Layers = Config.size({"num_layers"}, MaxLayers);
  int64_t DecoderLayers =
      Config.sizeOr({"num_decoder_layers"}, Layers, MaxLayers);
  Model.Sizes.Vocabulary = Config.size({"vocab_size"}, MaxVocabulary);
  Model.Sizes.Width = Sizes.Width;
  Model.Sizes.Layers = DecoderLayers;
  Model.Sizes.MaxSequence =
      unlimitedSequence(Config, {"n_positions"}, T5DefaultSequence);
  Model.MaxSource = Model.Sizes.MaxSequence;
  Config.fixed("is_encoder_decoder", true);
  std::string Architecture = Config.architecture();
  if (!Architecture.empty() && Architecture != "T5ForConditionalGeneration" &&
      Architecture != "T5WithLMHeadModel")
    Config.refuseArchitecture("T5ForConditionalGeneration");
  Model.Encoder = stack(Config, Sizes, false, Layers, Model.Sizes.MaxSequence);
  Model.Decoder =
      stack(Config, Sizes, true, DecoderLayers, Model.Sizes.MaxSequence);

  bool IsTied = Config.flagOr("tie_word_embeddings", true);
  bool IsScaled = Config.flagOr("scale_decoder_outputs", IsTied);
  // A head in the file counts, whatever the config says of tying.
  bool IsShared =
      Config.Input.Weights
          ? !Config.hasTensor("lm_head.weight") ||
                Config.sharesTable(true, "lm_head.weight", "shared.weight")
          : IsTied;
  Model.Head.Weight = IsShared ? "shared.weight" : "lm_head.weight";
  if (IsScaled)
    Model.Head.Scale = 1 / std::sqrt(static_cast<double>(Sizes.Width));
  Model.UnusedTensors = {
      "lm_head.weight", "encoder.embed_tokens.weight",
      "decoder.embed_tokens.weight",
      "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
  return Model;
}

const Family tenon::T5Family = {"t5", readT5Config};
