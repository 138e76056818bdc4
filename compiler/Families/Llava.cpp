//===- Llava.cpp - A decoder that reads images by way of CLIP -------------===//
//
// A text model of any family of decoders, whose own reader reads it; CLIP's
// vision tower up to one of its layers; two linear layers between them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Families/Family.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::transformer;

/// What Transformers' configs have where a text_config, which is written
/// without what is so, does not say.
static const Json &textDefaultsOf(std::string_view ModelType) {
  static const Json Llama = {
      {"vocab_size", 32000},        {"hidden_size", 4096},
      {"intermediate_size", 11008}, {"num_hidden_layers", 32},
      {"num_attention_heads", 32},  {"max_position_embeddings", 2048},
      {"hidden_act", "silu"},       {"rms_norm_eps", 1e-6}};
  static const Json Mistral = {
      {"vocab_size", 32000},        {"hidden_size", 4096},
      {"intermediate_size", 14336}, {"num_hidden_layers", 32},
      {"num_attention_heads", 32},  {"num_key_value_heads", 8},
      {"hidden_act", "silu"},       {"max_position_embeddings", 131072},
      {"rms_norm_eps", 1e-6},       {"sliding_window", 4096}};
  static const Json Qwen2 = {
      {"vocab_size", 151936},       {"hidden_size", 4096},
      {"intermediate_size", 22016}, {"num_hidden_layers", 32},
      {"num_attention_heads", 32},  {"num_key_value_heads", 32},
      {"hidden_act", "silu"},       {"max_position_embeddings", 32768},
      {"rms_norm_eps", 1e-6}};
  static const Json None = Json::object();
  return ModelType == "llama"     ? Llama
         : ModelType == "mistral" ? Mistral
         : ModelType == "qwen2"   ? Qwen2
                                  : None;
}

/// The same of a vision_config.
static const Json &visionDefaults() {
  static const Json Defaults = {
      {"hidden_size", 768},      {"intermediate_size", 3072},
      {"num_hidden_layers", 12}, {"num_attention_heads", 12},
      {"image_size", 224},       {"patch_size", 32}};
  return Defaults;
}

/// The vision_config of a config without one.
static const Json &absentVision() {
  static const Json Tower = {
      {"hidden_size", 1024},     {"intermediate_size", 4096},
      {"num_hidden_layers", 24}, {"num_attention_heads", 16},
      {"image_size", 336},       {"patch_size", 14}};
  return Tower;
}

/// What the checkpoint calls a tensor of the text model. It is a whole model
/// under one prefix, or, in newer files, its body is, and the head is outside.
static std::string textName(const std::string &Name, bool IsNewer) {
  if (!IsNewer)
    return "language_model." + Name;
  for (std::string_view Head : {"lm_head.", "embed_out."})
    if (Name.starts_with(Head))
      return "lm_head." + Name.substr(Head.size());
  for (std::string_view Body : {"model.", "transformer.", "gpt_neox."})
    if (Name.starts_with(Body))
      return "model.language_model." + Name.substr(Body.size());
  return Name;
}

/// Gives the tensors of `Model` the names that the checkpoint has for them.
static void rename(DecoderModel &Model, const FamilyInput &Input) {
  auto Scope = [&](std::string &Name) {
    Name = Input.storedName(Name.empty() ? "" : Name + ".");
    if (Name.ends_with('.'))
      Name.pop_back();
  };
  Scope(Model.Stack.Scope);
  if (Model.Stack.Embedding.TokensScope)
    Scope(*Model.Stack.Embedding.TokensScope);
  for (std::string *Name : {&Model.Head.Weight, &Model.Head.Bias})
    if (!Name->empty())
      *Name = Input.storedName(*Name);
  for (std::string &Pattern : Model.UnusedTensors)
    Pattern = Input.storedName(Pattern);
}

