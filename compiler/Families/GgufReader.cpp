//===- GgufReader.cpp - What families read GGUF files with ----------------===//

#include "compiler/Families/GgufReader.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tenon;

static constexpr GgufName RotationTables[] = {
    {"rope_freqs.weight", "", GgufForm::Dropped},
    {"rope_factors_long.weight", "", GgufForm::Dropped},
    {"rope_factors_short.weight", "", GgufForm::Dropped},
    {"attn_rot_embd.weight", "", GgufForm::Dropped}};

std::string gguf::inLayer(int64_t Layer, std::string_view Name) {
  return "blk." + std::to_string(Layer) + "." + std::string(Name);
}

void gguf::setNames(GgufTranslation &T, std::string_view LayerPrefix,
                    std::vector<std::span<const GgufName>> Globals,
                    std::vector<std::span<const GgufName>> Layers) {
  Globals.push_back(RotationTables);
  Layers.push_back(RotationTables);
  T.Naming.LayerPrefix = LayerPrefix;
  T.Naming.Globals = std::move(Globals);
  T.Naming.Layers = std::move(Layers);
}

void gguf::setLlamaNames(GgufTranslation &T,
                         std::vector<std::span<const GgufName>> Layers) {
  setNames(T, "model.layers.", {Outer}, std::move(Layers));
}

int64_t gguf::readLayerCount(GgufSettings &S) {
  constexpr int64_t Most = 65'536;
  int64_t Layers = S.size("block_count");
  if (Layers <= Most)
    return Layers;
  S.refuse("block_count", "at most " + std::to_string(Most));
  return 1;
}

void gguf::readSizes(GgufTranslation &T, const ConfigKeys &Keys) {
  GgufSettings &S = T.Settings;
  Json &Config = S.Config;
  int64_t Width = S.size("embedding_length");
  T.Naming.LayerCount = readLayerCount(S);
  T.Naming.Heads = S.size("attention.head_count");
  T.Naming.KvHeads =
      S.optionalSize("attention.head_count_kv").value_or(T.Naming.Heads);
  if (T.Naming.Heads % T.Naming.KvHeads != 0)
    S.refuse("attention.head_count_kv",
             "a divisor of " + std::to_string(T.Naming.Heads) + " heads");
  if (Keys.KvHeads.empty())
    S.expectSize("attention.head_count_kv", T.Naming.Heads,
                 "one for each head");
  int64_t FeedForward = S.optionalSize("feed_forward_length", 0).value_or(0);
  Config[std::string(Keys.Width)] = Width;
  Config[std::string(Keys.Layers)] = T.Naming.LayerCount;
  Config[std::string(Keys.Heads)] = T.Naming.Heads;
  if (!Keys.KvHeads.empty())
    Config[std::string(Keys.KvHeads)] = T.Naming.KvHeads;
  if (!Keys.FeedForward.empty())
    Config[std::string(Keys.FeedForward)] = FeedForward;
  Config[std::string(Keys.Context)] = S.size("context_length");

  if (const GgufTensor *Table = S.tensor("token_embd.weight")) {
    Config["vocab_size"] = Table->Shape[0];
    S.expectSize("vocab_size", Table->Shape[0],
                 "the rows of token_embd.weight");
    Config["torch_dtype"] = Table->Format->Name == "BF16"  ? "bfloat16"
                            : Table->Format->Name == "F16" ? "float16"
                                                           : "float32";
    if (Status Whole = S.file().checkUnchanged(); !Whole)
      return S.refuse(Whole.error());
    // Older files hold a tied head once more.
    const GgufTensor *Head = S.file().findTensor("output.weight");
    bool IsTied = !Head || (Head->Format == Table->Format &&
                            Head->Shape == Table->Shape &&
                            std::memcmp(Head->Bytes.data(), Table->Bytes.data(),
                                        Table->Bytes.size()) == 0);
    Config["tie_word_embeddings"] = IsTied;
    if (IsTied)
      T.Taken.insert("output.weight");
  }

  T.HeadDim = Width / T.Naming.Heads;
  if (auto Length = S.optionalSize("attention.key_length")) {
    T.HeadDim = *Length;
    Config["head_dim"] = *Length;
    S.expectSize("attention.value_length", *Length, "as key_length is");
  }
  if (auto Causal = S.optionalFlag("attention.causal"); Causal && !*Causal)
    S.refuse("attention.causal", "true");
  S.expectSize("pooling_type", 0, "for a decoder");
  S.expectSize("nextn_predict_layers", 0, "layers of the model alone");
  S.ignore("tensor_data_layout");
}

