//===- GgufArchitectures.h - Models of GGUF files ---------------*- C++ -*-===//
//
// What llama.cpp's converter makes of each family's config, undone: one table
// of names and one function of settings per architecture.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUFARCHITECTURES_H
#define TENON_COMPILER_CHECKPOINT_GGUFARCHITECTURES_H

#include "compiler/Checkpoint/GgufTensors.h"
#include "runtime/Support/Json.h"

namespace tenon {

/// A file's model as a Hugging Face directory describes it.
struct GgufModelParts {
  /// What config.json would hold, the token ids apart.
  Json Settings;
  std::vector<TensorInfo> Tensors;
  /// For people: what the file holds and was left out without harm.
  std::vector<std::string> Notes;
};

/// Reads the metadata of the file's architecture and names its tensors. An
/// error names the architecture that is not known, the key that may change the
/// result and is not handled, the value that is out of range.
Result<GgufModelParts> readGgufModel(const GgufFile &File);

/// Architectures that are read, as "general.architecture" spells them.
std::vector<std::string_view> ggufArchitectures();

/// Whether some architecture becomes a config of this model_type.
bool isReadFromGguf(std::string_view ModelType);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUFARCHITECTURES_H