static DecoderModel readText(ConfigReader &Config, bool IsNewer) {
  DecoderModel Model;
  auto Text = Config.Settings.object("text_config");
  if (!Text) {
    Config.fail(Text.error());
    return Model;
  }
  // Defaults come before anything is read.
  Text->setDefaults(textDefaultsOf(Text->peek("model_type", "llama")));
  auto Name = Text->stringOr("model_type", "llama");
  if (!Name) {
    Config.fail(Name.error());
    return Model;
  }
  const Family *Kind = nullptr;
  for (const Family *F : families())
    if (F->ModelType == *Name && F != &LlavaFamily)
      Kind = F;
  if (!Kind) {
    Config.fail(Text->expected("model_type", "a family of decoders"));
    return Model;
  }
  FamilyInput Input{
      Config.Input.Context,
      *Text,
      Config.Input.Weights,
      Config.Input.MaxSequence,
      Config.Input.Notes,
      [IsNewer](const std::string &Of) { return textName(Of, IsNewer); }};
  ConfigReader Reader(Input);
  ModelDescription Read = Kind->Read(Reader);
  if (Reader.error()) {
    Config.fail(*Reader.error());
    return Model;
  }
  auto *Decoder = std::get_if<DecoderModel>(&Read);
  if (!Decoder) {
    Config.fail(Text->expected("model_type", "a family of decoders"));
    return Model;
  }
  Model = std::move(*Decoder);
  Text->discardInert();
  // Who wants tied weights may say so here alone.
  std::string Own = Model.Head.Weight;
  if (Config.flagOr("tie_word_embeddings", false) &&
      Own != Model.Stack.nameOf(Model.Stack.Embedding.Tokens))
    setHead(Reader, Model, true, Own);
  const EmbeddingOptions &Embedding = Model.Stack.Embedding;
  Config.expect(Embedding.Width.value_or(Model.Stack.Width) ==
                    Model.Stack.Width,
                "text_config", "embeddings as wide as the layers");
  // The head is a matrix of LLaVA's own, with nothing around it.
  Config.expect(Model.Head.Scale == 1 && !Model.Head.SoftCap &&
                    Model.Head.Bias.empty() && Model.Head.Project.Key.empty(),
                "text_config",
                "a text model whose logits are one matrix's, without bias, "
                "scale or cap");
  rename(Model, Input);
  return Model;
}

/// Which layer's output is taken, as an index of Transformers' hidden_states,
/// the first of which are the embeddings: so many layers are built.
static int64_t readFeatureLayer(ConfigReader &Config, int64_t Layers) {
  int64_t Index =
      Config.sizeOr({"vision_feature_layer"}, -2, Layers, -(Layers + 1));
  return Index < 0 ? Layers + 1 + Index : Index;
}

static LayerOptions visionLayer(ConfigReader &Config, const ModelSizes &Sizes,
                                const NormOptions &Norm) {
  LayerOptions Layer;
  Layer.AttentionNorm = Norm.of("layer_norm1");
  Layer.FeedForwardNorm = Norm.of("layer_norm2");
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  Attention.HeadDim = Config.headDim(Sizes.Width, Sizes.Heads);
  Attention.Mask = MaskKind::Bidirectional;
  Attention.Query = {"self_attn.q_proj", true};
  Attention.Key = {"self_attn.k_proj", true};
  Attention.Value = {"self_attn.v_proj", true};
  Attention.Output = {"self_attn.out_proj", true};
  Layer.FeedForward = {Config.activation("hidden_act", "quick_gelu"),
                       Sizes.FeedForward,
                       {},
                       {"mlp.fc1", true},
                       {"mlp.fc2", true}};
  return Layer;
}

