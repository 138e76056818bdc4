//===- StageState.h - What a dump carries beside its IR ---------*- C++ -*-===//
//
// A dump of the IR after a stage ends in a section of resources, where MLIR
// keeps what is not IR. It holds what the artifact will say of the model and,
// as they become known, the weights of every scope, the library's primitives
// and the memory plan, so that `tenon compile --from-stage` goes on as if it
// had never stopped.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_STAGESTATE_H
#define TENON_COMPILER_DRIVER_STAGESTATE_H

#include "passes/Packing/WeightTables.h"
#include "runtime/Artifact/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace tenon {

using namespace artifact;

/// What is known beside the module while it is compiled for one CPU level.
struct StageState {
  /// Name of the stage whose end the module is at.
  std::string Stage;
  /// Without weights, scopes and code.
  Manifest Model;
  /// From `placed` on.
  std::vector<ScopeTable> Weights;
  /// Primitives from `placed`, arena, plan and kernels from `buffers` on.
  CodeInfo Code;
};

/// The CPU levels that a model is compiled for, as its manifest says; an error
/// names the dump at `Path`.
Result<std::vector<CpuLevel>> compiledLevels(const Manifest &Model,
                                             const std::string &Path);
void setCompiledLevels(Manifest &Model, llvm::ArrayRef<CpuLevel> Levels);

/// Prints `Module` with `State` in its resources.
void printWithState(mlir::ModuleOp Module, const StageState &State,
                    llvm::raw_ostream &Stream);

/// A module and its state, as printWithState wrote them.
struct LoadedStage {
  mlir::OwningOpRef<mlir::ModuleOp> Module;
  StageState State;
};

/// Reads the dump at `Path`; an error when it is none, is damaged, was written
/// at the end of another stage than `Stage`, or is for another CPU level than
/// its state says.
Result<LoadedStage> readStage(mlir::MLIRContext &Context,
                              const std::string &Path, llvm::StringRef Stage);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_STAGESTATE_H
