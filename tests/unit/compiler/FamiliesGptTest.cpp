//===- FamiliesGptTest.cpp - Kin of GPT-2 ---------------------------------===//

#include "FamilyFixture.h"

#include "compiler/Builder/ModelWalk.h"
#include "compiler/Families/FamilyInput.h"

#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

class GptTest : public FamilyTest {
protected:
  /// The softmax scales of the layers in order.
  std::vector<float> scalesOf(const Json &Settings) {
    std::vector<float> Scales;
    auto Model = import(Settings);
    EXPECT_TRUE(Model) << Model.error().message();
    if (!Model)
      return Scales;
    EXPECT_TRUE(walkModel(entriesOf(*Model->Module).front(),
                          [&](Operation *Op, const CallFrame &) -> Status {
                            if (auto A = dyn_cast<AttentionOp>(Op))
                              Scales.push_back(static_cast<float>(
                                  A.getScale().convertToDouble()));
                            return {};
                          }));
    return Scales;
  }
};

//===----------------------------------------------------------------------===//
// GPT-2
//===----------------------------------------------------------------------===//

Json gpt2() {
  return {{"model_type", "gpt2"}, {"vocab_size", 97}, {"n_embd", 60},
          {"n_layer", 3},         {"n_head", 3},      {"n_positions", 64}};
}

TEST_F(GptTest, Gpt2Defaults) {
  Json Base = gpt2();
  expectDefaults(Base, {{"n_inner", nullptr, 88},
                        {"n_inner", 240, 88},
                        {"activation_function", "gelu_new", "gelu"},
                        {"layer_norm_epsilon", 1e-5, 1e-6},
                        {"scale_attn_weights", true, false},
                        {"scale_attn_by_inverse_layer_idx", false, true},
                        {"tie_word_embeddings", true, false}});
  // Nothing that the result depends on.
  EXPECT_EQ(
      graphOf(with(Base, {{"n_ctx", 32},
                          {"reorder_and_upcast_attn", true},
                          {"n_special", 0},
                          {"predict_special_tokens", true},
                          {"summary_type", "cls_index"},
                          {"task_specific_params",
                           {{"text-generation", {{"max_length", 50}}}}}})),
      graphOf(Base));
}

TEST_F(GptTest, Gpt2InBothSpellings) {
  Json Other = {{"model_type", "gpt2"},     {"vocab_size", 97},
                {"hidden_size", 60},        {"num_hidden_layers", 3},
                {"num_attention_heads", 3}, {"max_position_embeddings", 64}};
  EXPECT_EQ(graphOf(Other), graphOf(gpt2()));
}

TEST_F(GptTest, Gpt2ScalesByLayer) {
  auto Scale = static_cast<float>(1 / std::sqrt(20.0));
  EXPECT_EQ(scalesOf(gpt2()), (std::vector<float>{Scale, Scale, Scale}));
  Json ByLayer = with(gpt2(), {{"scale_attn_by_inverse_layer_idx", true}});
  EXPECT_EQ(scalesOf(ByLayer),
            (std::vector<float>{Scale, Scale / 2, Scale / 3}));
  EXPECT_EQ(scalesOf(with(ByLayer, {{"scale_attn_weights", false}})),
            (std::vector<float>{1, 0.5f, 1.0f / 3}));
}

