//===- Paths.h - What is wrong with a path ----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_PATHS_H
#define TENON_RUNTIME_SUPPORT_PATHS_H

#include "runtime/Support/Result.h"

#include <string>

namespace tenon {

/// The error that nothing is at `Path`. When it could be the id of a model on
/// the Hugging Face hub, it says how to fetch that.
Error noSuchPath(const std::string &Path);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_PATHS_H
