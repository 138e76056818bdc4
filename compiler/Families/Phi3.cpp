//===- Phi3.cpp - LLaMA with fused projections and long contexts ----------===//

#include "compiler/Families/Family.h"
#include "compiler/Families/GgufReader.h"

using namespace tenon;
using namespace tenon::transformer;

/// Rows `First` to `Last` of a fused matrix.
static std::string rowsView(int64_t First, int64_t Last) {
  return "[" + std::to_string(First) + ":" + std::to_string(Last) + "]";
}

/// Refuses scalings that Transformers refuses for this family.
static void checkScaling(ConfigReader &Config, RopeAttr Rope) {
  auto Parameters = Config.optionalObject(Config.Settings.has("rope_parameters")
                                              ? "rope_parameters"
                                              : "rope_scaling");
  if (!Parameters || !Rope || Rope.getScaling() == RopeScaling::Default ||
      Rope.getScaling() == RopeScaling::LongRope)
    return;
  Config.fail(
      Parameters->expected(Parameters->has("rope_type") ? "rope_type" : "type",
                           "default or longrope"));
}

static ModelDescription readPhi3Config(ConfigReader &Config) {
  RopeTraits Rope;
  Rope.ReadsPartial = true;
  Rope.Original = 4096;
  DecoderModel Model = readLlama(
      Config, {.Norm = {.Eps = 1e-5}, .Rope = Rope, .DefaultAct = "silu"});
  // Settings of the authors' own code, which files have at these values.
  for (std::string_view Key : {"attention_bias", "mlp_bias", "lm_head_bias"})
    Config.fixed(Key, false);
  for (std::string_view Key : {"full_attn_mod", "interpolate_factor"})
    Config.sizeOr({Key}, 1, 1);
  checkScaling(Config, Model.Stack.Layer.front().Attention.Rope);
  std::optional<int64_t> Window = readWindow(Config, std::nullopt);
  for (LayerOptions &Layer : Model.Stack.Layer) {
    AttentionOptions &Attention = Layer.Attention;
    Attention.Window = Window;
    int64_t Keys = Attention.Heads * Attention.HeadDim;
    int64_t Values = Keys + Attention.KvHeads * Attention.HeadDim;
    int64_t End = Values + Attention.KvHeads * Attention.HeadDim;
    const char *Fused = "self_attn.qkv_proj";
    Attention.Query = {Fused, false, rowsView(0, Keys)};
    Attention.Key = {Fused, false, rowsView(Keys, Values)};
    Attention.Value = {Fused, false, rowsView(Values, End)};
    int64_t Inner = Layer.FeedForward.Inner;
    Layer.FeedForward.Gate = {"mlp.gate_up_proj", false, rowsView(0, Inner)};
    Layer.FeedForward.Up = {"mlp.gate_up_proj", false,
                            rowsView(Inner, 2 * Inner)};
  }
  return Model;
}

static constexpr GgufName Phi3GgufLayer[] = {{"attn_qkv", "self_attn.qkv_proj"},
                                             {"ffn_up", "mlp.gate_up_proj"},
                                             {"ffn_down", "mlp.down_proj"}};

static void readPhi3Gguf(GgufTranslation &T) {
  GgufSettings &S = T.Settings;
  gguf::readSizes(T);
  gguf::readRmsEps(T);
  gguf::readRope(T, "partial_rotary_factor");
  S.Config["hidden_act"] = "silu";
  // 0 stands for none.
  if (int64_t Window =
          S.optionalSize("attention.sliding_window", 0).value_or(0))
    S.Config["sliding_window"] = Window;
  else
    S.Config["sliding_window"] = nullptr;
  gguf::setLlamaNames(T, {Phi3GgufLayer, gguf::PreNorms, gguf::Attention});
}

const Family tenon::Phi3Family = {
    "phi3", readPhi3Config, {"phi3", readPhi3Gguf}};
