//===- FamiliesMoeTest.cpp - Kin of LLaMA, and MoE layers --------------===//

#include "FamilyFixture.h"

#include "compiler/Builder/ModelWalk.h"
#include "compiler/Estimate/Estimate.h"

#include <ctime>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Sizes that fit every family's defaults: 32 heads of 8.
Json config(const std::string &Family) {
  return {{"model_type", Family},
          {"vocab_size", 97},
          {"hidden_size", 256},
          {"intermediate_size", 64},
          {"num_hidden_layers", 4},
          {"num_attention_heads", 32},
          {"max_position_embeddings", 8192}};
}

class MoeTest : public FamilyTest {
protected:
  /// What attention sees and how it rotates, layer by layer.
  template <typename OpTy> std::vector<OpTy> opsOf(ModuleOp Module) {
    std::vector<OpTy> Ops;
    EXPECT_TRUE(walkModel(entriesOf(Module).front(),
                          [&](Operation *Op, const CallFrame &) -> Status {
                            if (auto Found = dyn_cast<OpTy>(Op))
                              Ops.push_back(Found);
                            return {};
                          }));
    return Ops;
  }

  std::vector<std::string> functionsOf(ModuleOp Module) {
    std::vector<std::string> Names;
    for (auto Function : Module.getOps<func::FuncOp>())
      Names.push_back(Function.getName().str());
    return Names;
  }
};

//===----------------------------------------------------------------------===//
// Gemma
//===----------------------------------------------------------------------===//

TEST_F(MoeTest, GemmaDefaults) {
  expectDefaults(config("gemma"), {{"num_key_value_heads", 16, 8},
                                   {"head_dim", 256, 8},
                                   {"hidden_act", "gelu_pytorch_tanh", "silu"},
                                   // The first files' name of the tanh form.
                                   {"hidden_act", "gelu", "relu"},
                                   {"rms_norm_eps", 1e-6, 1e-5},
                                   {"rope_theta", 10000, 500},
                                   {"attention_bias", false, true},
                                   {"tie_word_embeddings", true, false}});
}

TEST_F(MoeTest, GemmaRefuses) {
  expectRefusals(
      config("gemma"),
      {{{{"use_bidirectional_attention", true}},
        "field 'use_bidirectional_attention' is true: expected false"},
       {{{"hidden_activation", "silu"}},
        "field 'hidden_activation' is 'silu': expected the function that "
        "hidden_act names"},
       {{{"query_pre_attn_scalar", 256}},
        "field 'query_pre_attn_scalar' is 256: the family gemma does not read "
        "this key, which may change the result (if not: tenon compile "
        "--ignore-config-key "
        "query_pre_attn_scalar)"},
       {{{"sliding_window", 16}},
        "field 'sliding_window' is 16: the family gemma does not read this "
        "key, which may change the result (if not: tenon compile "
        "--ignore-config-key "
        "sliding_window)"}});
}

TEST_F(MoeTest, Gemma2Defaults) {
  expectDefaults(config("gemma2"),
                 {{"num_key_value_heads", 4, 8},
                  {"head_dim", 256, 8},
                  {"hidden_activation", "gelu_pytorch_tanh", "gelu"},
                  {"rms_norm_eps", 1e-6, 1e-5},
                  {"rope_theta", 10000, 500},
                  {"attention_bias", false, true},
                  {"tie_word_embeddings", true, false},
                  {"query_pre_attn_scalar", 256, 64},
                  {"sliding_window", 4096, 16},
                  {"attn_logit_softcapping", 50.0, nullptr},
                  {"final_logit_softcapping", 30.0, nullptr},
                  {"layer_types",
                   {"sliding_attention", "full_attention", "sliding_attention",
                    "full_attention"},
                   {"full_attention", "full_attention", "full_attention",
                    "full_attention"}}});
  // Its older files name the activation of Gemma 1 too.
  EXPECT_EQ(
      graphOf(with(config("gemma2"), {{"hidden_act", "gelu"},
                                      {"cache_implementation", "hybrid"}})),
      graphOf(config("gemma2")));
}

