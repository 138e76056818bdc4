//===- Family.h - What a model family is ------------------------*- C++ -*-===//
//
// A family reads a config into a description of its model, out of the parts
// that Decoder.h, Encoder.h, Translation.h and Vision.h know how to build, and
// a GGUF file into such a config. One file per family; Families.def lists them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_FAMILY_H
#define TENON_COMPILER_FAMILIES_FAMILY_H

#include "compiler/Checkpoint/GgufArchitectures.h"
#include "compiler/Families/Decoder.h"
#include "compiler/Families/Encoder.h"
#include "compiler/Families/Translation.h"
#include "compiler/Families/Vision.h"

#include <span>
#include <string_view>
#include <variant>

namespace tenon {

using ModelDescription =
    std::variant<DecoderModel, EncoderModel, TranslationModel, VisionModel,
                 VisionLanguageModel>;

struct Family {
  /// The config's model_type.
  std::string_view ModelType;
  /// Reads every key that matters to the result; those it leaves unread and
  /// that are not inert are refused afterwards. The answer counts only if the
  /// reader has no error.
  ModelDescription (*Read)(ConfigReader &Config);
  /// How GGUF files hold its models, if they do.
  GgufArchitecture Gguf = {};
};

#define TENON_FAMILY(NAME) extern const Family NAME##Family;
#include "compiler/Families/Families.def"

extern const Family Gemma3MultimodalFamily;

/// All families of Families.def.
std::span<const Family *const> families();

/// Models that take more than text, and of which the text model is read: that
/// of one of families().
std::span<const Family *const> multimodalFamilies();

/// The GGUF forms of those that have one.
std::vector<GgufModelType> ggufArchitectures();

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_FAMILY_H
