//===- RunStages.h - The stages, pass by pass -------------------*- C++ -*-===//

#ifndef TENON_COMPILER_NATIVE_RUNSTAGES_H
#define TENON_COMPILER_NATIVE_RUNSTAGES_H

#include "passes/Pipelines/Pipelines.h"
#include "runtime/Abi/CpuLevel.h"
#include "runtime/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// Told of every pass that ran on `Module`; may change it.
using AfterPass =
    std::function<void(llvm::StringRef Pass, mlir::ModuleOp Module)>;

/// What the stages are told.
struct StageSettings {
  CpuLevel Level = CpuLevel::AVX2;
  int64_t FewTokens = 8;
  int64_t MaxTokens = 512;
  std::vector<std::string> Disabled;
  AfterPass After;

  bool disables(llvm::StringRef Pass) const {
    return llvm::is_contained(Disabled, Pass);
  }
};

/// Runs the passes of the stages from `First` to `Last` but those that are
/// left out, one by one. An error names the pass, or the stage that leaves an
/// invalid module, with its first diagnostic.
/// `Ran` is told of each after `Settings.After`; false ends the run.
Status runStages(
    mlir::ModuleOp Module, const StageSettings &Settings, StageId First,
    StageId Last,
    const std::function<Result<bool>(const Stage &, llvm::StringRef)> &Ran =
        nullptr);

} // namespace tenon

#endif // TENON_COMPILER_NATIVE_RUNSTAGES_H
