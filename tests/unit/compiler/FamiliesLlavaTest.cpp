//===- FamiliesLlavaTest.cpp - A text model with a vision tower -----------===//

#include "FamilyFixture.h"

#include "compiler/Manifest/ManifestBuilder.h"
#include "dialects/Transformer/Transformer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

class LlavaTest : public FamilyTest {
protected:
  static Json tower() {
    return {{"model_type", "clip_vision_model"},
            {"hidden_size", 60},
            {"intermediate_size", 88},
            {"num_hidden_layers", 4},
            {"num_attention_heads", 3},
            {"image_size", 50},
            {"patch_size", 16}};
  }
  static Json text() {
    return {{"model_type", "llama"},    {"vocab_size", 90},
            {"hidden_size", 48},        {"intermediate_size", 72},
            {"num_hidden_layers", 2},   {"num_attention_heads", 3},
            {"num_key_value_heads", 3}, {"max_position_embeddings", 5}};
  }
  static Json llava() {
    return {{"model_type", "llava"},
            {"text_config", text()},
            {"vision_config", tower()},
            {"image_token_index", 7}};
  }
  static Json withTower(const Json &Changes) {
    return with(llava(), {{"vision_config", with(tower(), Changes)}});
  }
  static Json withText(const Json &Changes) {
    return with(llava(), {{"text_config", with(text(), Changes)}});
  }

  /// How many layers the tower has that are built.
  int64_t layersOf(const Json &Settings) {
    auto Model = import(Settings);
    EXPECT_TRUE(Model) << Model.error().message();
    int64_t Layers = 0;
    if (Model)
      Model->Module->walk([&](ScopeOp Scope) {
        Layers += Scope.getName().starts_with("vision_tower") &&
                  Scope.getName().contains(".layers.");
      });
    return Layers;
  }

  void refuses(const Json &Settings, const std::string &Message) {
    SCOPED_TRACE(Message);
    auto Model = import(Settings);
    ASSERT_FALSE(Model);
    EXPECT_EQ(Model.error().message(), File.string() + ": " + Message);
  }
};

TEST_F(LlavaTest, Defaults) {
  expectDefaults(llava(), {{"vision_feature_layer", -2, -1},
                           {"vision_feature_layer", 3, 2},
                           {"projector_hidden_act", "gelu", "relu"},
                           {"multimodal_projector_bias", true, false},
                           {"tie_word_embeddings", false, true}});
  // What a class token is for is told beside the graph.
  EXPECT_EQ(graphOf(with(llava(), {{"vision_feature_select_strategy", "full"},
                                   {"image_seq_length", 9},
                                   {"ignore_index", -100},
                                   {"image_token_id", 7},
                                   {"vocab_size", 3}})),
            graphOf(llava()));
  EXPECT_EQ(graphOf(without(with(llava(), {{"image_token_id", 7}}),
                            "image_token_index")),
            graphOf(llava()));
}

TEST_F(LlavaTest, DefaultsOfTheTower) {
  std::string Graph = graphOf(llava());
  for (const KeyDefault &Each : {KeyDefault{"num_channels", 3, 1},
                                 KeyDefault{"hidden_act", "quick_gelu", "gelu"},
                                 KeyDefault{"layer_norm_eps", 1e-5, 1e-6}}) {
    SCOPED_TRACE(Each.Key);
    EXPECT_EQ(graphOf(withTower({{Each.Key, Each.Default}})), Graph);
    EXPECT_NE(graphOf(withTower({{Each.Key, Each.Other}})), Graph);
  }
  EXPECT_EQ(graphOf(withTower({{"projection_dim", 7}, {"vocab_size", 9}})),
            Graph);
  auto With = [&](const Json &Tower) {
    return graphOf(with(llava(), {{"vision_config", Tower}}));
  };
  EXPECT_EQ(With({{"num_hidden_layers", 4}}),
            With({{"model_type", "clip_vision_model"},
                  {"hidden_size", 768},
                  {"intermediate_size", 3072},
                  {"num_hidden_layers", 4},
                  {"num_attention_heads", 12},
                  {"image_size", 224},
                  {"patch_size", 32}}));
  // Of no tower at all LLaVA has its own.
  EXPECT_EQ(graphOf(without(llava(), "vision_config")),
            With({{"hidden_size", 1024},
                  {"intermediate_size", 4096},
                  {"num_hidden_layers", 24},
                  {"num_attention_heads", 16},
                  {"image_size", 336},
                  {"patch_size", 14}}));
}

