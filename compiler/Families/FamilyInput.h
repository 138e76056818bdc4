//===- FamilyInput.h - What families read, and its limits -------*- C++ -*-===//
//
// The config reading that all families share.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_FAMILYINPUT_H
#define TENON_COMPILER_FAMILIES_FAMILYINPUT_H

#include "compiler/Builder/Blocks.h"
#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/Config.h"

namespace tenon {

/// Sizes beyond these are refused. No product of three of them overflows.
inline constexpr int64_t MaxLayers = 4096;
inline constexpr int64_t MaxVocabulary = 4 << 20;
inline constexpr int64_t MaxContext = 16 << 20;
/// Width of the rows, and of all heads together.
inline constexpr int64_t MaxWidth = 1 << 20;
inline constexpr int64_t MaxFeedForward = 4 << 20;
inline constexpr int64_t MaxTokenTypes = 1 << 16;

struct FamilyInput {
  mlir::MLIRContext &Context;
  const Config &Settings;
  /// Null when only a config is there.
  const Checkpoint *Weights;
};

/// The sizes that every family has, range-checked.
struct ModelSizes {
  int64_t Vocabulary = 0;
  int64_t Width = 0;
  int64_t Layers = 0;
  int64_t MaxSequence = 0;
  int64_t FeedForward = 0;
  int64_t Heads = 0;
};
Result<ModelSizes> readSizes(const Config &Settings);

/// The activation that `Key` names in Transformers' spelling.
Result<transformer::Activation> readActivation(const Config &Settings,
                                               std::string_view Key);

/// The rotation over `HeadDim` elements: `rope_parameters`, or `rope_scaling`
/// and `rope_theta` as older files have it.
Result<transformer::RopeAttr> readRope(const FamilyInput &Input,
                                       int64_t HeadDim);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_FAMILYINPUT_H
