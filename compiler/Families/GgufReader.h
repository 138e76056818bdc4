//===- GgufReader.h - What families read GGUF files with --------*- C++ -*-===//
//
// Names and settings that the architectures of several families share.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_GGUFREADER_H
#define TENON_COMPILER_FAMILIES_GGUFREADER_H

#include "compiler/Checkpoint/GgufArchitectures.h"

namespace tenon::gguf {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

inline constexpr GgufName Outer[] = {{"token_embd", "model.embed_tokens"},
                                     {"output_norm", "model.norm"},
                                     {"output", "lm_head"}};
inline constexpr GgufName PreNorms[] = {
    {"attn_norm", "input_layernorm"}, {"ffn_norm", "post_attention_layernorm"}};
inline constexpr GgufName Attention[] = {
    {"attn_qkv", "self_attn.*_proj", GgufForm::QueryKeyValue},
    {"attn_q", "self_attn.q_proj", GgufForm::QueryPairs},
    {"attn_k", "self_attn.k_proj", GgufForm::KeyPairs},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"}};
inline constexpr GgufName GatedFeedForward[] = {{"ffn_gate", "mlp.gate_proj"},
                                                {"ffn_up", "mlp.up_proj"},
                                                {"ffn_down", "mlp.down_proj"}};
inline constexpr GgufName Experts[] = {
    {"ffn_gate_inp", "mlp.gate"},
    {"ffn_gate_exps", "mlp.experts.*.gate_proj", GgufForm::Numbered},
    {"ffn_up_exps", "mlp.experts.*.up_proj", GgufForm::Numbered},
    {"ffn_down_exps", "mlp.experts.*.down_proj", GgufForm::Numbered}};

/// BLOOM's, which Falcon has too.
inline constexpr GgufName BloomOuter[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"token_embd_norm", "transformer.word_embeddings_layernorm"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"}};
inline constexpr GgufName BloomLayer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_qkv", "self_attention.query_key_value", GgufForm::FusedByHead},
    {"attn_output", "self_attention.dense"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_up", "mlp.dense_h_to_4h"},
    {"ffn_down", "mlp.dense_4h_to_h"}};

/// "blk.LAYER.NAME".
std::string inLayer(int64_t Layer, std::string_view Name);

/// The tables of names, first come first: of tensors outside of layers, and in
/// them. Tables of rotations, which all may have, are added.
void setNames(GgufTranslation &T, std::string_view LayerPrefix,
              std::vector<std::span<const GgufName>> Globals,
              std::vector<std::span<const GgufName>> Layers);
/// Names in the spelling of LLaMA; those of the layers as given.
void setLlamaNames(GgufTranslation &T,
                   std::vector<std::span<const GgufName>> Layers = {
                       PreNorms, Attention, GatedFeedForward});

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// How a family's config spells the sizes that all have.
struct ConfigKeys {
  std::string_view Width = "hidden_size";
  std::string_view Layers = "num_hidden_layers";
  std::string_view Heads = "num_attention_heads";
  /// Empty when every head has its own keys and values.
  std::string_view KvHeads = "num_key_value_heads";
  /// Empty when the config does not say.
  std::string_view FeedForward = "intermediate_size";
  std::string_view Context = "max_position_embeddings";
};

/// Sizes, the vocabulary, whether the head is tied.
void readSizes(GgufTranslation &T, const ConfigKeys &Keys = {});
/// block_count.
int64_t readLayerCount(GgufSettings &S);

/// rope_theta and rope_scaling, and partial_rotary_factor, or what `PartKey`
/// says, when not all of a head is rotated; an empty one refuses that.
void readRope(GgufTranslation &T, std::string_view PartKey = "",
              std::string_view BaseKey = "rope_theta");

void readRmsEps(GgufTranslation &T);
void readNormEps(GgufTranslation &T, std::string_view Key);

/// What LLaMA and all that is built like it say.
void readLlamaLike(GgufTranslation &T);

/// Whether expert_count is there and not 0.
bool hasExperts(GgufSettings &S);

/// Whether the first layer's part `Name` has a bias.
bool hasBias(const GgufTranslation &T, const std::string &Name);
/// The same of queries, be they stored alone or before keys and values.
bool hasQueryBias(const GgufTranslation &T);

/// Whether a tensor has this shape; it is refused otherwise.
bool expectShape(GgufTranslation &T, const GgufTensor &Tensor,
                 const std::vector<int64_t> &Shape);

} // namespace tenon::gguf

#endif // TENON_COMPILER_FAMILIES_GGUFREADER_H
