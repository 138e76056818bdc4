//===- FamilyInput.cpp - What families read, and its limits ---------------===//

#include "compiler/Families/FamilyInput.h"

using namespace tenon;
using namespace tenon::transformer;

Result<ModelSizes> tenon::readSizes(const Config &Settings) {
  struct Size {
    std::string_view Key;
    int64_t Max;
    int64_t ModelSizes::*Field;
  };
  static constexpr Size Sizes[] = {
      {"vocab_size", MaxVocabulary, &ModelSizes::Vocabulary},
      {"hidden_size", MaxWidth, &ModelSizes::Width},
      {"num_hidden_layers", MaxLayers, &ModelSizes::Layers},
      {"max_position_embeddings", MaxContext, &ModelSizes::MaxSequence},
      {"intermediate_size", MaxFeedForward, &ModelSizes::FeedForward},
      {"num_attention_heads", MaxWidth, &ModelSizes::Heads}};
  ModelSizes Result;
  for (const Size &S : Sizes) {
    auto Value = Settings.integer(S.Key, 1, S.Max);
    if (!Value)
      return Value.error();
    Result.*S.Field = *Value;
  }
  return Result;
}

Result<transformer::Activation> tenon::readActivation(const Config &Settings,
                                                      std::string_view Key) {
  using Act = transformer::Activation;
  // gelu_new and gelu_pytorch_tanh spell out the same formula.
  static constexpr std::pair<std::string_view, Act> Names[] = {
      {"gelu", Act::Gelu},
      {"gelu_new", Act::GeluTanh},
      {"gelu_pytorch_tanh", Act::GeluTanh},
      {"relu", Act::Relu},
      {"silu", Act::Silu},
      {"swish", Act::Silu}};
  auto Name = Settings.string(Key);
  if (!Name)
    return Name.error();
  for (auto [Known, Value] : Names)
    if (*Name == Known)
      return Value;
  return Settings.expected(
      Key, "one of gelu, gelu_new, gelu_pytorch_tanh, relu, silu, swish");
}

/// Upper bound of the positive factors and bases of a rotation.
static constexpr double MaxRopeNumber = 1e12;
static constexpr double MinRopeNumber = 1e-6;

static Result<double> ropeNumber(const Config &Rope, std::string_view Key) {
  return Rope.number(Key, MinRopeNumber, MaxRopeNumber);
}

Result<RopeAttr> tenon::readRope(const FamilyInput &Input, int64_t HeadDim) {
  const Config &Settings = Input.Settings;
  if (Settings.has("rope_parameters") && Settings.has("rope_scaling"))
    return Settings.expected("rope_scaling", "none beside 'rope_parameters'");
  auto Parameters = Settings.optionalObject(
      Settings.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  if (!Parameters)
    return Parameters.error();
  auto OuterBase =
      Settings.optionalNumber("rope_theta", MinRopeNumber, MaxRopeNumber);
  if (!OuterBase)
    return OuterBase.error();
  double Base = OuterBase->value_or(10000.0);
  RopeScaling Scaling = RopeScaling::Default;
  double Factor = 1, Low = 0, High = 0, Original = 0;
  if (*Parameters) {
    const Config &Rope = **Parameters;
    auto InnerBase =
        Rope.numberOr("rope_theta", Base, MinRopeNumber, MaxRopeNumber);
    if (!InnerBase)
      return InnerBase.error();
    if (*OuterBase && **OuterBase != *InnerBase)
      return Settings.expected("rope_theta", "the value that '" + Rope.path() +
                                                 ".rope_theta' has");
    Base = *InnerBase;
    // Oldest files say "type"; some say both.
    std::string_view TypeKey = Rope.has("rope_type") ? "rope_type" : "type";
    auto Type = Rope.stringOr(TypeKey, "default");
    auto OlderType = Rope.stringOr("type", Type ? *Type : "");
    if (!Type || !OlderType)
      return Type ? OlderType.error() : Type.error();
    if (*OlderType != *Type)
      return Rope.expected("type", "the same as rope_type");
    auto Read = [&](std::string_view Key, double &Value) -> Status {
      auto Number = ropeNumber(Rope, Key);
      if (!Number)
        return Number.error();
      Value = *Number;
      return {};
    };
    Status S;
    if (*Type == "linear") {
      Scaling = RopeScaling::Linear;
      S = Read("factor", Factor);
    } else if (*Type == "llama3") {
      Scaling = RopeScaling::Llama3;
      S = Read("factor", Factor);
      if (S)
        S = Read("low_freq_factor", Low);
      if (S)
        S = Read("high_freq_factor", High);
      if (S)
        S = Read("original_max_position_embeddings", Original);
      if (S && !(High > Low))
        S = Rope.expected("high_freq_factor", "more than low_freq_factor");
    } else if (*Type != "default") {
      S = Rope.expected(TypeKey, "one of default, linear, llama3");
    }
    if (S) {
      auto Part = Rope.numberOr("partial_rotary_factor", 1.0, 1.0, 1.0);
      if (!Part)
        S = Part.error();
    }
    if (!S)
      return S.error();
  }
  return RopeAttr::get(&Input.Context, RopeStyle::Half, HeadDim, Base, Scaling,
                       Factor, Low, High, Original);
}
