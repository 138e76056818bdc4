//===- StoredForm.h - What a checkpoint is stored in ------------*- C++ -*-===//
//
// Quantised checkpoints and tokenizer files that are not read.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_STOREDFORM_H
#define TENON_COMPILER_FAMILIES_STOREDFORM_H

#include "compiler/Checkpoint/Config.h"

#include <string>
#include <vector>

namespace tenon {

/// Reads `quantization_config`, if the config has it. With weights that is an
/// error, which says by which method they are quantised and what to do;
/// without, a note that sizes are those of plain weights.
Status checkQuantisation(const Config &Settings, bool HasWeights,
                         std::vector<std::string> &Notes);

/// A note for a directory without tokenizer.json that has a tokenizer in other
/// files; none without these.
std::vector<std::string> notesOnMissingTokenizer(const std::string &Directory);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_STOREDFORM_H
