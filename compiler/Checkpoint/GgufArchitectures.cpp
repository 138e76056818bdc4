//===- GgufArchitectures.cpp - Models of GGUF files -----------------------===//
//
// Settings go by the names that published config.json files use, so that the
// importer's families read them as they read those. What the format has no key
// for is what the family's published models have.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/GgufArchitectures.h"

#include "compiler/Checkpoint/GgufSettings.h"

#include <cmath>
#include <cstring>
#include <unordered_set>

using namespace tenon;

using Form = GgufForm;

namespace {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

constexpr GgufName Outer[] = {{"token_embd", "model.embed_tokens"},
                              {"output_norm", "model.norm"},
                              {"output", "lm_head"}};
constexpr GgufName RotationTables[] = {
    {"rope_freqs.weight", "", Form::Dropped},
    {"rope_factors_long.weight", "", Form::Dropped},
    {"rope_factors_short.weight", "", Form::Dropped},
    {"attn_rot_embd.weight", "", Form::Dropped}};

constexpr GgufName Attention[] = {
    {"attn_q", "self_attn.q_proj", Form::QueryPairs},
    {"attn_k", "self_attn.k_proj", Form::KeyPairs},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"}};
constexpr GgufName GatedFeedForward[] = {{"ffn_gate", "mlp.gate_proj"},
                                         {"ffn_up", "mlp.up_proj"},
                                         {"ffn_down", "mlp.down_proj"}};
constexpr GgufName PreNorms[] = {{"attn_norm", "input_layernorm"},
                                 {"ffn_norm", "post_attention_layernorm"}};
constexpr GgufName PostNorms[] = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"}};
constexpr GgufName SandwichNorms[] = {
    {"attn_norm", "input_layernorm"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"}};

constexpr GgufName MixtralExperts[] = {
    {"ffn_gate_inp", "block_sparse_moe.gate"},
    {"ffn_gate_exps", "block_sparse_moe.experts.*.w1", Form::Numbered},
    {"ffn_down_exps", "block_sparse_moe.experts.*.w2", Form::Numbered},
    {"ffn_up_exps", "block_sparse_moe.experts.*.w3", Form::Numbered}};
constexpr GgufName Experts[] = {
    {"ffn_gate_inp", "mlp.gate"},
    {"ffn_gate_exps", "mlp.experts.*.gate_proj", Form::Numbered},
    {"ffn_up_exps", "mlp.experts.*.up_proj", Form::Numbered},
    {"ffn_down_exps", "mlp.experts.*.down_proj", Form::Numbered}};
constexpr GgufName GatedSharedExpert[] = {
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate", Form::OneRow},
    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    {"ffn_down_shexp", "mlp.shared_expert.down_proj"}};

constexpr GgufName PhiOuter[] = {{"token_embd", "model.embed_tokens"},
                                 {"output_norm", "model.final_layernorm"},
                                 {"output", "lm_head"}};
constexpr GgufName Phi[] = {{"attn_norm", "input_layernorm"},
                            {"attn_output", "self_attn.dense"},
                            {"ffn_up", "mlp.fc1"},
                            {"ffn_down", "mlp.fc2"}};
constexpr GgufName Phi3[] = {{"attn_qkv", "self_attn.qkv_proj"},
                             {"ffn_up", "mlp.gate_up_proj"},
                             {"ffn_down", "mlp.down_proj"}};
constexpr GgufName Starcoder2[] = {{"ffn_up", "mlp.c_fc"},
                                   {"ffn_down", "mlp.c_proj"}};
constexpr GgufName StableLm[] = {
    {"attn_q_norm.weight", "self_attn.q_layernorm.norms.*.weight",
     Form::Numbered},
    {"attn_k_norm.weight", "self_attn.k_layernorm.norms.*.weight",
     Form::Numbered}};

constexpr GgufName Gpt2Outer[] = {{"token_embd", "transformer.wte"},
                                  {"position_embd", "transformer.wpe"},
                                  {"output_norm", "transformer.ln_f"},
                                  {"output", "lm_head"}};
constexpr GgufName Gpt2[] = {{"attn_norm", "ln_1"},
                             {"attn_qkv", "attn.c_attn", Form::Transposed},
                             {"attn_output", "attn.c_proj", Form::Transposed},
                             {"ffn_norm", "ln_2"},
                             {"ffn_up", "mlp.c_fc", Form::Transposed},
                             {"ffn_down", "mlp.c_proj", Form::Transposed}};

constexpr GgufName NeoXOuter[] = {{"token_embd", "gpt_neox.embed_in"},
                                  {"output_norm", "gpt_neox.final_layer_norm"},
                                  {"output", "embed_out"}};
constexpr GgufName NeoX[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_qkv", "attention.query_key_value", Form::FusedByHead},
    {"attn_output", "attention.dense"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_up", "mlp.dense_h_to_4h"},
    {"ffn_down", "mlp.dense_4h_to_h"}};

constexpr GgufName BloomOuter[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"token_embd_norm", "transformer.word_embeddings_layernorm"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"}};
constexpr GgufName Bloom[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_qkv", "self_attention.query_key_value", Form::FusedByHead},
    {"attn_output", "self_attention.dense"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_up", "mlp.dense_h_to_4h"},
    {"ffn_down", "mlp.dense_4h_to_h"}};
/// Falcon's two norms; with one, its attn_norm is as Bloom's.
constexpr GgufName FalconNorms[] = {{"attn_norm", "ln_mlp"},
                                    {"attn_norm_2", "ln_attn"}};

constexpr GgufName MptOuter[] = {{"token_embd", "transformer.wte"},
                                 {"position_embd", "transformer.wpe"},
                                 {"output_norm", "transformer.norm_f"},
                                 {"output", "lm_head"}};
constexpr GgufName Mpt[] = {
    {"attn_norm", "norm_1"},          {"attn_qkv", "attn.Wqkv"},
    {"attn_output", "attn.out_proj"}, {"attn_q_norm", "attn.q_ln"},
    {"attn_k_norm", "attn.k_ln"},     {"ffn_norm", "norm_2"},
    {"ffn_up", "ffn.up_proj"},        {"ffn_down", "ffn.down_proj"}};

constexpr GgufName DeepSeek[] = {
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

constexpr GgufName GptOss[] = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"attn_sinks.weight", "self_attn.sinks"},
    {"ffn_gate_inp", "mlp.router"}};

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// One file on its way to a checkpoint's parts.
struct Translation {
  GgufSettings Settings;
  GgufNaming Naming;
  std::vector<TensorInfo> Tensors;
  /// Stored tensors that Tensors are made of.
  std::unordered_set<std::string> Taken;
  int64_t HeadDim = 0;
};

std::string inLayer(int64_t Layer, std::string_view Name) {
  return "blk." + std::to_string(Layer) + "." + std::string(Name);
}

/// How a family's config spells the sizes that all have.
struct SizeKeys {
  std::string_view Width = "hidden_size";
  std::string_view Layers = "num_hidden_layers";
  std::string_view Heads = "num_attention_heads";
  /// Empty when every head has its own keys and values.
  std::string_view KvHeads = "num_key_value_heads";
  /// Empty when the config does not say.
  std::string_view FeedForward = "intermediate_size";
  std::string_view Context = "max_position_embeddings";
};

int64_t readLayerCount(GgufSettings &S) {
  constexpr int64_t MaxLayers = 65'536;
  int64_t Layers = S.size("block_count");
  if (Layers <= MaxLayers)
    return Layers;
  S.refuse("block_count", "at most " + std::to_string(MaxLayers));
  return 1;
}

/// Sizes, the vocabulary, whether the head is tied.
void readSizes(Translation &T, std::string_view ModelType,
               const SizeKeys &Keys = {}) {
  GgufSettings &S = T.Settings;
  Json &Config = S.Config;
  Config["model_type"] = ModelType;
  int64_t Width = S.size("embedding_length");
  T.Naming.LayerCount = readLayerCount(S);
  T.Naming.Heads = S.size("attention.head_count");
  T.Naming.KvHeads =
      S.optionalSize("attention.head_count_kv").value_or(T.Naming.Heads);
  if (T.Naming.Heads % T.Naming.KvHeads != 0)
    S.refuse("attention.head_count_kv",
             "a divisor of " + std::to_string(T.Naming.Heads) + " heads");
  if (Keys.KvHeads.empty())
    S.expectSize("attention.head_count_kv", T.Naming.Heads,
                 "one for each head");
  int64_t FeedForward = S.optionalSize("feed_forward_length", 0).value_or(0);
  Config[std::string(Keys.Width)] = Width;
  Config[std::string(Keys.Layers)] = T.Naming.LayerCount;
  Config[std::string(Keys.Heads)] = T.Naming.Heads;
  if (!Keys.KvHeads.empty())
    Config[std::string(Keys.KvHeads)] = T.Naming.KvHeads;
  if (!Keys.FeedForward.empty())
    Config[std::string(Keys.FeedForward)] = FeedForward;
  Config[std::string(Keys.Context)] = S.size("context_length");

  if (const GgufTensor *Table = S.tensor("token_embd.weight")) {
    Config["vocab_size"] = Table->Shape[0];
    S.expectSize("vocab_size", Table->Shape[0],
                 "the rows of token_embd.weight");
    Config["torch_dtype"] = Table->Format->Name == "BF16"  ? "bfloat16"
                            : Table->Format->Name == "F16" ? "float16"
                                                           : "float32";
    if (Status Whole = S.file().mapping()->checkNotShrunk(); !Whole)
      return S.refuse(Whole.error());
    // Older files hold a tied head once more.
    const GgufTensor *Head = S.file().findTensor("output.weight");
    bool IsTied = !Head || (Head->Format == Table->Format &&
                            Head->Shape == Table->Shape &&
                            std::memcmp(Head->Bytes.data(), Table->Bytes.data(),
                                        Table->Bytes.size()) == 0);
    Config["tie_word_embeddings"] = IsTied;
    if (IsTied)
      T.Taken.insert("output.weight");
  }

  T.HeadDim = Width / T.Naming.Heads;
  if (auto Length = S.optionalSize("attention.key_length")) {
    T.HeadDim = *Length;
    Config["head_dim"] = *Length;
    S.expectSize("attention.value_length", *Length, "as key_length is");
  }
  if (auto Causal = S.optionalFlag("attention.causal"); Causal && !*Causal)
    S.refuse("attention.causal", "true");
  S.expectSize("pooling_type", 0, "for a decoder");
  S.expectSize("nextn_predict_layers", 0, "layers of the model alone");
  S.ignore("tensor_data_layout");
}

/// "rope_freqs.weight" holds what Llama 3's scaling divides frequencies by.
void readLlama3Scaling(Translation &T, double Base) {
  GgufSettings &S = T.Settings;
  const GgufTensor *Tensor = S.file().findTensor("rope_freqs.weight");
  if (!Tensor)
    return;
  auto Stored = readGgufVector(S.file(), *Tensor);
  if (!Stored)
    return S.refuse(Stored.error());
  double Factor = 1;
  for (double F : *Stored)
    Factor = std::max(Factor, F);
  auto Dims = static_cast<double>(2 * Stored->size());
  auto Matches = [&](double Low, double High, double Original) {
    for (size_t I = 0; I < Stored->size(); ++I) {
      double Length = 2 * M_PI * std::pow(Base, 2 * double(I) / Dims);
      double Smooth = (Original / Length - Low) / (High - Low);
      double F = Smooth >= 1   ? 1
                 : Smooth <= 0 ? Factor
                               : 1 / ((1 - Smooth) / Factor + Smooth);
      if (!(std::abs((*Stored)[I] - F) <= 1e-4 * F))
        return false;
    }
    return true;
  };
  // The converter takes 8192 for the original context; the bounds are Llama
  // 3's in every model that has this scaling.
  if (Factor == 1 && Matches(1, 4, 8192))
    return;
  if (!Matches(1, 4, 8192))
    return S.refuse(Error(S.file().path() +
                          ": tensor 'rope_freqs.weight': expected the factors "
                          "of llama3 scaling with low_freq_factor 1, "
                          "high_freq_factor 4 and original context 8192"));
  S.Config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", Factor},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 8192}};
}

/// rope_theta and rope_scaling, and partial_rotary_factor, or what `PartKey`
/// says, when not all of a head is rotated; an empty one refuses that.
void readRope(Translation &T, std::string_view PartKey = "",
              std::string_view BaseKey = "rope_theta") {
  GgufSettings &S = T.Settings;
  double Base = S.optionalNumber("rope.freq_base").value_or(10000);
  S.Config[std::string(BaseKey)] = Base;
  int64_t Dims = S.optionalSize("rope.dimension_count").value_or(T.HeadDim);
  if (!PartKey.empty() && Dims < T.HeadDim) {
    double Part = double(Dims) / double(T.HeadDim);
    // Readers round down.
    if (int64_t(Part * double(T.HeadDim)) != Dims)
      Part = (double(Dims) + 0.5) / double(T.HeadDim);
    S.Config[std::string(PartKey)] = Part;
  } else if (Dims != T.HeadDim) {
    S.refuse("rope.dimension_count",
             std::to_string(T.HeadDim) + ", the size of a head");
  } else if (!PartKey.empty()) {
    S.Config[std::string(PartKey)] = 1.0;
  }
  S.ignore("rope.scaling.finetuned");
  auto Kind = S.optionalText("rope.scaling.type");
  auto Factor = S.optionalNumber("rope.scaling.factor");
  auto Linear = S.optionalNumber("rope.scale_linear");
  if (Linear && *Linear != 1 && !Kind) {
    Kind = "linear";
    Factor = Linear;
  }
  if (Kind == "linear") {
    S.Config["rope_scaling"] = {{"rope_type", "linear"},
                                {"factor", Factor.value_or(1)}};
  } else if (Kind == "yarn") {
    Json Yarn = {{"rope_type", "yarn"},
                 {"factor", Factor ? *Factor : S.number("rope.scaling.factor")},
                 {"original_max_position_embeddings",
                  S.size("rope.scaling.original_context_length")}};
    if (auto Fast = S.optionalNumber("rope.scaling.yarn_beta_fast"))
      Yarn["beta_fast"] = *Fast;
    if (auto Slow = S.optionalNumber("rope.scaling.yarn_beta_slow"))
      Yarn["beta_slow"] = *Slow;
    if (auto Scale = S.optionalNumber("rope.scaling.yarn_attn_factor"))
      Yarn["attention_factor"] = *Scale;
    if (auto Mix = S.optionalNumber("rope.scaling.yarn_ext_factor");
        Mix && *Mix != 1)
      S.refuse("rope.scaling.yarn_ext_factor", "1");
    S.Config["rope_scaling"] = Yarn;
  } else if (Kind && *Kind != "none" && *Kind != "longrope") {
    S.refuse("rope.scaling.type", "one of none, linear, yarn, longrope");
  }
  readLlama3Scaling(T, Base);
}

void readRmsEps(Translation &T) {
  T.Settings.Config["rms_norm_eps"] =
      T.Settings.number("attention.layer_norm_rms_epsilon");
}

void readNormEps(Translation &T, std::string_view Key) {
  T.Settings.Config[std::string(Key)] =
      T.Settings.number("attention.layer_norm_epsilon");
}

/// What LLaMA and all that is built like it say.
void readLlamaLike(Translation &T, std::string_view ModelType) {
  readSizes(T, ModelType);
  readRmsEps(T);
  readRope(T);
  T.Settings.Config["hidden_act"] = "silu";
}

void addNames(Translation &T, std::string_view LayerPrefix,
              std::vector<std::span<const GgufName>> Globals,
              std::vector<std::span<const GgufName>> Layers) {
  Globals.push_back(RotationTables);
  Layers.push_back(RotationTables);
  T.Naming.LayerPrefix = LayerPrefix;
  T.Naming.Globals = std::move(Globals);
  T.Naming.Layers = std::move(Layers);
}

void readLlama(Translation &T) {
  GgufSettings &S = T.Settings;
  int64_t Experts = S.optionalSize("expert_count", 0).value_or(0);
  int64_t Used = S.optionalSize("expert_used_count", 0).value_or(0);
  readLlamaLike(T, Experts ? "mixtral" : "llama");
  T.Naming.Pairs = true;
  if (Experts) {
    S.Config["num_local_experts"] = Experts;
    S.Config["num_experts_per_tok"] = Used;
    addNames(T, "model.layers.", {Outer},
             {PreNorms, Attention, MixtralExperts});
    return;
  }
  S.Config["attention_bias"] = S.hasTensor("blk.0.attn_q.bias");
  S.Config["mlp_bias"] = S.hasTensor("blk.0.ffn_gate.bias");
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

void readSmolLm3(Translation &T) {
  readLlamaLike(T, "smollm3");
  T.Naming.Pairs = true;
  T.Settings.Config["no_rope_layer_interval"] = 4;
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

void readGranite(Translation &T) {
  GgufSettings &S = T.Settings;
  readLlamaLike(T, "granite");
  T.Naming.Pairs = true;
  S.expectSize("expert_count", 0, "for experts are not handled");
  S.expectSize("expert_used_count", 0, "for experts are not handled");
  S.Config["attention_bias"] = S.hasTensor("blk.0.attn_q.bias");
  S.Config["mlp_bias"] = S.hasTensor("blk.0.ffn_gate.bias");
  for (auto [Key, Name] : {std::pair("attention.scale", "attention_multiplier"),
                           {"embedding_scale", "embedding_multiplier"},
                           {"residual_scale", "residual_multiplier"},
                           {"logit_scale", "logits_scaling"}})
    if (auto Value = S.optionalNumber(Key))
      S.Config[Name] = *Value;
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

void readQwen2(Translation &T) {
  readLlamaLike(T, "qwen2");
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

void readQwen3(Translation &T) {
  readLlamaLike(T, "qwen3");
  T.Settings.Config["attention_bias"] =
      T.Settings.hasTensor("blk.0.attn_q.bias");
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

/// The rows of the tensor's matrices, which older files' keys do not say.
int64_t rowsOf(Translation &T, std::string_view Key, const std::string &Name) {
  if (auto Rows = T.Settings.optionalSize(Key))
    return *Rows;
  const GgufTensor *Tensor = T.Settings.tensor(Name);
  return Tensor && Tensor->Shape.size() > 1
             ? Tensor->Shape[Tensor->Shape.size() - 2]
             : 1;
}

void readQwenExperts(Translation &T) {
  GgufSettings &S = T.Settings;
  S.Config["num_experts"] = S.size("expert_count");
  S.Config["num_experts_per_tok"] = S.size("expert_used_count");
  S.Config["moe_intermediate_size"] =
      rowsOf(T, "expert_feed_forward_length", "blk.0.ffn_gate_exps.weight");
  S.Config["decoder_sparse_step"] = 1;
  S.Config["mlp_only_layers"] = Json::array();
}

void readQwen2Moe(Translation &T) {
  readLlamaLike(T, "qwen2_moe");
  readQwenExperts(T);
  T.Settings.Config["norm_topk_prob"] = false;
  T.Settings.Config["shared_expert_intermediate_size"] = rowsOf(
      T, "expert_shared_feed_forward_length", "blk.0.ffn_gate_shexp.weight");
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, Experts, GatedSharedExpert});
}

void readQwen3Moe(Translation &T) {
  readLlamaLike(T, "qwen3_moe");
  readQwenExperts(T);
  T.Settings.Config["norm_topk_prob"] = true;
  T.Settings.Config["attention_bias"] =
      T.Settings.hasTensor("blk.0.attn_q.bias");
  addNames(T, "model.layers.", {Outer}, {PreNorms, Attention, Experts});
}

void readGemma(Translation &T) {
  readLlamaLike(T, "gemma");
  T.Settings.Config["hidden_act"] = "gelu_pytorch_tanh";
  T.Naming.NormOffset = 1;
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

/// What Gemma 2 and 3 share. The scale of scores has no key: it is that of a
/// head, but for the model of `WideLayers` layers.
void readNewerGemma(Translation &T, std::string_view ModelType,
                    int64_t WideLayers) {
  GgufSettings &S = T.Settings;
  readLlamaLike(T, ModelType);
  S.Config.erase("hidden_act");
  S.Config["hidden_activation"] = "gelu_pytorch_tanh";
  S.Config["query_pre_attn_scalar"] =
      T.Naming.LayerCount == WideLayers
          ? S.size("embedding_length") / T.Naming.Heads
          : T.HeadDim;
  T.Naming.NormOffset = 1;
  addNames(T, "model.layers.", {Outer},
           {SandwichNorms, Attention, GatedFeedForward});
}

void readGemma2(Translation &T) {
  GgufSettings &S = T.Settings;
  readNewerGemma(T, "gemma2", 46);
  S.Config["attn_logit_softcapping"] =
      S.optionalNumber("attn_logit_softcapping").value_or(50);
  S.Config["final_logit_softcapping"] =
      S.optionalNumber("final_logit_softcapping").value_or(30);
  S.Config["sliding_window"] =
      S.optionalSize("attention.sliding_window").value_or(4096);
}

void readGemma3(Translation &T) {
  GgufSettings &S = T.Settings;
  readNewerGemma(T, "gemma3_text", 62);
  S.Config["rope_local_base_freq"] =
      S.optionalNumber("rope.freq_base_swa").value_or(10000);
  if (auto Cap = S.optionalNumber("final_logit_softcapping"))
    S.Config["final_logit_softcapping"] = *Cap;
  auto Window = S.optionalSize("attention.sliding_window");
  // One layer in so many sees the whole sequence.
  int64_t Pattern =
      S.optionalSize("attention.sliding_window_pattern").value_or(6);
  Json Types = Json::array();
  for (int64_t I = 0; I < T.Naming.LayerCount; ++I)
    Types.push_back(Window && (I + 1) % Pattern != 0 ? "sliding_attention"
                                                     : "full_attention");
  S.Config["layer_types"] = std::move(Types);
  if (Window)
    S.Config["sliding_window"] = *Window;
}

void readPhi2(Translation &T) {
  readSizes(T, "phi");
  readNormEps(T, "layer_norm_eps");
  readRope(T, "partial_rotary_factor");
  T.Settings.Config["hidden_act"] = "gelu_new";
  addNames(T, "model.layers.", {PhiOuter}, {Phi, Attention});
}

void readPhi3(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "phi3");
  readRmsEps(T);
  readRope(T, "partial_rotary_factor");
  S.Config["hidden_act"] = "silu";
  // 0 stands for none.
  if (int64_t Window =
          S.optionalSize("attention.sliding_window", 0).value_or(0))
    S.Config["sliding_window"] = Window;
  else
    S.Config["sliding_window"] = nullptr;
  auto Original = S.optionalSize("rope.scaling.original_context_length");
  if (Original)
    S.Config["original_max_position_embeddings"] = *Original;
  auto Scale = S.optionalNumber("rope.scaling.attn_factor");
  if (S.hasTensor("rope_factors_long.weight")) {
    Json Scaling = {{"rope_type", "longrope"}};
    for (auto [Name, Key] :
         {std::pair("rope_factors_short.weight", "short_factor"),
          {"rope_factors_long.weight", "long_factor"}}) {
      const GgufTensor *Factors = S.tensor(Name);
      if (!Factors)
        return;
      auto Values = readGgufVector(S.file(), *Factors);
      if (!Values)
        return S.refuse(Values.error());
      Scaling[Key] = *Values;
    }
    // Written by what the config asks for, which readers compute by themselves.
    double Context = double(S.size("context_length"));
    double Ratio = Context / double(Original.value_or(int64_t(Context)));
    double Usual =
        Ratio > 1 ? std::sqrt(1 + std::log(Ratio) / std::log(Context / Ratio))
                  : 1;
    if (Scale && !(std::abs(*Scale - Usual) <= 1e-5 * Usual))
      Scaling["attention_factor"] = *Scale;
    S.Config["rope_scaling"] = std::move(Scaling);
  } else if (Scale && *Scale != 1) {
    S.refuse("rope.scaling.attn_factor",
             "1 without the tensor rope_factors_long.weight");
  }
  addNames(T, "model.layers.", {Outer}, {Phi3, PreNorms, Attention});
}

void readGpt2(Translation &T) {
  readSizes(T, "gpt2",
            {.Width = "n_embd",
             .Layers = "n_layer",
             .Heads = "n_head",
             .KvHeads = "",
             .FeedForward = "n_inner",
             .Context = "n_positions"});
  readNormEps(T, "layer_norm_epsilon");
  T.Settings.Config["activation_function"] = "gelu_new";
  addNames(T, "transformer.h.", {Gpt2Outer}, {Gpt2});
}

void readNeoX(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "gpt_neox", {.KvHeads = ""});
  readNormEps(T, "layer_norm_eps");
  readRope(T, "rotary_pct", "rotary_emb_base");
  S.Config["hidden_act"] = "gelu";
  S.Config["use_parallel_residual"] =
      S.optionalFlag("use_parallel_residual").value_or(true);
  S.Config["attention_bias"] = S.hasTensor("blk.0.attn_qkv.bias");
  addNames(T, "gpt_neox.layers.", {NeoXOuter}, {NeoX});
}

void readBloom(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "bloom",
            {.Layers = "n_layer",
             .Heads = "n_head",
             .KvHeads = "",
             .FeedForward = "",
             .Context = "seq_length"});
  readNormEps(T, "layer_norm_epsilon");
  S.expectSize("feed_forward_length", 4 * S.size("embedding_length"),
               "four times the width");
  addNames(T, "transformer.h.", {BloomOuter}, {Bloom});
}

void readMpt(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "mpt",
            {.Width = "d_model",
             .Layers = "n_layers",
             .Heads = "n_heads",
             .KvHeads = "num_key_value_heads",
             .FeedForward = "",
             .Context = "max_seq_len"});
  S.Config.erase("num_key_value_heads");
  readNormEps(T, "layer_norm_epsilon");
  S.expectSize("feed_forward_length", 4 * S.size("embedding_length"),
               "four times the width");
  S.Config["expansion_ratio"] = 4;
  S.Config["no_bias"] = !S.hasTensor("blk.0.attn_output.bias");
  double Bias = S.optionalNumber("attention.max_alibi_bias").value_or(0);
  Json Attention = {{"alibi", Bias != 0}};
  if (Bias == std::floor(Bias) && Bias > 0 && Bias < INT32_MAX)
    Attention["alibi_bias_max"] = static_cast<int64_t>(Bias);
  else if (Bias != 0)
    S.refuse("attention.max_alibi_bias", "a whole number");
  if (auto Clip = S.optionalNumber("attention.clamp_kqv"); Clip && *Clip > 0)
    Attention["clip_qkv"] = *Clip;
  if (T.Naming.KvHeads != T.Naming.Heads)
    Attention["kv_n_heads"] = T.Naming.KvHeads;
  if (S.hasTensor("blk.0.attn_q_norm.weight"))
    Attention["qk_ln"] = true;
  S.Config["attn_config"] = std::move(Attention);
  S.Config["learned_pos_emb"] = S.hasTensor("position_embd.weight");
  addNames(T, "transformer.blocks.", {MptOuter}, {Mpt});
}

void readFalcon(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "falcon",
            {.KvHeads = "num_kv_heads", .FeedForward = "ffn_hidden_size"});
  readNormEps(T, "layer_norm_epsilon");
  readRope(T);
  bool HasTwoNorms = S.hasTensor("blk.0.attn_norm_2.weight");
  bool IsNewer = HasTwoNorms || T.Naming.KvHeads > 1;
  S.Config["new_decoder_architecture"] = IsNewer;
  if (IsNewer)
    S.Config["num_ln_in_parallel_attn"] = HasTwoNorms ? 2 : 1;
  S.Config["multi_query"] = T.Naming.KvHeads == 1;
  S.Config["parallel_attn"] = true;
  S.Config["alibi"] = false;
  S.Config["bias"] = S.hasTensor("blk.0.attn_qkv.bias");
  if (HasTwoNorms)
    addNames(T, "transformer.h.", {BloomOuter}, {FalconNorms, Bloom});
  else
    addNames(T, "transformer.h.", {BloomOuter}, {Bloom});
}

void readStarcoder2(Translation &T) {
  readSizes(T, "starcoder2");
  readNormEps(T, "norm_epsilon");
  readRope(T);
  T.Settings.Config["hidden_act"] = "gelu_pytorch_tanh";
  T.Settings.Config["use_bias"] =
      T.Settings.hasTensor("blk.0.attn_output.bias");
  T.Settings.Config["sliding_window"] = nullptr;
  addNames(T, "model.layers.", {Outer}, {PreNorms, Attention, Starcoder2});
}

void readStableLm(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "stablelm");
  readNormEps(T, "layer_norm_eps");
  readRope(T, "partial_rotary_factor");
  S.Config["hidden_act"] = "silu";
  S.Config["use_qkv_bias"] = S.hasTensor("blk.0.attn_q.bias");
  S.Config["qk_layernorm"] = S.hasTensor("blk.0.attn_q_norm.weight");
  S.Config["use_parallel_residual"] =
      S.optionalFlag("use_parallel_residual").value_or(false);
  addNames(T, "model.layers.", {Outer},
           {StableLm, PreNorms, Attention, GatedFeedForward});
}

void readOlmo2(Translation &T) {
  readLlamaLike(T, "olmo2");
  addNames(T, "model.layers.", {Outer},
           {PostNorms, Attention, GatedFeedForward});
}

void readCommandR(Translation &T) {
  GgufSettings &S = T.Settings;
  readSizes(T, "cohere");
  readNormEps(T, "layer_norm_eps");
  readRope(T);
  S.Config["hidden_act"] = "silu";
  S.Config["logit_scale"] = S.number("logit_scale");
  S.Config["use_qk_norm"] = S.hasTensor("blk.0.attn_q_norm.weight");
  addNames(T, "model.layers.", {Outer},
           {PreNorms, Attention, GatedFeedForward});
}

/// kv_b_proj out of its two parts: newer files have the keys' transposed.
void joinLatentParts(Translation &T) {
  GgufSettings &S = T.Settings;
  int64_t Keys = S.Config["qk_nope_head_dim"].get<int64_t>();
  int64_t Values = S.Config["v_head_dim"].get<int64_t>();
  int64_t Rank = S.Config["kv_lora_rank"].get<int64_t>();
  for (int64_t I = 0; I < T.Naming.LayerCount; ++I) {
    std::string KeyName = inLayer(I, "attn_k_b.weight");
    std::string ValueName = inLayer(I, "attn_v_b.weight");
    if (!S.hasTensor(KeyName) && !S.hasTensor(ValueName))
      return;
    const GgufTensor *Key = S.tensor(KeyName), *Value = S.tensor(ValueName);
    if (!Key || !Value)
      return;
    for (auto [Tensor, Shape] :
         {std::pair(Key, std::vector{T.Naming.Heads, Rank, Keys}),
          {Value, std::vector{T.Naming.Heads, Values, Rank}}})
      if (Tensor->Shape != Shape)
        return S.refuse(Error(S.file().path() + ": tensor " +
                              printable(Tensor->Name) + ": shape is " +
                              shapeText(Tensor->Shape) + ": expected " +
                              shapeText(Shape)));
    T.Taken.insert(KeyName);
    T.Taken.insert(ValueName);
    T.Tensors.push_back(alternateRows(S.file(),
                                      "model.layers." + std::to_string(I) +
                                          ".self_attn.kv_b_proj.weight",
                                      *Key, *Value));
  }
}

void readDeepSeek2(Translation &T) {
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
  bool IsV3 = S.hasTensor(inLayer(
                  S.optionalSize("leading_dense_block_count", 0).value_or(0),
                  "exp_probs_b.bias")) ||
              S.optionalSize("expert_gating_func", 0) == 2;
  Json &Config = S.Config;
  Config["model_type"] = IsV3 ? "deepseek_v3" : "deepseek_v2";
  T.Naming.LayerCount = readLayerCount(S);
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
  readRmsEps(T);
  T.HeadDim = Rotated;
  readRope(T);
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
  addNames(T, "model.layers.", {Outer},
           {PreNorms, DeepSeek, Experts, GatedFeedForward});
  joinLatentParts(T);
}

/// The checkpoint has the experts' matrices as [E, K, N], gate and up columns
/// in turn.
void joinGptOssExperts(Translation &T, int64_t Experts, int64_t Inner,
                       int64_t Width) {
  GgufSettings &S = T.Settings;
  for (int64_t I = 0; I < T.Naming.LayerCount; ++I) {
    std::string Prefix = "model.layers." + std::to_string(I) + ".mlp.experts.";
    auto Take = [&](std::string_view Name,
                    const std::vector<int64_t> &Shape) -> const GgufTensor * {
      const GgufTensor *Tensor = S.tensor(inLayer(I, Name));
      if (Tensor && Tensor->Shape != Shape) {
        S.refuse(Error(S.file().path() + ": tensor " + printable(Tensor->Name) +
                       ": shape is " + shapeText(Tensor->Shape) +
                       ": expected " + shapeText(Shape)));
        return nullptr;
      }
      T.Taken.insert(inLayer(I, Name));
      return Tensor;
    };
    auto *Gate = Take("ffn_gate_exps.weight", {Experts, Inner, Width});
    auto *Up = Take("ffn_up_exps.weight", {Experts, Inner, Width});
    auto *Down = Take("ffn_down_exps.weight", {Experts, Width, Inner});
    auto *GateBias = Take("ffn_gate_exps.bias", {Experts, Inner});
    auto *UpBias = Take("ffn_up_exps.bias", {Experts, Inner});
    if (!Gate || !Up || !Down || !GateBias || !UpBias)
      return;
    T.Tensors.push_back(interleaveTransposed(S.file(), Prefix + "gate_up_proj",
                                             {Gate, Up}, Inner, Width,
                                             {Experts, Width, 2 * Inner}));
    T.Tensors.push_back(interleaveTransposed(
        S.file(), Prefix + "gate_up_proj_bias", {GateBias, UpBias}, Inner, 1,
        {Experts, 2 * Inner}));
    T.Tensors.push_back(interleaveTransposed(S.file(), Prefix + "down_proj",
                                             {Down}, Width, Inner,
                                             {Experts, Inner, Width}));
  }
}

void readGptOss(Translation &T) {
  GgufSettings &S = T.Settings;
  readLlamaLike(T, "gpt_oss");
  int64_t Experts = S.size("expert_count");
  int64_t Inner = S.size("expert_feed_forward_length");
  S.Config["num_local_experts"] = Experts;
  S.Config["num_experts_per_tok"] = S.size("expert_used_count");
  S.Config["intermediate_size"] = Inner;
  S.Config["attention_bias"] = true;
  S.Config["sliding_window"] = S.size("attention.sliding_window");
  if (S.Config.contains("rope_scaling")) {
    // What the published models have beside the stored numbers.
    Json &Scaling = S.Config["rope_scaling"];
    Scaling["truncate"] = false;
    if (!Scaling.contains("beta_fast"))
      Scaling["beta_fast"] = 32.0;
    if (!Scaling.contains("beta_slow"))
      Scaling["beta_slow"] = 1.0;
  }
  static constexpr GgufName DownBias[] = {
      {"ffn_down_exps.bias", "mlp.experts.down_proj_bias"}};
  addNames(T, "model.layers.", {Outer},
           {GptOss, DownBias, PreNorms, Attention});
  joinGptOssExperts(T, Experts, Inner, S.size("embedding_length"));
}

struct Architecture {
  std::string_view Name;
  void (*Read)(Translation &);
  /// The model types that it becomes, between spaces.
  std::string_view ModelTypes;
};

constexpr Architecture Architectures[] = {
    {"bloom", readBloom, " bloom "},
    {"command-r", readCommandR, " cohere "},
    {"deepseek2", readDeepSeek2, " deepseek_v2 deepseek_v3 "},
    {"falcon", readFalcon, " falcon "},
    {"gemma", readGemma, " gemma "},
    {"gemma2", readGemma2, " gemma2 "},
    {"gemma3", readGemma3, " gemma3_text "},
    {"gpt-oss", readGptOss, " gpt_oss "},
    {"gpt2", readGpt2, " gpt2 "},
    {"gptneox", readNeoX, " gpt_neox "},
    {"granite", readGranite, " granite "},
    {"llama", readLlama, " llama mixtral "},
    {"mpt", readMpt, " mpt "},
    {"olmo2", readOlmo2, " olmo2 "},
    {"phi2", readPhi2, " phi "},
    {"phi3", readPhi3, " phi3 "},
    {"qwen2", readQwen2, " qwen2 "},
    {"qwen2moe", readQwen2Moe, " qwen2_moe "},
    {"qwen3", readQwen3, " qwen3 "},
    {"qwen3moe", readQwen3Moe, " qwen3_moe "},
    {"smollm3", readSmolLm3, " smollm3 "},
    {"stablelm", readStableLm, " stablelm "},
    {"starcoder2", readStarcoder2, " starcoder2 "}};

/// Keys outside of the architecture's and the tokenizer's.
Status checkOtherKeys(const GgufFile &File, const std::string &Name,
                      std::vector<std::string> &Notes) {
  if (File.has("general.type")) {
    auto Type = File.string("general.type");
    if (!Type)
      return Type.error();
    if (*Type != "model")
      return File.expected("general.type", "'model'");
  }
  for (const std::string &Key : File.keys()) {
    if (Key == "split.count") {
      auto Count = File.integer(Key, 0, 1);
      if (!Count)
        return File.expected(Key, "1: the shards joined in one file");
      continue;
    }
    bool IsKnown = false;
    for (std::string_view Prefix :
         {"general.", "tokenizer.", "split.", "quantize."})
      IsKnown |= Key.starts_with(Prefix);
    if (IsKnown || Key.starts_with(Name + "."))
      continue;
    if (Key.starts_with("adapter.") || Key.starts_with("clip."))
      return File.expected(Key, "no such key, for a whole text model");
    Notes.push_back(File.path() + ": field " + printable(Key) +
                    " is no setting of a model and was left out");
  }
  return {};
}

} // namespace

std::vector<std::string_view> tenon::ggufArchitectures() {
  std::vector<std::string_view> Names;
  for (const Architecture &A : Architectures)
    Names.push_back(A.Name);
  return Names;
}

bool tenon::isReadFromGguf(std::string_view ModelType) {
  std::string Word = " " + std::string(ModelType) + " ";
  return std::any_of(std::begin(Architectures), std::end(Architectures),
                     [&](const Architecture &A) {
                       return A.ModelTypes.find(Word) != std::string_view::npos;
                     });
}

Result<GgufModelParts> tenon::readGgufModel(const GgufFile &File) {
  auto Name = File.string("general.architecture");
  std::string Known;
  for (std::string_view A : ggufArchitectures())
    Known += (Known.empty() ? "one of " : ", ") + std::string(A);
  const Architecture *Found = nullptr;
  for (const Architecture &A : Architectures)
    if (Name && A.Name == *Name)
      Found = &A;
  if (!Found)
    return File.expected("general.architecture", Known);

  GgufModelParts Parts;
  if (Status S = checkOtherKeys(File, *Name, Parts.Notes); !S)
    return S.error();
  Translation T{GgufSettings(File, *Name), {}, {}, {}};
  Found->Read(T);
  if (Status S = T.Settings.status(); !S)
    return S.error();
  auto Named = nameGgufTensors(File, T.Naming, [&](const std::string &Stored) {
    return T.Taken.contains(Stored);
  });
  if (!Named)
    return Named.error();
  Parts.Settings = std::move(T.Settings.Config);
  Parts.Tensors = std::move(*Named);
  std::move(T.Tensors.begin(), T.Tensors.end(),
            std::back_inserter(Parts.Tensors));
  return Parts;
}
