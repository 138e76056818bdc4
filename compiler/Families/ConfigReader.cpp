//===- ConfigReader.cpp - Reading a model's config ------------------------===//

#include "compiler/Families/ConfigReader.h"

#include "compiler/Checkpoint/TensorView.h"

#include <cmath>

using namespace tenon;
using namespace tenon::transformer;

template <typename T> T ConfigReader::take(Result<T> Read, T Otherwise) {
  if (Read)
    return std::move(*Read);
  fail(Read.error());
  return Otherwise;
}

void ConfigReader::fail(Error E) {
  if (!First)
    First = std::move(E);
}

void ConfigReader::expect(bool Holds, std::string_view Key,
                          std::string_view Expected) {
  if (!Holds)
    fail(Settings.expected(Key, Expected));
}

//===----------------------------------------------------------------------===//
// Numbers, flags, words
//===----------------------------------------------------------------------===//

std::optional<int64_t> ConfigReader::optionalSize(Keys Names, int64_t Max,
                                                  int64_t Min) {
  std::optional<int64_t> Value;
  std::string_view Used;
  for (std::string_view Name : Names) {
    auto Read = take(Settings.optionalInteger(Name, Min, Max),
                     std::optional<int64_t>());
    if (Value && Read && *Read != *Value)
      fail(Settings.expected(Name, std::to_string(*Value) + ", as '" +
                                       std::string(Used) + "' has"));
    if (Read && !Value) {
      Value = Read;
      Used = Name;
    }
  }
  return Value;
}

int64_t ConfigReader::sizeOr(Keys Names, int64_t Default, int64_t Max,
                             int64_t Min) {
  return optionalSize(Names, Max, Min).value_or(Default);
}

int64_t ConfigReader::size(Keys Names, int64_t Max) {
  if (std::optional<int64_t> Value = optionalSize(Names, Max))
    return *Value;
  // The error of a key that is missing.
  return take(Settings.integer(*Names.begin(), 1, Max), int64_t(1));
}

double ConfigReader::numberOr(std::string_view Key, double Default, double Min,
                              double Max) {
  return take(Settings.numberOr(Key, Default, Min, Max), Default);
}

std::optional<double> ConfigReader::optionalNumber(std::string_view Key,
                                                   double Min, double Max) {
  return take(Settings.optionalNumber(Key, Min, Max), std::optional<double>());
}

bool ConfigReader::flagOr(std::string_view Key, bool Default) {
  return take(Settings.booleanOr(Key, Default), Default);
}

std::string ConfigReader::wordOr(std::string_view Key,
                                 std::string_view Default) {
  return take(Settings.stringOr(Key, Default), std::string(Default));
}

std::vector<int64_t> ConfigReader::integersOr(std::string_view Key,
                                              std::vector<int64_t> Default,
                                              int64_t Min, int64_t Max) {
  if (!Settings.has(Key))
    return Default;
  return take(Settings.integers(Key, Min, Max), Default);
}

std::optional<Config> ConfigReader::optionalObject(std::string_view Key) {
  return take(Settings.optionalObject(Key), std::optional<Config>());
}

std::vector<std::string>
ConfigReader::layerTypes(int64_t Layers, std::vector<std::string_view> Known) {
  auto Types =
      take(Settings.optionalStrings("layer_types"), std::vector<std::string>());
  if (!Settings.has("layer_types"))
    return {};
  if (static_cast<int64_t>(Types.size()) != Layers) {
    fail(Settings.expected("layer_types",
                           std::to_string(Layers) + " entries, one a layer"));
    return {};
  }
  for (size_t I = 0; I < Types.size(); ++I) {
    if (std::find(Known.begin(), Known.end(), Types[I]) != Known.end())
      continue;
    std::string Names;
    for (std::string_view Name : Known)
      Names += (Names.empty() ? "" : " or ") + std::string(Name);
    fail(Error(Settings.file() + ": field 'layer_types[" + std::to_string(I) +
               "]' is " + printable(Types[I]) + ": expected " + Names));
  }
  return Types;
}

bool tenon::isBody(std::string_view Architecture) {
  return Architecture.ends_with("Model") &&
         Architecture.find("LMHead") == std::string_view::npos;
}

