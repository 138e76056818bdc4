//===- GptLike.cpp - What decoders of the GPT kind share ------------------===//

#include "compiler/Families/GptLike.h"

#include <cmath>

using namespace tenon;

DecoderModel tenon::readGptLike(ConfigReader &Config) {
  DecoderModel Model;
  ModelSizes &Sizes = Model.Sizes;
  Sizes.Vocabulary = Config.size({"vocab_size"}, MaxVocabulary);
  Sizes.Width = Config.size({"n_embd", "hidden_size"}, MaxWidth);
  Sizes.Layers = Config.size({"n_layer", "num_hidden_layers"}, MaxLayers);
  Sizes.Heads = Config.size({"n_head", "num_attention_heads"}, MaxWidth);
  Sizes.MaxSequence =
      Config.maxSequence({"n_positions", "max_position_embeddings"});
  Sizes.FeedForward =
      Config.sizeOr({"n_inner"}, 4 * Sizes.Width, MaxFeedForward);
  setStack(Config, Model, {"transformer", ""}, "h", "wte.weight");
  // Masks that older checkpoints stored.
  for (const char *Buffer : {"h.*.attn.bias", "h.*.attn.masked_bias"})
    Model.UnusedTensors.push_back(Model.Stack.nameOf(Buffer));
  return Model;
}

void tenon::setHeads(ConfigReader &Config, AttentionOptions &Attention,
                     const ModelSizes &Sizes, ConfigReader::Keys WidthKeys) {
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  std::string_view Key = *WidthKeys.begin();
  for (std::string_view Other : WidthKeys)
    if (!Config.Settings.has(Key))
      Key = Other;
  Config.expect(Sizes.Width % Sizes.Heads == 0, Key,
                "a multiple of the " + std::to_string(Sizes.Heads) +
                    " attention heads");
  Attention.HeadDim = std::max<int64_t>(Sizes.Width / Sizes.Heads, 1);
}

double tenon::headScale(const AttentionOptions &Attention) {
  return 1 / std::sqrt(static_cast<double>(Attention.HeadDim));
}

int64_t tenon::unlimitedSequence(ConfigReader &Config, ConfigReader::Keys Names,
                                 int64_t Default) {
  int64_t Known = Config.sizeOr(Names, Default, MaxContext);
  int64_t Wanted = Config.Input.MaxSequence.value_or(Known);
  if (Wanted < 1 || Wanted > MaxContext)
    Config.fail(Error("a sequence length of " + std::to_string(Wanted) +
                      ": expected 1 to " + std::to_string(MaxContext)));
  return Wanted;
}

std::string tenon::rangeOf(int64_t First, int64_t Last) {
  return "[" + std::to_string(First) + ":" + std::to_string(Last) + "]";
}

LinearOptions tenon::fusedPart(const std::string &Key, bool Bias, int64_t First,
                               int64_t Step, int64_t Block) {
  std::string View = "[" + std::to_string(First) + "::" + std::to_string(Step) +
                     "/" + std::to_string(Block) + "]";
  return {Key, Bias, View, View};
}

void tenon::setFusedByHead(AttentionOptions &Attention, const std::string &Key,
                           bool Bias) {
  int64_t D = Attention.HeadDim;
  Attention.Query = fusedPart(Key, Bias, 0, 3 * D, D);
  Attention.Key = fusedPart(Key, Bias, D, 3 * D, D);
  Attention.Value = fusedPart(Key, Bias, 2 * D, 3 * D, D);
}