TEST_F(MoeTest, Gemma2Refuses) {
  expectRefusals(
      config("gemma2"),
      {{{{"use_bidirectional_attention", true}},
        "field 'use_bidirectional_attention' is true: expected false"},
       {{{"sliding_window", nullptr}},
        "field 'sliding_window' is null: expected a number of tokens, as there "
        "are layers with a window"},
       {{{"layer_types", {"full_attention"}}},
        "field 'layer_types' is an array: expected 4 entries, one a layer"},
       {{{"layer_types",
          {"full_attention", "chunked_attention", "full_attention",
           "full_attention"}}},
        "field 'layer_types[1]' is 'chunked_attention': expected "
        "full_attention or sliding_attention"},
       {{{"query_pre_attn_scalar", 0}},
        "field 'query_pre_attn_scalar' is 0: expected a number from 1e-06 to "
        "1e+12"},
       {{{"attn_logit_softcapping", -1}},
        "field 'attn_logit_softcapping' is -1: expected a number from 1e-06 to "
        "1e+12"}});
}

TEST_F(MoeTest, Gemma3Defaults) {
  Json Base = with(config("gemma3_text"), {{"num_hidden_layers", 7}});
  expectDefaults(Base, {{"num_key_value_heads", 4, 8},
                        {"head_dim", 256, 8},
                        {"hidden_activation", "gelu_pytorch_tanh", "gelu"},
                        {"query_pre_attn_scalar", 256, 64},
                        {"sliding_window", 4096, 16},
                        {"sliding_window_pattern", 6, 2},
                        {"final_logit_softcapping", nullptr, 30.0},
                        {"rope_theta", 1e6, 1e4},
                        {"rope_local_base_freq", 1e4, 1e3},
                        {"rope_parameters",
                         {{"full_attention", {{"rope_theta", 1e6}}},
                          {"sliding_attention", {{"rope_theta", 1e4}}}},
                         {{"full_attention", {{"rope_theta", 1e6}}},
                          {"sliding_attention", {{"rope_theta", 1e5}}}}}});
  // A scaling is that of the layers that see everything.
  auto Model = import(with(
      Base, {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}}));
  ASSERT_TRUE(Model) << Model.error().message();
  std::vector<bool> IsScaled;
  for (RopeOp Rope : opsOf<RopeOp>(*Model->Module))
    IsScaled.push_back(Rope.getRope().getScaling() == RopeScaling::Linear);
  std::vector<bool> Expected(14, false);
  Expected[10] = Expected[11] = true;
  EXPECT_EQ(IsScaled, Expected);
}

TEST_F(MoeTest, Gemma3Refuses) {
  expectRefusals(
      config("gemma3_text"),
      {{{{"attn_logit_softcapping", 50}},
        "field 'attn_logit_softcapping' is 50: expected null"},
       {{{"sliding_window_pattern", 6}, {"_sliding_window_pattern", 5}},
        "field '_sliding_window_pattern' is 5: expected 6, as "
        "'sliding_window_pattern' has"},
       {{{"rope_parameters", {{"rope_theta", 1e4}}}},
        "missing field 'rope_parameters.full_attention': expected an object"},
       {{{"rope_parameters",
          {{"full_attention", {{"rope_theta", 1e6}}},
           {"sliding_attention", {{"rope_theta", 1e4}}}}},
         {"rope_local_base_freq", 100}},
        "field 'rope_local_base_freq' is 100: the family gemma3_text does not "
        "read this key, which may change the result (if not: "
        "tenon compile --ignore-config-key rope_local_base_freq)"}});
}

//===----------------------------------------------------------------------===//
// Phi 3, OLMo 2, Granite, StableLM, Cohere, SmolLM 3
//===----------------------------------------------------------------------===//

