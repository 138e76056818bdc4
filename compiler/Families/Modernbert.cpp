//===- Modernbert.cpp - ModernBERT ----------------------------------------===//

#include "compiler/Families/BertLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;
using namespace tenon::transformer;

/// The kinds of layers: layer_types, or every so many a global one.
static std::vector<bool> readGlobal(ConfigReader &Config, int64_t Layers) {
  auto Types =
      Config.layerTypes(Layers, {"full_attention", "sliding_attention"});
  int64_t Every = Config.sizeOr({"global_attn_every_n_layers"}, 3, MaxLayers);
  std::vector<bool> IsGlobal;
  for (int64_t I = 0; I < Layers; ++I)
    IsGlobal.push_back(Types.empty() || Config.error()
                           ? I % Every == 0
                           : Types[static_cast<size_t>(I)] == "full_attention");
  return IsGlobal;
}

/// The rotation of one kind of layer.
static RopeAttr readRotation(ConfigReader &Config, int64_t HeadDim,
                             const char *Kind, const char *OlderKey,
                             double Base) {
  Base = Config.numberOr(OlderKey, Base, 1e-6, 1e12);
  auto Kinds = Config.Settings.optionalObject("rope_parameters");
  if (!Kinds) {
    Config.fail(Kinds.error());
    return {};
  }
  auto None = tenon::Config::parse("{}", Config.Settings.file());
  auto Mine = *Kinds ? (*Kinds)->optionalObject(Kind)
                     : Result<std::optional<tenon::Config>>(std::nullopt);
  if (!Mine) {
    Config.fail(Mine.error());
    return {};
  }
  return Config.ropeOf(*Mine ? **Mine : *None, HeadDim, {.Base = Base});
}

/// What stands behind the body: a transformed row with `Norm`, then the answer.
static void readModernbertAnswer(ConfigReader &Config, EncoderModel &Model,
                                 const NormOptions &Norm) {
  AnswerReader Answer(Config, Model);
  bool ClassifierBias = Config.flagOr("classifier_bias", false);
  Activation Act = Config.activation("classifier_activation", "gelu");
  std::string Pooling = Config.wordOr("classifier_pooling", "cls");
  auto Head = [&] {
    Model.Answer.linear("head.dense.weight",
                        ClassifierBias ? "head.dense.bias" : "",
                        Model.Sizes.Width);
    Model.Answer.activation(Act);
    Model.Answer.norm(Norm);
  };
  bool DecoderBias = Config.flagOr("decoder_bias", true);
  bool IsTied = Config.flagOr("tie_word_embeddings", true);
  if (Answer.is("ForMaskedLM")) {
    Head();
    std::string Table = Model.Stack.nameOf(Model.Stack.Embedding.Tokens);
    std::string Own = "decoder.weight";
    Model.Answer.linear(Config.sharesTable(IsTied, Own, Table) ? Table : Own,
                        DecoderBias ? "decoder.bias" : "",
                        Model.Sizes.Vocabulary);
  } else if (Answer.is("ForSequenceClassification")) {
    Config.expect(Pooling == "cls" || Pooling == "mean", "classifier_pooling",
                  "cls or mean");
    Model.Answer.Pool = Pooling == "mean" ? PoolKind::Mean : PoolKind::Cls;
    Head();
    Answer.linear("classifier", Answer.labels());
  } else if (Answer.is("ForTokenClassification") ||
             Answer.is("ForQuestionAnswering")) {
    Head();
    Answer.linear("classifier",
                  Answer.is("ForQuestionAnswering") ? 2 : Answer.labels());
  } else if (!Answer.isBare()) {
    Answer.refuse("ModernBertModel, or ModernBertFor with MaskedLM, "
                  "SequenceClassification, TokenClassification or "
                  "QuestionAnswering");
  }
}

