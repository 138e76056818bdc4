//===- Decoder.cpp - Decoders of the LLaMA kind ---------------------------===//

#include "compiler/Families/Decoder.h"

#include "compiler/Checkpoint/TensorView.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

constexpr char Embedding[] = "model.embed_tokens.weight";
constexpr char Head[] = "lm_head.weight";

std::string layerScope(int64_t Layer) {
  return "model.layers." + std::to_string(Layer);
}

Result<bool> readSwitch(const Config &Settings, const Switch &S) {
  if (S.Key.empty())
    return S.Default;
  return Settings.booleanOr(S.Key, S.Default);
}

Result<AttentionOptions> readAttention(const FamilyInput &Input,
                                       const ModelSizes &Sizes,
                                       const DecoderTraits &Traits,
                                       double Eps) {
  const Config &Settings = Input.Settings;
  AttentionOptions Result;
  Result.Heads = Sizes.Heads;
  auto KvHeads = Settings.integerOr("num_key_value_heads",
                                    Traits.DefaultKvHeads.value_or(Sizes.Heads),
                                    1, Sizes.Heads);
  if (!KvHeads)
    return KvHeads.error();
  if (Sizes.Heads % *KvHeads != 0)
    return Settings.expected("num_key_value_heads",
                             "a divisor of num_attention_heads " +
                                 std::to_string(Sizes.Heads));
  Result.KvHeads = *KvHeads;
  auto HeadDim = Settings.optionalInteger("head_dim", 1, MaxWidth);
  if (!HeadDim)
    return HeadDim.error();
  if (!*HeadDim)
    *HeadDim = Traits.DefaultHeadDim;
  if (!*HeadDim) {
    if (Sizes.Width % Sizes.Heads != 0)
      return Settings.expected("hidden_size",
                               "a multiple of num_attention_heads " +
                                   std::to_string(Sizes.Heads));
    *HeadDim = Sizes.Width / Sizes.Heads;
  }
  Result.HeadDim = **HeadDim;
  if (Result.HeadDim % 2 != 0)
    return Settings.expected(
        Settings.has("head_dim") ? "head_dim" : "hidden_size",
        "an even number of elements per head, for they are rotated in pairs");
  if (Result.Heads * Result.HeadDim > MaxWidth)
    return Settings.expected("num_attention_heads",
                             "at most " + std::to_string(MaxWidth) +
                                 " elements in all heads of " +
                                 std::to_string(Result.HeadDim));
  auto Rope = readRope(Input, Result.HeadDim);
  auto QkvBias = readSwitch(Settings, Traits.QkvBias);
  auto OutputBias = readSwitch(Settings, Traits.OutputBias);
  if (!Rope)
    return Rope.error();
  if (!QkvBias || !OutputBias)
    return QkvBias ? OutputBias.error() : QkvBias.error();
  Result.Rope = *Rope;
  Result.Query = {"self_attn.q_proj", *QkvBias};
  Result.Key = {"self_attn.k_proj", *QkvBias};
  Result.Value = {"self_attn.v_proj", *QkvBias};
  Result.Output = {"self_attn.o_proj", *OutputBias};
  if (Traits.HeadNorms) {
    Result.HeadNormEps = Eps;
    Result.QueryNorm = "self_attn.q_norm";
    Result.KeyNorm = "self_attn.k_norm";
  }
  return Result;
}

/// sliding_window: null is none, and an absent key the default of Transformers.
Result<std::optional<int64_t>> readWindow(const Config &Settings) {
  if (Settings.isNull("sliding_window"))
    return std::optional<int64_t>();
  auto Window = Settings.integerOr("sliding_window", 4096, 1, MaxContext);
  if (!Window)
    return Window.error();
  return std::optional<int64_t>(*Window);
}