/// What each rotated pair's frequency is divided by.
static std::vector<double> readFactors(GgufTranslation &T, int64_t Pairs,
                                       const char *Name) {
  GgufSettings &S = T.Settings;
  const GgufTensor *Tensor = S.tensor(Name);
  if (!Tensor || !gguf::expectShape(T, *Tensor, {Pairs}))
    return {};
  auto Factors = readGgufVector(S.file(), *Tensor);
  if (!Factors) {
    S.refuse(Factors.error());
    return {};
  }
  for (double Factor : *Factors)
    if (!(Factor > 0 && std::isfinite(Factor)))
      S.refuse(Error(S.file().path() + ": tensor " + printable(Name) +
                     ": expected finite factors above 0"));
  return std::move(*Factors);
}

/// Llama 3's scaling, where the converter has made the factors of it: with its
/// bounds in every published model, and 8192 for the original context. Null for
/// other factors.
static Json llama3ScalingOf(const std::vector<double> &Factors, double Base) {
  constexpr double Low = 1, High = 4, Original = 8192;
  double Factor = 1;
  for (double F : Factors)
    Factor = std::max(Factor, F);
  auto Dims = static_cast<double>(2 * Factors.size());
  for (size_t I = 0; I < Factors.size(); ++I) {
    double Length =
        2 * M_PI * std::pow(Base, 2 * static_cast<double>(I) / Dims);
    double Smooth = (Original / Length - Low) / (High - Low);
    double F = Smooth >= 1   ? 1
               : Smooth <= 0 ? Factor
                             : 1 / ((1 - Smooth) / Factor + Smooth);
    if (!(std::abs(Factors[I] - F) <= 1e-4 * F))
      return nullptr;
  }
  return {{"rope_type", "llama3"},
          {"factor", Factor},
          {"low_freq_factor", Low},
          {"high_freq_factor", High},
          {"original_max_position_embeddings", static_cast<int64_t>(Original)}};
}

/// The scaling of a file with factors for each rotated pair: one table (the
/// converter makes it of Llama 3's scaling), or one up to the original context
/// and one for more. Returns null when all are 1.
static Json readFactorTables(GgufTranslation &T, int64_t Pairs, double Base,
                             bool IsLongRope, std::optional<double> Attention) {
  GgufSettings &S = T.Settings;
  int64_t Context = S.size("context_length");
  if (!IsLongRope) {
    std::vector<double> Factors = readFactors(T, Pairs, "rope_freqs.weight");
    if (std::count(Factors.begin(), Factors.end(), 1) ==
        static_cast<int64_t>(Factors.size()))
      return nullptr;
    if (Json Llama3 = llama3ScalingOf(Factors, Base); !Llama3.is_null())
      return Llama3;
    S.Config["original_max_position_embeddings"] = Context;
    return {{"rope_type", "longrope"},
            {"short_factor", Factors},
            {"long_factor", Factors},
            {"attention_factor", 1.0}};
  }
  int64_t Original =
      S.optionalSize("rope.scaling.original_context_length").value_or(Context);
  S.Config["original_max_position_embeddings"] = Original;
  Json Scaling = {
      {"rope_type", "longrope"},
      {"short_factor", readFactors(T, Pairs, "rope_factors_short.weight")},
      {"long_factor", readFactors(T, Pairs, "rope_factors_long.weight")}};
  // Written by what the config asks for, which readers compute by themselves.
  double Ratio = double(Context) / double(Original);
  double Usual =
      Ratio > 1 ? std::sqrt(1 + std::log(Ratio) / std::log(double(Original)))
                : 1;
  if (Attention && !(std::abs(*Attention - Usual) <= 1e-5 * Usual))
    Scaling["attention_factor"] = *Attention;
  return Scaling;
}

static Json readYarn(GgufSettings &S, double Factor) {
  Json Yarn = {{"rope_type", "yarn"},
               {"factor", Factor},
               {"original_max_position_embeddings",
                S.size("rope.scaling.original_context_length")}};
  if (auto Fast = S.optionalNumber("rope.scaling.yarn_beta_fast"))
    Yarn["beta_fast"] = *Fast;
  if (auto Slow = S.optionalNumber("rope.scaling.yarn_beta_slow"))
    Yarn["beta_slow"] = *Slow;
  if (auto Scale = S.optionalNumber("rope.scaling.yarn_attn_factor"))
    Yarn["attention_factor"] = *Scale;
  if (auto Mix = S.optionalNumber("rope.scaling.yarn_ext_factor");
      Mix && *Mix != 1)
    S.refuse("rope.scaling.yarn_ext_factor", "1");
  return Yarn;
}