TEST_F(MoeTest, Phi3Defaults) {
  Json Base = config("phi3");
  expectDefaults(Base, {{"num_key_value_heads", nullptr, 8},
                        {"num_key_value_heads", 32, 16},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-5, 1e-6},
                        {"rope_theta", 10000, 500},
                        {"partial_rotary_factor", 1.0, 0.5},
                        {"sliding_window", nullptr, 16},
                        {"tie_word_embeddings", false, true}});
  EXPECT_EQ(graphOf(with(Base, {{"attention_bias", false},
                                {"mlp_bias", false},
                                {"lm_head_bias", false},
                                {"full_attn_mod", 1},
                                {"interpolate_factor", 1}})),
            graphOf(Base));
  // With original lengths of 4096 sequences of 8192 are long ones.
  Json Factors = {{"type", "longrope"},
                  {"short_factor", {1.0, 1.0, 1.0, 1.0}},
                  {"long_factor", {2.0, 3.0, 4.0, 5.0}}};
  Json Long = with(Base, {{"rope_scaling", Factors}});
  expectDefaults(Long, {{"original_max_position_embeddings", 4096, 8192}});
  // The first files' names of it.
  for (const char *Type : {"su", "yarn"}) {
    Factors["type"] = Type;
    EXPECT_EQ(graphOf(with(Base, {{"rope_scaling", Factors}})), graphOf(Long));
  }
}

TEST_F(MoeTest, Phi3Refuses) {
  expectRefusals(
      config("phi3"),
      {{{{"attention_bias", true}},
        "field 'attention_bias' is true: expected false"},
       {{{"lm_head_bias", true}},
        "field 'lm_head_bias' is true: expected false"},
       {{{"mlp_bias", true}}, "field 'mlp_bias' is true: expected false"},
       {{{"full_attn_mod", 2}}, "field 'full_attn_mod' is 2: expected 1"},
       {{{"interpolate_factor", 2}},
        "field 'interpolate_factor' is 2: expected 1"},
       {{{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}},
        "field 'rope_scaling.type' is 'linear': expected default or longrope"},
       {{{"rope_scaling",
          {{"type", "longrope"},
           {"short_factor", {1.0}},
           {"long_factor", {1.0, 2.0, 3.0}}}}},
        "field 'rope_scaling.long_factor' is an array: expected 4 factors, one "
        "a rotated pair"},
       {{{"partial_rotary_factor", 1.5}},
        "field 'partial_rotary_factor' is 1.5: expected a number from 0 to "
        "1"}});
}

TEST_F(MoeTest, Olmo2DefaultsAndRefusals) {
  Json Base = config("olmo2");
  expectDefaults(Base, {{"num_key_value_heads", 32, 8},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-5, 1e-6},
                        {"rope_theta", 10000, 500},
                        {"attention_bias", false, true},
                        {"tie_word_embeddings", false, true}});
  expectRefusals(
      Base,
      {{{{"clip_qkv", 8}},
        "field 'clip_qkv' is 8: the family olmo2 does not read this key, which "
        "may change the result (if not: tenon compile --ignore-config-key "
        "clip_qkv)"},
       {{{"num_key_value_heads", 5}},
        "field 'num_key_value_heads' is 5: expected a divisor "
        "of the 32 attention heads"}});
}

TEST_F(MoeTest, GraniteDefaultsAndRefusals) {
  Json Base = config("granite");
  expectDefaults(Base, {{"num_key_value_heads", 32, 8},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-6, 1e-5},
                        {"rope_theta", 10000, 500},
                        {"attention_bias", false, true},
                        {"mlp_bias", false, true},
                        {"tie_word_embeddings", false, true},
                        {"embedding_multiplier", 1.0, 12.0},
                        {"attention_multiplier", 1.0, 0.015625},
                        {"residual_multiplier", 1.0, 0.22},
                        {"logits_scaling", 1.0, 8.0}});
  expectRefusals(
      Base,
      {{{{"logits_scaling", 0}},
        "field 'logits_scaling' is 0: expected a number from 1e-06 to 1000000"},
       {{{"attention_multiplier", -1}},
        "field 'attention_multiplier' is -1: expected a number from 1e-06 to "
        "1000000"}});
}