TEST_F(GptTest, Gpt2Refuses) {
  expectRefusals(
      gpt2(),
      {{{{"add_cross_attention", true}},
        "field 'add_cross_attention' is true: expected false"},
       {{{"activation_function", "mish"}},
        std::string("field 'activation_function' is 'mish': ") +
            KnownActivations},
       {{{"n_embd", 61}},
        "field 'n_embd' is 61: expected a multiple of the 3 attention heads"},
       {{{"hidden_size", 64}},
        "field 'hidden_size' is 64: expected 60, as 'n_embd' has"},
       {{{"max_position_embeddings", 32}},
        "field 'max_position_embeddings' is 32: expected 64, as 'n_positions' "
        "has"},
       {{{"layer_norm_epsilon", 1}},
        "field 'layer_norm_epsilon' is 1: expected a number from 0 to 0.5"},
       {{{"n_inner", 0}},
        "field 'n_inner' is 0: expected a whole number from 1 to 4194304"},
       {{{"scale_attn_weights", 1}},
        "field 'scale_attn_weights' is 1: expected true or false"},
       unread("gpt2", "head_dim", 16, "16"),
       unread("gpt2", "intermediate_size", 88, "88"),
       unread("gpt2", "rope_theta", 10000, "10000")});
  Json Other = without(gpt2(), "n_embd");
  expectRefusals(with(Other, {{"hidden_size", 60}}),
                 {{{{"hidden_size", 61}},
                   "field 'hidden_size' is 61: expected a multiple of the 3 "
                   "attention heads"}});
}

//===----------------------------------------------------------------------===//
// GPT-J
//===----------------------------------------------------------------------===//

Json gptj() {
  return {{"model_type", "gptj"}, {"vocab_size", 97}, {"n_embd", 192},
          {"n_layer", 2},         {"n_head", 3},      {"n_positions", 64}};
}

TEST_F(GptTest, GptjDefaults) {
  Json Base = gptj();
  expectDefaults(Base, {{"rotary_dim", 64, 8},
                        {"n_inner", 768, 88},
                        {"activation_function", "gelu_new", "gelu"},
                        {"layer_norm_epsilon", 1e-5, 1e-6},
                        {"tie_word_embeddings", false, true}});
  EXPECT_EQ(graphOf(with(Base, {{"rotary", true},
                                {"scale_attn_weights", true},
                                {"n_ctx", 64}})),
            graphOf(Base));
  // The head has a bias of its own, tied or not.
  for (bool Tied : {false, true})
    EXPECT_NE(graphOf(with(Base, {{"tie_word_embeddings", Tied}}))
                  .find("\"lm_head.bias\""),
              std::string::npos);
}

TEST_F(GptTest, GptjRefuses) {
  expectRefusals(
      gptj(), {{{{"rotary_dim", nullptr}},
                "field 'rotary_dim' is null: expected an even number of "
                "elements per head"},
               {{{"rotary_dim", 7}},
                "field 'rotary_dim' is 7: expected an even number of elements "
                "per head"},
               {{{"rotary_dim", 66}},
                "field 'rotary_dim' is 66: expected a whole number from 1 to "
                "64"},
               {{{"rotary", false}}, "field 'rotary' is false: expected true"},
               {{{"scale_attn_weights", false}},
                "field 'scale_attn_weights' is false: expected true"},
               {{{"n_embd", 193}},
                "field 'n_embd' is 193: expected a multiple of the 3 attention "
                "heads"},
               unread("gptj", "rope_theta", 500, "500"),
               unread("gptj", "scale_attn_by_inverse_layer_idx", true, "true"),
               unread("gptj", "head_dim", 16, "16")});
}

//===----------------------------------------------------------------------===//
// GPT-NeoX
//===----------------------------------------------------------------------===//

/// Three heads of 32.
Json wide(const std::string &Family) {
  return {{"model_type", Family},
          {"vocab_size", 97},
          {"hidden_size", 96},
          {"intermediate_size", 88},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 3},
          {"max_position_embeddings", 64}};
}