TEST_F(LlavaTest, DefaultsOfTheText) {
  auto With = [&](const Json &Text) {
    return graphOf(with(llava(), {{"text_config", Text}}));
  };
  EXPECT_EQ(With(Json::object()), With({{"model_type", "llama"},
                                        {"vocab_size", 32000},
                                        {"hidden_size", 4096},
                                        {"intermediate_size", 11008},
                                        {"num_hidden_layers", 32},
                                        {"num_attention_heads", 32},
                                        {"max_position_embeddings", 2048},
                                        {"rms_norm_eps", 1e-6}}));
  EXPECT_EQ(With({{"model_type", "mistral"}}),
            With({{"model_type", "mistral"},
                  {"vocab_size", 32000},
                  {"hidden_size", 4096},
                  {"intermediate_size", 14336},
                  {"num_hidden_layers", 32},
                  {"num_attention_heads", 32},
                  {"num_key_value_heads", 8},
                  {"max_position_embeddings", 131072},
                  {"sliding_window", 4096},
                  {"rms_norm_eps", 1e-6}}));
  EXPECT_EQ(With({{"model_type", "qwen2"}}),
            With({{"model_type", "qwen2"},
                  {"vocab_size", 151936},
                  {"hidden_size", 4096},
                  {"intermediate_size", 22016},
                  {"num_hidden_layers", 32},
                  {"num_attention_heads", 32},
                  {"num_key_value_heads", 32},
                  {"max_position_embeddings", 32768},
                  {"rms_norm_eps", 1e-6}}));
}

TEST_F(LlavaTest, LayersUpToTheOneThatIsTaken) {
  EXPECT_EQ(layersOf(llava()), 3);
  for (auto [Index, Layers] :
       {std::pair(-1, 4), {-5, 0}, {0, 0}, {1, 1}, {4, 4}}) {
    SCOPED_TRACE(Index);
    EXPECT_EQ(layersOf(with(llava(), {{"vision_feature_layer", Index}})),
              Layers);
  }
}

/// Images are longer than the text may be, and what is asked of it shortens the
/// text alone.
TEST_F(LlavaTest, SizesOfBoth) {
  auto Model = import(llava());
  ASSERT_TRUE(Model) << Model.error().message();
  auto M = describeModel(*Model->Module);
  ASSERT_TRUE(M) << M.error().message();
  EXPECT_EQ(M->Vocabulary, 90);
  EXPECT_EQ(M->MaxSequence, 5);
  ASSERT_EQ(M->Entries.size(), 2u);
  for (const EntryInfo &Entry : M->Entries) {
    bool IsStep = Entry.Role == "step";
    EXPECT_EQ(Entry.Role, IsStep ? "step" : "encode_image");
    EXPECT_EQ(Entry.Features, IsStep ? 48 : 3 * 16 * 16);
    EXPECT_EQ(Entry.Width, IsStep ? 90 : 48);
    EXPECT_EQ(Entry.Output, IsStep ? OutputKind::Logits : OutputKind::Hidden);
  }
  // Nine patches and the class token in one piece.
  EXPECT_EQ(defaultTokensPerStep(*M, *Model->Module), 10);
  Model->Module->walk(
      [&](MergeFeaturesOp Op) { EXPECT_EQ(Op.getToken(), 7u); });
}

TEST_F(LlavaTest, TextModelsOfOtherFamilies) {
  for (Json Text :
       {Json{{"model_type", "mistral"}, {"sliding_window", 4}},
        Json{{"model_type", "qwen2"}}, Json{{"model_type", "qwen3"}},
        Json{{"model_type", "gemma3_text"}, {"sliding_window", 4}},
        Json{{"model_type", "olmo2"}, {"rms_norm_eps", 1e-5}}}) {
    SCOPED_TRACE(Text.dump());
    auto Model = import(withText(with({{"hidden_act", "silu"}}, Text)));
    ASSERT_TRUE(Model) << Model.error().message();
    int64_t Merges = 0;
    Model->Module->walk([&](MergeFeaturesOp) { ++Merges; });
    EXPECT_EQ(Merges, 1);
  }
}