TEST_F(MoeTest, StablelmDefaultsAndRefusals) {
  Json Base = config("stablelm");
  expectDefaults(Base, {{"num_key_value_heads", 32, 8},
                        {"hidden_act", "silu", "gelu"},
                        {"layer_norm_eps", 1e-5, 1e-6},
                        {"rope_theta", 10000, 500},
                        {"partial_rotary_factor", 0.25, 0.5},
                        {"use_qkv_bias", false, true},
                        {"qk_layernorm", false, true},
                        {"use_parallel_residual", false, true},
                        {"tie_word_embeddings", false, true}});
  // Published files have keys that nothing reads.
  EXPECT_EQ(
      graphOf(with(Base, {{"norm_eps", 1e-3}, {"rotary_scaling_factor", 1.0}})),
      graphOf(Base));
  expectRefusals(
      Base, {{{{"attention_bias", true}},
              "field 'attention_bias' is true: the family stablelm "
              "does not read this key, which may change the result "
              "(if not: tenon compile --ignore-config-key attention_bias)"}});
}

TEST_F(MoeTest, CohereDefaultsAndRefusals) {
  Json Base = config("cohere");
  expectDefaults(Base, {{"num_key_value_heads", 32, 8},
                        {"hidden_act", "silu", "gelu"},
                        {"layer_norm_eps", 1e-5, 1e-6},
                        {"rope_theta", 500000, 10000},
                        {"logit_scale", 0.0625, 0.5},
                        {"attention_bias", false, true},
                        {"use_qk_norm", false, true},
                        {"tie_word_embeddings", true, false}});
  expectRefusals(Base,
                 {{{{"logit_scale", nullptr}},
                   "field 'logit_scale' is null: expected a number"},
                  {{{"sliding_window", 16}},
                   "field 'sliding_window' is 16: the family cohere does "
                   "not read this key, which may change the result (if "
                   "not: tenon compile --ignore-config-key sliding_window)"}});
}

TEST_F(MoeTest, Smollm3Defaults) {
  Json Base = config("smollm3");
  expectDefaults(Base, {{"num_key_value_heads", 4, nullptr},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-6, 1e-5},
                        {"rope_theta", 2e6, 10000},
                        {"attention_bias", false, true},
                        {"mlp_bias", false, true},
                        {"tie_word_embeddings", true, false},
                        {"no_rope_layer_interval", 4, 2},
                        {"no_rope_layers", {1, 1, 1, 0}, {1, 0, 1, 1}}});
  // Windows are in the layers without a rotation, if they are used at all.
  EXPECT_EQ(graphOf(with(Base, {{"sliding_window", 16}})), graphOf(Base));
  Json Windows =
      with(Base, {{"sliding_window", 16}, {"use_sliding_window", true}});
  expectDefaults(Windows, {{"layer_types",
                            {"full_attention", "full_attention",
                             "full_attention", "sliding_attention"},
                            {"full_attention", "full_attention",
                             "sliding_attention", "sliding_attention"}}});
}

TEST_F(MoeTest, Smollm3Refuses) {
  expectRefusals(
      config("smollm3"),
      {{{{"no_rope_layers", {1, 0}}},
        "field 'no_rope_layers' is an array: expected 4 entries, one a layer"},
       {{{"no_rope_layers", {1, 0, 2, 1}}},
        "field 'no_rope_layers[2]' is 2: expected a whole number from 0 to 1"},
       {{{"layer_types",
          {"full_attention", "full_attention", "full_attention",
           "sliding_attention"}}},
        "field 'layer_types' is an array: expected full_attention without a "
        "sliding window"}});
}

//===----------------------------------------------------------------------===//
// Moe
//===----------------------------------------------------------------------===//