/// CLIP's vision tower without its last norm, and without the layers behind
/// the one whose output is taken.
static VisionModel readTower(ConfigReader &Config, ConfigReader &Outer) {
  VisionModel Model;
  Config.expect(Config.wordOr("model_type", "clip_vision_model") ==
                    "clip_vision_model",
                "model_type", "clip_vision_model");
  readVisionSizes(Config, Model);
  ModelSizes &Sizes = Model.Sizes;
  Model.Height = Model.Width = Config.size({"image_size"}, MaxInputSide);
  Model.PatchHeight = Model.PatchWidth =
      Config.size({"patch_size"}, MaxInputSide);
  Config.expect(Model.PatchHeight <= Model.Height, "patch_size",
                "at most image_size");
  int64_t Side = std::max<int64_t>(Model.Height / Model.PatchHeight, 1);
  Sizes.MaxSequence = 1 + Side * Side;
  NormOptions Norm{NormKind::Layer, Config.epsOr("layer_norm_eps", 1e-5)};
  // Of the text tower and of what compares both.
  Config.ignore(
      {"projection_dim", "vocab_size", "initializer_factor", "dropout"});

  StackOptions &Stack = Model.Stack;
  Stack.Scope = Outer.scopeOf("embeddings.class_embedding",
                              {"vision_tower.vision_model",
                               "model.vision_tower.vision_model",
                               "vision_tower", "model.vision_tower"});
  Stack.Layers = "encoder.layers";
  Stack.Width = Sizes.Width;
  Stack.MaxSequence = Sizes.MaxSequence;
  Stack.Embedding.Patches =
      PatchOptions{Model.Channels * Model.PatchHeight * Model.PatchWidth,
                   {"embeddings.patch_embedding", false, "^flat"},
                   "embeddings.class_embedding"};
  Stack.Embedding.Positions = {"embeddings.position_embedding.weight",
                               Sizes.MaxSequence};
  // Spelled so.
  Stack.Embedding.Norm = Norm.of("pre_layrnorm");
  int64_t Built = readFeatureLayer(Outer, Sizes.Layers);
  LayerOptions Layer = visionLayer(Config, Sizes, Norm);
  if (Config.error() || Outer.error())
    return Model;
  Stack.Layer = repeat(Layer, Built);
  for (int64_t I = Built; I < Sizes.Layers; ++I)
    Model.UnusedTensors.push_back(Stack.layerScope(I) + ".*");
  for (const char *Key : {"post_layernorm.*", "embeddings.position_ids"})
    Model.UnusedTensors.push_back(Stack.nameOf(Key));
  return Model;
}

static VisionModel readVision(ConfigReader &Config) {
  auto Given = Config.optionalObject("vision_config");
  auto Absent = Config::parse("{}", Config.Settings.file());
  // Neither fails: one is there, or the other is a constant.
  tenon::Config Settings = Given ? *Given : *Absent;
  if (!Given)
    Settings.setDefaults(absentVision());
  Settings.setDefaults(visionDefaults());
  FamilyInput Input{Config.Input.Context, Settings, Config.Input.Weights,
                    Config.Input.MaxSequence, Config.Input.Notes};
  ConfigReader Reader(Input);
  VisionModel Model = readTower(Reader, Config);
  if (Reader.error())
    Config.fail(*Reader.error());
  Settings.discardInert();
  return Model;
}

static ModelDescription readLlavaConfig(ConfigReader &Config) {
  VisionLanguageModel Model;
  std::string Projector =
      Config.scopeOf("linear_1.weight",
                     {"multi_modal_projector", "model.multi_modal_projector"});
  Model.Text = readText(Config, Projector.starts_with("model."));
  Model.Vision = readVision(Config);
  int64_t Token = Config.sizeOr({"image_token_index", "image_token_id"}, 32000,
                                MaxVocabulary, 0);
  Activation Act = Config.activation("projector_hidden_act", "gelu");
  bool HasBias = Config.flagOr("multimodal_projector_bias", true);
  std::string Strategy =
      Config.wordOr("vision_feature_select_strategy", "default");
  Config.expect(Strategy == "default" || Strategy == "full",
                "vision_feature_select_strategy", "default or full");
  // How many tokens an image has follows from its size; the others are of the
  // loss, and the text model's.
  Config.ignore({"image_seq_length", "ignore_index", "vocab_size"});
  if (Config.error())
    return Model;
  int64_t Vocabulary = Model.Text.Sizes.Vocabulary;
  Config.expect(Token < Vocabulary,
                Config.Settings.has("image_token_index") ? "image_token_index"
                                                         : "image_token_id",
                "one below the text model's vocabulary of " +
                    std::to_string(Vocabulary));
  Model.Text.Stack.Embedding.ImageToken = Token;
  // "default" leaves the class token out.
  Model.ImageRows = Model.Vision.Sizes.MaxSequence - (Strategy == "default");

  AnswerOptions &Answer = Model.Vision.Answer;
  Answer.IsProjection = true;
  auto Linear = [&](const char *Name) {
    std::string Key = parameterName(Projector, Name);
    Answer.linear(Key + ".weight", HasBias ? Key + ".bias" : "",
                  Model.Text.Stack.Width);
  };
  Linear("linear_1");
  Answer.activation(Act);
  Linear("linear_2");
  for (auto *Unused : {&Model.Text.UnusedTensors, &Model.Vision.UnusedTensors})
    Model.UnusedTensors.insert(Model.UnusedTensors.end(), Unused->begin(),
                               Unused->end());
  return Model;
}

const Family tenon::LlavaFamily = {"llava", readLlavaConfig};