static ModelDescription readModernbertConfig(ConfigReader &Config) {
  EncoderModel Model;
  Model.Sizes = Config.sizes();
  ModelSizes &Sizes = Model.Sizes;
  double Eps = Config.epsOr("norm_eps", 1e-5);
  bool NormBias = Config.flagOr("norm_bias", false);
  bool AttentionBias = Config.flagOr("attention_bias", false);
  bool MlpBias = Config.flagOr("mlp_bias", false);
  auto Norm = [&](const std::string &Key) {
    return NormOptions{NormKind::Layer, Eps, Key, NormBias};
  };
  StackOptions &Stack = Model.Stack;
  Stack.Scope = bodyScope(Config, "model", "embeddings.tok_embeddings.weight");
  Stack.Layers = "layers";
  Stack.Width = Sizes.Width;
  Stack.MaxSequence = Sizes.MaxSequence;
  Stack.Embedding.Tokens = "embeddings.tok_embeddings.weight";
  Stack.Embedding.Norm = Norm("embeddings.norm");
  Stack.FinalNorm = Norm("final_norm");

  LayerOptions Layer;
  Layer.AttentionNorm = Norm("attn_norm");
  Layer.FeedForwardNorm = Norm("mlp_norm");
  AttentionOptions &Attention = Layer.Attention;
  Attention.Heads = Attention.KvHeads = Sizes.Heads;
  Config.expect(Sizes.Width % Sizes.Heads == 0, "hidden_size",
                "a multiple of num_attention_heads");
  Attention.HeadDim = std::max<int64_t>(Sizes.Width / Sizes.Heads, 1);
  Attention.Mask = MaskKind::Bidirectional;
  auto Rows = [](const char *Key, bool Bias, int64_t Number, int64_t Count) {
    std::string View = "[" + std::to_string(Number * Count) + ":" +
                       std::to_string((Number + 1) * Count) + "]";
    return LinearOptions{Key, Bias, View, View};
  };
  int64_t Width = Attention.Heads * Attention.HeadDim;
  Attention.Query = Rows("attn.Wqkv", AttentionBias, 0, Width);
  Attention.Key = Rows("attn.Wqkv", AttentionBias, 1, Width);
  Attention.Value = Rows("attn.Wqkv", AttentionBias, 2, Width);
  Attention.Output = {"attn.Wo", AttentionBias};
  // The first half goes through the activation.
  Layer.FeedForward = {Config.activation("hidden_activation", "gelu"),
                       Sizes.FeedForward,
                       Rows("mlp.Wi", MlpBias, 0, Sizes.FeedForward),
                       Rows("mlp.Wi", MlpBias, 1, Sizes.FeedForward),
                       {"mlp.Wo", MlpBias}};
  RopeAttr Global = readRotation(Config, Attention.HeadDim, "full_attention",
                                 "global_rope_theta", 160000);
  RopeAttr Local = readRotation(Config, Attention.HeadDim, "sliding_attention",
                                "local_rope_theta", 10000);
  int64_t Reach = Config.sizeOr({"local_attention"}, 128, MaxContext) / 2;
  for (bool IsGlobal : readGlobal(Config, Sizes.Layers)) {
    LayerOptions One = Layer;
    // The first layer reads rows that the embedding has just normed.
    if (Stack.Layer.empty())
      One.AttentionNorm = {};
    One.Attention.Rope = IsGlobal ? Global : Local;
    if (!IsGlobal)
      One.Attention.Window = Reach + 1;
    Stack.Layer.push_back(One);
  }

  readModernbertAnswer(Config, Model, Norm("head.norm"));
  for (const char *Pattern : {"head.*", "decoder.*", "classifier.*"})
    Model.UnusedTensors.push_back(Pattern);
  // Rates of dropout, and how training and other kernels did the same.
  Config.ignore({"embedding_dropout", "mlp_dropout", "sparse_prediction",
                 "sparse_pred_ignore_index", "deterministic_flash_attn",
                 "reference_compile", "repad_logits_with_grad",
                 "initializer_cutoff_factor", "layer_norm_eps",
                 "position_embedding_type"});
  return Model;
}

const Family tenon::ModernbertFamily = {"modernbert", readModernbertConfig};