TEST_F(MoeTest, MixtralDefaultsAndRefusals) {
  Json Base = config("mixtral");
  expectDefaults(Base, {{"num_key_value_heads", 8, nullptr},
                        {"head_dim", nullptr, 16},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-5, 1e-6},
                        {"rope_theta", 1e6, 10000},
                        {"sliding_window", nullptr, 16},
                        {"num_local_experts", 8, 4},
                        {"num_experts", 8, 4},
                        {"num_experts_per_tok", 2, 3},
                        {"tie_word_embeddings", false, true}});
  EXPECT_EQ(graphOf(with(Base, {{"router_jitter_noise", 0.1}})), graphOf(Base));
  expectRefusals(
      Base,
      {{{{"num_experts_per_tok", 9}},
        "field 'num_experts_per_tok' is 9: expected at most the 8 experts"},
       {{{"num_local_experts", 0}},
        "field 'num_local_experts' is 0: expected a whole number from 1 to "
        "65536"},
       {{{"num_local_experts", 8}, {"num_experts", 4}},
        "field 'num_experts' is 4: expected 8, as 'num_local_experts' has"}});
}

TEST_F(MoeTest, Qwen2MoeDefaults) {
  Json Base = config("qwen2_moe");
  expectDefaults(Base, {{"num_key_value_heads", 16, nullptr},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-6, 1e-5},
                        {"rope_theta", 10000, 500},
                        {"qkv_bias", true, false},
                        {"decoder_sparse_step", 1, 2},
                        {"mlp_only_layers", Json::array(), {2}},
                        {"moe_intermediate_size", 1408, 16},
                        {"shared_expert_intermediate_size", 5632, 16},
                        {"num_experts", 60, 4},
                        {"num_experts_per_tok", 4, 2},
                        {"norm_topk_prob", false, true},
                        {"tie_word_embeddings", false, true}});
  // 0 is what Transformers writes where windows are off.
  EXPECT_EQ(graphOf(with(Base, {{"sliding_window", 0}})), graphOf(Base));
  // Every second of the first layers has a window, unlike in Qwen 2.
  Json Windows = with(Base, {{"use_sliding_window", true}});
  expectDefaults(Windows, {{"sliding_window", 4096, 16},
                           {"max_window_layers", 28, 1},
                           {"layer_types",
                            {"sliding_attention", "full_attention",
                             "sliding_attention", "full_attention"},
                            {"full_attention", "full_attention",
                             "sliding_attention", "sliding_attention"}}});
}

TEST_F(MoeTest, Qwen2MoeRefuses) {
  expectRefusals(
      config("qwen2_moe"),
      {{{{"layer_types",
          {"full_attention", "full_attention", "full_attention",
           "sliding_attention"}}},
        "field 'layer_types' is an array: expected full_attention without a "
        "sliding window"},
       {{{"use_sliding_window", true}, {"sliding_window", nullptr}},
        "field 'sliding_window' is null: expected a number of tokens, as there "
        "are layers with a window"},
       {{{"decoder_sparse_step", 0}},
        "field 'decoder_sparse_step' is 0: expected a whole number from 1 to "
        "4096"},
       {{{"mlp_only_layers", {-1}}},
        "field 'mlp_only_layers[0]' is -1: expected a whole number from 0 to "
        "4096"},
       {{{"num_experts_per_tok", 61}},
        "field 'num_experts_per_tok' is 61: expected at most the 60 experts"}});
}

TEST_F(MoeTest, Qwen3MoeDefaultsAndRefusals) {
  Json Base = config("qwen3_moe");
  expectDefaults(Base, {{"num_key_value_heads", 4, 8},
                        {"head_dim", 8, 16},
                        {"hidden_act", "silu", "gelu"},
                        {"rms_norm_eps", 1e-6, 1e-5},
                        {"attention_bias", false, true},
                        {"decoder_sparse_step", 1, 2},
                        {"mlp_only_layers", Json::array(), {2}},
                        {"moe_intermediate_size", 768, 16},
                        // Transformers 5 writes the second name.
                        {"num_experts", 128, 8},
                        {"num_local_experts", 128, 8},
                        {"num_experts_per_tok", 8, 2},
                        {"norm_topk_prob", false, true},
                        {"use_sliding_window", false, true},
                        {"tie_word_embeddings", false, true}});
  // All layers have the window.
  EXPECT_EQ(graphOf(with(Base, {{"max_window_layers", 1}})), graphOf(Base));
  expectDefaults(with(Base, {{"use_sliding_window", true}}),
                 {{"sliding_window", 4096, 16}});
  expectRefusals(
      Base,
      {{{{"num_experts", 8}, {"num_local_experts", 16}},
        "field 'num_local_experts' is 16: expected 8, as 'num_experts' has"},
       {{{"shared_expert_intermediate_size", 8}},
        "field 'shared_expert_intermediate_size' is 8: expected 0"},
       {{{"use_qk_norm", false}},
        "field 'use_qk_norm' is false: expected true"},
       {{{"qkv_bias", true}}, "field 'qkv_bias' is true: expected false"}});
}

