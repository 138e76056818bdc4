//===- GgufArchitectures.h - Models of GGUF files ---------------*- C++ -*-===//
//
// What undoes an architecture's part of llama.cpp's converter, and how a file's
// architecture is found among those that there are. The families hold them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUFARCHITECTURES_H
#define TENON_COMPILER_CHECKPOINT_GGUFARCHITECTURES_H

#include "compiler/Checkpoint/GgufSettings.h"
#include "compiler/Checkpoint/GgufTensors.h"

#include <unordered_set>

namespace tenon {

/// One file on its way to a checkpoint's parts.
struct GgufTranslation {
  GgufSettings Settings;
  GgufNaming Naming;
  std::vector<TensorInfo> Tensors;
  /// Stored tensors that Tensors are made of.
  std::unordered_set<std::string> Taken;
  int64_t HeadDim = 0;
};

/// How the models of one model_type are stored.
struct GgufArchitecture {
  /// As "general.architecture" spells it; empty when there is no such form.
  std::string_view Name;
  /// Fills in the settings, which have the model_type already, and the names.
  /// Settings go by the names that published config.json files use; what the
  /// format has no key for is what the family's published models have.
  void (*Read)(GgufTranslation &T) = nullptr;
  /// Of an architecture that several model types share: whether a file is this
  /// one's. What it reads and refuses is forgotten.
  bool (*Matches)(GgufSettings &Probe) = nullptr;
};

/// An architecture and the model_type that it becomes.
struct GgufModelType {
  std::string_view ModelType;
  GgufArchitecture Stored;
};
using GgufTable = std::span<const GgufModelType>;

/// A file's model as a Hugging Face directory describes it.
struct GgufModelParts {
  /// What config.json would hold, the token ids apart.
  Json Settings;
  std::vector<TensorInfo> Tensors;
  /// For people: what the file holds and was left out without harm.
  std::vector<std::string> Notes;
};

/// Reads the metadata of the file's architecture and names its tensors. An
/// error names the architecture that `Known` lacks, the key that may change the
/// result and is not handled, the value that is out of range.
Result<GgufModelParts> readGgufModel(const GgufFile &File, GgufTable Known);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUFARCHITECTURES_H