std::string ConfigReader::architecture() {
  auto Names = take(Settings.optionalStrings("architectures"),
                    std::vector<std::string>());
  return Names.empty() ? std::string() : Names.front();
}

void ConfigReader::refuseArchitecture(std::string_view Expected) {
  fail(Error(Settings.file() + ": field 'architectures' is " +
             printable(architecture()) + ": expected " +
             std::string(Expected)));
}

void ConfigReader::fixed(std::string_view Key, bool Value) {
  expect(flagOr(Key, Value) == Value, Key, Value ? "true" : "false");
}

void ConfigReader::ignore(Keys Names) {
  for (std::string_view Name : Names)
    Settings.discard(Name);
}

// gelu_new, gelu_fast and gelu_pytorch_tanh spell out the same formula.
static constexpr std::pair<std::string_view, Activation> ActivationNames[] = {
    {"gelu", Activation::Gelu},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"quick_gelu", Activation::QuickGelu},
    {"relu", Activation::Relu},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
    {"tanh", Activation::Tanh},
    {"sigmoid", Activation::Sigmoid}};

std::optional<Activation> ConfigReader::activationNamed(std::string_view Name) {
  for (auto [Spelling, Value] : ActivationNames)
    if (Name == Spelling)
      return Value;
  return std::nullopt;
}

std::string ConfigReader::knownActivations() {
  std::string Known;
  for (auto [Spelling, Value] : ActivationNames)
    Known += (Known.empty() ? "one of " : ", ") + std::string(Spelling);
  return Known;
}

Activation ConfigReader::activation(std::string_view Key,
                                    std::string_view Default) {
  std::string Name = Default.empty() ? take(Settings.string(Key), std::string())
                                     : wordOr(Key, Default);
  if (First)
    return Activation::None;
  auto Act = activationNamed(Name);
  expect(Act.has_value(), Key, knownActivations());
  return Act.value_or(Activation::None);
}

//===----------------------------------------------------------------------===//
// What models share
//===----------------------------------------------------------------------===//

/// Bounds of the positive factors and bases of a rotation.
static constexpr double MaxRopeNumber = 1e12;
static constexpr double MinRopeNumber = 1e-6;

int64_t ConfigReader::reachOfRotations(int64_t Positions) {
  auto Rope = optionalObject(Settings.has("rope_parameters") ? "rope_parameters"
                                                             : "rope_scaling");
  if (!Rope)
    return Positions;
  std::string Type = Rope->peek("rope_type", Rope->peek("type", ""));
  if (Type != "linear" && Type != "yarn")
    return Positions;
  auto Original = static_cast<double>(Positions);
  if (Type == "yarn")
    Original = take(Rope->optionalNumber("original_max_position_embeddings", 0,
                                         static_cast<double>(MaxContext)),
                    std::optional<double>())
                   .value_or(Original);
  double Factor = take(Rope->optionalNumber("factor", 0, MaxRopeNumber),
                       std::optional<double>())
                      .value_or(1);
  return std::max(Positions,
                  static_cast<int64_t>(std::min(
                      Original * Factor, static_cast<double>(MaxContext))));
}

int64_t ConfigReader::maxSequence(Keys Names) {
  int64_t Most = size(Names, MaxContext);
  if (First || !Input.MaxSequence)
    return Most;
  int64_t Reach = reachOfRotations(Most);
  if (*Input.MaxSequence < 1 || *Input.MaxSequence > Reach)
    fail(Error("a sequence length of " + std::to_string(*Input.MaxSequence) +
               ": expected 1 to the model's " + std::string(*Names.begin()) +
               " " + std::to_string(Most) +
               (Reach > Most ? ", or the " + std::to_string(Reach) +
                                   " that its rotations are scaled to"
                             : "")));
  return *Input.MaxSequence;
}

ModelSizes ConfigReader::sizes(const SizeKeys &Keys) {
  ModelSizes Sizes;
  Sizes.Vocabulary = size({"vocab_size"}, MaxVocabulary);
  Sizes.Width = size({Keys.Width}, MaxWidth);
  Sizes.Layers = size({Keys.Layers}, MaxLayers);
  Sizes.MaxSequence = maxSequence();
  Sizes.FeedForward = size({Keys.FeedForward}, MaxFeedForward);
  Sizes.Heads = size({Keys.Heads}, MaxWidth);
  return Sizes;
}

