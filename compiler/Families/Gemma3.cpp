//===- Gemma3.cpp - Gemma 2 with head norms and two rotations -------------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/Gemma.h"

using namespace tenon;
using namespace tenon::transformer;

/// The rotations of layers that see everything, and of those with a window.
static std::pair<RopeAttr, RopeAttr> readRopes(ConfigReader &Config,
                                               int64_t HeadDim) {
  RopeTraits Full, Sliding;
  Full.Base = 1e6;
  Sliding.BaseKey = "rope_local_base_freq";
  auto Both = Config.optionalObject("rope_parameters");
  if (!Both) {
    // Scalings are those of layers that see everything.
    RopeAttr OfAll = Config.rope(HeadDim, Full);
    Sliding.Base = Config.numberOr(Sliding.BaseKey, Sliding.Base, 1e-6, 1e12);
    auto None = Config::parse("{}", Config.Settings.file());
    return {OfAll, Config.ropeOf(*None, HeadDim, Sliding)};
  }
  auto Of = [&](std::string_view Kind, const RopeTraits &Traits) {
    auto One = Both->object(Kind);
    if (One)
      return Config.ropeOf(*One, HeadDim, Traits);
    Config.fail(One.error());
    return RopeAttr();
  };
  return {Of("full_attention", Full), Of("sliding_attention", Sliding)};
}

static ModelDescription readGemma3Config(ConfigReader &Config) {
  LlamaTraits Traits = gemmaTraits(Config);
  Traits.DefaultKvHeads = 4;
  Traits.HeadNorms = true;
  Traits.Rope = std::nullopt;
  DecoderModel Model = readGemma(Config, Traits);
  setGemma2(Config, Model, std::nullopt, std::nullopt);
  // Transformers has the key, but does not cap scores.
  Config.expect(!Config.Settings.has("attn_logit_softcapping"),
                "attn_logit_softcapping", "null");
  int64_t Pattern = Config.sizeOr(
      {"sliding_window_pattern", "_sliding_window_pattern"}, 6, MaxLayers);
  setWindows(Config, Model, readWindow(Config, 4096),
             [&](int64_t I) { return (I + 1) % Pattern != 0; });
  auto [Full, Sliding] =
      readRopes(Config, Model.Stack.Layer.front().Attention.HeadDim);
  for (LayerOptions &Layer : Model.Stack.Layer)
    Layer.Attention.Rope = Layer.Attention.Window ? Sliding : Full;
  return Model;
}

static void readGemma3Gguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  readNewerGemmaGguf(T, 62);
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

/// What Transformers' Gemma3TextConfig has where a text_config does not say.
static const Json &gemma3TextDefaults() {
  static const Json Defaults = {
      {"vocab_size", 262208},      {"hidden_size", 2304},
      {"intermediate_size", 9216}, {"num_hidden_layers", 26},
      {"num_attention_heads", 8},  {"max_position_embeddings", 131072}};
  return Defaults;
}

/// The text model of one that sees images too.
static ModelDescription readMultimodal(ConfigReader &Config) {
  auto Text = Config.Settings.object("text_config");
  if (!Text) {
    Config.fail(Text.error());
    return DecoderModel();
  }
  Text->setDefaults(gemma3TextDefaults());
  FamilyInput Input{Config.Input.Context, *Text, Config.Input.Weights,
                    Config.Input.MaxSequence, Config.Input.Notes};
  ConfigReader Reader(Input);
  Reader.expect(Reader.wordOr("model_type", "gemma3_text") == "gemma3_text",
                "model_type", "gemma3_text");
  auto Model = std::get<DecoderModel>(readGemma3Config(Reader));
  if (Reader.error()) {
    Config.fail(*Reader.error());
    return Model;
  }
  Text->discardInert();
  Config.ignore({"vision_config", "boi_token_index", "eoi_token_index",
                 "image_token_id", "image_token_index", "mm_tokens_per_image"});
  if (Config.Input.Notes)
    Config.Input.Notes->push_back(
        Config.Settings.file() +
        ": only the text model is read; images are left out");
  // Newer files turn the first two words around.
  std::string Scope =
      Config.scopeOf("embed_tokens.weight",
                     {"language_model.model", "model.language_model", "model"});
  Model.Stack.Scope = Scope;
  Model.UnusedTensors = {"vision_tower.*", "multi_modal_projector.*",
                         "model.vision_tower.*",
                         "model.multi_modal_projector.*"};
  setHead(Config, Model, Config.flagOr("tie_word_embeddings", true),
          Scope == "language_model.model" ? "language_model.lm_head.weight"
                                          : "lm_head.weight");
  return Model;
}

const Family tenon::Gemma3MultimodalFamily = {"gemma3", readMultimodal};
const Family tenon::Gemma3Family = {
    "gemma3_text", readGemma3Config, {"gemma3", readGemma3Gguf}};