/// rope_scaling, null when there is none. What is absent is as llama.cpp has
/// it: linear scaling by a factor, whose older name is "rope.scale_linear".
static Json readScaling(GgufTranslation &T, int64_t Pairs, double Base) {
  GgufSettings &S = T.Settings;
  std::string Kind = S.optionalText("rope.scaling.type").value_or("linear");
  auto Linear = S.optionalNumber("rope.scale_linear");
  double Factor =
      S.optionalNumber("rope.scaling.factor").value_or(Linear.value_or(0));
  if (Factor == 0 || Kind == "none")
    Factor = 1;
  auto Attention = S.optionalNumber("rope.scaling.attn_factor");
  bool IsLongRope =
      Kind == "longrope" || S.hasTensor("rope_factors_long.weight");
  if (!IsLongRope && Attention && *Attention != 1)
    S.refuse("rope.scaling.attn_factor",
             "1 without the tensor rope_factors_long.weight");
  Json Tables;
  if (IsLongRope || S.hasTensor("rope_freqs.weight"))
    Tables = readFactorTables(T, Pairs, Base, IsLongRope, Attention);
  if (Kind == "yarn" && Tables.is_null())
    return readYarn(S, Factor);
  if (Kind == "yarn")
    S.refuse("rope.scaling.type", "longrope beside a table of factors");
  else if (Kind != "linear" && Kind != "none" && Kind != "longrope")
    S.refuse("rope.scaling.type", "one of none, linear, yarn, longrope");
  if (Factor == 1)
    return Tables;
  if (!Tables.is_null())
    S.refuse(S.has("rope.scaling.factor") ? "rope.scaling.factor"
                                          : "rope.scale_linear",
             "1 beside a table of factors");
  return {{"rope_type", "linear"}, {"factor", Factor}};
}

void gguf::readRope(GgufTranslation &T, std::string_view PartKey,
                    std::string_view BaseKey) {
  GgufSettings &S = T.Settings;
  double Base = S.optionalNumber("rope.freq_base").value_or(10000);
  S.Config[std::string(BaseKey)] = Base;
  int64_t Dims = S.optionalSize("rope.dimension_count").value_or(T.HeadDim);
  if (!PartKey.empty() && Dims < T.HeadDim) {
    double Part = double(Dims) / double(T.HeadDim);
    // Readers round down.
    if (int64_t(Part * double(T.HeadDim)) != Dims)
      Part = (double(Dims) + 0.5) / double(T.HeadDim);
    S.Config[std::string(PartKey)] = Part;
  } else if (Dims != T.HeadDim) {
    S.refuse("rope.dimension_count",
             std::to_string(T.HeadDim) + ", the size of a head");
  } else if (!PartKey.empty()) {
    S.Config[std::string(PartKey)] = 1.0;
  }
  S.ignore("rope.scaling.finetuned");
  // Scalings that need it read it.
  S.ignore("rope.scaling.original_context_length");
  if (Json Scaling = readScaling(T, Dims / 2, Base); !Scaling.is_null())
    S.Config["rope_scaling"] = std::move(Scaling);
}

void gguf::readRmsEps(GgufTranslation &T) {
  T.Settings.Config["rms_norm_eps"] =
      T.Settings.number("attention.layer_norm_rms_epsilon");
}

void gguf::readNormEps(GgufTranslation &T, std::string_view Key) {
  T.Settings.Config[std::string(Key)] =
      T.Settings.number("attention.layer_norm_epsilon");
}

void gguf::readLlamaLike(GgufTranslation &T) {
  readSizes(T);
  readRmsEps(T);
  readRope(T);
  T.Settings.Config["hidden_act"] = "silu";
}

bool gguf::hasExperts(GgufSettings &S) {
  return S.optionalSize("expert_count", 0).value_or(0) > 0;
}

bool gguf::hasBias(const GgufTranslation &T, const std::string &Name) {
  return T.Settings.hasTensor(inLayer(0, Name + ".bias"));
}

bool gguf::hasQueryBias(const GgufTranslation &T) {
  return hasBias(T, "attn_q") || hasBias(T, "attn_qkv");
}

bool gguf::expectShape(GgufTranslation &T, const GgufTensor &Tensor,
                       const std::vector<int64_t> &Shape) {
  if (Tensor.Shape == Shape)
    return true;
  T.Settings.refuse(Error(T.Settings.file().path() + ": tensor " +
                          printable(Tensor.Name) + ": shape is " +
                          shapeText(Tensor.Shape) + ": expected " +
                          shapeText(Shape)));
  return false;
}
