//===- ConfigReader.h - Reading a model's config ----------------*- C++ -*-===//
//
// What families read their settings with. The first thing that is wrong is
// remembered and later reads answer something harmless, so that a family reads
// what it needs one after the other and asks once at the end.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_CONFIGREADER_H
#define TENON_COMPILER_FAMILIES_CONFIGREADER_H

#include "compiler/Families/FamilyInput.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace tenon {

/// What a family fixes about rotations, and how its configs say the rest.
struct RopeTraits {
  transformer::RopeStyle Style = transformer::RopeStyle::Half;
  /// rope_theta when the config does not say.
  double Base = 10000.0;
  /// Share of a head that rotates when the config does not say.
  double Partial = 1.0;
  /// Whether partial_rotary_factor is read at all; otherwise it must be 1.
  bool ReadsPartial = false;
  /// original_max_position_embeddings when the config does not say.
  std::optional<double> Original = {};
  /// Top-level keys of older configs.
  std::string_view BaseKey = "rope_theta";
  std::string_view PartialKey = "partial_rotary_factor";
};

/// How a config spells the sizes that all have.
struct SizeKeys {
  std::string_view Width = "hidden_size";
  std::string_view Layers = "num_hidden_layers";
  std::string_view FeedForward = "intermediate_size";
  std::string_view Heads = "num_attention_heads";
};

/// Whether an architecture is a body, whose answer is hidden states:
/// "BertModel", unlike "GPT2LMHeadModel".
bool isBody(std::string_view Architecture);

class ConfigReader {
public:
  /// Alternative spellings of a key. Where a config has several, they must
  /// agree.
  using Keys = std::initializer_list<std::string_view>;

  explicit ConfigReader(const FamilyInput &Input)
      : Input(Input), Settings(Input.Settings) {}

  const FamilyInput &Input;
  const Config &Settings;

  //===--- Numbers, flags, words ------------------------------------------===//
  /// A whole number from 1 to `Max` that the config must have.
  int64_t size(Keys Names, int64_t Max);
  int64_t sizeOr(Keys Names, int64_t Default, int64_t Max, int64_t Min = 1);
  std::optional<int64_t> optionalSize(Keys Names, int64_t Max, int64_t Min = 1);
  double numberOr(std::string_view Key, double Default, double Min, double Max);
  std::optional<double> optionalNumber(std::string_view Key, double Min,
                                       double Max);
  /// Of a norm: from 0 to 0.5.
  double epsOr(std::string_view Key, double Default) {
    return numberOr(Key, Default, 0.0, 0.5);
  }
  bool flagOr(std::string_view Key, bool Default);
  std::string wordOr(std::string_view Key, std::string_view Default);
  std::vector<int64_t> integersOr(std::string_view Key,
                                  std::vector<int64_t> Default, int64_t Min,
                                  int64_t Max);
  std::optional<Config> optionalObject(std::string_view Key);
  /// layer_types: one of `Known` for every layer; empty when there is none.
  std::vector<std::string> layerTypes(int64_t Layers,
                                      std::vector<std::string_view> Known);

  /// The first of `architectures`, which says what head a checkpoint has
  /// ("BertForMaskedLM"); empty without.
  std::string architecture();
  /// Refuses it; `Expected` names those that would be right.
  void refuseArchitecture(std::string_view Expected);

  /// Transformers' names of activations: gelu, gelu_new, gelu_pytorch_tanh,
  /// gelu_fast, quick_gelu, relu, silu, swish, tanh, sigmoid. Without a default
  /// the config must have the key.
  transformer::Activation activation(std::string_view Key,
                                     std::string_view Default = {});
  static std::optional<transformer::Activation>
  activationNamed(std::string_view Name);
  /// "one of gelu, ..."
  static std::string knownActivations();

  //===--- What models share ----------------------------------------------===//
  /// max_position_embeddings under any of `Names`, or the length that was asked
  /// for: a shorter one, or as long as scaled rotations reach.
  int64_t maxSequence(Keys Names = {"max_position_embeddings"});
  /// vocab_size, max_position_embeddings, and what has several spellings.
  ModelSizes sizes(const SizeKeys &Keys = {});
  /// num_key_value_heads, which must divide `Heads`.
  int64_t kvHeads(int64_t Heads, int64_t Default,
                  Keys Names = {"num_key_value_heads"});
  /// head_dim, or `Width` / `Heads`, which then must be whole.
  int64_t headDim(int64_t Width, int64_t Heads,
                  std::string_view WidthKey = "hidden_size");
  /// The rotation of heads of `HeadDim`: `rope_parameters`, or `rope_scaling`
  /// and top-level keys as older files have it.
  transformer::RopeAttr rope(int64_t HeadDim, const RopeTraits &Traits = {});
  /// The rotation that one object such as rope_parameters.full_attention says.
  transformer::RopeAttr ropeOf(const Config &Parameters, int64_t HeadDim,
                               const RopeTraits &Traits = {});
  /// YaRN's correction of the softmax scale in DeepSeek models: 1 without.
  double yarnScale();

  //===--- Checkpoint -----------------------------------------------------===//
  bool hasTensor(const std::string &Name) const;
  /// The first of `Scopes` that the checkpoint has `Name` in ("" for none
  /// around it); the first of all without one.
  std::string scopeOf(const std::string &Name, Keys Scopes) const;
  /// Whether a head is the embedding's table: `IsTied` says so, and the
  /// checkpoint has no other tensor in `Head`. As Transformers does, a head
  /// that differs is used. Without a head, tie_word_embeddings is refused.
  bool sharesTable(bool IsTied, const std::string &Head,
                   const std::string &Table);

  //===--- Errors ---------------------------------------------------------===//
  /// Refuses `Key` unless `Holds`; `Expected` says what would be right.
  void expect(bool Holds, std::string_view Key, std::string_view Expected);
  /// Refuses a flag that is not `Value`.
  void fixed(std::string_view Key, bool Value);
  /// Reads keys that say nothing more than other keys do.
  void ignore(Keys Names);
  void fail(Error E);
  /// The first thing that was wrong.
  const std::optional<Error> &error() const { return First; }

private:
  /// The sequences that rotations reach that are scaled by linear or yarn: some
  /// files still name the `Positions` of the model without.
  int64_t reachOfRotations(int64_t Positions);
  /// The value, or `Otherwise` and a note of the error.
  template <typename T> T take(Result<T> Read, T Otherwise);
  class ScalingReader;

  std::optional<Error> First;
};

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_CONFIGREADER_H