TEST_F(MoeTest, DeepseekV2Defaults) {
  Json Base = with(config("deepseek_v2"), {{"num_experts_per_tok", 6}});
  expectDefaults(Base, {{"rms_norm_eps", 1e-6, 1e-5},
                        {"hidden_act", "silu", "gelu"},
                        {"rope_theta", 10000, 500},
                        {"attention_bias", false, true},
                        {"first_k_dense_replace", 0, 1},
                        {"kv_lora_rank", 512, 64},
                        {"q_lora_rank", 1536, nullptr},
                        {"n_routed_experts", 64, 32},
                        {"num_experts", 64, 32},
                        {"n_shared_experts", 2, 1},
                        {"qk_nope_head_dim", 128, 16},
                        {"qk_rope_head_dim", 64, 16},
                        {"v_head_dim", 128, 16},
                        {"routed_scaling_factor", 1.0, 16.0},
                        {"moe_intermediate_size", 1407, 16},
                        {"tie_word_embeddings", false, true}});
  // Biases of feed-forwards are those of dense layers and shared experts.
  EXPECT_NE(graphOf(with(Base, {{"mlp_bias", true}})), graphOf(Base));
  // Keys that repeat others, and those of training.
  EXPECT_EQ(graphOf(with(Base, {{"head_dim", 64},
                                {"qk_head_dim", 192},
                                {"num_key_value_heads", 32},
                                {"topk_method", "greedy"},
                                {"scoring_func", "softmax"},
                                {"n_group", 8},
                                {"topk_group", 3},
                                {"moe_layer_freq", 1},
                                {"aux_loss_alpha", 0.001},
                                {"seq_aux", true},
                                {"ep_size", 1}})),
            graphOf(Base));
  EXPECT_NE(graphOf(with(Base, {{"topk_method", "group_limited_greedy"},
                                {"n_group", 8},
                                {"topk_group", 3}})),
            graphOf(Base));
}

TEST_F(MoeTest, DeepseekV2Refuses) {
  Json Base = with(config("deepseek_v2"), {{"num_experts_per_tok", 6}});
  Json Grouped = with(Base, {{"topk_method", "group_limited_greedy"},
                             {"n_group", 8},
                             {"topk_group", 3}});
  expectRefusals(
      Base,
      {{{{"num_experts_per_tok", nullptr}},
        "field 'num_experts_per_tok' is null: expected a whole number from 1 "
        "to 65536"},
       {{{"topk_method", "noaux_tc"}},
        "field 'topk_method' is 'noaux_tc': expected greedy or "
        "group_limited_greedy"},
       {{{"scoring_func", "sigmoid"}},
        "field 'scoring_func' is 'sigmoid': expected softmax"},
       {{{"norm_topk_prob", true}},
        "field 'norm_topk_prob' is true: expected false"},
       {{{"moe_layer_freq", 2}}, "field 'moe_layer_freq' is 2: expected 1"},
       {{{"num_key_value_heads", 8}},
        "field 'num_key_value_heads' is 8: expected the 32 attention heads"},
       {{{"head_dim", 128}}, "field 'head_dim' is 128: expected 64"},
       {{{"qk_head_dim", 128}}, "field 'qk_head_dim' is 128: expected 192"},
       {{{"rope_interleave", false}},
        "field 'rope_interleave' is false: the family deepseek_v2 does not "
        "read this key, which may change the result (if not: "
        "tenon compile --ignore-config-key rope_interleave)"}});
  expectRefusals(
      Grouped,
      {{{{"n_group", nullptr}},
        "field 'n_group' is null: expected a whole number from 1 to 65536"},
       {{{"n_group", 7}},
        "field 'n_group' is 7: expected a divisor of the 64 experts"},
       {{{"topk_group", 9}},
        "field 'topk_group' is 9: expected at most the 8 groups"},
       {{{"num_experts_per_tok", 25}},
        "field 'num_experts_per_tok' is 25: expected at most the 24 experts of "
        "the best groups"}});
}

