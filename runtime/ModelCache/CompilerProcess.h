//===- CompilerProcess.h - Compiling in another process ---------*- C++ -*-===//
//
// The runtime needs no LLVM: what compiles a model is tenon-compile, a process
// of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_MODELCACHE_COMPILERPROCESS_H
#define TENON_RUNTIME_MODELCACHE_COMPILERPROCESS_H

#include "runtime/Support/Result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::modelcache {

/// $TENON_COMPILE, else tenon-compile beside the executable of this process,
/// whether it is there or not.
Result<std::string> compilerPath();

/// The error that there is no compiler at `Compiler`, or that it cannot be
/// started, from errno.
Error cannotCompile(const std::string &Compiler);

/// What is heard of a compilation; each may be empty.
struct CompilerEvents {
  /// A phase, and the share of it that is done where that is known.
  std::function<void(const std::string &, std::optional<double>)> Progress;
  /// What people should know of the model, one line.
  std::function<void(const std::string &)> Note;
};

/// Runs `Compiler compile` with these arguments until it ends, and answers its
/// error. It ends with the thread that called this, however that ends.
Status runCompiler(const std::string &Compiler,
                   const std::vector<std::string> &Arguments,
                   const CompilerEvents &Events);

} // namespace tenon::modelcache

#endif // TENON_RUNTIME_MODELCACHE_COMPILERPROCESS_H