int64_t ConfigReader::kvHeads(int64_t Heads, int64_t Default, Keys Names) {
  int64_t KvHeads = sizeOr(Names, Default, Heads);
  expect(Heads % KvHeads == 0, *Names.begin(),
         "a divisor of the " + std::to_string(Heads) + " attention heads");
  return KvHeads;
}

int64_t ConfigReader::headDim(int64_t Width, int64_t Heads,
                              std::string_view WidthKey) {
  std::optional<int64_t> HeadDim = optionalSize({"head_dim"}, MaxWidth);
  if (!HeadDim) {
    expect(Width % Heads == 0, WidthKey,
           "a multiple of the " + std::to_string(Heads) + " attention heads");
    HeadDim = std::max<int64_t>(Width / Heads, 1);
  }
  expect(Heads <= MaxWidth / *HeadDim,
         Settings.has("head_dim") ? "head_dim" : WidthKey,
         "at most " + std::to_string(MaxWidth) + " elements in all heads");
  return *HeadDim;
}

/// YaRN's growth of the logits with the context, m(factor, k).
static double yarnGrowth(double Factor, double Share) {
  return Factor <= 1 ? 1 : 0.1 * Share * std::log(Factor) + 1;
}

/// The scaling of a rotation's frequencies, read from one object such as
/// rope_scaling: a method for each rope_type.
class ConfigReader::ScalingReader {
public:
  ScalingReader(ConfigReader &Reader, const Config &Rope, int64_t Dim,
                const RopeTraits &Traits)
      : Reader(Reader), Rope(Rope), Dim(Dim),
        MaxPositions(static_cast<double>(Reader.sizeOr(
            {"max_position_embeddings", "n_positions"}, 1, MaxContext))),
        // A key of the config itself overrules that of its rotation.
        Outer(Reader.optionalNumber("original_max_position_embeddings", 1,
                                    static_cast<double>(MaxContext))) {
    if (!Outer)
      Outer = Traits.Original;
  }

  void read() {
    // Oldest files say "type"; some say both.
    bool IsOld = Rope.has("type") && !Rope.has("rope_type");
    std::string_view TypeKey = IsOld ? "type" : "rope_type";
    auto Type = Reader.take(Rope.stringOr(TypeKey, "default"), std::string());
    auto OlderType = Reader.take(Rope.stringOr("type", Type), std::string());
    if (OlderType != Type)
      Reader.fail(Rope.expected("type", "the same as rope_type"));
    bool IsUntyped =
        !Rope.has(TypeKey) && (Rope.has("factor") || Rope.has("long_factor"));
    std::string Known;
    for (const auto &[Name, Read] : Readers) {
      if (Name == Type && !IsUntyped)
        return (this->*Read)();
      Known += (Known.empty() ? "one of " : ", ") + std::string(Name);
    }
    Reader.fail(Rope.expected(TypeKey, Known));
  }

  RopeScaling Scaling = RopeScaling::Default;
  std::vector<Real> Numbers;

private:
  double number(std::string_view Key) {
    return Reader.take(Rope.number(Key, MinRopeNumber, MaxRopeNumber), 1.0);
  }
  std::optional<double> optional(std::string_view Key) {
    return Reader.take(Rope.optionalNumber(Key, 0, MaxRopeNumber),
                       std::optional<double>());
  }
  double nonzero(std::string_view Key, double Default) {
    double Value = optional(Key).value_or(0);
    return Value == 0 ? Default : Value;
  }
  double original() {
    double Inner = optional("original_max_position_embeddings").value_or(0);
    return Outer.value_or(Inner > 0 ? Inner : MaxPositions);
  }

  void readDefault() {}

  /// Frequencies change beyond max_position_embeddings only, where sequences
  /// end.
  void readDynamic() {
    (void)optional("factor");
    (void)optional("original_max_position_embeddings");
  }

  void readLinear() {
    Scaling = RopeScaling::Linear;
    Numbers = {number("factor")};
  }