TEST_F(MoeTest, DeepseekV3Defaults) {
  Json Base = config("deepseek_v3");
  expectDefaults(Base, {{"rms_norm_eps", 1e-6, 1e-5},
                        {"hidden_act", "silu", "gelu"},
                        {"rope_theta", 10000, 500},
                        {"rope_interleave", true, false},
                        {"attention_bias", false, true},
                        {"first_k_dense_replace", 3, 1},
                        {"kv_lora_rank", 512, 64},
                        {"q_lora_rank", 1536, nullptr},
                        {"n_routed_experts", 256, 32},
                        {"num_local_experts", 256, 32},
                        {"n_shared_experts", 1, 2},
                        {"qk_nope_head_dim", 128, 16},
                        {"qk_rope_head_dim", 64, 16},
                        {"v_head_dim", 128, 16},
                        {"n_group", 8, 4},
                        {"topk_group", 4, 2},
                        {"num_experts_per_tok", 8, 4},
                        {"norm_topk_prob", true, false},
                        {"routed_scaling_factor", 2.5, 1.0},
                        {"moe_intermediate_size", 2048, 16},
                        {"tie_word_embeddings", false, true}});
  EXPECT_EQ(graphOf(with(Base, {{"topk_method", "noaux_tc"},
                                {"scoring_func", "sigmoid"},
                                {"num_nextn_predict_layers", 1}})),
            graphOf(Base));
}

TEST_F(MoeTest, DeepseekScalesScoresByYarn) {
  Json Base = with(config("deepseek_v3"),
                   {{"rope_scaling",
                     {{"type", "yarn"},
                      {"factor", 40},
                      {"mscale", 1.0},
                      {"mscale_all_dim", 1.0},
                      {"original_max_position_embeddings", 4096}}}});
  auto Model = import(Base);
  ASSERT_TRUE(Model) << Model.error().message();
  double Growth = 0.1 * std::log(40.0) + 1;
  for (auto Attention : opsOf<LatentAttentionOp>(*Model->Module))
    EXPECT_EQ(static_cast<float>(Attention.getScale().convertToDouble()),
              static_cast<float>(Growth * Growth / std::sqrt(192.0)));
}

TEST_F(MoeTest, DeepseekV3Refuses) {
  expectRefusals(
      config("deepseek_v3"),
      {{{{"topk_method", "greedy"}},
        "field 'topk_method' is 'greedy': expected noaux_tc"},
       {{{"scoring_func", "softmax"}},
        "field 'scoring_func' is 'softmax': expected sigmoid"},
       {{{"n_group", 256}, {"topk_group", 100}},
        "field 'n_group' is 256: expected groups of at least 2 experts"},
       {{{"topk_group", 9}},
        "field 'topk_group' is 9: expected at most the 8 groups"},
       {{{"qk_rope_head_dim", 7}},
        "field 'qk_rope_head_dim' is 7: expected an even number, for elements "
        "are rotated in pairs"},
       {{{"v_head_dim", 65536}},
        "field 'v_head_dim' is 65536: expected at most 1048576 elements in all "
        "heads"},
       {{{"mlp_bias", true}},
        "field 'mlp_bias' is true: the family deepseek_v3 does not read this "
        "key, which may change the result (if not: tenon compile "
        "--ignore-config-key "
        "mlp_bias)"}});
}

