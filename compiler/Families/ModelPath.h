//===- ModelPath.h - What is given as a model -------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_MODELPATH_H
#define TENON_COMPILER_FAMILIES_MODELPATH_H

#include "runtime/Support/Result.h"

#include <string>

namespace tenon {

/// An error, with what to type instead, for a path that is no Hugging Face
/// directory and no file that a model can be read from: nothing there, an
/// artifact, a diffusers pipeline, an adapter, a folder of GGUF files, weights
/// alone. `TakesConfig`: a config.json will do.
Status checkModelPath(const std::string &Path, bool TakesConfig);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_MODELPATH_H