TEST_F(GptTest, GptNeoxDefaults) {
  expectDefaults(
      wide("gpt_neox"),
      {{"hidden_act", "gelu", "relu"},
       {"layer_norm_eps", 1e-5, 1e-6},
       {"use_parallel_residual", true, false},
       {"attention_bias", true, false},
       {"tie_word_embeddings", false, true},
       {"rotary_pct", 0.25, 0.5},
       {"rotary_emb_base", 10000, 500},
       {"rope_parameters",
        {{"rope_type", "default"},
         {"rope_theta", 10000},
         {"partial_rotary_factor", 0.25}},
        {{"rope_type", "default"},
         {"rope_theta", 10000},
         {"partial_rotary_factor", 0.5}}},
       {"rope_scaling", nullptr, {{"type", "linear"}, {"factor", 2}}}});
  // Newer files have both names.
  Json Base =
      with(wide("gpt_neox"), {{"rotary_pct", 0.5}, {"rotary_emb_base", 500}});
  EXPECT_EQ(graphOf(with(
                Base, {{"partial_rotary_factor", 0.5}, {"rope_theta", 500}})),
            graphOf(Base));
}

TEST_F(GptTest, GptNeoxRefuses) {
  expectRefusals(
      wide("gpt_neox"),
      {{{{"rotary_pct", 1.5}},
        "field 'rotary_pct' is 1.5: expected a number from 0 to 1"},
       {{{"rotary_pct", 0.1}},
        "field 'hidden_size' is 96: expected an even number of elements per "
        "head, for they are rotated in pairs"},
       {{{"rotary_emb_base", 0}},
        "field 'rotary_emb_base' is 0: expected a number from 1e-06 to 1e+12"},
       {{{"rope_scaling", {{"type", "cubic"}, {"factor", 2}}}},
        "field 'rope_scaling.type' is 'cubic': expected one of default, "
        "linear, dynamic, llama3, yarn, longrope, su"},
       {{{"hidden_size", 97}},
        "field 'hidden_size' is 97: expected a multiple of the 3 attention "
        "heads"},
       unread("gpt_neox", "is_decoder", true, "true"),
       {{{"rope_theta", 500}},
        "field 'rope_theta' is 500: expected the value of 'rotary_emb_base'"},
       {{{"rotary_pct", 1}, {"partial_rotary_factor", 0.25}},
        "field 'partial_rotary_factor' is 0.25: expected the value of "
        "'rotary_pct'"},
       unread("gpt_neox", "num_key_value_heads", 1, "1"),
       unread("gpt_neox", "head_dim", 16, "16")});
}

//===----------------------------------------------------------------------===//
// OPT
//===----------------------------------------------------------------------===//

Json opt() {
  return {{"model_type", "opt"},
          {"vocab_size", 97},
          {"hidden_size", 60},
          {"ffn_dim", 88},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 3},
          {"max_position_embeddings", 64}};
}

TEST_F(GptTest, OptDefaults) {
  Json Base = opt();
  expectDefaults(Base, {{"do_layer_norm_before", true, false},
                        {"_remove_final_layer_norm", false, true},
                        {"word_embed_proj_dim", 60, 36},
                        {"word_embed_proj_dim", nullptr, 36},
                        {"activation_function", "relu", "gelu"},
                        {"enable_bias", true, false},
                        {"tie_word_embeddings", true, false}});
  EXPECT_EQ(graphOf(with(Base, {{"layer_norm_elementwise_affine", true},
                                {"layerdrop", 0.1},
                                {"prefix", "</s>"}})),
            graphOf(Base));
  // Norms behind the layers leave nothing for a final one.
  Json After = with(Base, {{"do_layer_norm_before", false}});
  EXPECT_EQ(graphOf(with(After, {{"_remove_final_layer_norm", true}})),
            graphOf(After));
}

TEST_F(GptTest, OptRefuses) {
  expectRefusals(
      opt(), {{{{"layer_norm_elementwise_affine", false}},
               "field 'layer_norm_elementwise_affine' is false: expected true"},
              {{{"hidden_size", 61}},
               "field 'hidden_size' is 61: expected a multiple of the 3 "
               "attention heads"},
              {{{"word_embed_proj_dim", 0}},
               "field 'word_embed_proj_dim' is 0: expected a whole number from "
               "1 to 1048576"},
              unread("opt", "layer_norm_eps", 1e-6, "1e-06"),
              unread("opt", "intermediate_size", 88, "88"),
              unread("opt", "head_dim", 16, "16")});
}

