//===- ModelFiles.h - The files that a model consists of --------*- C++ -*-===//

#ifndef TENON_RUNTIME_MODELCACHE_MODELFILES_H
#define TENON_RUNTIME_MODELCACHE_MODELFILES_H

#include "runtime/Support/Result.h"

#include <string>
#include <vector>

namespace tenon::modelcache {

/// A model that is not compiled, and all that compiling it may read.
struct ModelFiles {
  struct File {
    /// What the compiler knows the file by: its path in the directory; of GGUF
    /// files, which may be called anything, the number of the part.
    std::string Name;
    std::string Path;
  };

  std::string Path; ///< As it was given.
  std::vector<File> Files;
};

/// Whether a model can be at `Path`, by what it looks like from outside: a
/// directory with a config.json, or a GGUF file.
bool isModel(const std::string &Path);

/// The files of the model at `Path`, for which isModel() holds. Of a directory
/// those that the compiler reads by their kind (.json, .jinja, .safetensors,
/// .model, .spm, .txt), also in folders of it; of a GGUF file in parts all
/// parts that are there.
Result<ModelFiles> findModelFiles(const std::string &Path);

} // namespace tenon::modelcache

#endif // TENON_RUNTIME_MODELCACHE_MODELFILES_H
