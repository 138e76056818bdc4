//===- ModelCache.h - Models compiled when they are needed ------*- C++ -*-===//
//
// Finds the artifact of a model in a folder, or has it compiled into it. No
// input from and no output to a terminal: events tell who wants to know.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_MODELCACHE_MODELCACHE_H
#define TENON_RUNTIME_MODELCACHE_MODELCACHE_H

#include "runtime/ModelCache/CacheFolder.h"
#include "runtime/ModelCache/CompilerProcess.h"
#include "runtime/ModelCache/ModelFiles.h"
#include "runtime/ModelCache/Settings.h"

namespace tenon::modelcache {

/// What is asked for.
struct ModelRequest {
  std::string Model; ///< isModel() holds for it.
  Settings Options;
  std::string Compiler; ///< The executable, as compilerPath() answers.
};

struct Events : CompilerEvents {
  /// Another process compiles the same, and is waited for.
  std::function<void()> Waits;
};

/// What an artifact depends on, as the name of its files: the version of Tenon,
/// the compiler, options, the CPU level, and the model's names and contents.
/// The order of `Hashes` is that of `Model.Files`.
std::string keyOf(const ModelFiles &Model,
                  const std::vector<HashedFile> &Hashes,
                  const std::string &CompilerHash, const Settings &Options,
                  std::string_view Level);

/// The path of the model's artifact in `Folder`, after compiling it if it is
/// not there or damaged.
Result<std::string> obtainArtifact(const CacheFolder &Folder,
                                   const ModelRequest &Wanted,
                                   const Events &Heard);

/// Compiles the model into the file `Output`, without any folder.
Status compileModel(const ModelRequest &Wanted, const std::string &Output,
                    const CompilerEvents &Heard);

} // namespace tenon::modelcache

#endif // TENON_RUNTIME_MODELCACHE_MODELCACHE_H