//===----------------------------------------------------------------------===//
// BLOOM
//===----------------------------------------------------------------------===//

Json bloom() {
  return {{"model_type", "bloom"},
          {"vocab_size", 97},
          {"hidden_size", 60},
          {"n_layer", 2},
          {"n_head", 3}};
}

TEST_F(GptTest, BloomDefaults) {
  Json Base = bloom();
  expectDefaults(Base,
                 {{"layer_norm_epsilon", 1e-5, 1e-6},
                  {"apply_residual_connection_post_layernorm", false, true},
                  {"seq_length", 2048, 64},
                  {"tie_word_embeddings", true, false}});
  EXPECT_EQ(graphOf(with(Base, {{"attention_softmax_in_fp32", true},
                                {"bias_dropout_fusion", true},
                                {"masked_softmax_fusion", true},
                                {"n_inner", nullptr},
                                {"offset_alibi", 100},
                                {"pretraining_tp", 4},
                                {"skip_bias_add", true},
                                {"skip_bias_add_qkv", false},
                                {"slow_but_exact", false},
                                {"unk_token_id", 0}})),
            graphOf(Base));
  EXPECT_EQ(graphOf({{"model_type", "bloom"},
                     {"vocab_size", 97},
                     {"n_embed", 60},
                     {"num_hidden_layers", 2},
                     {"num_attention_heads", 3}}),
            graphOf(Base));
}