/// Where a family scales its embeddings it may mean those of the table alone.
TEST_F(LlavaTest, ImagesAreScaledWithTheRestOrNot) {
  auto ScalesFirst = [&](const Json &Text) {
    auto Model = import(withText(Text));
    EXPECT_TRUE(Model) << Model.error().message();
    bool IsFirst = false;
    if (Model)
      Model->Module->walk([&](MergeFeaturesOp Op) {
        IsFirst = isa_and_nonnull<ScaleOp>(Op.getInput().getDefiningOp());
      });
    return IsFirst;
  };
  EXPECT_TRUE(ScalesFirst({{"model_type", "gemma"}}));
  EXPECT_FALSE(
      ScalesFirst({{"model_type", "granite"}, {"embedding_multiplier", 12.0}}));
}

TEST_F(LlavaTest, Refusals) {
  expectRefusals(
      llava(),
      {{{{"image_token_index", 90}},
        "field 'image_token_index' is 90: expected one below the text model's "
        "vocabulary of 90"},
       {{{"image_token_index", -1}},
        "field 'image_token_index' is -1: expected a whole number from 0 to "
        "4194304"},
       {{{"image_token_id", 8}},
        "field 'image_token_id' is 8: expected 7, as 'image_token_index' has"},
       {{{"vision_feature_layer", -6}},
        "field 'vision_feature_layer' is -6: expected a whole number from -5 "
        "to 4"},
       {{{"vision_feature_layer", 5}},
        "field 'vision_feature_layer' is 5: expected a whole number from -5 to "
        "4"},
       {{{"vision_feature_layer", {-2, -5}}},
        "field 'vision_feature_layer' is an array: expected a whole number "
        "from -5 to 4"},
       {{{"vision_feature_select_strategy", "cls"}},
        "field 'vision_feature_select_strategy' is 'cls': expected default or "
        "full"},
       {{{"projector_hidden_act", "mish"}},
        std::string("field 'projector_hidden_act' is 'mish': ") +
            KnownActivations},
       {{{"text_config", 3}}, "field 'text_config' is 3: expected an object"},
       {{{"vision_config", 3}},
        "field 'vision_config' is 3: expected an object"},
       unread("llava", "spatial_merge_size", 2, "2")});
  refuses(without(llava(), "text_config"),
          "missing field 'text_config': expected an object");
  refuses(withTower({{"model_type", "siglip_vision_model"}}),
          "field 'vision_config.model_type' is 'siglip_vision_model': expected "
          "clip_vision_model");
  refuses(withTower({{"patch_size", 51}}),
          "field 'vision_config.patch_size' is 51: expected at most "
          "image_size");
  refuses(withTower({{"num_channels", 2}}),
          "field 'vision_config.num_channels' is 2: expected 1 or 3");
  refuses(withTower({{"hidden_size", 61}}),
          "field 'vision_config.hidden_size' is 61: expected a multiple of the "
          "3 attention heads");
  for (const char *Type : {"llava", "bert", "none"})
    refuses(with(llava(),
                 {{"text_config", with(text(), {{"model_type", Type},
                                                {"hidden_act", "gelu"}})}}),
            "field 'text_config.model_type' is '" + std::string(Type) +
                "': expected a family of decoders");
  const std::string Plain =
      "field 'text_config' is an object: expected a text model whose logits "
      "are one matrix's, without bias, scale or cap";
  refuses(withText({{"model_type", "granite"}, {"logits_scaling", 8.0}}),
          Plain);
  refuses(withText({{"model_type", "gemma2"},
                    {"sliding_window", 4},
                    {"final_logit_softcapping", 30.0}}),
          Plain);
  refuses(withText({{"model_type", "phi"}}), Plain);
}

} // namespace
