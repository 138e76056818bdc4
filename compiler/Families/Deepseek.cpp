//===- Deepseek.cpp - What the DeepSeek families share --------------------===//

#include "compiler/Families/Deepseek.h"

#include <cmath>

using namespace tenon;
using namespace tenon::transformer;

/// Multi-head latent attention.
static LatentAttentionOptions
readLatent(ConfigReader &Config, const ModelSizes &Sizes, RopeStyle Style) {
  LatentAttentionOptions Latent;
  Latent.Heads = Sizes.Heads;
  int64_t KvHeads =
      Config.sizeOr({"num_key_value_heads"}, Sizes.Heads, MaxWidth);
  Config.expect(KvHeads == Sizes.Heads, "num_key_value_heads",
                "the " + std::to_string(Sizes.Heads) + " attention heads");
  auto Elements = [&](std::string_view Key, int64_t Default) {
    int64_t Size = Config.sizeOr({Key}, Default, MaxWidth / 4);
    Config.expect(Sizes.Heads <= MaxWidth / Size, Key,
                  "at most " + std::to_string(MaxWidth) +
                      " elements in all heads");
    return Size;
  };
  Latent.KeyDim = Elements("qk_nope_head_dim", 128);
  Latent.RopeDim = Elements("qk_rope_head_dim", 64);
  Config.expect(Latent.RopeDim % 2 == 0, "qk_rope_head_dim",
                "an even number, for elements are rotated in pairs");
  Latent.ValueDim = Elements("v_head_dim", 128);
  Latent.Rank = Config.sizeOr({"kv_lora_rank"}, 512, MaxWidth);
  int64_t QueryDim = Latent.KeyDim + Latent.RopeDim;
  // Newer files repeat sizes under other names.
  auto Repeats = [&](std::string_view Key, int64_t Size) {
    Config.expect(Config.sizeOr({Key}, Size, MaxWidth) == Size, Key,
                  std::to_string(Size));
  };
  Repeats("head_dim", Latent.RopeDim);
  Repeats("qk_head_dim", QueryDim);

  RopeTraits Rope;
  Rope.Style = Style;
  Latent.Rope = Config.rope(Latent.RopeDim, Rope);
  Latent.Scale = Config.yarnScale() / std::sqrt(static_cast<double>(QueryDim));

  // These norms have an epsilon of their own.
  NormOptions Norm{NormKind::Rms, 1e-6};
  bool Bias = Config.flagOr("attention_bias", false);
  if (!Config.Settings.isNull("q_lora_rank"))
    Latent.QueryRank = Config.sizeOr({"q_lora_rank"}, 1536, MaxWidth);
  if (Latent.QueryRank) {
    Latent.QueryDown = {"self_attn.q_a_proj", Bias};
    Latent.QueryNorm = Norm.of("self_attn.q_a_layernorm");
    Latent.Query = {"self_attn.q_b_proj"};
  } else {
    Latent.Query = {"self_attn.q_proj"};
  }
  Latent.Down = {"self_attn.kv_a_proj_with_mqa", Bias};
  Latent.LatentNorm = Norm.of("self_attn.kv_a_layernorm");
  Latent.Expand = "self_attn.kv_b_proj.weight";
  Latent.Output = {"self_attn.o_proj", Bias};
  return Latent;
}

/// `Router` with the groups that n_group and topk_group say.
static RouterAttr withGroups(ConfigReader &Config, RouterAttr Router,
                             int64_t Experts, const DeepseekTraits &Traits) {
  auto Count = [&](std::string_view Key, std::optional<int64_t> Default) {
    return Default ? Config.sizeOr({Key}, *Default, MaxExpertCount)
                   : Config.size({Key}, MaxExpertCount);
  };
  int64_t Groups = Count("n_group", Traits.Groups);
  int64_t Kept = Count("topk_group", Traits.KeptGroups);
  Config.expect(Experts % Groups == 0, "n_group",
                "a divisor of the " + std::to_string(Experts) + " experts");
  Config.expect(!Traits.Pairs || Experts / Groups >= 2, "n_group",
                "groups of at least 2 experts");
  Config.expect(Kept <= Groups, "topk_group",
                "at most the " + std::to_string(Groups) + " groups");
  if (Config.error())
    return Router;
  int64_t Choice = Experts / Groups * Kept;
  Config.expect(Router.getTop() <= Choice, "num_experts_per_tok",
                "at most the " + std::to_string(Choice) +
                    " experts of the best groups");
  // All groups are as good as none.
  if (Kept == Groups)
    return Router;
  return RouterAttr::get(&Config.Input.Context, Router.getScore(),
                         Router.getTop(), Router.getNormalize(),
                         Router.getScale(), Groups, Kept, Traits.Pairs);
}

DecoderModel tenon::readDeepseek(ConfigReader &Config,
                                 const DeepseekTraits &Traits) {
  DecoderModel Model =
      readLlamaBody(Config, {.FeedForwardBias = Traits.FeedForwardBias,
                             .DefaultAct = "silu"});
  LatentAttentionOptions Latent = readLatent(Config, Model.Sizes, Traits.Style);

  int64_t Experts =
      Config.sizeOr({"n_routed_experts", "num_local_experts", "num_experts"},
                    Traits.Experts, MaxExpertCount);
  int64_t Inner =
      Config.sizeOr({"moe_intermediate_size"}, Traits.Inner, MaxFeedForward);
  double Scale =
      Config.numberOr("routed_scaling_factor", Traits.Scale, 1e-6, 1e6);
  MixtureOptions Mixture =
      readMixture(Config, Model, Experts, Inner,
                  {Traits.Score, Traits.Normalize, Scale, Traits.Top});
  if (Traits.HasGroups)
    Mixture.Router = withGroups(Config, Mixture.Router, Experts, Traits);
  int64_t Shared =
      Config.sizeOr({"n_shared_experts"}, Traits.SharedExperts, MaxFeedForward);
  Config.expect(Shared <= MaxFeedForward / Inner, "n_shared_experts",
                "at most a width of " + std::to_string(MaxFeedForward) +
                    " together");
  bool Bias = Traits.FeedForwardBias;
  Mixture.Shared = {Mixture.Act,
                    Inner * Shared,
                    {"mlp.shared_experts.gate_proj", Bias},
                    {"mlp.shared_experts.up_proj", Bias},
                    {"mlp.shared_experts.down_proj", Bias}};
  int64_t Dense = Config.sizeOr({"first_k_dense_replace"}, Traits.DenseLayers,
                                MaxLayers, 0);
  // Of the published files; other values belong to code that is not known.
  Config.sizeOr({"moe_layer_freq"}, 1, 1);
  // Of training.
  Config.ignore({"aux_loss_alpha", "seq_aux", "ep_size"});
  for (auto [I, Layer] : llvm::enumerate(Model.Stack.Layer)) {
    Layer.Latent = Latent;
    if (static_cast<int64_t>(I) >= Dense)
      Layer.Mixture = Mixture;
  }
  return Model;
}