  void readLlama3() {
    Scaling = RopeScaling::Llama3;
    Numbers = {number("factor"), number("low_freq_factor"),
               number("high_freq_factor"), original()};
    if (!Reader.First && !(Numbers[2] > Numbers[1]))
      Reader.fail(Rope.expected("high_freq_factor", "more than "
                                                    "low_freq_factor"));
  }

  void readYarn() {
    if (Rope.has("long_factor"))
      return readLongRope();
    Scaling = RopeScaling::Yarn;
    // How the model was trained.
    Rope.discard("finetuned");
    if (Rope.has("attn_factor") && Reader.Input.Notes)
      Reader.Input.Notes->push_back(
          Reader.Settings.file() + ": field '" + Rope.path() +
          ".attn_factor' is left out, as Transformers does, for which "
          "attention_factor counts");
    Rope.discard("attn_factor");
    double Positions = original();
    double Factor = nonzero("factor", MaxPositions / Positions);
    double Share = optional("mscale").value_or(0);
    double AllShare = optional("mscale_all_dim").value_or(0);
    double Attention =
        Share != 0 && AllShare != 0
            ? yarnGrowth(Factor, Share) / yarnGrowth(Factor, AllShare)
            : yarnGrowth(Factor, 1);
    bool Truncate = Reader.take(Rope.booleanOr("truncate", true), true);
    Numbers = {Factor,
               nonzero("beta_fast", 32),
               nonzero("beta_slow", 1),
               Positions,
               Truncate ? 1.0 : 0.0,
               nonzero("attention_factor", Attention)};
  }

  void readLongRope() {
    Scaling = RopeScaling::LongRope;
    double Positions = original();
    double Factor = nonzero("factor", MaxPositions / Positions);
    double Attention =
        Factor <= 1 ? 1 : std::sqrt(1 + std::log(Factor) / std::log(Positions));
    Numbers = {nonzero("attention_factor", Attention)};
    auto Long = Reader.take(Rope.numbers("long_factor"), std::vector<double>());
    auto Short =
        Reader.take(Rope.numbers("short_factor"), std::vector<double>());
    // Which factors apply goes by the longest sequence that is compiled for.
    const FamilyInput &Input = Reader.Input;
    double Longest = Input.MaxSequence ? static_cast<double>(*Input.MaxSequence)
                                       : MaxPositions;
    std::string_view Key = Longest > Positions ? "long_factor" : "short_factor";
    const std::vector<double> &Factors = Longest > Positions ? Long : Short;
    for (double One : Factors) {
      if (!(One >= MinRopeNumber && One <= MaxRopeNumber))
        Reader.fail(Rope.expected(Key, "positive factors"));
      Numbers.emplace_back(One);
    }
    if (Longest > Positions && Input.Notes)
      Input.Notes->push_back(Reader.Settings.file() +
                             ": sequences of all lengths are rotated by "
                             "long_factor; a sequence length of at most " +
                             std::to_string(static_cast<int64_t>(Positions)) +
                             " compiles the short ones");
    if (static_cast<int64_t>(Factors.size()) != Dim / 2)
      Reader.fail(Rope.expected(Key, std::to_string(Dim / 2) +
                                         " factors, one a rotated pair"));
  }

  static constexpr std::pair<std::string_view, void (ScalingReader::*)()>
      Readers[] = {{"default", &ScalingReader::readDefault},
                   {"linear", &ScalingReader::readLinear},
                   {"dynamic", &ScalingReader::readDynamic},
                   {"llama3", &ScalingReader::readLlama3},
                   {"yarn", &ScalingReader::readYarn},
                   {"longrope", &ScalingReader::readLongRope},
                   {"su", &ScalingReader::readLongRope}};

  ConfigReader &Reader;
  const Config &Rope;
  int64_t Dim;
  double MaxPositions;
  std::optional<double> Outer;
};