/// The windows that layers have by their number or by layer_types.
Result<std::vector<std::optional<int64_t>>>
readLayerWindows(const Config &Settings, int64_t Layers) {
  auto IsUsed = Settings.booleanOr("use_sliding_window", false);
  auto Window = readWindow(Settings);
  auto FirstWindow = Settings.integerOr("max_window_layers", 28, 0, MaxLayers);
  auto Types = Settings.optionalStrings("layer_types");
  if (!IsUsed)
    return IsUsed.error();
  if (!Window)
    return Window.error();
  if (!FirstWindow)
    return FirstWindow.error();
  if (!Types)
    return Types.error();
  if (!*IsUsed)
    *Window = std::nullopt;
  std::vector<std::optional<int64_t>> Result(Layers);
  if (!Settings.has("layer_types")) {
    for (int64_t I = *FirstWindow; I < Layers; ++I)
      Result[I] = *Window;
    return Result;
  }
  if (static_cast<int64_t>(Types->size()) != Layers)
    return Settings.expected("layer_types",
                             std::to_string(Layers) + " entries, one a layer");
  for (int64_t I = 0; I < Layers; ++I) {
    const std::string &Type = (*Types)[I];
    if (Type == "full_attention")
      continue;
    bool IsKnown = Type == "sliding_attention";
    if (!IsKnown || !*Window)
      return Error(
          Settings.file() + ": field 'layer_types[" + std::to_string(I) +
          "]' is " + printable(Type) + ": expected full_attention" +
          (IsKnown ? " without a sliding window" : " or sliding_attention"));
    Result[I] = *Window;
  }
  return Result;
}

/// A tied head's own copy must equal the embedding, which is what is used.
Status checkTiedHead(const Checkpoint &Weights) {
  const TensorInfo *Copy = Weights.find(Head);
  const TensorInfo *Table = Weights.find(Embedding);
  if (!Copy || !Table)
    return {};
  for (const TensorInfo *Tensor : {Copy, Table})
    if (Status S = Tensor->File->checkNotShrunk(); !S)
      return S;
  auto CopyView = TensorView::resolve(Weights, Head, Copy->Shape);
  auto TableView = TensorView::resolve(Weights, Embedding, Table->Shape);
  if (!CopyView || !TableView)
    return CopyView ? TableView.error() : CopyView.error();
  if (sameContent(*CopyView, *TableView))
    return {};
  return Error(Copy->File->path() + ": tensor '" + Head +
               "': expected the same content as '" + Embedding +
               "', for the config ties them");
}

} // namespace

Result<DecoderModel> tenon::readDecoder(const FamilyInput &Input,
                                        const DecoderTraits &Traits) {
  const Config &Settings = Input.Settings;
  auto Sizes = readSizes(Settings);
  if (!Sizes)
    return Sizes.error();
  auto Eps = Settings.numberOr("rms_norm_eps", 1e-6, 0.0, 0.5);
  if (!Eps)
    return Eps.error();
  auto Attention = readAttention(Input, *Sizes, Traits, *Eps);
  if (!Attention)
    return Attention.error();
  auto Act = readActivation(Settings, "hidden_act");
  auto FeedForwardBias = readSwitch(Settings, Traits.FeedForwardBias);
  auto Tied = Settings.booleanOr("tie_word_embeddings", false);
  if (!Act)
    return Act.error();
  if (!FeedForwardBias || !Tied)
    return FeedForwardBias ? Tied.error() : FeedForwardBias.error();

  DecoderModel Result;
  Result.Sizes = *Sizes;
  Result.TiedHead = *Tied;
  Result.FinalNorm = {NormKind::Rms, *Eps, "norm"};
  Result.Layer.AttentionNorm = {NormKind::Rms, *Eps, "input_layernorm"};
  Result.Layer.FeedForwardNorm = {NormKind::Rms, *Eps,
                                  "post_attention_layernorm"};
  Result.Layer.Attention = *Attention;
  Result.Layer.FeedForward.Act = *Act;
  Result.Layer.FeedForward.Inner = Sizes->FeedForward;
  Result.Layer.FeedForward.Gate = {"mlp.gate_proj", *FeedForwardBias};
  Result.Layer.FeedForward.Up = {"mlp.up_proj", *FeedForwardBias};
  Result.Layer.FeedForward.Down = {"mlp.down_proj", *FeedForwardBias};

  Result.Windows.resize(Sizes->Layers);
  if (Traits.Windows == WindowRule::EveryLayer) {
    auto Window = readWindow(Settings);
    if (!Window)
      return Window.error();
    Result.Windows.assign(Sizes->Layers, *Window);
  } else if (Traits.Windows == WindowRule::PerLayer) {
    auto Windows = readLayerWindows(Settings, Sizes->Layers);
    if (!Windows)
      return Windows.error();
    Result.Windows = *Windows;
  }

  // Older checkpoints store the rotation frequencies, which are computed.
  for (int64_t I = 0; I < Sizes->Layers; ++I)
    Result.UnusedTensors.push_back(layerScope(I) +
                                   ".self_attn.rotary_emb.inv_freq");
  if (Result.TiedHead && Input.Weights) {
    if (Status S = checkTiedHead(*Input.Weights); !S)
      return S.error();
    Result.UnusedTensors.push_back(Head);
  }
  return Result;
}

