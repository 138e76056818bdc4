//===- GenerationSettings.h - How a checkpoint wants to generate -*- C++
//-*-===//

#ifndef TENON_COMPILER_FAMILIES_GENERATIONSETTINGS_H
#define TENON_COMPILER_FAMILIES_GENERATIONSETTINGS_H

#include "compiler/Checkpoint/Config.h"
#include "runtime/Artifact/Manifest.h"

#include <string>
#include <vector>

namespace tenon {

using namespace artifact;

/// What a family's class of configs has when nothing says otherwise.
struct GenerationDefaults {
  /// An encoder-decoder: its decoder needs a first token.
  bool HasSource = false;
  std::optional<int64_t> Start, ForcedLast;
};

/// Reads generation_config.json; where an encoder-decoder has none, the keys of
/// generation in its config.json, as Transformers does. Ids lie below
/// `Vocabulary`. What changes the choice of tokens and is not handled becomes a
/// note.
Result<GenerationInfo> readGeneration(const Config &Settings,
                                      int64_t Vocabulary,
                                      const GenerationDefaults &Defaults,
                                      std::vector<std::string> &Notes);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_GENERATIONSETTINGS_H