RopeAttr ConfigReader::ropeOf(const Config &Parameters, int64_t HeadDim,
                              const RopeTraits &Traits) {
  double Base = take(Parameters.numberOr("rope_theta", Traits.Base,
                                         MinRopeNumber, MaxRopeNumber),
                     1.0);
  double Least = Traits.ReadsPartial ? 0.0 : 1.0;
  double Partial = take(
      Parameters.numberOr("partial_rotary_factor", Traits.Partial, Least, 1.0),
      1.0);
  auto Dim = static_cast<int64_t>(static_cast<double>(HeadDim) * Partial);
  if (!First && (Dim < 2 || Dim % 2 != 0))
    fail(Settings.expected(
        Settings.has("head_dim") ? "head_dim" : "hidden_size",
        "an even number of elements per head, for they are rotated in pairs"));
  ScalingReader Read(*this, Parameters, Dim, Traits);
  Read.read();
  if (First)
    return {};
  return RopeAttr::get(&Input.Context, Traits.Style, Dim, Base, Read.Scaling,
                       Read.Numbers);
}

RopeAttr ConfigReader::rope(int64_t HeadDim, const RopeTraits &Traits) {
  bool IsNew = Settings.has("rope_parameters");
  if (IsNew && Settings.has("rope_scaling"))
    fail(Settings.expected("rope_scaling", "none beside 'rope_parameters'"));
  RopeTraits Outer = Traits;
  auto Base = optionalNumber(Traits.BaseKey, MinRopeNumber, MaxRopeNumber);
  Outer.Base = Base.value_or(Traits.Base);
  if (Traits.ReadsPartial)
    Outer.Partial = numberOr(Traits.PartialKey, Traits.Partial, 0.0, 1.0);
  auto Parameters = optionalObject(IsNew ? "rope_parameters" : "rope_scaling");
  if (!Parameters) {
    auto None = Config::parse("{}", Settings.file());
    return ropeOf(*None, HeadDim, Outer);
  }
  auto Inner = take(
      Parameters->optionalNumber("rope_theta", MinRopeNumber, MaxRopeNumber),
      std::optional<double>());
  if (Base && Inner && *Base != *Inner)
    fail(Settings.expected(Traits.BaseKey, "the value that '" +
                                               Parameters->path() +
                                               ".rope_theta' has"));
  return ropeOf(*Parameters, HeadDim, Outer);
}

double ConfigReader::yarnScale() {
  auto Parameters = optionalObject(
      Settings.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  if (!Parameters)
    return 1;
  auto Type =
      take(Parameters->stringOr(
               Parameters->has("rope_type") ? "rope_type" : "type", "default"),
           std::string());
  double Share = take(Parameters->numberOr("mscale_all_dim", 0, 0, 1e6), 0.0);
  if (Type == "default" || Share == 0)
    return 1;
  double Growth = yarnGrowth(
      take(Parameters->numberOr("factor", 1, MinRopeNumber, MaxRopeNumber),
           1.0),
      Share);
  return Growth * Growth;
}

//===----------------------------------------------------------------------===//
// Checkpoint
//===----------------------------------------------------------------------===//

bool ConfigReader::hasTensor(const std::string &Name) const {
  return Input.Weights && Input.Weights->find(Input.storedName(Name));
}

std::string ConfigReader::scopeOf(const std::string &Name, Keys Scopes) const {
  for (std::string_view Scope : Scopes)
    if (hasTensor(parameterName(Scope, Name)))
      return std::string(Scope);
  return std::string(*Scopes.begin());
}

bool ConfigReader::sharesTable(bool IsTied, const std::string &Head,
                               const std::string &Table) {
  // Of a model inside another, that one may tie it.
  if (!IsTied && Settings.path().empty() && hasTensor(Table) &&
      !hasTensor(Head))
    fail(Settings.expected("tie_word_embeddings",
                           "true, as the checkpoint has no tensor " +
                               printable(Head)));
  if (!IsTied || !hasTensor(Head) || !hasTensor(Table))
    return IsTied;
  auto View = [&](const std::string &Name) {
    std::string Stored = Input.storedName(Name);
    const TensorInfo *Tensor = Input.Weights->find(Stored);
    return TensorView::resolve(*Input.Weights, Stored, Tensor->Shape);
  };
  auto Own = View(Head), Shared = View(Table);
  if (!Own || !Shared) {
    fail(Own ? Shared.error() : Own.error());
    return true;
  }
  return sameContent(*Own, *Shared);
}