void tenon::buildDecoder(ModelBuilder &Model, const DecoderModel &Decoder,
                         ElementType CacheElement) {
  const ModelSizes &Sizes = Decoder.Sizes;
  const AttentionOptions &Attention = Decoder.Layer.Attention;
  CacheType Cache =
      Model.cache(Attention.KvHeads, Attention.HeadDim, CacheElement);
  Model.setVocabulary(Sizes.Vocabulary);
  Model.setMaxSequence(Sizes.MaxSequence);

  FunctionBuilder Embed(Model, "embed");
  Value EmbedScope = Embed.scopeArgument("model");
  Value EmbedBatch = Embed.batchArgument();
  func::FuncOp EmbedFunction = Embed.finish(Embed.embedding(
      IndexKind::Token, EmbedBatch,
      Embed.parameter(EmbedScope, "embed_tokens.weight", Component::Embedding,
                      {Sizes.Vocabulary, Sizes.Width})));

  SmallVector<func::FuncOp> Layers;
  for (int64_t I = 0; I < Sizes.Layers; ++I) {
    LayerOptions Layer = Decoder.Layer;
    // A window as long as the sequence hides nothing.
    if (Decoder.Windows[I] && *Decoder.Windows[I] < Sizes.MaxSequence)
      Layer.Attention.Window = Decoder.Windows[I];
    Layers.push_back(
        layerFunction(Model, Layer.Attention.Window ? "layer_window" : "layer",
                      layerScope(I), Sizes.Width, Cache, Layer));
  }

  FunctionBuilder HeadBuilder(Model, "head");
  Value NormScope = HeadBuilder.scopeArgument("model");
  Value HeadScope = HeadBuilder.scopeArgument(Decoder.TiedHead ? "model" : "");
  Value HeadBatch = HeadBuilder.batchArgument();
  Value HeadInput = HeadBuilder.argument(Model.rows(Sizes.Width));
  Frame F{HeadBuilder, NormScope, HeadBatch, Value()};
  Value Normed = normBlock(F, HeadInput, Decoder.FinalNorm);
  Value HeadWeight = HeadBuilder.parameter(
      HeadScope, Decoder.TiedHead ? "embed_tokens.weight" : Head,
      Component::Head, {Sizes.Vocabulary, Sizes.Width});
  func::FuncOp HeadFunction =
      HeadBuilder.finish(HeadBuilder.lmHead(Normed, HeadBatch, HeadWeight));

  FunctionBuilder Step = FunctionBuilder::entry(Model, "step", "logits");
  Value Batch = Step.batchArgument();
  Value Handle = Step.argument(Cache);
  Value Root = Decoder.TiedHead ? Value() : Step.scope("");
  Value ModelScope = Step.scope("model");
  Value Rows = Step.call(EmbedFunction, {ModelScope, Batch}).front();
  for (int64_t I = 0; I < Sizes.Layers; ++I) {
    Value Scope = Step.scope(layerScope(I), I);
    auto Results = Step.call(Layers[I], {Scope, Batch, Handle, Rows});
    Rows = Results[0];
    Handle = Results[1];
  }
  Value Logits = Step.call(HeadFunction,
                           {ModelScope, Root ? Root : ModelScope, Batch, Rows})
                     .front();
  Step.finish({Logits, Handle});
}
