//===- Deepseek.cpp - What the DeepSeek families share --------------------===//

#include "compiler/Families/Deepseek.h"

#include "compiler/Families/GgufReader.h"

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
  MoeOptions Moe = readMoe(Config, Model, Experts, Inner,
                           {Traits.Score, Traits.Normalize, Scale, Traits.Top});
  if (Traits.HasGroups)
    Moe.Router = withGroups(Config, Moe.Router, Experts, Traits);
  int64_t Shared =
      Config.sizeOr({"n_shared_experts"}, Traits.SharedExperts, MaxFeedForward);
  Config.expect(Shared <= MaxFeedForward / Inner, "n_shared_experts",
                "at most a width of " + std::to_string(MaxFeedForward) +
                    " together");
  bool Bias = Traits.FeedForwardBias;
  Moe.Shared = {Moe.Act,
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
      Layer.Moe = Moe;
  }
  return Model;
}

static constexpr GgufName DeepseekGgufLayer[] = {
    {"attn_q", "self_attn.q_proj"},
    {"attn_q_a", "self_attn.q_a_proj"},
    {"attn_q_a_norm", "self_attn.q_a_layernorm"},
    {"attn_q_b", "self_attn.q_b_proj"},
    {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
    {"attn_kv_a_norm", "self_attn.kv_a_layernorm"},
    {"attn_kv_b", "self_attn.kv_b_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_experts.up_proj"},
    {"ffn_down_shexp", "mlp.shared_experts.down_proj"},
    {"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"}};

/// kv_b_proj out of its two parts: newer files have the keys' transposed.
static void joinLatentParts(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  int64_t Keys = S.Config["qk_nope_head_dim"].get<int64_t>();
  int64_t Values = S.Config["v_head_dim"].get<int64_t>();
  int64_t Rank = S.Config["kv_lora_rank"].get<int64_t>();
  for (int64_t I = 0; I < T.Naming.LayerCount; ++I) {
    std::string KeyName = gguf::inLayer(I, "attn_k_b.weight");
    std::string ValueName = gguf::inLayer(I, "attn_v_b.weight");
    if (!S.hasTensor(KeyName) && !S.hasTensor(ValueName))
      return;
    const GgufTensor *Key = S.tensor(KeyName), *Value = S.tensor(ValueName);
    if (!Key || !Value)
      return;
    for (auto [Tensor, Shape] :
         {std::pair(Key, std::vector{T.Naming.Heads, Rank, Keys}),
          {Value, std::vector{T.Naming.Heads, Values, Rank}}})
      if (!gguf::expectShape(T, *Tensor, Shape))
        return;
    T.Taken.insert(KeyName);
    T.Taken.insert(ValueName);
    T.Tensors.push_back(alternateRows("model.layers." + std::to_string(I) +
                                          ".self_attn.kv_b_proj.weight",
                                      *Key, *Value));
  }
}

bool tenon::isDeepseekV3Gguf(GgufSettings &S) {
  return S.hasTensor(gguf::inLayer(
             S.optionalSize("leading_dense_block_count", 0).value_or(0),
             "exp_probs_b.bias")) ||
         S.optionalSize("expert_gating_func", 0) == 2;
}

void tenon::readDeepseekGguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  // A head's own sizes, and those of the cache that all heads share, trade
  // places between older and newer files: the keys are read here first.
  int64_t Rotated = S.size("rope.dimension_count");
  auto KeyLength = S.optionalSize("attention.key_length_mla");
  auto ValueLength = S.optionalSize("attention.value_length_mla");
  if (!KeyLength)
    KeyLength = S.size("attention.key_length");
  if (!ValueLength)
    ValueLength = S.size("attention.value_length");
  if (*KeyLength <= Rotated)
    S.refuse("attention.key_length_mla",
             "more than rope.dimension_count " + std::to_string(Rotated));
  bool IsV3 = isDeepseekV3Gguf(S);
  Json &Config = S.Config;
  T.Naming.LayerCount = gguf::readLayerCount(S);
  T.Naming.Heads = T.Naming.KvHeads = S.size("attention.head_count");
  Config["hidden_size"] = S.size("embedding_length");
  Config["num_hidden_layers"] = T.Naming.LayerCount;
  Config["num_attention_heads"] = T.Naming.Heads;
  Config["num_key_value_heads"] = T.Naming.Heads;
  auto Shared = S.optionalSize("attention.head_count_kv");
  if (Shared && *Shared != 1 && *Shared != T.Naming.Heads)
    S.refuse("attention.head_count_kv", "1 or one for each head");
  Config["intermediate_size"] = S.size("feed_forward_length");
  Config["max_position_embeddings"] = S.size("context_length");
  Config["hidden_act"] = "silu";
  if (const GgufTensor *Table = S.tensor("token_embd.weight")) {
    Config["vocab_size"] = Table->Shape[0];
    S.expectSize("vocab_size", Table->Shape[0],
                 "the rows of token_embd.weight");
  }
  Config["tie_word_embeddings"] = !S.hasTensor("output.weight");
  gguf::readRmsEps(T);
  T.HeadDim = Rotated;
  gguf::readRope(T);
  // Without its own factor the rotation is not scaled up, as in all models.
  if (auto Scale = S.optionalNumber("rope.scaling.yarn_log_multiplier");
      Scale && Config.contains("rope_scaling")) {
    Config["rope_scaling"]["mscale"] = *Scale * 10;
    Config["rope_scaling"]["mscale_all_dim"] = *Scale * 10;
  }
  if (auto Rank = S.optionalSize("attention.q_lora_rank"))
    Config["q_lora_rank"] = *Rank;
  else
    Config["q_lora_rank"] = nullptr;
  Config["kv_lora_rank"] = S.size("attention.kv_lora_rank");
  Config["qk_rope_head_dim"] = Rotated;
  Config["qk_nope_head_dim"] = *KeyLength - Rotated;
  Config["v_head_dim"] = *ValueLength;
  // In newer files these two are the cache's.
  S.ignore("attention.key_length");
  S.ignore("attention.value_length");

  Config["first_k_dense_replace"] = S.size("leading_dense_block_count", 0);
  Config["moe_intermediate_size"] = S.size("expert_feed_forward_length");
  Config["n_routed_experts"] = S.size("expert_count");
  Config["num_experts_per_tok"] = S.size("expert_used_count");
  Config["n_shared_experts"] = S.size("expert_shared_count");
  Config["routed_scaling_factor"] =
      S.optionalNumber("expert_weights_scale").value_or(1);
  Config["norm_topk_prob"] =
      S.optionalFlag("expert_weights_norm").value_or(false);
  auto Groups = S.optionalSize("expert_group_count");
  auto UsedGroups = S.optionalSize("expert_group_used_count");
  Config["n_group"] = Groups.value_or(1);
  Config["topk_group"] = UsedGroups.value_or(1);
  if (!IsV3)
    Config["topk_method"] =
        Groups.value_or(1) > 1 ? "group_limited_greedy" : "greedy";
  auto Gating = S.optionalSize("expert_gating_func", 0);
  if (Gating && *Gating != (IsV3 ? 2 : 1) && *Gating != 0)
    S.refuse("expert_gating_func", IsV3 ? "2" : "1");
  S.ignore("expert_shared_feed_forward_length");
  S.expectSize("nextn_predict_layers", 0, "layers of the model alone");
  S.ignore("tensor_data_layout");
  gguf::setLlamaNames(T, {gguf::PreNorms, DeepseekGgufLayer, gguf::Experts,
                          gguf::GatedFeedForward});
  joinLatentParts(T);
}