TEST_F(GptTest, BloomSequencesCanBeLonger) {
  Json Base = bloom();
  std::ofstream(File) << Base.dump();
  auto Model =
      importModel(Context, File, {.MaxSequence = 100000, .ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(
      (*Model->Module)->getAttrOfType<IntegerAttr>(attr::MaxSequence).getInt(),
      100000);
  for (int64_t Length : {int64_t(0), MaxContext + 1}) {
    Model =
        importModel(Context, File, {.MaxSequence = Length, .ConfigOnly = true});
    ASSERT_FALSE(Model);
    EXPECT_EQ(Model.error().message(), "a sequence length of " +
                                           std::to_string(Length) +
                                           ": expected 1 to 16777216");
  }
}

TEST_F(GptTest, BloomRefuses) {
  expectRefusals(
      bloom(),
      {{{{"n_embed", 64}},
        "field 'n_embed' is 64: expected 60, as 'hidden_size' has"},
       {{{"num_attention_heads", 5}},
        "field 'num_attention_heads' is 5: expected 3, as 'n_head' has"},
       {{{"hidden_size", 61}},
        "field 'hidden_size' is 61: expected a multiple of the 3 attention "
        "heads"},
       unread("bloom", "hidden_act", "relu", "'relu'"),
       unread("bloom", "alibi", false, "false"),
       unread("bloom", "head_dim", 16, "16")});
  expectRefusals(with(without(bloom(), "hidden_size"), {{"n_embed", 60}}),
                 {{{{"n_embed", 61}},
                   "field 'n_embed' is 61: expected a multiple of the 3 "
                   "attention heads"}});
}

//===----------------------------------------------------------------------===//
// MPT
//===----------------------------------------------------------------------===//

Json mpt() {
  return {{"model_type", "mpt"},
          {"vocab_size", 97},
          {"d_model", 60},
          {"n_layers", 2},
          {"n_heads", 3}};
}

TEST_F(GptTest, MptDefaults) {
  Json Base = mpt();
  expectDefaults(Base, {{"max_seq_len", 2048, 64},
                        {"expansion_ratio", 4, 1.5},
                        {"no_bias", true, false},
                        {"norm_type", "low_precision_layernorm", "rmsnorm"},
                        {"norm_type", "layernorm", "low_precision_rmsnorm"},
                        {"layer_norm_epsilon", 1e-5, 1e-6},
                        {"norm_eps", 1e-5, 1e-6},
                        {"logit_scale", nullptr, 0.5},
                        {"logit_scale", nullptr, "inv_sqrt_d_model"},
                        {"tie_word_embeddings", true, false}});
  // Of positions that ALiBi makes superfluous, and of training.
  EXPECT_EQ(graphOf(with(Base, {{"learned_pos_emb", true},
                                {"embedding_fraction", 0.5},
                                {"init_device", "meta"},
                                {"emb_pdrop", 0.1},
                                {"fc_type", {{"name", "torch"}}},
                                {"ffn_config", {{"ffn_type", "mptmlp"}}}})),
            graphOf(Base));
}

TEST_F(GptTest, MptAttentionDefaults) {
  Json Default = {{"attn_type", "multihead_attention"},
                  {"attn_impl", "torch"},
                  {"attn_pdrop", 0},
                  {"attn_uses_sequence_id", false},
                  {"alibi", true},
                  {"alibi_bias_max", 8},
                  {"clip_qkv", nullptr},
                  {"softmax_scale", nullptr},
                  {"prefix_lm", false},
                  {"qk_ln", false},
                  {"id2label", {{"0", "LABEL_0"}}},
                  {"model_type", ""}};
  std::vector<KeyDefault> Cases;
  for (const Json &Change :
       {Json{{"attn_type", "multiquery_attention"}}, Json{{"alibi", false}},
        Json{{"alibi_bias_max", 6}}, Json{{"clip_qkv", 6}},
        Json{{"softmax_scale", 0.5}}, Json{{"qk_ln", true}}})
    Cases.push_back({"attn_config", Default, with(Default, Change)});
  Cases.push_back({"attn_config", nullptr, {{"clip_qkv", 6}}});
  // Without ALiBi there is a table of this many positions.
  expectDefaults(with(mpt(), {{"max_seq_len", 64}}), Cases);
}

TEST_F(GptTest, MptHasOneFormOfGroups) {
  auto Graph = [&](const Json &Attention) {
    return graphOf(with(mpt(), {{"attn_config", Attention}}));
  };
  EXPECT_EQ(
      Graph({{"attn_type", "grouped_query_attention"}, {"kv_n_heads", 1}}),
      Graph({{"attn_type", "multiquery_attention"}}));
  EXPECT_EQ(
      Graph({{"attn_type", "grouped_query_attention"}, {"kv_n_heads", 3}}),
      Graph({{"attn_type", "multihead_attention"}}));
}

TEST_F(GptTest, MptNormsQueriesAlwaysAlike) {
  for (const char *Type : {"low_precision_layernorm", "rmsnorm"}) {
    auto Model = import(with(mpt(), {{"norm_type", Type},
                                     {"norm_eps", 1e-2},
                                     {"attn_config", {{"qk_ln", true}}}}));
    ASSERT_TRUE(Model) << Model.error().message();
    int64_t Found = 0;
    Model->Module->walk([&](LayerNormOp Norm) {
      StringRef Key = Norm.getWeight().getDefiningOp<ParameterOp>().getKey();
      if (Key.starts_with("attn.")) {
        ++Found;
        EXPECT_DOUBLE_EQ(Norm.getEps().convertToDouble(), 1e-5);
      }
    });
    EXPECT_EQ(Found, 2);
  }
}

TEST_F(GptTest, MptLearnsPositionsWithoutAlibi) {
  Json Base =
      with(mpt(), {{"max_seq_len", 64}, {"attn_config", {{"alibi", false}}}});
  expectDefaults(Base, {{"learned_pos_emb", true, false}});
  EXPECT_NE(graphOf(Base).find("\"wpe.weight\""), std::string::npos);
}

TEST_F(GptTest, MptRefuses) {
  expectRefusals(
      mpt(),
      {{{{"d_model", 61}},
        "field 'd_model' is 61: expected a multiple of the 3 attention heads"},
       {{{"expansion_ratio", 1.51}},
        "field 'expansion_ratio' is 1.51: expected one that makes d_model a "
        "whole number up to 4194304"},
       {{{"norm_type", "groupnorm"}},
        "field 'norm_type' is 'groupnorm': expected layernorm, "
        "low_precision_layernorm, rmsnorm or low_precision_rmsnorm"},
       {{{"logit_scale", "sqrt"}},
        "field 'logit_scale' is 'sqrt': expected a finite number"},
       {{{"ffn_config", {{"ffn_type", "mptglu"}}}},
        "field 'ffn_config.ffn_type' is 'mptglu': expected mptmlp"},
       {{{"ffn_config", {{"ffn_hidden_size", 100}}}},
        "field 'ffn_config.ffn_hidden_size' is 100: the family mpt does not "
        "read this key, which may change the result (if not: "
        "tenon compile --ignore-config-key ffn_config.ffn_hidden_size)"},
       {{{"ffn_config", {{"ffn_act_fn", {{"name", "relu"}}}}}},
        "field 'ffn_config.ffn_act_fn' is an object: the family mpt does not "
        "read this key, which may change the result (if not: "
        "tenon compile --ignore-config-key ffn_config.ffn_act_fn)"},
       {{{"norm_eps", 1e-5}, {"layer_norm_epsilon", 1e-5}},
        "field 'layer_norm_epsilon' is 1e-05: the family mpt does not read "
        "this key, which may change the result (if not: tenon compile "
        "--ignore-config-key "
        "layer_norm_epsilon)"},
       unread("mpt", "head_dim", 16, "16"),
       unread("mpt", "attention_bias", true, "true"),
       unread("mpt", "final_logit_softcapping", 30, "30"),
       unread("mpt", "block_overrides", {{"order", {1}}}, "an object")});
}

TEST_F(GptTest, MptRefusesAttention) {
  std::vector<Refusal> Cases;
  auto Add = [&](const Json &Attention, const std::string &Message) {
    Cases.push_back({{{"attn_config", Attention}}, Message});
  };
  auto Field = [](const std::string &Key, const std::string &Rest) {
    return "field 'attn_config." + Key + "' is " + Rest;
  };
  auto Unread = [](const std::string &Key) {
    return ": the family mpt does not read this key, which may change the "
           "result (if not: tenon compile --ignore-config-key attn_config." +
           Key + ")";
  };
  Add(1, "field 'attn_config' is 1: expected an object");
  Add({{"attn_type", "linear_attention"}},
      Field("attn_type", "'linear_attention': expected multihead_attention, "
                         "multiquery_attention or grouped_query_attention"));
  Add({{"attn_type", "grouped_query_attention"}},
      "missing field 'attn_config.kv_n_heads': expected a whole number from 1 "
      "to 3");
  Add({{"attn_type", "grouped_query_attention"}, {"kv_n_heads", 2}},
      Field("kv_n_heads", "2: expected a divisor of n_heads 3"));
  Add({{"kv_n_heads", 1}},
      Field("kv_n_heads", "1: expected 3, as attn_type says"));
  Add({{"attn_type", "multiquery_attention"}, {"kv_n_heads", 3}},
      Field("kv_n_heads", "3: expected 1, as attn_type says"));
  Add({{"prefix_lm", true}}, Field("prefix_lm", "true: expected false"));
  Add({{"qk_gn", true}}, Field("qk_gn", "true: expected false"));
  Add({{"rope", true}}, Field("rope", "true: expected false"));
  Add({{"fused_qkv", false}}, Field("fused_qkv", "false: expected true"));
  Add({{"sliding_window_size", 16}},
      Field("sliding_window_size", "16: expected -1, for none"));
  Add({{"clip_qkv", 0}},
      Field("clip_qkv", "0: expected a number from 1e-06 to 1000000"));
  Add({{"attn_logit_softcapping", 30}},
      Field("attn_logit_softcapping", "30" + Unread("attn_logit_softcapping")));
  Add({{"kv_dim", 16}}, Field("kv_dim", "16" + Unread("kv_dim")));
  Add({{"nope", true}}, Field("nope", "true" + Unread("nope")));
  Add({{"reuse_kv_layer_idx", 0}},
      Field("reuse_kv_layer_idx", "0" + Unread("reuse_kv_layer_idx")));
  Add({{"attn_temperature_tuning", {{"attn_scale", 0.1}}}},
      Field("attn_temperature_tuning",
            "an object" + Unread("attn_temperature_tuning")));
  Add({{"norm_type", "rmsnorm"}},
      Field("norm_type", "'rmsnorm'" + Unread("norm_type")));
  expectRefusals(mpt(), Cases);
}

//===----------------------------------------------------------------------===//
// Falcon
//===----------------------------------------------------------------------===//

Json falcon() {
  return {{"model_type", "falcon"},
          {"vocab_size", 97},
          {"hidden_size", 96},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 6}};
}

TEST_F(GptTest, FalconDefaults) {
  Json Base = falcon();
  expectDefaults(Base, {{"layer_norm_epsilon", 1e-5, 1e-6},
                        {"alibi", false, true},
                        {"new_decoder_architecture", false, true},
                        {"multi_query", true, false},
                        {"parallel_attn", true, false},
                        {"bias", false, true},
                        {"ffn_hidden_size", 384, 88},
                        {"ffn_hidden_size", nullptr, 88},
                        {"activation", "gelu", "relu"},
                        {"max_position_embeddings", 2048, 64},
                        {"rope_theta", 10000, 500},
                        {"tie_word_embeddings", true, false}});
  // There is one key-value head, whatever this says.
  EXPECT_EQ(graphOf(with(Base, {{"num_kv_heads", 2}})), graphOf(Base));
  EXPECT_EQ(graphOf(with(
                Base, {{"apply_residual_connection_post_layernorm", false}})),
            graphOf(Base));
  EXPECT_EQ(graphOf({{"model_type", "falcon"},
                     {"vocab_size", 97},
                     {"n_embed", 96},
                     {"n_layer", 2},
                     {"n_head", 6},
                     {"n_head_kv", 1}}),
            graphOf(Base));
}

TEST_F(GptTest, FalconsNewForm) {
  expectDefaults(with(falcon(), {{"new_decoder_architecture", true}}),
                 {{"num_ln_in_parallel_attn", nullptr, 1},
                  {"num_ln_in_parallel_attn", 2, 1},
                  {"num_kv_heads", nullptr, 2},
                  {"num_kv_heads", 6, 3},
                  {"n_head_kv", 6, 2}});
}

TEST_F(GptTest, FalconWithAlibiDoesNotRotate) {
  Json Base = with(falcon(), {{"alibi", true}});
  EXPECT_EQ(graphOf(with(Base, {{"rope_theta", 500}})), graphOf(Base));
  EXPECT_EQ(graphOf(Base).find("transformer.rope"), std::string::npos);
}

TEST_F(GptTest, FalconRefuses) {
  expectRefusals(
      falcon(),
      {{{{"new_decoder_architecture", true}, {"parallel_attn", false}},
        "field 'parallel_attn' is false: expected true with "
        "new_decoder_architecture"},
       {{{"num_ln_in_parallel_attn", 2}},
        "field 'num_ln_in_parallel_attn' is 2: expected 1 without "
        "new_decoder_architecture"},
       {{{"num_ln_in_parallel_attn", 3}},
        "field 'num_ln_in_parallel_attn' is 3: expected a whole number from 1 "
        "to 2"},
       {{{"multi_query", false}, {"num_kv_heads", 2}},
        "field 'num_kv_heads' is 2: expected the number of attention heads"},
       {{{"num_kv_heads", 4}},
        "field 'num_kv_heads' is 4: expected a divisor of the 6 attention "
        "heads"},
       {{{"n_head", 3}},
        "field 'n_head' is 3: expected 6, as 'num_attention_heads' has"},
       {{{"hidden_size", 97}},
        "field 'hidden_size' is 97: expected a multiple of the 6 attention "
        "heads"},
       {{{"activation", "geglu"}},
        std::string("field 'activation' is 'geglu': ") + KnownActivations},
       unread("falcon", "head_dim", 16, "16"),
       unread("falcon", "hidden_act", "relu", "'relu'"),
       unread("falcon", "sliding_window", 16, "16")});
}

//===----------------------------------------------------------------------===//
// Phi, StarCoder2
//===----------------------------------------------------------------------===//

TEST_F(GptTest, PhiDefaultsAndRefusals) {
  Json Base = wide("phi");
  expectDefaults(Base, {{"num_key_value_heads", nullptr, 1},
                        {"num_key_value_heads", 3, 1},
                        {"head_dim", 32, 16},
                        {"hidden_act", "gelu_new", "gelu"},
                        {"layer_norm_eps", 1e-5, 1e-6},
                        {"partial_rotary_factor", 0.5, 0.25},
                        {"rope_theta", 10000, 500},
                        {"qk_layernorm", false, true},
                        {"tie_word_embeddings", false, true}});
  for (bool Tied : {false, true})
    EXPECT_NE(graphOf(with(Base, {{"tie_word_embeddings", Tied}}))
                  .find("\"lm_head.bias\""),
              std::string::npos);
  expectRefusals(
      Base, {{{{"num_key_value_heads", 2}},
              "field 'num_key_value_heads' is 2: expected a divisor of the 3 "
              "attention heads"},
             {{{"partial_rotary_factor", 1.5}},
              "field 'partial_rotary_factor' is 1.5: expected a number from 0 "
              "to 1"},
             {{{"hidden_size", 97}},
              "field 'hidden_size' is 97: expected a multiple of the 3 "
              "attention heads"},
             {{{"rope_parameters", {{"rope_theta", 500}}}, {"rope_theta", 600}},
              "field 'rope_theta' is 600: expected the value that "
              "'rope_parameters.rope_theta' has"},
             unread("phi", "attention_bias", true, "true"),
             unread("phi", "sliding_window", 16, "16")});
}

TEST_F(GptTest, Starcoder2DefaultsAndRefusals) {
  Json Base = with(wide("starcoder2"), {{"num_attention_heads", 6}});
  expectDefaults(Base, {{"num_key_value_heads", 2, 6},
                        {"head_dim", 16, 32},
                        {"hidden_act", "gelu_pytorch_tanh", "gelu"},
                        {"norm_epsilon", 1e-5, 1e-6},
                        {"sliding_window", nullptr, 16},
                        {"use_bias", true, false},
                        {"rope_theta", 10000, 500},
                        {"tie_word_embeddings", true, false}});
  EXPECT_EQ(graphOf(with(
                Base, {{"norm_type", "layer_norm"}, {"mlp_type", "default"}})),
            graphOf(Base));
  expectRefusals(
      Base, {{{{"norm_type", "rms_norm"}},
              "field 'norm_type' is 'rms_norm': expected layer_norm"},
             {{{"mlp_type", "gated"}},
              "field 'mlp_type' is 'gated': expected default"},
             {{{"num_key_value_heads", 4}},
              "field 'num_key_value_heads' is 4: expected a divisor of the 6 "
              "attention heads"},
             {{{"sliding_window", -1}},
              "field 'sliding_window' is -1: expected a whole number from 0 to "
              "16777216"},
             unread("starcoder2", "partial_rotary_factor", 0.5, "0.5"),
             unread("starcoder2", "layer_types",
                    {"full_attention", "sliding_attention"}, "an array")});
}

} // namespace
