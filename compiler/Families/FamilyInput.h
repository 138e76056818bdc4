//===- FamilyInput.h - What families read, and its limits -------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_FAMILYINPUT_H
#define TENON_COMPILER_FAMILIES_FAMILYINPUT_H

#include "compiler/Builder/Blocks.h"
#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/Config.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// Sizes beyond these are refused. No product of three of them overflows.
inline constexpr int64_t MaxLayers = 4096;
inline constexpr int64_t MaxVocabulary = 4 << 20;
inline constexpr int64_t MaxContext = 16 << 20;
/// Width of the rows, and of all heads together.
inline constexpr int64_t MaxWidth = 1 << 20;
inline constexpr int64_t MaxFeedForward = 4 << 20;
inline constexpr int64_t MaxTokenTypes = 1 << 16;
inline constexpr int64_t MaxExpertCount = 1 << 16;
inline constexpr int64_t MaxLabels = 1 << 20;

struct FamilyInput {
  mlir::MLIRContext &Context;
  const Config &Settings;
  /// Null when only a config is there.
  const Checkpoint *Weights;
  /// Sequences are to have at most this many tokens.
  std::optional<int64_t> MaxSequence = {};
  /// What people should know about how the config was understood.
  std::vector<std::string> *Notes = nullptr;
  /// Of a model inside another: what the checkpoint calls the tensor that it
  /// calls so when it is alone. Null where both are the same.
  std::function<std::string(const std::string &)> NameOf = {};
  /// Texts are embedded, not continued: a decoder needs no head.
  bool OnlyEmbeds = false;

  std::string storedName(const std::string &Name) const {
    return NameOf ? NameOf(Name) : Name;
  }
};

/// The sizes that every family has.
struct ModelSizes {
  int64_t Vocabulary = 0;
  int64_t Width = 0;
  int64_t Layers = 0;
  int64_t MaxSequence = 0;
  int64_t FeedForward = 0;
  int64_t Heads = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_FAMILYINPUT_H
