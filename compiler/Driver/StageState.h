//===- StageState.h - What a dump carries beside its IR ---------*- C++ -*-===//
//
// A dump of the IR after a stage ends in a section of resources, where MLIR
// keeps what is not IR: what the artifact will say of the model, the library's
// primitives once matmuls are calls, and the weights of every scope once all is
// LLVM. `tenon compile --from-stage` reads the rest off the module, edited or
// not, and goes on as if it had never stopped.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_STAGESTATE_H
#define TENON_COMPILER_DRIVER_STAGESTATE_H

#include "passes/Packing/WeightTables.h"
#include "passes/Pipelines/Pipelines.h"
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

/// Puts into `State` what `Module` says of weights and code at the end of
/// `Stage`.
void describeCode(mlir::ModuleOp Module, StageId Stage, StageState &State);

/// Puts into `State` all that `Module`, of which the gate of its stage holds,
/// says at the end of `Stage`; an error, naming the dump at `Path`, when that
/// contradicts what `State` says and the module does not.
Status describeStage(mlir::ModuleOp Module, StageId Stage,
                     const std::string &Path, StageState &State);

/// Prints `Module` with what it does not say of `State` in its resources.
void printWithState(mlir::ModuleOp Module, const StageState &State,
                    llvm::raw_ostream &Stream);

/// A module and its state, as printWithState wrote them.
struct LoadedStage {
  mlir::OwningOpRef<mlir::ModuleOp> Module;
  StageState State;
};

/// Reads the dump at `Path`; an error when it is none, is damaged, is at the
/// end of another stage than `Stage`, or is for another CPU level than its
/// state says.
Result<LoadedStage> readStage(mlir::MLIRContext &Context,
                              const std::string &Path, llvm::StringRef Stage);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_STAGESTATE_H
