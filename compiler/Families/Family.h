//===- Family.h - What a model family is ------------------------*- C++ -*-===//
//
// A family reads a config into a description of its model, out of the parts
// that Decoder.h and Encoder.h know how to build. One file per family.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_FAMILY_H
#define TENON_COMPILER_FAMILIES_FAMILY_H

#include "compiler/Families/Decoder.h"
#include "compiler/Families/Encoder.h"

#include <span>
#include <string_view>
#include <variant>

namespace tenon {

using ModelDescription = std::variant<DecoderModel, EncoderModel>;

struct Family {
  /// The config's model_type.
  std::string_view ModelType;
  /// Reads every key that matters to the result; those it leaves unread and
  /// that are not inert are refused afterwards.
  Result<ModelDescription> (*Read)(const FamilyInput &Input);
};

extern const Family LlamaFamily;
extern const Family MistralFamily;
extern const Family Qwen2Family;
extern const Family Qwen3Family;
extern const Family BertFamily;

/// All families.
std::span<const Family *const> families();

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_FAMILY_H
