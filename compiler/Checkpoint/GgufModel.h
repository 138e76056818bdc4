//===- GgufModel.h - A GGUF file as a model directory -----------*- C++ -*-===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUFMODEL_H
#define TENON_COMPILER_CHECKPOINT_GGUFMODEL_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/Config.h"
#include "compiler/Checkpoint/GgufArchitectures.h"
#include "runtime/Artifact/Manifest.h"

namespace tenon {

/// All that a Hugging Face directory would hold for the file's model.
struct GgufModel {
  /// What config.json says, in its spelling; sampling that the file recommends
  /// is its generation(). Errors about it name the file and config.json's keys.
  Config Settings;
  /// Under the checkpoint's names and in its shapes; quantised tensors are read
  /// as f32.
  Checkpoint Weights;
  /// The text of tokenizer.json; empty when the file has no tokens.
  std::string Tokenizer;
  /// As readGgufChat() reads them.
  std::optional<artifact::ChatInfo> Chat;
  /// What the file holds and was left out without harm, for people.
  std::vector<std::string> Notes;
};

/// Opens the GGUF file at `Path`, of one of the `Known` architectures and
/// whole.
Result<GgufModel> openGgufModel(const std::string &Path, GgufTable Known);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUFMODEL_H
