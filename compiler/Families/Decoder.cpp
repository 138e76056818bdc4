//===- Decoder.cpp - Models that continue text ----------------------------===//

#include "compiler/Families/Decoder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

void tenon::buildDecoder(ModelBuilder &Model, const DecoderModel &Decoder,
                         ElementType CacheElement) {
  const ModelSizes &Sizes = Decoder.Sizes;
  Model.setVocabulary(Sizes.Vocabulary);
  Model.setMaxSequence(Sizes.MaxSequence);
  const LayerOptions &Layer = Decoder.Stack.Layer.front();
  CacheType Cache =
      Layer.Latent ? Model.cache(1, Layer.Latent->Rank + Layer.Latent->RopeDim,
                                 CacheElement, CacheKind::Latent)
                   : Model.cache(Layer.Attention.KvHeads,
                                 Layer.Attention.HeadDim, CacheElement);
  StackFunctions Functions(Model, Decoder.Stack, Cache);
  func::FuncOp Head =
      headFunction(Model, Decoder.Stack, Decoder.Head, Sizes.Vocabulary);

  FunctionBuilder Step = FunctionBuilder::entry(Model, "step", "logits");
  Value Batch = Step.batchArgument();
  Value Handle = Step.argument(Cache);
  Value Rows = Functions.call(Step, Batch, Handle, /*CrossCache=*/{});
  Step.finish(
      {callHead(Step, Head, Decoder.Stack, Batch, Rows), Functions.Cache});
}

void tenon::setStack(ConfigReader &Config, DecoderModel &Model,
                     ConfigReader::Keys Scopes, const std::string &Layers,
                     const std::string &Tokens) {
  StackOptions &Stack = Model.Stack;
  Stack.Scope = Config.scopeOf(Tokens, Scopes);
  Stack.Layers = Layers;
  Stack.Width = Model.Sizes.Width;
  Stack.MaxSequence = Model.Sizes.MaxSequence;
  Stack.Embedding.Tokens = Tokens;
  // Older checkpoints store the rotation frequencies, which are computed.
  Model.UnusedTensors.push_back(
      Stack.nameOf(Layers + ".*.rotary_emb.inv_freq"));
}

std::optional<EncoderModel> tenon::withoutHead(const DecoderModel &Decoder) {
  const LayerOptions &Layer = Decoder.Stack.Layer.front();
  AlibiAttr Alibi = Layer.Attention.Alibi;
  if (Layer.Latent || (Alibi && Alibi.getRounded()) ||
      !Decoder.Head.Project.Key.empty())
    return std::nullopt;
  EncoderModel Body;
  Body.Sizes = Decoder.Sizes;
  Body.Stack = Decoder.Stack;
  Body.UnusedTensors = Decoder.UnusedTensors;
  Body.UnusedTensors.push_back(Decoder.Head.Weight);
  if (!Decoder.Head.Bias.empty())
    Body.UnusedTensors.push_back(Decoder.Head.Bias);
  return Body;
}

std::optional<int64_t> tenon::readWindow(ConfigReader &Config,
                                         std::optional<int64_t> Default) {
  if (Config.Settings.isNull("sliding_window"))
    return std::nullopt;
  // Transformers writes 0 where windows are off.
  auto Window = Config.optionalSize({"sliding_window"}, MaxContext, 0);
  if (!Window)
    return Default;
  return *Window == 0 ? std::nullopt : Window;
}

void tenon::setWindows(ConfigReader &Config, DecoderModel &Model,
                       std::optional<int64_t> Window,
                       llvm::function_ref<bool(int64_t)> IsSliding) {
  auto Types = Config.layerTypes(Model.Sizes.Layers,
                                 {"full_attention", "sliding_attention"});
  if (Config.error())
    return;
  for (auto [I, Layer] : llvm::enumerate(Model.Stack.Layer)) {
    if (Types.empty() ? !IsSliding(static_cast<int64_t>(I))
                      : Types[I] == "full_attention")
      continue;
    if (Types.empty())
      Config.expect(Window.has_value(), "sliding_window",
                    "a number of tokens, as there are layers with a window");
    else
      Config.expect(Window.has_value(), "layer_types",
                    "full_attention without a sliding window");
    Layer.Attention.Window = Window;
  }
}

/// What ends the names of architectures whose answers are no tokens.
static constexpr std::string_view OtherHeads[] = {
    "SequenceClassification", "TokenClassification", "QuestionAnswering",
    "RewardModel"};

