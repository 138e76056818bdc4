//===- StoredForm.h - What a checkpoint is stored in ------------*- C++ -*-===//
//
// Quantised checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_STOREDFORM_H
#define TENON_COMPILER_FAMILIES_STOREDFORM_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/Config.h"

#include <string>
#include <vector>

namespace tenon {

/// Reads `quantization_config`, if the config has it, and restores the matrices
/// of `Weights`. An error for a method that is not read says what to do.
/// Without weights, which is null then, a note that sizes are those of plain
/// ones.
Status readQuantisation(const Config &Settings, Checkpoint *Weights,
                        std::vector<std::string> &Notes);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_STOREDFORM_H
