//===- DumpStages.h - The IR after every pass as files ----------*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_DUMPSTAGES_H
#define TENON_COMPILER_DRIVER_DUMPSTAGES_H

#include "compiler/Driver/StageState.h"
#include "runtime/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>

namespace tenon {

/// Numbers and writes dumps: DIR/2-fused/03-merge-qkv.mlir after a pass, and
/// DIR/2-fused.mlir when the stage has ended.
class StageDumper {
public:
  /// Dumps into `Directory`, which is made; an empty name dumps nothing.
  static Result<StageDumper> create(const std::string &Directory);

  /// Dumps the passes of `Passes`, those of stage `Number` called `Name`.
  void watch(mlir::PassManager &Passes, int Number, const std::string &Name);
  /// Dumps the module at the end of the stage, with what --from-stage needs to
  /// go on from there.
  Status endStage(mlir::ModuleOp Module, const StageState &State, int Number,
                  const std::string &Name);

private:
  std::string Directory;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_DUMPSTAGES_H