TEST_F(MoeTest, GptOssDefaults) {
  Json Base = config("gpt_oss");
  expectDefaults(Base, {{"num_key_value_heads", 8, 4},
                        {"head_dim", 64, nullptr},
                        {"rms_norm_eps", 1e-5, 1e-6},
                        {"attention_bias", true, false},
                        {"sliding_window", 128, 16},
                        {"layer_types",
                         {"sliding_attention", "full_attention",
                          "sliding_attention", "full_attention"},
                         {"full_attention", "full_attention", "full_attention",
                          "full_attention"}},
                        {"rope_theta", 150000, 10000},
                        {"rope_parameters",
                         {{"rope_type", "yarn"},
                          {"rope_theta", 150000},
                          {"factor", 32},
                          {"beta_fast", 32},
                          {"beta_slow", 1},
                          {"truncate", false},
                          {"original_max_position_embeddings", 4096}},
                         {{"rope_type", "default"}, {"rope_theta", 150000}}},
                        {"num_local_experts", 128, 8},
                        {"num_experts_per_tok", 4, 2},
                        {"swiglu_limit", 7, 5},
                        {"swiglu_alpha", 1.702, 1},
                        {"tie_word_embeddings", false, true}});
  EXPECT_EQ(graphOf(with(Base, {{"experts_per_token", 4},
                                {"num_experts_per_tok", 4},
                                {"initial_context_length", 4096},
                                {"hidden_act", "silu"}})),
            graphOf(Base));
}

TEST_F(MoeTest, GptOssRefuses) {
  expectRefusals(
      config("gpt_oss"),
      {{{{"num_experts_per_tok", 4}, {"experts_per_token", 2}},
        "field 'experts_per_token' is 2: expected 4, as 'num_experts_per_tok' "
        "has"},
       {{{"swiglu_limit", 0}},
        "field 'swiglu_limit' is 0: expected a number from 1e-06 to 1000000"}});
}

//===----------------------------------------------------------------------===//
// Depth
//===----------------------------------------------------------------------===//

TEST_F(MoeTest, FunctionsDoNotGrowWithDepth) {
  for (const char *Family : {"gemma2", "gemma3_text", "smollm3", "qwen2_moe",
                             "deepseek_v3", "gpt_oss"}) {
    SCOPED_TRACE(Family);
    std::vector<std::string> Few;
    for (int64_t Layers : {8, 64}) {
      auto Model =
          import(with(config(Family), {{"num_hidden_layers", Layers}}));
      ASSERT_TRUE(Model) << Model.error().message();
      std::vector<std::string> Functions = functionsOf(*Model->Module);
      if (Few.empty())
        Few = Functions;
      EXPECT_EQ(Functions, Few);
      EXPECT_LE(Functions.size(), 5u);
    }
  }
}

TEST_F(MoeTest, TheWholeOfDeepseekV3) {
  Json Settings = {{"model_type", "deepseek_v3"},
                   {"vocab_size", 129280},
                   {"hidden_size", 7168},
                   {"intermediate_size", 18432},
                   {"moe_intermediate_size", 2048},
                   {"num_hidden_layers", 61},
                   {"num_attention_heads", 128},
                   {"max_position_embeddings", 163840},
                   {"torch_dtype", "bfloat16"},
                   {"rope_scaling",
                    {{"type", "yarn"},
                     {"factor", 40},
                     {"mscale", 1.0},
                     {"mscale_all_dim", 1.0},
                     {"original_max_position_embeddings", 4096}}}};
  std::clock_t Begin = std::clock();
  auto Model = import(Settings);
  double Seconds = static_cast<double>(std::clock() - Begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_LT(Seconds, 1);
  EXPECT_EQ(functionsOf(*Model->Module),
            (std::vector<std::string>{"embed", "layer", "layer_moe", "head",
                                      "step"}));
  auto Estimate = estimateModel(*Model->Module);
  ASSERT_TRUE(Estimate) << Estimate.error().message();
  EXPECT_EQ(Estimate->Parameters, 671026419200);
  // 8 of 256 experts in each of 58 layers.
  EXPECT_EQ(Estimate->ActiveParameters,
            671026419200 - 58 * 248 * 3 * int64_t(7168) * 2048);
  EXPECT_EQ(Estimate->CacheElements, 61 * 576);
}

} // namespace