/// Refuses checkpoints that have another head than one of language, or none
/// where it is needed.
static void expectLanguageHead(ConfigReader &Config, bool IsTied,
                               const std::string &Own) {
  // Of a model inside another it says nothing.
  if (!Config.Settings.path().empty())
    return;
  std::string Architecture = Config.architecture();
  bool HasOther = llvm::any_of(OtherHeads, [&](std::string_view Name) {
    return Architecture.ends_with(Name);
  });
  bool IsHeadless = Config.Input.Weights && !IsTied && !Config.hasTensor(Own);
  if (HasOther || (IsHeadless && isBody(Architecture)))
    Config.refuseArchitecture(
        "one with a language head, such as ...ForCausalLM");
}

void tenon::setHead(ConfigReader &Config, DecoderModel &Model, bool IsTied,
                    const std::string &Own) {
  if (Config.Input.OnlyEmbeds) {
    Model.Head.Weight = Own;
    return;
  }
  expectLanguageHead(Config, IsTied, Own);
  std::string Table = Model.Stack.nameOf(Model.Stack.Embedding.Tokens);
  if (Config.sharesTable(IsTied, Own, Table)) {
    Model.Head.Weight = Table;
    Model.UnusedTensors.push_back(Own);
  } else {
    Model.Head.Weight = Own;
  }
}

DecoderModel tenon::readLlamaBody(ConfigReader &Config,
                                  const LlamaTraits &Traits) {
  DecoderModel Model;
  Model.Sizes = Config.sizes();
  const ModelSizes &Sizes = Model.Sizes;
  NormOptions Norm = Traits.Norm;
  Norm.Eps = Config.epsOr(Traits.EpsKey, Traits.Norm.Eps);

  LayerOptions Layer;
  Layer.AttentionNorm = Norm.of("input_layernorm");
  Layer.FeedForwardNorm = Norm.of("post_attention_layernorm");
  FeedForwardOptions &FeedForward = Layer.FeedForward;
  FeedForward.Act = Config.activation(Traits.ActKey, Traits.DefaultAct);
  FeedForward.Inner = Sizes.FeedForward;
  FeedForward.Gate = {"mlp.gate_proj", Traits.FeedForwardBias};
  FeedForward.Up = {"mlp.up_proj", Traits.FeedForwardBias};
  FeedForward.Down = {"mlp.down_proj", Traits.FeedForwardBias};

  setStack(Config, Model, {"model", ""}, "layers", "embed_tokens.weight");
  Model.Stack.Layer = repeat(Layer, Config.error() ? 1 : Sizes.Layers);
  Model.Stack.FinalNorm = Norm.of("norm");
  setHead(Config, Model,
          Config.flagOr("tie_word_embeddings", Traits.DefaultTied));
  return Model;
}

DecoderModel tenon::readLlama(ConfigReader &Config, const LlamaTraits &Traits) {
  DecoderModel Model = readLlamaBody(Config, Traits);
  const ModelSizes &Sizes = Model.Sizes;
  AttentionOptions Attention;
  Attention.Heads = Sizes.Heads;
  // A null says the same as in configs before there were such heads.
  bool IsDefault =
      Traits.DefaultKvHeads && !Config.Settings.isNull("num_key_value_heads");
  Attention.KvHeads = Config.kvHeads(
      Sizes.Heads, IsDefault ? *Traits.DefaultKvHeads : Sizes.Heads);
  bool IsDefaultDim = Traits.DefaultHeadDim &&
                      !Config.Settings.has("head_dim") &&
                      !Config.Settings.isNull("head_dim");
  Attention.HeadDim = IsDefaultDim ? *Traits.DefaultHeadDim
                                   : Config.headDim(Sizes.Width, Sizes.Heads);
  if (Traits.Rope)
    Attention.Rope = Config.rope(Attention.HeadDim, *Traits.Rope);
  Attention.Query = {"self_attn.q_proj", Traits.QkvBias};
  Attention.Key = {"self_attn.k_proj", Traits.QkvBias};
  Attention.Value = {"self_attn.v_proj", Traits.QkvBias};
  Attention.Output = {"self_attn.o_proj", Traits.OutputBias};
  if (Traits.HeadNorms) {
    HeadNormOptions HeadNorm;
    HeadNorm.Eps = Model.Stack.FinalNorm.Eps;
    HeadNorm.Offset = Traits.Norm.Offset;
    HeadNorm.Weight = "self_attn.q_norm.weight";
    Attention.QueryNorm = HeadNorm;
    HeadNorm.Weight = "self_attn.k_norm.weight";
    Attention.KeyNorm = HeadNorm;
  }
  for (LayerOptions &Layer : Model.Stack.Layer)
    Layer.Attention = Attention;
  return Model;
}
